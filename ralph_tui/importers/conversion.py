"""Convert a foreign run to the events that ralph-tui's own loop would have recorded, in its order.

Readers of all forms fill in a `RunContent`. Values that were not recorded stay None or empty. Times
never decrease: an event with an unknown or earlier time gets that of the event before it.

Control, alarms and checks are our governor's results for the measurements. As in the lab, redirects
count as approved and pauses as continued, because no user was asked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Literal

from ralph_tui import events as ev
from ralph_tui.adapters.records.journal import Recording
from ralph_tui.events.base import EPOCH
from ralph_tui.events.run import IterationStatus, Outcome
from ralph_tui.events.workspace import FileChange
from ralph_tui.importers.printed import Printed, Timed
from ralph_tui.importers.records import TOOL, ImportedRun, RunFiles
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.oversight import Finding, health_check, health_of, recommendations
from ralph_tui.layers.sensor import AgentReport
from ralph_tui.layers.sensor.categories import files_changed
from ralph_tui.state import RunState
from ralph_tui.state.ending import ended
from ralph_tui.text.format import all_used, count

NoteLevel = Literal["log", "warn", "error"]
Checkpoint = tuple[ev.CheckpointCaptured, datetime | None]
"""Numbered like its file; its iteration is set later."""
_WHOLE_SECOND = timedelta(seconds=1)
_STALE = timedelta(days=1)
"""Ignore times that are this much later than the run's last update."""
_OF_LIMITS = ("budget", "pace")


@dataclass
class IterationContent:
    """One iteration. Files are relative to the run's folder; empty for no file."""

    number: int
    status: IterationStatus = "incomplete"
    read: bool = True
    """True if the tool took a measurement; a crashed iteration has none, not even a repeat."""
    completion: float | None = None
    """In percent; None if the previous measurement still applies."""
    reading_note: str = ""
    report: AgentReport | None = None
    prompt: str = ""
    system_context: str = ""
    output: str = ""
    """File with its session's output."""
    printed: Printed | None = None
    """The events in that output; None without an output."""
    session_id: str = ""
    duration_s: float | None = None
    tokens: int = 0
    """Used if no session reports them."""
    cost_usd: float | None = None
    tool_calls: int = 0
    tool_errors: int = 0
    opened: datetime | None = None
    """When the tool began to prepare it."""
    started: datetime | None = None
    """When its session began."""
    ended: datetime | None = None
    """When its session ended."""
    closed: datetime | None = None
    """When the tool finished it."""
    changes: list[FileChange] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    before: list[Timed] = field(default_factory=list)
    """Verdicts of the tool's own layers before its session."""
    after: list[Timed] = field(default_factory=list)
    """Verdicts of the tool's own layers about its result."""
    notes: list[Timed] = field(default_factory=list)

    @property
    def lasted_s(self) -> float:
        """Its duration, recorded or from its times; 0 if unknown."""
        if self.duration_s is None and self.started is not None and self.ended is not None:
            return (self.ended - self.started).total_seconds()
        return self.duration_s or 0.0


@dataclass
class RunContent:
    """A whole run."""

    start: ev.RunStarted
    """Its `max_iterations` is 0 if no limit was recorded."""
    started: datetime | None = None
    updated: datetime | None = None
    """Time of the last record; with an outcome, the time of its end."""
    outcome: Outcome | None = None
    """None if no end was recorded."""
    reason: str = ""
    iterations: list[IterationContent] = field(default_factory=list)
    notes: list[Timed] = field(default_factory=list)
    """Notes for its beginning."""
    afterwards: list[Timed] = field(default_factory=list)
    """Events for its end: learnings, and verdicts about the whole run."""


def started_as(run: ImportedRun, **known: Any) -> ev.RunStarted:
    """Return the run's first event; `known` are its known fields."""
    task, _, attempt = run.name.partition("/")
    unknown = {"root": "", "agent": "claude", "max_iterations": 0, "session_timeout_s": 0.0}
    return ev.RunStarted(
        run_id=run.run_id,
        task=task,
        attempt=attempt,
        imported=run.imported,
        permissions="",
        **{**unknown, **known},
    )


def note(text: str, level: NoteLevel = "warn", at: datetime | None = None) -> Timed:
    """Return a log line about an incident or an unusable file."""
    return ev.Noticed(level=level, source=TOOL, text=text), at


def recording_of(run: ImportedRun, told: RunContent, files: RunFiles) -> Recording:
    """Return the whole run, with the notes of `files`."""
    events = _EventMaker(told, files).events()
    bad = len(files.notes) + files.unnamed
    problem = f"{count(bad, 'file')} of this run cannot be used: the log names them" if bad else ""
    size = files.size(str(run.path.relative_to(run.folder)))
    return Recording(run.path, events, problem, size=size, records_root=run.folder)


