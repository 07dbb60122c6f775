"""While you were away: a short list of episodes, the open question first."""

from datetime import timedelta

import pytest

from ralph_tui.analysis.away import MOST_EPISODES, is_long, while_away
from ralph_tui.state import RunState
from tests.unit.state.test_log import demo, made, reading, stuck
from tests.world.decisions import DECISIONS
from tests.world.stories import STORIES


def told(state: RunState, **later: float) -> list[str]:
    lines = while_away(state, state.at + timedelta(**later))
    return [f"{'  ' * line.below}{line.text}" for line in lines]


def test_an_episode_is_what_was_done_who_decided_and_what_it_changed() -> None:
    rows = told(RunState().apply_all(demo("stuck")))
    assert rows[0].startswith("✓ completed: ")
    assert "9 iterations, 48 % to 100 %, $" in rows[1]
    assert rows[2] == "13 more tests pass than at the start"
    (at,) = [number for number, row in enumerate(rows) if "STUCK" in row]
    assert rows[at].endswith("▲ STUCK No rise for 3 iterations")
    assert rows[at + 1] == (
        "  REDIRECT nobody to ask: approved; over: a new best, 72 %; after 2 iterations: +16 points"
    )


def test_the_open_question_comes_first() -> None:
    state = RunState().apply_all(DECISIONS["redirect"]())
    first, *rest = told(state, hours=1)
    assert first.startswith("? needs you, since 1h: ")
    assert any(row.endswith("(not over)") for row in rest)


def test_waits_and_denials_are_told() -> None:
    rows = told(RunState().apply_all(STORIES["limited"]()))
    assert any("LIMIT waiting until " in row for row in rows)
    assert rows[-1] == "3 tool calls denied by the permissions"


@pytest.mark.parametrize("name", [*STORIES, *DECISIONS])
def test_every_story_is_told_in_a_few_short_lines(name: str) -> None:
    state = RunState().apply_all((STORIES | DECISIONS)[name]())
    rows = told(state)
    assert 1 <= len(rows) < 40
    assert all(len(row) <= 310 and len(row.splitlines()) == 1 for row in rows)


def test_very_many_episodes_are_counted() -> None:
    state = RunState()
    for k in range(1, 41, 2):
        for event in (reading(k, k), stuck(k), made(iteration=k)):
            state.apply(event.model_copy(update={"seq": state.seq + 1}))
    assert sum("STUCK" in row for row in told(state)) <= MOST_EPISODES


def test_a_run_that_has_just_begun_is_no_news() -> None:
    state = RunState().apply_all(STORIES["empty"]())
    assert not is_long(state, state.at + timedelta(hours=3))
    state = RunState().apply_all(STORIES["running"]())
    assert is_long(state, state.at)
