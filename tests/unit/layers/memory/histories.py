"""Runs as states: iterations with their results, reports and actions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ralph_tui import events as ev
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.events.workspace import CategoryTotal, FileChange
from ralph_tui.state import RunState

BEGAN = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
MINUTES = 3


def files(iteration: int, *paths: str) -> ev.FilesChanged:
    """Files changed by its session."""
    return ev.FilesChanged(
        iteration=iteration,
        live=False,
        totals=[CategoryTotal(category="source", files=len(paths))],
        changes=[FileChange(path=path, status="modified", category="source") for path in paths],
    )


@dataclass(frozen=True)
class Worked:
    """One iteration."""

    points: float
    summary: str = ""
    blockers: Sequence[str] = ()
    learnings: Sequence[str] = ()
    tools: Sequence[str] = ()
    ended: SessionOutcome = "success"
    reason: str = ""
    grew: bool = False
    gate_error: str = ""
    timed_out: bool = False
    failing: Sequence[str] = ()
    before: Sequence[ev.Event] = field(default=())
    """Recorded before its session."""
    after: Sequence[ev.Event] = field(default=())
    """Recorded after its measurement."""
    tests: int = 100
    """Events counted after it."""


def events_of(*iterations: Worked, objective: str, baseline: float = 0.0) -> list[ev.Event]:
    """Each iteration takes `MINUTES`."""
    events: list[ev.Event] = [
        ev.RunStarted(
            run_id="r",
            task="task-001",
            attempt="002",
            root="/r",
            objective=objective,
            command="pytest -q",
            agent="fake",
            max_iterations=10,
            session_timeout_s=60,
        ),
        ev.ReadingTaken(iteration=0, completion=baseline, source="tests"),
    ]
    stamped = [event.model_copy(update={"at": BEGAN}) for event in events]
    for k, one in enumerate(iterations, 1):
        at = BEGAN + timedelta(minutes=MINUTES * k)
        stamped += [event.model_copy(update={"at": at}) for event in _iteration(k, one)]
    return [event.model_copy(update={"seq": seq}) for seq, event in enumerate(stamped, 1)]


def state_of(
    *iterations: Worked, objective: str = "Fix the failing tests", baseline: float = 0.0
) -> RunState:
    """The run up to that point."""
    return RunState().apply_all(events_of(*iterations, objective=objective, baseline=baseline))


def _iteration(k: int, one: Worked) -> list[ev.Event]:
    said = [one.summary, *one.blockers, *one.learnings]
    report = ev.AgentReported(
        iteration=k, summary=one.summary, blockers=list(one.blockers), learnings=list(one.learnings)
    )
    return [
        ev.IterationStarted(iteration=k, max_iterations=10),
        *one.before,
        ev.SessionStarted(iteration=k, session_id=f"s{k}", agent="fake"),
        *(
            ev.ToolStarted(iteration=k, tool_id=f"{k}.{number}", tool=tool)
            for number, tool in enumerate(one.tools)
        ),
        *([report] if any(said) else []),
        ev.SessionFinished(iteration=k, outcome=one.ended, reason=one.reason),
        ev.GateFinished(
            iteration=k,
            ok=one.points >= 100,
            error=one.gate_error,
            timed_out=one.timed_out,
            passed=one.tests - (failed := len(one.failing) or one.tests - round(one.points)),
            failed=failed,
            failing=list(one.failing),
        ),
        ev.ReadingTaken(iteration=k, completion=one.points, source="tests", grew=one.grew),
        *one.after,
        ev.IterationFinished(iteration=k, status="incomplete", completion=one.points),
    ]
