"""Stages of a service's silence, for every sequence of output."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.agents.rpc.agent_session import FIRST_S, NO_ANSWER, QUIET_S, Silence

steps = st.lists(st.sampled_from(["passes", "heard", "answered"]), max_size=30)


@given(steps, st.none() | st.floats(1, 2000))
def test_the_first_is_said_at_most_once_and_the_end_comes_when_it_should(
    acts: list[str], end_s: float | None
) -> None:
    silence, passed, firsts, answered = Silence(end_s), 0.0, 0, False
    for act in acts:
        if act != "passes":
            silence.heard(answered=act == "answered")
            passed, answered = 0.0, answered or act == "answered"
            continue
        following = silence.remaining_s()
        if following is None:
            assert end_s is None
            continue
        assert following >= 0.1
        passed += following
        said = silence.advance()
        if said == NO_ANSWER:
            assert not answered
            assert passed == FIRST_S
            firsts += 1
        elif said:
            assert passed <= max(QUIET_S, FIRST_S) + 0.1
        else:
            assert end_s is not None
            assert passed >= min(end_s, QUIET_S) - 0.001
            break
    assert firsts <= 1


def test_an_agent_that_answers_is_told_of_at_a_minute_and_ended_at_its_time() -> None:
    silence = Silence(300)
    silence.heard(answered=True)
    said: list[tuple[float | None, str]] = []
    while not said or said[-1][1]:
        said.append((silence.remaining_s(), silence.advance()))
    assert said == [(60.0, "The agent's service has not answered for 1m"), (240.0, "")]
