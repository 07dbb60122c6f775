"""Reflections on an attempt: from measurements, in sentences for a stranger."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.events.run import Outcome
from ralph_tui.layers.memory.reflection import reflect
from ralph_tui.layers.settings import ReflectOn
from ralph_tui.state import RunState
from tests.rows import each_row
from tests.unit.layers.memory.histories import Worked, events_of, files, state_of

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
    (worked,) = reflect(state, "completed")
    assert worked == ev.ReflectionWritten(
        attempt=2,
        observation="The task was completed after 5 iterations and 15m; "
        "completion went from 0 % to 100 %.",
        analysis="Iteration 4 gained 56 points, with changes in src/lexer.py. "
        "Iteration 5 gained 40 points. "
        "Iteration 1 gained 10 points, with changes in src/lexer.py.",
        learning="Iteration 4 gained the most, with changes in src/lexer.py: start there next "
        "time.",
        action_items=[],
        triggered_by="success",
        reflection_type="success-pattern",
    )


@pytest.mark.parametrize(
    ("outcome", "last", "ends"),
    [
        ("completed", 100, {"success": "success-pattern", "completion": "process-improvement"}),
        ("limit_reached", 60, {"timeout": "process-improvement"}),
        ("aborted", 60, {"failure": "error-analysis"}),
    ],
)
def test_a_reflection_is_written_for_the_ends_that_are_set(
    outcome: Outcome, last: float, ends: dict[ReflectOn, str]
) -> None:
    idle = Worked(0, before=[files(1, "a.py")], failing=["test_x"])
    state = state_of(idle, idle, Worked(last, before=[files(3, "src/lexer.py")]))
    assert [one.reflection_type for one in reflect(state, outcome)] == [*ends.values()]
    for end, written in ends.items():
        assert [one.reflection_type for one in reflect(state, outcome, [end])] == [written]
    assert reflect(state, outcome, set(get_args(ReflectOn)) - ends.keys()) == []


def test_what_the_agent_says_to_have_learned_is_told_as_a_learning_alone() -> None:
    # As a learning it can be muted, deleted and unlearned; in a reflection it would always return.
    lesson = reflect(state_of(*WORK, Worked(100, learnings=["Run one test first"])), "completed")
    assert not [one for one in lesson if "Run one test first" in one.model_dump_json()]


def test_a_smooth_success_of_unknown_files_teaches_nothing() -> None:
    assert reflect(state_of(Worked(50), Worked(100)), "completed") == []


def test_what_iterations_without_a_gain_had_in_common_is_learned() -> None:
    def learned(*idle: Worked) -> str:
        (process,) = reflect(state_of(*idle, Worked(100)), "completed")
        return process.learning

    one = Worked(0, before=[files(1, "a.py", "b.py")], failing=["test_x", "test_y"])
    two = Worked(0, before=[files(2, "c.py", "a.py")], failing=["test_x"])
    assert learned(one, two) == (
        "Iterations 1 and 2 gained nothing and changed a.py and left test_x failing."
    )
    assert learned(Worked(0, before=[files(1)])) == (
        "Iteration 1 gained nothing and changed no file."
    )
    stuck = Worked(0, blockers=["no network"])
    assert learned(stuck, stuck) == (
        "Iterations 1 and 2 gained nothing and were blocked by: no network."
    )
    apart = [Worked(0, before=[files(k, f"{k}.py")]) for k in (1, 2)]
    assert reflect(state_of(*apart, Worked(100)), "completed") == [], "no cause is known"
    assert only(state_of(*WORK), "limit_reached").learning.startswith("At its pace, it needed ")


def test_a_gain_after_an_iteration_that_was_cut_off_is_credited_to_no_file() -> None:
    work = (Worked(0, before=[files(1, "a.py")]), Worked(100, before=[files(2, "b.py")]))
    measured = (ev.ReadingTaken, ev.GateFinished)
    kept = [
        event
        for event in events_of(*work, objective="Fix it")
        if not (isinstance(event, measured) and event.iteration == 1)
    ]
    assert reflect(RunState().apply_all(kept), "completed") == []
    assert "b.py" in reflect(state_of(*work), "completed")[0].learning


def test_gains_are_not_compared_if_the_largest_has_an_unknown_cause() -> None:
    work = (Worked(25, before=[files(1, "a.py")]), Worked(25, before=[files(2, "a.py")]))
    later = (Worked(75, before=[files(3, "a.py")]), Worked(100, before=[files(4, "a.py")]))
    measured = (ev.ReadingTaken, ev.GateFinished)
    kept = [
        event
        for event in events_of(*work, *later, objective="Fix it")
        if not (isinstance(event, measured) and event.iteration == 2)
    ]
    assert reflect(RunState().apply_all(kept), "completed") == []


def test_an_obstacle_that_is_gone_is_part_of_why() -> None:
    work = (
        Worked(0, blockers=["no network"]),
        Worked(50, summary="It works.", before=[files(2, "a.py")]),
    )
    worked, _ = reflect(state_of(*work, Worked(100)), "completed")
    assert worked.analysis.endswith("An obstacle was gone by iteration 2: no network.")


def test_what_brought_the_most_is_one_only_where_it_did() -> None:
    def most(*readings: float) -> str:
        work = (Worked(one, before=[files(k, f"{k}.py")]) for k, one in enumerate(readings, 1))
        return reflect(state_of(*work), "completed")[0].learning

    sixths = [100 * n / 6 for n in range(1, 7)]
    alike = "All gains were about equal; they came from changes in 1.py, 2.py, 3.py and 3 more."
    assert most(*sixths) == alike
    assert most(40, 50, 90, 100) == (
        "Iterations 1 and 3 gained the most, with changes in 1.py and 3.py."
    )
    assert most(10, 100).startswith("Iteration 2 gained the most")


def test_a_gain_names_the_tests_that_it_fixed() -> None:
    start = Worked(10, blockers=["no network"], failing=["test_a", "test_b"])
    idle = Worked(10, failing=["test_a", "test_b"], before=[files(2, "src/lexer.py")])
    fixes = Worked(100, summary="It works.", failing=[], before=[files(3, "src/parser.py")])
    gained, process = reflect(state_of(start, idle, fixes), "completed")
    why = "Iteration 3 made test_a and test_b pass, with changes in src/parser.py."
    assert why in gained.analysis
    assert "An obstacle was gone by iteration 3: no network." in gained.analysis
    assert process.learning == (
        "Iteration 2 gained nothing and changed src/lexer.py and left test_a and test_b failing."
    )


def test_a_gain_is_that_of_the_readings_as_they_are_written() -> None:
    last = Worked(100, before=[files(3, "a.py")])
    reflection = reflect(state_of(Worked(100 / 6), Worked(100 / 3), last), "completed")[0]
    assert (
        "Iteration 3 gained 67 points, with changes in a.py. " in reflection.analysis
    )  # 33 to 100
    assert "Iteration 1 gained 17 points. Iteration 2 gained 16 points." in reflection.analysis


def test_a_redirect_that_helped_is_part_of_why() -> None:
    made = ev.InterventionMade(iteration=2, level="REDIRECT", about="stuck", reason="No rise.")
    effect = ev.EffectObserved(
        iteration=4, of=2, level="REDIRECT", about="stuck", decision="approved by you", points=60
    )
    state = state_of(
        Worked(0, before=[files(1)]),
        Worked(0, before=[files(2)], after=[made]),
        Worked(30),
        Worked(60, after=[effect]),
        Worked(100, before=[files(5, "a.py")]),
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
        "At its pace, it needed about 3 more iterations: allow more, or make the task smaller."
    )
    assert found.action_items == []
    assert (found.triggered_by, found.reflection_type) == ("timeout", "process-improvement")


@each_row(
    ("work", "more"),
    [
        ([Worked(100 * n / 30) for n in range(1, 6)], "about 25 more iterations"),
        ([Worked(20, grew=True), Worked(40)], "about 3 more iterations"),
    ],
)
def test_the_pace_is_that_of_its_own_gains_and_rounding_adds_nothing(
    work: list[Worked], more: str
) -> None:
    assert more in only(state_of(*work), "limit_reached").learning


def test_a_warning_of_an_earlier_limit_is_no_obstacle() -> None:
    used = "1 of 1 iteration is used, and completion is at 20 %."
    warned = ev.InterventionMade(iteration=1, level="WARN", about="budget", reason=used)
    assert (
        used not in only(state_of(Worked(20, after=[warned]), Worked(60)), "limit_reached").analysis
    )


def test_a_flat_run_is_told_what_its_iterations_had_in_common_or_nothing() -> None:
    assert reflect(state_of(Worked(0, tests=0), Worked(0, tests=0)), "limit_reached") == []
    same = Worked(0, before=[files(1, "a.py")], tests=0)
    found = only(state_of(same, same), "limit_reached")
    assert found.analysis == "No iteration gained anything."
    assert found.learning == "Iterations 1 and 2 gained nothing and changed a.py."


def test_without_a_new_best_lately_a_pace_says_nothing() -> None:
    slow = Worked(40), Worked(40), Worked(40)
    assert reflect(state_of(*slow), "limit_reached") == []
    assert "3 more iterations" in only(state_of(*slow[1:]), "limit_reached").learning


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
    assert found.learning == "The agent never started work: The login was refused."
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
    assert learning == "The agent failed immediately: boom."


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
        "Iteration 3 lost 6 points, with changes in src/parser.py and src/tokens.py."
    )
    assert (found.triggered_by, found.reflection_type) == ("failure", "error-analysis")


def test_an_attempt_of_which_nothing_is_known_teaches_nothing() -> None:
    assert reflect(state_of(), "failed") == []
    assert reflect(state_of(Worked(0), Worked(30)), "interrupted") == []


def test_a_first_session_that_was_cut_off_names_what_it_changed() -> None:
    state = state_of()
    begun = [ev.IterationStarted(iteration=1, max_iterations=10), files(1, "a.py", "b.py")]
    for seq, event in enumerate(begun, 900):
        state.apply(event.model_copy(update={"seq": seq, "at": state.at}))
    assert only(state, "interrupted").learning == (
        "The session of iteration 1 was cut off; its changes in a.py and b.py were not measured."
    )


def test_a_grown_total_is_no_loss_of_the_iteration() -> None:
    state = state_of(Worked(50), Worked(20, grew=True), Worked(40, blockers=["no network"]))
    assert reflect(state, "failed") == []


@each_row("outcome", ["limit_reached", "aborted", "failed", "interrupted"])
def test_only_what_the_tests_prove_is_learned_from_an_attempt_that_did_not_complete(
    outcome: Outcome,
) -> None:
    def items(*worked: Worked) -> list[str]:
        reflection = reflect(state_of(*worked), outcome)
        said = [text for one in reflection for text in (one.learning, *one.action_items)]
        return [text for text in said if "have passed" in text or "has passed" in text]

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
    (worked,) = reflect(state_of(many, Worked(100)), "completed")
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
        for text in filter(None, (one.observation, one.analysis, one.learning)):
            assert text[0].isupper() or text[0].isdigit()
            assert text[-1] in ".!?:…"
        assert one.attempt == 2
        assert one.learning
