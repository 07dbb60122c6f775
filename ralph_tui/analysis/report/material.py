"""Material for a report: the folded state, and the few facts that the folds do not keep."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ralph_tui import events as ev
from ralph_tui.analysis.report.requests import Request, requests
from ralph_tui.events.workspace import FileChange
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import money

WAITING, UNANSWERED = "waiting for an answer", "not answered"
_PAUSE, _SERVICE = "pause", "service"


def waited(events: Sequence[ev.Event], until: datetime | None = None) -> dict[int, float]:
    """Return seconds waited by iteration (0: before the first); omits iterations without waits.

    A wait that is open lasts until `until`, by default the last event. Overlapping waits count
    once. A question about silence is not a wait: its session continues.
    """
    found: defaultdict[int, float] = defaultdict(float)
    waits: frozenset[str] = frozenset()
    iteration, since, last = 0, events[0].at, events[0].at
    for event in events:
        now = _after(event, waits)
        # A wait that a kill cut off lasted as long as the run lived.
        at = max(last, lived_until(event)) if isinstance(event, ev.RunResumed) else event.at
        if now and not waits:
            since = at
        if waits and not now:
            found[iteration] += max(0.0, (at - since).total_seconds())
        if isinstance(event, ev.IterationStarted):
            iteration = event.iteration
        waits, last = now, event.at
    if waits:
        found[iteration] += max(0.0, ((until or last) - since).total_seconds())
    return dict(found)


def lived_until(resumed: ev.RunResumed) -> datetime:
    """Return the last time at which the run is known to have worked before this resume."""
    return resumed.at - timedelta(seconds=resumed.away_s)


def _after(event: ev.Event, waits: frozenset[str]) -> frozenset[str]:
    """Return the open waits after this event, given those before it."""
    match event:
        case ev.QuestionAsked() if event.topic != "silence":
            return waits | {event.question_id}
        case ev.QuestionAnswered() | ev.QuestionWithdrawn():
            return waits - {event.question_id}
        case ev.Paused():
            return waits | {_PAUSE}
        case ev.Unpaused():
            return waits - {_PAUSE}
        case ev.WaitStarted():
            return waits | {_SERVICE}
        case ev.WaitEnded():
            return waits - {_SERVICE}
        case ev.IterationStarted() | ev.RunFinished() | ev.RunCrashed() | ev.RunResumed():
            return frozenset()
    return waits


@dataclass
class Material:
    """A folded run, with further facts for its report."""

    started: ev.RunStarted
    state: RunState = field(default_factory=RunState)
    alarms: list[ev.AlarmRaised] = field(default_factory=list)
    redirects: list[ev.RedirectDecided] = field(default_factory=list)
    resumed: list[ev.RunResumed] = field(default_factory=list)
    waits: list[tuple[ev.WaitStarted, ev.WaitEnded | None]] = field(default_factory=list)
    alive: bool = False
    """True if a process is still working on the run."""
    copied: bool = False
    """True if the record is not in a worktree."""
    asked: Sequence[Request] = ()
    """The agent's questions and their answers."""
    learnings: dict[str, int] = field(default_factory=dict)
    """Learnings that the agent reported, each with the first iteration that reported it."""
    around_context: list[ev.ContextCompacted | ev.WorkCommitted] = field(default_factory=list)
    """Compactions of the context, and commits of sessions that handed off."""
    estimated: set[int] = field(default_factory=set)
    """Iterations whose cost is an estimate."""
    blockers: dict[str, list[int]] = field(default_factory=dict)
    """Blockers that the agent reported, each with the iterations that reported it."""
    measured: list[tuple[int, str]] = field(default_factory=list)
    """Warnings of the sensor, each with its iteration."""
    measured_rows: set[int] = field(default_factory=set)
    """Sequence numbers of the events with these warnings."""
    waited: dict[int, float] = field(default_factory=dict)
    """Seconds spent waiting, by iteration."""
    now: datetime | None = None
    """The time of the report; None: the time of the last event."""
    changes: Sequence[FileChange] | None = None
    """Net changes between the first and the last snapshot; None if unknown."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Event kinds from a newer version, with their counts."""

    @classmethod
    def of(cls, events: Sequence[ev.Event], now: datetime | None = None) -> "Material":
        """Fold a whole journal, which must begin with ``run_started``, as of `now`."""
        first = events[0]
        assert isinstance(first, ev.RunStarted), "a journal begins with run_started"
        now = max(events[-1].at, now or events[-1].at)
        material = cls(first, waited=waited(events, now), asked=requests(events), now=now)
        for event in events:
            material.state.apply(event)
            material._take(event)
            if isinstance(event, ev.Noticed) and (event.level, event.source) == ("warn", "sensor"):
                material.measured.append((material.state.run.iteration, event.text))
                material.measured_rows.add(event.seq)
        return material

    def _take(self, event: ev.Event) -> None:
        match event:
            case ev.AlarmRaised():
                self.alarms.append(event)
            case ev.RedirectDecided():
                self.redirects.append(event)
            case ev.ContextCompacted() | ev.WorkCommitted():
                self.around_context.append(event)
            case ev.RunResumed():
                self.resumed.append(event)
            case ev.AgentReported():
                for learning in event.learnings:
                    self.learnings.setdefault(learning, event.iteration)
                for blocker in event.blockers:
                    said = self.blockers.setdefault(blocker, [])
                    said += [event.iteration] if event.iteration not in said else []
            case ev.WaitStarted():
                self.waits.append((event, None))
            case ev.WaitEnded() if self.waits:
                self.waits[-1] = (self.waits[-1][0], event)
            case ev.UsageReported() if event.cost_usd is not None:
                change = self.estimated.add if event.cost_estimated else self.estimated.discard
                change(event.iteration)
            case ev.SessionFinished() if event.cost_usd is not None:
                self.estimated.discard(event.iteration)
            case ev.UnknownEvent():
                self.unknown[event.kind] += 1

    @property
    def at(self) -> datetime:
        """The time that the report describes."""
        return self.now or self.state.at

    @property
    def seconds(self) -> float:
        """Seconds from the first event to the end; without an end, to `at`."""
        return self.state.run.worked_s(self.at)

    @property
    def reports_tools(self) -> bool:
        """True if the agent reports its tool calls."""
        return self.state.agent.tool_calls > 0

    @property
    def began_at(self) -> str:
        """Start of the run, in UTC."""
        return moment(self.started.at)

    @property
    def ended_at(self) -> str:
        """End of the run, in UTC; without an end, `at`."""
        return moment(self.state.run.ended_at or self.at)

    def is_estimated(self, span: IterationSpan) -> bool:
        """Return True if the iteration's cost is an estimate or a lower bound."""
        return span.number in self.estimated or span.cost_estimated

    def cost(self, usd: float | None, *, known: bool = True, estimated: bool = False) -> str:
        """Return dollars, with ``≈`` for an estimate."""
        known = known and usd is not None
        return money(usd or 0.0, known=known, estimated=estimated, exact=True).replace("~", "≈ ")


def moment(at: datetime) -> str:
    """Format a time, as ``2026-11-20 14:02 UTC``."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
