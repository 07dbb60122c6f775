"""Layers 1 and 4 as one fold over a run's state."""

import pytest

from ralph_tui import events as ev
from ralph_tui.analysis.lab import recompute
from ralph_tui.events.workspace import CategoryTotal, FileChange
from ralph_tui.layers.control.history import Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.inputs import budget_of, evidence_of
from ralph_tui.layers.oversight import Oversight, OversightSettings
from ralph_tui.layers.settings import ControlSettings
from ralph_tui.state import RunState

START = ev.RunStarted(
    run_id="r",
    root="/r",
    objective="Fix the parser and the lexer",
    agent="fake",
    max_iterations=10,
    session_timeout_s=60,
    budget_usd=4.0,
)
FILES = ev.FilesChanged(
    iteration=1,
    live=False,
    totals=[CategoryTotal(category="source", files=1)],
    changes=[FileChange(path="src/parser.py", status="modified", category="source")],
)


def state_of(*events: ev.Event) -> RunState:
    return RunState().apply_all(
        [START, ev.IterationStarted(iteration=1, max_iterations=10), *events]
    )


def session(outcome: str = "success", **fields: object) -> ev.SessionFinished:
    return ev.SessionFinished.model_validate({"iteration": 1, "outcome": outcome, **fields})


def test_evidence_is_what_the_journal_says_of_the_iteration() -> None:
    evidence = evidence_of(
        state_of(
            ev.AgentReported(
                iteration=1, summary="did it", next="lexer", blockers=["none"], learnings=["tokens"]
            ),
            session(tool_calls=7),
            FILES,
            ev.GateFinished(iteration=1, ok=False, failing=["test_lexer"]),
            ev.ConflictsFound(iteration=1, paths=["a.py"]),
        )
    )
    assert evidence.objective == START.objective
    assert evidence.changed == ("src/parser.py",)
    assert evidence.failing == ("test_lexer",)
    assert evidence.words.split() == ["did", "it", "lexer", "none", "tokens"]
    assert evidence.actions == 7
    assert evidence.conflicts == ("a.py",)
    assert evidence.error == ""


def test_what_an_agent_without_tool_events_did_counts_as_actions() -> None:
    silent = ev.SessionStarted(iteration=1, session_id="s", agent="command", tells_tools=False)
    again = ev.IterationStarted(iteration=2, max_iterations=10)
    assert evidence_of(state_of(silent, session(), FILES)).actions == 2
    assert evidence_of(state_of(silent, session(), FILES, silent, session(), FILES)).actions == 3
    assert evidence_of(state_of(silent, session(), FILES, again)).actions == 0
    reporting = silent.model_copy(update={"tells_tools": True})
    assert evidence_of(state_of(reporting, session(tool_calls=7), FILES)).actions == 7


def test_they_burn_resources_too_live_and_in_the_lab() -> None:
    """100 iterations of ten sessions each that only ever touch one file."""
    silent = ev.SessionStarted(iteration=1, session_id="s", agent="command", tells_tools=False)
    sessions = [event for _ in range(10) for event in (silent, session())]
    signal = Governor(10).take(Sample(1, 10), Budget(200)).evaluation.signal
    events: list[ev.Event] = [START, ev.ReadingTaken(iteration=0, completion=10, source="tests")]
    for k in range(1, 102):
        events.append(ev.IterationStarted(iteration=k, max_iterations=200))
        events += [event.model_copy(update={"iteration": k}) for event in sessions]
        events.append(ev.ReadingTaken(iteration=k, completion=10, source="tests"))
        events.append(signal.model_copy(update={"iteration": k}))
    governor, state = Governor(0), RunState()
    burnt = []
    for event in events:
        evaluated = governor.recall(event, state)
        state.apply(event)
        if evaluated and evaluated.finding:
            burnt.append("resource_burn" in {one.name for one in evaluated.finding.detections})
    assert burnt.index(True) == 99
    rows = [compared.row for compared in recompute(events)]
    assert ["resource_burn" in row.detections for row in rows] == burnt


