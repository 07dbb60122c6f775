"""What a foreign run told, as the events that our loop would have recorded, in its order.

Times never go back: an event whose own time is not known, or lies before that of the one before it,
has the latter.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from ralph_tui.adapters.records.journal import Recording
from ralph_tui.events import (
    Event,
    IterationFinished,
    IterationStarted,
    Noticed,
    PromptPrepared,
    ReadingTaken,
    RunFinished,
    RunStarted,
)
from ralph_tui.events.base import EPOCH
from ralph_tui.events.workspace import FileChange
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.imported_run import TOOL, ImportedRun
from ralph_tui.importers.printed import Timed
from ralph_tui.importers.recomputed import Recomputed
from ralph_tui.importers.session import session_of
from ralph_tui.importers.told import (
    ToldChange,
    ToldIteration,
    ToldNote,
    ToldRun,
    ToldVerdict,
)
from ralph_tui.layers.sensor.categories import categorize, files_changed
from ralph_tui.state import RunState
from ralph_tui.state.ending import ended
from ralph_tui.text.format import all_used, count

_WHOLE_SECOND = timedelta(seconds=1)
_STALE = timedelta(days=1)
"""What is told to have been so long after the last word of the run was not."""


def recording_of(run: ImportedRun, told: ToldRun, files: RunFiles) -> Recording:
    """The whole run; `files` has its notes."""
    events = Telling(told, files).events()
    bad = len(files.notes) + files.unnamed
    problem = f"{count(bad, 'file')} of this run cannot be used: the log names them" if bad else ""
    size = files.size(str(run.path.relative_to(run.folder)))
    return Recording(run.path, events, problem, size=size, kept_in=run.folder)


class Telling:
    """Makes the events, one after the other, and folds them as it goes."""

    def __init__(self, told: ToldRun, files: RunFiles) -> None:
        self._told = told
        self._files = files
        self._state = RunState()
        self._recomputed = Recomputed(self._state, limited=told.max_iterations > 0)
        self._events: list[Event] = []
        self._at = _began(told)
        self._latest = told.updated + _STALE if told.updated else None

    def events(self) -> list[Event]:
        """All of them, stamped."""
        for event, at in self._run():
            if at is not None and (self._latest is None or at <= self._latest):
                self._at = max(self._at, at)
            stamped = event.model_copy(update={"seq": len(self._events) + 1, "at": self._at})
            self._events.append(stamped)
            self._state.apply(stamped)
        return self._events

    def _run(self) -> Iterator[Timed]:
        told = self._told
        yield self._started(), None
        for sentence in self._files.notes:
            yield Noticed(level="warn", source=TOOL, text=sentence), None
        if self._files.unnamed:
            more = count(self._files.unnamed, "further file")
            yield Noticed(level="warn", source=TOOL, text=f"{more} cannot be used"), None
        yield from map(_noted, told.notes)
        if not told.iterations:
            yield Noticed(source=TOOL, text="no iteration was recorded"), None
        for iteration in told.iterations:
            yield from self._iteration(iteration)
        last = told.iterations[-1].number if told.iterations else 0
        for learned, at in told.learned:
            yield learned, min(at, told.updated) if at and told.updated else at
        yield from (_verdict(one, last) for one in told.afterwards)
        if told.outcome is not None:
            yield self._finished(), told.updated

    def _started(self) -> RunStarted:
        told = self._told
        task, _, attempt = told.name.partition("/")
        return RunStarted(
            run_id=told.run_id,
            task=task,
            attempt=attempt,
            root=told.root,
            objective=told.objective,
            criterion=told.criterion or None,
            imported=f"{TOOL}, form {told.form}",
            agent=told.agent,
            model=told.model or None,
            permissions="",
            max_iterations=told.max_iterations or len(told.iterations),
            session_timeout_s=told.timeout_s,
            iteration_budget_usd=told.iteration_budget_usd,
            pid=told.pid,
        )

    def _iteration(self, told: ToldIteration) -> Iterator[Timed]:
        k = told.number
        most = self._state.run.max_iterations
        yield IterationStarted(iteration=k, max_iterations=most), told.opened or told.started
        yield from (_verdict(one, k) for one in _in_order(told.verdicts) if one.before)
        if told.prompt:
            yield self._prompted(told), None
        yield from session_of(told, self._told.agent)
        if told.changes:
            yield files_changed(k, list(map(_changed, told.changes)), live=False), told.ended
        if told.report is not None:
            yield told.report.event(k), told.ended
        if told.read:
            yield self._reading(told), told.ended
            for event in self._recomputed.events(k):
                yield event, None
        yield from (_verdict(one, k) for one in _in_order(told.verdicts) if not one.before)
        yield from map(_noted, told.notes)
        yield self._iteration_finished(told), told.closed or told.ended

    def _prompted(self, told: ToldIteration) -> PromptPrepared:
        return PromptPrepared(
            iteration=told.number,
            path=told.prompt,
            characters=self._files.size(told.prompt),
            system_context=told.system_context,
        )

    def _reading(self, told: ToldIteration) -> ReadingTaken:
        held = told.completion is None
        points = self._state.run.completion or 0.0 if told.completion is None else told.completion
        return ReadingTaken(
            iteration=told.number,
            completion=points,
            source="agent",
            held=held,
            note=told.reading_note,
        )

    def _iteration_finished(self, told: ToldIteration) -> IterationFinished:
        run = self._state.run
        heard = told.printed is not None
        known = heard and run.iteration_cost_known
        lasted = told.duration_s
        if lasted is None and told.started is not None and told.ended is not None:
            lasted = (told.ended - told.started).total_seconds()
        return IterationFinished(
            iteration=told.number,
            status=told.status,
            completion=run.completion or 0.0,
            duration_s=lasted or 0.0,
            cost_usd=run.iteration_cost_usd if known else told.cost_usd,
            tokens=run.iteration_tokens if heard else told.tokens,
            tool_calls=run.iteration_tool_calls if heard else told.tool_calls,
            tool_errors=run.iteration_tool_errors if heard else told.tool_errors,
            files=len(told.changes),
            added=sum(change.added for change in told.changes),
            removed=sum(change.removed for change in told.changes),
        )

    def _finished(self) -> RunFinished:
        told, run = self._told, self._state.run
        outcome = told.outcome or "interrupted"
        began = self._events[0].at
        reason = told.reason or f"{TOOL} recorded it as {outcome.replace('_', ' ')}"
        if outcome == "limit_reached" and not told.reason and run.iteration >= run.max_iterations:
            reason = all_used(run.iteration)
        return ended(run, outcome, reason, max(began, told.updated or self._at))


def _began(told: ToldRun) -> datetime:
    """When the run began: where that was recorded later than its first iteration, with that one."""
    first = next((i.started for i in told.iterations if i.started is not None), None)
    if told.started is not None and (first is None or told.started <= first + _WHOLE_SECOND):
        return told.started
    return first or told.updated or EPOCH


def _noted(note: ToldNote) -> Timed:
    return Noticed(level=note.level, source=TOOL, text=note.text, detail=note.detail), note.at


def _verdict(told: ToldVerdict, iteration: int) -> Timed:
    return told.event.model_copy(update={"iteration": iteration}), told.at


def _in_order(verdicts: list[ToldVerdict]) -> list[ToldVerdict]:
    """By their times; one without a time is told first."""
    return sorted(verdicts, key=lambda one: one.at or EPOCH)


def _changed(change: ToldChange) -> FileChange:
    return FileChange(
        path=change.path,
        status=change.status,
        category=categorize(change.path),
        added=change.added,
        removed=change.removed,
    )
