"""Reflections on an attempt: from measurements, in sentences for a stranger."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.events.run import Outcome
from ralph_tui.layers.memory.reflection import reflect
from ralph_tui.state import RunState
from tests.rows import each_row
from tests.unit.layers.memory.histories import Worked, files, state_of

WORK = (
    Worked(10, before=[files(1, "src/lexer.py")]),
    Worked(10, before=[files(2, "a.py", "b.py", "c.py", "d.py", "e.py")]),
    Worked(4, before=[files(3, "src/parser.py", "src/tokens.py")]),
    Worked(60, before=[files(4, "src/lexer.py")]),
)


def only(state: RunState, outcome: Outcome) -> ev.ReflectionWritten:
    (found,) = reflect(state, outcome)
    return found


def test_a_success_says_what_worked() -> None:
    state = state_of(*WORK, Worked(100, learnings=["Run one test first"]))
    assert only(state, "completed") == ev.ReflectionWritten(
        attempt=2,
        observation="The task was completed after 5 iterations and 15m; "
        "completion went from 0 % to 100 %.",
        analysis="Iteration 4 gained 56 points, with changes in src/lexer.py. "
        "Iteration 5 gained 40 points. "
        "Iteration 1 gained 10 points, with changes in src/lexer.py.",
        learning="Iteration 4 gained the most, with changes in src/lexer.py.",
        action_items=[],
        triggered_by="success",
        reflection_type="success-pattern",
    )


def test_what_the_agent_says_to_have_learned_is_told_as_a_learning_alone() -> None:
    # As a learning it can be muted, deleted and unlearned; in a reflection it would always return.
    told = reflect(state_of(*WORK, Worked(100, learnings=["Run one test first"])), "completed")
    assert not [one for one in told if "Run one test first" in one.model_dump_json()]


def test_without_a_cause_nothing_is_written() -> None:
    assert reflect(state_of(Worked(50), Worked(100)), "completed") == []
    assert reflect(state_of(Worked(0), Worked(0)), "limit_reached") == []
    assert reflect(state_of(Worked(0), Worked(30)), "interrupted") == []
    assert reflect(state_of(), "failed") == []


def test_a_success_names_the_tests_that_its_files_fixed() -> None:
    state = state_of(
        Worked(40, failing=["test_a", "test_b", "test_c"]),
        Worked(70, failing=["test_c"], before=[files(2, "src/lexer.py")]),
        Worked(100, before=[files(3, "src/parser.py")]),
    )
    assert only(state, "completed").learning == (
        "test_a and test_b have passed since iteration 2, with changes in src/lexer.py. "
        "test_c has passed since iteration 3, with changes in src/parser.py."
    )


def test_iterations_without_gain_are_compared() -> None:
    idle = [
        Worked(
            40,
            failing=["test_a", "test_b"] if k == 2 else ["test_b", "test_c"],
            blockers=[f"The port {k}000 is taken"],
            before=[files(k, "src/lexer.py", f"{k}.py")],
        )
        for k in (2, 3)
    ]
    state = state_of(Worked(40), *idle)
    learning = (
        "Iterations 2 and 3 gained nothing: each changed src/lexer.py; test_b failed after each; "
        "each met this problem: The port … is taken."
    )
    assert only(state, "limit_reached").learning == learning
    assert only(state, "failed").learning == learning
    ended = state_of(Worked(40), *idle, Worked(100))
    assert [one.reflection_type for one in reflect(ended, "completed")] == ["process-improvement"]
    assert only(ended, "completed").learning == learning


def test_a_blocker_that_was_gone_is_named_with_the_files_of_its_end() -> None:
    state = state_of(
        Worked(10, blockers=["no database"]),
        Worked(20, summary="Started one.", before=[files(2, "compose.yml")]),
        Worked(20),
    )
    assert only(state, "aborted").learning == (
        "The blocker of iteration 1 (no database) was gone after iteration 2, with changes in "
        "compose.yml."
    )


def test_denied_tools_are_the_lesson_of_how_a_success_went() -> None:
    denied = ev.ToolDenied(iteration=1, tool="Bash", tool_id="1", permit="Bash(npm test)")
    found = only(state_of(Worked(50, after=[denied]), Worked(100)), "completed")
    assert found.learning == "The permissions denied Bash(npm test)."
    assert found.analysis == "1 tool call was denied."
    assert found.action_items == ["Permit the denied tools where it is safe."]


def test_a_gain_is_that_of_the_readings_as_they_are_written() -> None:
    last = Worked(100, before=[files(3, "a.py")])
    told = only(state_of(Worked(100 / 6), Worked(100 / 3), last), "completed")
    assert "Iteration 3 gained 67 points, with changes in a.py. " in told.analysis  # 33 to 100
    assert "Iteration 1 gained 17 points. Iteration 2 gained 16 points." in told.analysis


def test_a_redirect_that_helped_is_part_of_why() -> None:
    made = ev.InterventionMade(iteration=2, level="REDIRECT", about="stuck", reason="No rise.")
    effect = ev.EffectObserved(
        iteration=4, of=2, level="REDIRECT", about="stuck", decision="approved by you", points=60
    )
    state = state_of(
        Worked(0), Worked(0, after=[made]), Worked(30), Worked(60, after=[effect]), Worked(100)
    )
    worked = only(state, "completed")
    assert worked.analysis.endswith(
        "The change of approach after iteration 2 gained 60 points in 2 iterations."
    )
    assert worked.analysis.endswith(worked.learning)


def test_a_limit_says_how_much_was_missing() -> None:
    found = only(state_of(*WORK), "limit_reached")
    assert found.observation == (
        "The limit was reached after 4 iterations and 12m; completion went from 0 % to 60 %."
    )
    assert found.analysis == "2 of 4 iterations gained nothing."
    assert found.learning == (
        "At its pace, it needed about 3 iterations more: give it more, or make the task smaller."
    )
    assert found.action_items == []
    assert (found.triggered_by, found.reflection_type) == ("timeout", "process-improvement")


def test_without_a_new_best_lately_a_pace_says_nothing() -> None:
    slow = Worked(40), Worked(40), Worked(40, failing=["test_a"])
    learning = only(state_of(*slow), "limit_reached").learning
    assert learning == "Start with what failed at the end: test_a."
    assert "3 iterations more" in only(state_of(*slow[1:]), "limit_reached").learning


def test_an_iteration_that_was_not_measured_is_not_said_to_have_brought_nothing() -> None:
    silent = ev.ReadingTaken(iteration=2, completion=40, source="tests", held=True, expected=20)
    work = Worked(40), Worked(40, after=[silent]), Worked(50)
    assert "gained nothing" not in only(state_of(*work), "limit_reached").analysis


def test_of_an_agent_that_never_began_nothing_is_learned_about_the_task() -> None:
    refused = ev.SessionFinished(
        iteration=1, outcome="auth", reason="The login was refused.", duration_s=0
    )
    state = state_of(Worked(0), Worked(0))
    state.apply(refused.model_copy(update={"seq": 900, "at": state.at}))
    found = only(state, "limit_reached")
    assert found.learning == "The agent never started work: this says nothing about the task."
    assert "The login was refused." in found.analysis
    assert found.action_items == ["Check with ralph-tui doctor that the agent can work here."]
    spoke = ev.AgentSpoke(seq=901, at=state.at, iteration=2, text="I look.")
    state.apply(spoke)
    assert reflect(state, "limit_reached") == []


def test_an_agent_that_ran_and_failed_at_once_is_not_said_to_have_never_begun() -> None:
    crashed = ev.SessionFinished(iteration=1, outcome="crashed", reason="boom", duration_s=0)
    state = state_of(Worked(0), Worked(0))
    state.apply(crashed.model_copy(update={"seq": 900, "at": state.at}))
    learning = only(state, "limit_reached").learning
    assert learning == "The agent failed immediately: this says nothing about the task."


def test_a_failure_says_what_stood_in_the_way_and_what_cost_most() -> None:
    broke = Worked(4, blockers=["no network"], ended="crashed", reason="the agent died")
    found = only(state_of(*WORK[:3], broke), "aborted")
    assert found.observation == (
        "The attempt was aborted after 4 iterations and 12m; "
        "completion went from 0 % to 4 %, best 10 % after iteration 1."
    )
    assert found.analysis == (
        "3 of 4 iterations gained nothing. The last session did not end normally: the agent "
        "died. The agent was blocked by: no network."
    )
    assert found.learning == (
        "Iteration 3 lost 6 points, with changes in src/parser.py and src/tokens.py: "
        "make such changes in smaller steps."
    )
    assert (found.triggered_by, found.reflection_type) == ("failure", "error-analysis")


def test_an_aborted_first_session_names_what_it_changed() -> None:
    state = state_of()
    for event in (ev.IterationStarted(iteration=1, max_iterations=10), files(1, "a.py", "b.py")):
        state.apply(event.model_copy(update={"seq": 800 + len(state.timeline.spans)}))
    found = only(state, "aborted")
    assert found.observation == (
        "The attempt was aborted after 0s, before anything was measured; completion stayed at 0 %."
    )
    assert found.learning == (
        "It was stopped with changes in a.py and b.py that were not measured: check them first."
    )


def test_a_grown_total_is_no_loss_of_the_iteration() -> None:
    state = state_of(Worked(50), Worked(20, grew=True), Worked(40, failing=["test_a"]))
    found = only(state, "failed")
    assert "lost" not in found.learning
    assert "gained nothing" not in found.analysis


@each_row("outcome", ["limit_reached", "aborted", "failed", "interrupted"])
def test_only_what_the_tests_prove_is_learned_from_an_attempt_that_did_not_complete(
    outcome: Outcome,
) -> None:
    def items(*worked: Worked) -> list[str]:
        found = reflect(state_of(*worked), outcome)
        told = [text for one in found for text in (one.learning, *one.action_items)]
        return [text for text in told if "have passed" in text or "has passed" in text]

    start = Worked(10, failing=["test_a", "test_b", "test_c"])
    fixes = Worked(40, failing=["test_c"], before=[files(2, "src/lexer.py")])
    proven = "test_a and test_b have passed since iteration 2, with changes in src/lexer.py."
    assert items(start, fixes, Worked(40, failing=["test_c"])) == [proven]
    assert items(start, fixes, Worked(30, failing=["test_a", "test_c"])) == [
        "test_b has passed since iteration 2, with changes in src/lexer.py."
    ]
    assert items(start, fixes, Worked(10, failing=["test_a", "test_b", "test_c"])) == []
    removed = Worked(10, failing=["test_c"], before=[files(2, "tests/test_lexer.py")])
    assert items(start, removed) == [], "tests that are gone do not pass"
    unnamed = Worked(40, before=[files(2, "src/lexer.py")])
    assert items(Worked(10), unnamed) == [], "a gain without a cause teaches nothing"


def test_many_files_are_counted_and_long_words_cut() -> None:
    many = Worked(50, before=[files(1, "a.py", "b.py", "c.py", "d.py", "e.py")])
    worked = only(state_of(many, Worked(60)), "completed")
    assert "with changes in a.py, b.py, c.py and 2 more." in worked.analysis
    found = only(state_of(many, Worked(50, blockers=["x" * 5000])), "failed")
    assert len(found.analysis) < 600


def test_without_a_start_there_is_no_attempt() -> None:
    assert reflect(RunState(), "failed") == []


@pytest.mark.parametrize(
    "outcome", ["completed", "limit_reached", "aborted", "failed", "interrupted"]
)
@given(
    st.lists(
        st.builds(
            Worked,
            points=st.floats(0, 100),
            blockers=st.lists(st.text(max_size=30), max_size=2),
            learnings=st.lists(st.text(max_size=30), max_size=2),
            reason=st.text(max_size=20),
            ended=st.sampled_from(["success", "crashed", "error"]),
            grew=st.booleans(),
        ),
        max_size=5,
    )
)
def test_every_end_is_told_in_sentences_and_always_the_same(
    outcome: Outcome, iterations: list[Worked]
) -> None:
    state = state_of(*iterations)
    found = reflect(state, outcome)
    assert len(found) <= (2 if outcome == "completed" else 1)
    assert found == reflect(state, outcome)
    for one in found:
        for text in (one.observation, one.analysis, one.learning):
            assert text[0].isupper() or text[0].isdigit()
            assert text[-1] in ".!?:…"
        assert one.attempt == 2
