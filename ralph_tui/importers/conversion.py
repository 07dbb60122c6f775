"""Convert a foreign run to the events ralph-tui's own loop would have recorded, in the same order.

The readers of all formats fill in a `RunContent`. Values that were not recorded stay None or empty.
Times never decrease: an event with an unknown or earlier time gets that of the event before it.

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
from ralph_tui.importers.output_reader import ParsedOutput, Timed
from ralph_tui.importers.records import TOOL, ImportedRun, RunFiles
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.oversight import Finding, health_check, health_of, recommendations
from ralph_tui.layers.sensor.agent_report import AgentReport
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
_LIMIT_SUBJECTS = ("budget", "pace")


@dataclass
class IterationContent:
    """One iteration. Paths are relative to the run's folder, or empty if there is no file."""

    number: int
    status: IterationStatus = "incomplete"
    read: bool = True
    """True if the tool took a measurement; a crashed iteration has none, not even an old one."""
    completion: float | None = None
    """In percent; None if the previous measurement still applies."""
    reading_note: str = ""
    report: AgentReport | None = None
    prompt: str = ""
    system_context: str = ""
    output: str = ""
    """File with its session's output."""
    parsed: ParsedOutput | None = None
    """The events in that output; None if there is no output."""
    session_id: str = ""
    duration_s: float | None = None
    tokens: int = 0
    """Token count, used if no session reports one."""
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
    def length_s(self) -> float:
        """Duration in seconds: as recorded, or else computed from its times; 0 if unknown."""
        if self.duration_s is None and self.started is not None and self.ended is not None:
            return (self.ended - self.started).total_seconds()
        return self.duration_s or 0.0


@dataclass
class RunContent:
    """A whole run."""

    start: ev.RunStarted
    """The start of the run; its `max_iterations` is 0 if no limit was recorded."""
    started: datetime | None = None
    updated: datetime | None = None
    """Time of the last record; with an outcome, the time of its end."""
    outcome: Outcome | None = None
    """None if no end was recorded."""
    reason: str = ""
    iterations: list[IterationContent] = field(default_factory=list)
    notes: list[Timed] = field(default_factory=list)
    """Notes to add at the beginning of the run."""
    afterwards: list[Timed] = field(default_factory=list)
    """Events to add at the end of the run: learnings, and verdicts about the whole run."""


def run_started(run: ImportedRun, **known: Any) -> ev.RunStarted:
    """Return the run's first event; `known` holds the fields whose values are known."""
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


def build_recording(run: ImportedRun, content: RunContent, files: RunFiles) -> Recording:
    """Return the whole run, including the notes in `files`."""
    events = _EventMaker(content, files).events()
    bad = len(files.notes) + files.unnamed
    problem = f"{count(bad, 'file')} of this run cannot be used: the log names them" if bad else ""
    size = files.size(str(run.path.relative_to(run.folder)))
    return Recording(run.path, events, problem, size=size, records_root=run.folder)


class _EventMaker:
    """Makes the run's events one by one, folding each into the run's state."""

    def __init__(self, content: RunContent, files: RunFiles) -> None:
        self._content = content
        self._files = files
        self._state = RunState()
        self._governor = Governor()
        self._events: list[ev.Event] = []
        self._at = _start_time(content)
        self._latest = content.updated + _STALE if content.updated else None

    def events(self) -> list[ev.Event]:
        """Return all events, with numbers and times."""
        content = self._content
        most = content.start.max_iterations or len(content.iterations)
        self._add(content.start.model_copy(update={"max_iterations": most}))
        for sentence in self._files.notes:
            self._add(*note(sentence))
        if self._files.unnamed:
            more = count(self._files.unnamed, "further file")
            self._add(*note(f"{more} cannot be used"))
        self._add_all(content.notes)
        if not content.iterations:
            self._add(*note("no iteration was recorded", "log"))
        for iteration in content.iterations:
            self._iteration(iteration)
        last = content.iterations[-1].number if content.iterations else 0
        self._add_all(content.afterwards, last)
        if content.outcome is not None:
            self._add(self._run_finished(content.outcome), content.updated)
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

    def _iteration(self, content: IterationContent) -> None:
        k, most = content.number, self._state.run.max_iterations
        self._add(
            ev.IterationStarted(iteration=k, max_iterations=most), content.opened or content.started
        )
        self._add_all(_sort_by_time(content.before), k)
        if content.prompt:
            self._add(
                ev.PromptPrepared(
                    iteration=k,
                    path=content.prompt,
                    characters=self._files.size(content.prompt),
                    system_context=content.system_context,
                )
            )
        self._add_all(_session_events(content, self._content.start.agent))
        if content.changes:
            self._add(files_changed(k, content.changes, live=False), content.ended)
        if content.report is not None:
            self._add(content.report.event(k), content.ended)
        if content.read:
            self._add(self._make_reading(content), content.ended)
            for event in self._governor_events(k):
                self._add(event)
        self._add_all(_sort_by_time(content.after), k)
        self._add_all(content.notes)
        self._add(self._iteration_finished(content), content.closed or content.ended)

    def _make_reading(self, content: IterationContent) -> ev.ReadingTaken:
        points = (
            self._state.run.completion or 0.0 if content.completion is None else content.completion
        )
        return ev.ReadingTaken(
            iteration=content.number,
            completion=points,
            source="agent",
            held=content.completion is None,
            note=content.reading_note,
        )

    def _governor_events(self, k: int) -> Iterator[ev.Event]:
        """Yield our governor's events for the last measurement; each is folded before the next.

        Leave out alarms about limits if the run's iteration limit is unknown.
        """
        evaluated = self._governor.read(self._state)
        evaluation, finding = evaluated.evaluation, evaluated.finding
        limited = self._content.start.max_iterations > 0
        alarms: list[ev.AlarmCleared | ev.AlarmRaised] = [*evaluation.cleared, *evaluation.raised]
        known = [one for one in alarms if limited or one.alarm != "BUDGET_EXCEEDED"]
        yield from (evaluation.signal, *known)
        if finding is None:
            return
        if finding.opened:
            self._governor.answered(approved=True)
        yield from _finding_events(k, finding if limited else _without_limits(finding), self._state)

    def _iteration_finished(self, content: IterationContent) -> ev.IterationFinished:
        run = self._state.run
        has_output = content.parsed is not None
        known = has_output and run.iteration_cost_known
        return ev.IterationFinished(
            iteration=content.number,
            status=content.status,
            completion=run.completion or 0.0,
            duration_s=content.length_s,
            cost_usd=run.iteration_cost_usd if known else content.cost_usd,
            tokens=run.iteration_tokens if has_output else content.tokens,
            tool_calls=run.iteration_tool_calls if has_output else content.tool_calls,
            tool_errors=run.iteration_tool_errors if has_output else content.tool_errors,
            files=len(content.changes),
            added=sum(change.added for change in content.changes),
            removed=sum(change.removed for change in content.changes),
        )

    def _run_finished(self, outcome: Outcome) -> ev.RunFinished:
        content, run = self._content, self._state.run
        reason = content.reason or f"{TOOL} recorded it as {outcome.replace('_', ' ')}"
        if (
            outcome == "limit_reached"
            and not content.reason
            and run.iteration >= run.max_iterations
        ):
            reason = all_used(run.iteration)
        return ended(run, outcome, reason, max(self._events[0].at, content.updated or self._at))