class _EventMaker:
    """Makes the events one after the other, and folds each."""

    def __init__(self, told: RunContent, files: RunFiles) -> None:
        self._told = told
        self._files = files
        self._state = RunState()
        self._governor = Governor()
        self._events: list[ev.Event] = []
        self._at = _began(told)
        self._latest = told.updated + _STALE if told.updated else None

    def events(self) -> list[ev.Event]:
        """Return all events, with numbers and times."""
        told = self._told
        most = told.start.max_iterations or len(told.iterations)
        self._add(told.start.model_copy(update={"max_iterations": most}))
        for sentence in self._files.notes:
            self._add(*note(sentence))
        if self._files.unnamed:
            more = count(self._files.unnamed, "further file")
            self._add(*note(f"{more} cannot be used"))
        self._add_all(told.notes)
        if not told.iterations:
            self._add(*note("no iteration was recorded", "log"))
        for iteration in told.iterations:
            self._iteration(iteration)
        last = told.iterations[-1].number if told.iterations else 0
        self._add_all(told.afterwards, last)
        if told.outcome is not None:
            self._add(self._finished(told.outcome), told.updated)
        return self._events

    def _add(self, event: ev.Event, at: datetime | None = None) -> None:
        if at is not None and (self._latest is None or at <= self._latest):
            self._at = max(self._at, at)
        stamped = event.model_copy(update={"seq": len(self._events) + 1, "at": self._at})
        self._events.append(stamped)
        self._state.apply(stamped)

    def _add_all(self, events: Iterable[Timed], iteration: int | None = None) -> None:
        """Add events; `iteration` is set in events that lack it."""
        for event, at in events:
            known = {} if iteration is None else {"iteration": iteration}
            self._add(event.model_copy(update=known) if known else event, at)

    def _iteration(self, told: IterationContent) -> None:
        k, most = told.number, self._state.run.max_iterations
        self._add(
            ev.IterationStarted(iteration=k, max_iterations=most), told.opened or told.started
        )
        self._add_all(_in_order(told.before), k)
        if told.prompt:
            self._add(
                ev.PromptPrepared(
                    iteration=k,
                    path=told.prompt,
                    characters=self._files.size(told.prompt),
                    system_context=told.system_context,
                )
            )
        self._add_all(_session(told, self._told.start.agent))
        if told.changes:
            self._add(files_changed(k, told.changes, live=False), told.ended)
        if told.report is not None:
            self._add(told.report.event(k), told.ended)
        if told.read:
            self._add(self._reading(told), told.ended)
            for event in self._recomputed(k):
                self._add(event)
        self._add_all(_in_order(told.after), k)
        self._add_all(told.notes)
        self._add(self._iteration_finished(told), told.closed or told.ended)

    def _reading(self, told: IterationContent) -> ev.ReadingTaken:
        points = self._state.run.completion or 0.0 if told.completion is None else told.completion
        return ev.ReadingTaken(
            iteration=told.number,
            completion=points,
            source="agent",
            held=told.completion is None,
            note=told.reading_note,
        )

    def _recomputed(self, k: int) -> list[ev.Event]:
        """Return our governor's events for the last measurement.

        Leave out alarms about limits if the run's maximum iterations are unknown.
        """
        evaluated = self._governor.read(self._state)
        evaluation, finding = evaluated.evaluation, evaluated.finding
        limited = self._told.start.max_iterations > 0
        alarms: list[ev.AlarmCleared | ev.AlarmRaised] = [*evaluation.cleared, *evaluation.raised]
        known = [one for one in alarms if limited or one.alarm != "BUDGET_EXCEEDED"]
        if finding is None:
            return [evaluation.signal, *known]
        if finding.opened:
            self._governor.answered(approved=True)
        return [evaluation.signal, *known, *_found(k, finding if limited else _unlimited(finding))]

    def _iteration_finished(self, told: IterationContent) -> ev.IterationFinished:
        run = self._state.run
        heard = told.printed is not None
        known = heard and run.iteration_cost_known
        return ev.IterationFinished(
            iteration=told.number,
            status=told.status,
            completion=run.completion or 0.0,
            duration_s=told.lasted_s,
            cost_usd=run.iteration_cost_usd if known else told.cost_usd,
            tokens=run.iteration_tokens if heard else told.tokens,
            tool_calls=run.iteration_tool_calls if heard else told.tool_calls,
            tool_errors=run.iteration_tool_errors if heard else told.tool_errors,
            files=len(told.changes),
            added=sum(change.added for change in told.changes),
            removed=sum(change.removed for change in told.changes),
        )

    def _finished(self, outcome: Outcome) -> ev.RunFinished:
        told, run = self._told, self._state.run
        reason = told.reason or f"{TOOL} recorded it as {outcome.replace('_', ' ')}"
        if outcome == "limit_reached" and not told.reason and run.iteration >= run.max_iterations:
            reason = all_used(run.iteration)
        return ended(run, outcome, reason, max(self._events[0].at, told.updated or self._at))