def test_only_a_session_that_failed_and_changed_nothing_is_an_error() -> None:
    failed = session("error", reason="no such model")
    assert evidence_of(state_of(failed)).error == "no such model"
    assert evidence_of(state_of(failed, FILES)).error == ""
    assert evidence_of(state_of(session("limited", reason="later"))).error == ""
    assert evidence_of(state_of()).error == ""


def test_that_no_file_was_changed_has_to_be_known() -> None:
    none = ev.FilesChanged(iteration=1, live=False, totals=[])
    assert evidence_of(state_of(session(), none)).unchanged
    assert not evidence_of(state_of(session(), FILES)).unchanged
    assert not evidence_of(state_of(session())).unchanged
    live, unknown = (
        none.model_copy(update=fields) for fields in ({"live": True}, {"unknown": True})
    )
    assert not evidence_of(state_of(session(), live)).unchanged
    assert not evidence_of(state_of(session(), unknown)).unchanged
    again = ev.IterationStarted(iteration=2, max_iterations=10)
    assert not evidence_of(state_of(session(), none, again)).unchanged


def test_an_output_of_the_completion_command_is_that_of_this_iteration() -> None:
    def said(iteration: int, **fields: object) -> str:
        given = {"iteration": iteration, "ok": False, "exit_code": 1, "tail": "1 failed in 0.1s"}
        return evidence_of(state_of(ev.GateFinished.model_validate(given | fields))).output

    assert said(0) == ""
    assert said(1) == said(1, tail="1 failed in 7.25s", duration_s=7.25)
    assert len({said(1), said(1, passed=2), said(1, failing=["a"]), said(1, tail="x")}) == 4


def test_the_budget_is_the_limits_as_they_stand() -> None:
    assert budget_of(state_of(session(cost_usd=1.0))) == Budget(10, None, 0.25)
    more = ev.LimitsChanged(max_iterations=20, budget_usd=8.0)
    assert budget_of(state_of(session(cost_usd=1.0), more)) == Budget(20, None, 0.125)


def test_a_step_after_a_rollback_counts_for_nothing() -> None:
    fell = ev.ReadingTaken(iteration=2, completion=10, source="tests")
    back = ev.WorktreeRestored(iteration=1, snapshot=1, present=2, tree="t")
    first = ev.ReadingTaken(iteration=1, completion=80, source="tests")
    for events, velocity in (([first, fell], -0.7), ([first, back, fell], 0.0)):
        governor, state = Governor(80), RunState()
        for event in [START, *events]:
            state.apply(event)
            if isinstance(event, ev.ReadingTaken):
                signal = governor.read(state).evaluation.signal
        assert abs(signal.velocity - velocity / 2) < 1e-9


def test_it_begins_anew_and_keeps_its_settings() -> None:
    governor = Governor(0.0, ControlSettings(patience=2), OversightSettings(enabled=False))
    answer = governor.take(Sample(1, 10), Budget(10))
    assert answer.finding is None
    governor.begin(40)
    assert (governor.history.reading, governor.memory) == (40, Oversight())
    assert governor.control.patience == 2


def test_a_redirect_is_undecided_until_it_is_answered() -> None:
    governor = Governor(50)
    for k in range(1, 4):
        assert not governor.undecided
        governor.take(Sample(k, 50), Budget(20))
    assert governor.undecided
    governor.answered(approved=False)
    assert not governor.undecided


def test_a_learning_that_was_said_before_is_no_news() -> None:
    governor, state, loads = Governor(), RunState().apply_all([START]), list[float]()
    said = [["Run one test first.", "tokens"], ["run  ONE test first", "trees"], []]
    for k, learnings in enumerate(said, 1):
        blockers = ["no network"] if k % 2 else []
        state.apply(ev.IterationStarted(iteration=k, max_iterations=10))
        state.apply(ev.AgentReported(iteration=k, learnings=learnings, blockers=blockers))
        state.apply(ev.ReadingTaken(iteration=k, completion=10.0 * k, source="tests"))
        loads.append(governor.read(state).evaluation.signal.issue_load)
    assert loads == pytest.approx([3, 0.9 * 3 + 1, 0.9 * 3.7 + 1])