def _start_time(content: RunContent) -> datetime:
    """Return the run's start, or the first iteration's start if that is earlier."""
    first = next((i.started for i in content.iterations if i.started is not None), None)
    if content.started is not None and (first is None or content.started <= first + _WHOLE_SECOND):
        return content.started
    return first or content.updated or EPOCH


def _sort_by_time(events_found: list[Timed]) -> list[Timed]:
    """Sort by time; events without a time come first."""
    return sorted(events_found, key=lambda one: one[1] or EPOCH)


def _without_limits(finding: Finding) -> Finding:
    """Return the finding without situations and detections about limits."""
    return replace(
        finding,
        situations=tuple(one for one in finding.situations if one.about not in _LIMIT_SUBJECTS),
        detections=tuple(one for one in finding.detections if one.name not in _LIMIT_SUBJECTS),
    )


def _finding_events(iteration: int, finding: Finding, state: RunState) -> Iterator[ev.Event]:
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
    yield health_check(iteration, health_of(finding), finding, state.oversight.totals)


def _session_events(content: IterationContent, agent: str) -> list[Timed]:
    """Return a session's start, events, checkpoints and end; without one, only checkpoints."""
    parsed, end = content.parsed, content.ended
    moments = _number_checkpoints(content)
    if parsed is None:
        return moments
    late = [one for one in moments if end is not None and one[1] is not None and one[1] > end]
    late = late or (moments[-1:] if len(moments) > 1 and content.read else [])
    inside = [one for one in moments if one not in late] + _add_times(parsed, content.started, end)
    started = ev.SessionStarted(
        iteration=content.number,
        session_id=content.session_id or parsed.session_id,
        agent=agent,
        transcript=content.output,
        tells_tools=not parsed.plain,
        tells_context=not parsed.plain,
    )
    return [
        (started, content.started),
        *_sort_by_time([one for one in inside if one[1] is not None]),
        *(one for one in inside if one[1] is None),
        (_session_finished(content, parsed), end),
        *late,
    ]


def _session_finished(content: IterationContent, parsed: ParsedOutput) -> ev.Event:
    known: dict[str, object] = {"duration_s": content.length_s}
    if parsed.plain:  # it does not say how it ended, and the exit code after a signal is 0 too
        cut = content.completion is None
        known |= {
            "outcome": "crashed" if cut else "success",
            "reason": "The agent's process was terminated without a result." if cut else "",
            "limit": None,
            "resets_at": None,
        }
    return parsed.finished.model_copy(update=known)


def _add_times(parsed: ParsedOutput, started: datetime | None, end: datetime | None) -> list[Timed]:
    """Return events with times; without any known time, spread them evenly over the session."""
    events = parsed.events
    if any(at is not None for _, at in events):
        return list(_spread_seconds(events, started, end))
    if started is None or end is None:
        return events
    part = (end - started) / (len(events) + 1)
    return [(event, started + (index + 1) * part) for index, (event, _) in enumerate(events)]


def _spread_seconds(
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


def _number_checkpoints(content: IterationContent) -> list[Timed]:
    """Return the checkpoints, numbered within the iteration."""
    found: list[Timed] = []
    for number, (event, at) in enumerate(content.checkpoints, 1):
        ends = number == len(content.checkpoints) and number > 1 and content.read
        trigger = "end" if ends else "timer" if number > 1 else "start"
        known = {"iteration": content.number, "number": number, "trigger": trigger}
        found.append((event.model_copy(update=known), at))
    return found