def _began(told: RunContent) -> datetime:
    """Return the run's start, or the first iteration's start if that is earlier."""
    first = next((i.started for i in told.iterations if i.started is not None), None)
    if told.started is not None and (first is None or told.started <= first + _WHOLE_SECOND):
        return told.started
    return first or told.updated or EPOCH


def _in_order(said: list[Timed]) -> list[Timed]:
    """Sort by time; events without a time come first."""
    return sorted(said, key=lambda one: one[1] or EPOCH)


def _unlimited(finding: Finding) -> Finding:
    """Return the finding without situations and detections about limits."""
    return replace(
        finding,
        situations=tuple(one for one in finding.situations if one.about not in _OF_LIMITS),
        detections=tuple(one for one in finding.detections if one.name not in _OF_LIMITS),
    )


def _found(iteration: int, finding: Finding) -> Iterator[ev.Event]:
    if finding.situations:
        acts, *others = finding.situations
        yield ev.InterventionMade(
            iteration=iteration,
            level=acts.level,
            about=acts.about,
            reason=acts.reason,
            others=[f"{other.level}: {other.reason}" for other in others],
            recommendations=list(recommendations(acts.about)),
        )
    yield health_check(iteration, health_of(finding), finding)


def _session(told: IterationContent, agent: str) -> list[Timed]:
    """Return a session's start, events, checkpoints and end; without one, only checkpoints."""
    printed, end = told.printed, told.ended
    moments = _moments(told)
    if printed is None:
        return moments
    late = [one for one in moments if end is not None and one[1] is not None and one[1] > end]
    late = late or (moments[-1:] if len(moments) > 1 and told.read else [])
    inside = [one for one in moments if one not in late] + _timed(printed, told.started, end)
    started = ev.SessionStarted(
        iteration=told.number,
        session_id=told.session_id or printed.session_id,
        agent=agent,
        transcript=told.output,
        tells_tools=not printed.plain,
        tells_context=not printed.plain,
    )
    return [
        (started, told.started),
        *_in_order([one for one in inside if one[1] is not None]),
        *(one for one in inside if one[1] is None),
        (_session_finished(told, printed), end),
        *late,
    ]


def _session_finished(told: IterationContent, printed: Printed) -> ev.Event:
    known: dict[str, object] = {"duration_s": told.lasted_s}
    if printed.plain:  # it does not say how it ended, and the exit code after a signal is 0 too
        cut = told.completion is None
        known |= {
            "outcome": "crashed" if cut else "success",
            "reason": "The agent's process was ended without a result." if cut else "",
            "limit": None,
            "resets_at": None,
        }
    return printed.finished.model_copy(update=known)


def _timed(printed: Printed, started: datetime | None, end: datetime | None) -> list[Timed]:
    """Return events with times; without any known time, spread them evenly over the session."""
    events = printed.events
    if any(at is not None for _, at in events):
        return list(_between_seconds(events, started, end))
    if started is None or end is None:
        return events
    part = (end - started) / (len(events) + 1)
    return [(event, started + (index + 1) * part) for index, (event, _) in enumerate(events)]


def _between_seconds(
    events: list[Timed], started: datetime | None, end: datetime | None
) -> Iterator[Timed]:
    """Spread events within the same second evenly, because transcripts have whole seconds."""
    finer = any(at and at.microsecond for _, at in events)
    latest = started
    known: list[Timed] = []
    for event, at in events:
        latest = max(filter(None, (latest, at)), default=None)
        known.append((event, latest))
    for latest, group in groupby(known, key=lambda one: one[1]):
        same = list(group)
        if latest is None or end is None or finer:
            yield from same
            continue
        second = latest.replace(microsecond=0) + _WHOLE_SECOND
        part = max(timedelta(0), min(second, end) - latest) / (len(same) + 1)
        yield from ((event, latest + index * part) for index, (event, _) in enumerate(same, 1))


def _moments(told: IterationContent) -> list[Timed]:
    """Return the checkpoints, numbered within the iteration."""
    found: list[Timed] = []
    for number, (event, at) in enumerate(told.checkpoints, 1):
        ends = number == len(told.checkpoints) and number > 1 and told.read
        trigger = "end" if ends else "timer" if number > 1 else "start"
        known = {"iteration": told.number, "number": number, "trigger": trigger}
        found.append((event.model_copy(update=known), at))
    return found
