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


def test_a_success_says_what_worked_and_how_the_work_went() -> None:
    state = state_of(*WORK, Worked(100, learnings=["Run one test first"]))
    worked, process = reflect(state, "completed")
    assert worked == ev.ReflectionWritten(
        attempt=2,
        observation="The task was completed after 5 iterations and 15m; "
        "completion went from 0 % to 100 %.",
        analysis="Iteration 4 gained 56 points, with changes in src/lexer.py. "
        "Iteration 5 gained 40 points. "
        "Iteration 1 gained 10 points, with changes in src/lexer.py.",
        learning="Iteration 4 gained the most, with changes in src/lexer.py: start with such "
        "work next time.",
        action_items=[],
        triggered_by="success",
        reflection_type="success-pattern",
    )
    assert process == ev.ReflectionWritten(
        attempt=2,
        observation="It took 5 iterations and 15m.",
        analysis="2 of 5 iterations gained nothing.",
        learning="The progress came from 3 of 5 iterations: find a way without the others.",
        action_items=["Find out why iteration 2 gained nothing before repeating it."],
        triggered_by="success",
        reflection_type="process-improvement",
    )


def test_what_the_agent_says_to_have_learned_is_told_as_a_learning_alone() -> None:
    # As a learning it can be muted, deleted and unlearned; in a reflection it would always return.
    told = reflect(state_of(*WORK, Worked(100, learnings=["Run one test first"])), "completed")
    assert not [one for one in told if "Run one test first" in one.model_dump_json()]


def test_a_smooth_success_has_nothing_to_mend() -> None:
    _, process = reflect(state_of(Worked(50), Worked(100)), "completed")
    assert process.analysis == "Nothing stood in its way."
    every = "Every measured iteration gained something"
    assert process.learning == f"{every}: work the same way again."
    assert process.action_items == []


def test_what_brought_the_most_is_one_only_where_it_did() -> None:
    def most(*readings: float) -> str:
        return reflect(state_of(*map(Worked, readings)), "completed")[0].learning

    sixths = [100 * n / 6 for n in range(1, 7)]
    alike = "All gains were about equal: take steps of this size again."
    assert most(*sixths) == alike
    assert most(40, 50, 90, 100) == (
        "Iterations 1 and 3 gained the most, each about the same: work as they did."
    )
    assert most(10, 100).startswith("Iteration 2 gained the most")


def test_a_gain_is_that_of_the_readings_as_they_are_written() -> None:
    told = reflect(state_of(Worked(100 / 6), Worked(100 / 3), Worked(100)), "completed")[0]
    assert "Iteration 3 gained 67 points. " in told.analysis  # 33 to 100
    assert "Iteration 1 gained 17 points. Iteration 2 gained 16 points." in told.analysis


def test_a_redirect_that_helped_is_part_of_why() -> None:
    made = ev.InterventionMade(iteration=2, level="REDIRECT", about="stuck", reason="No rise.")
    effect = ev.EffectObserved(
        iteration=4, of=2, level="REDIRECT", about="stuck", decision="approved by you", points=60
    )
    state = state_of(
        Worked(0), Worked(0, after=[made]), Worked(30), Worked(60, after=[effect]), Worked(100)
    )
    worked, process = reflect(state, "completed")
    assert worked.analysis.endswith(
        "The change of approach after iteration 2 gained 60 points in 2 iterations."
    )
    assert process.analysis == (
        "2 of 5 iterations gained nothing; the approach was questioned once."
    )


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


def test_a_flat_run_is_not_told_to_go_on_for_longer() -> None:
    found = only(state_of(Worked(0), Worked(0)), "limit_reached")
    assert found.analysis == "No iteration gained anything."
    assert found.learning == (
        "More iterations alone do not help: change the approach, or make the task smaller."
    )


def test_without_a_new_best_lately_a_pace_says_nothing() -> None:
    slow = Worked(40), Worked(40), Worked(40)
    assert only(state_of(*slow), "limit_reached").learning.startswith("More iterations alone")
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
    assert "make the task smaller" in only(state, "limit_reached").learning


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


def test_an_attempt_that_ends_before_it_was_measured_is_reflected_on_too() -> None:
    found = only(state_of(), "failed")
    assert found.observation == (
        "The attempt failed after 0s, before anything was measured; completion stayed at 0 %."
    )
    assert found.learning == (
        "Nothing was tried yet: fix what kept it from working, then start again."
    )


def test_an_interrupted_attempt_is_not_called_a_wrong_approach() -> None:
    assert only(state_of(Worked(0), Worked(30)), "interrupted").learning == (
        "It was stopped before it could show more: continue from where it was."
    )


def test_a_grown_total_is_no_loss_of_the_iteration() -> None:
    state = state_of(Worked(50), Worked(20, grew=True), Worked(40))
    found = only(state, "failed")
    assert "lost" not in found.learning
    assert "gained nothing" not in found.analysis


@each_row("outcome", ["limit_reached", "aborted", "failed", "interrupted"])
def test_only_what_the_tests_prove_is_learned_from_an_attempt_that_did_not_complete(
    outcome: Outcome,
) -> None:
    def items(*worked: Worked) -> list[str]:
        return [
            one for one in only(state_of(*worked), outcome).action_items if "Start with" not in one
        ]

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
    (worked, _) = reflect(state_of(many, Worked(100)), "completed")
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
    assert len(found) == (2 if outcome == "completed" else 1)
    assert found == reflect(state, outcome)
    for one in found:
        for text in (one.observation, one.analysis, one.learning):
            assert text[0].isupper() or text[0].isdigit()
            assert text[-1] in ".!?:…"
        assert one.attempt == 2
