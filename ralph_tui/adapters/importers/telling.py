"""What a foreign run told, as the events that our loop would have recorded, in its order.

Times never go back: an event whose own time is not known, or lies before that of the one before it,
has the latter.
"""

from collections.abc import Iterator
from datetime import datetime

from ralph_tui.adapters.importers.folder import RunFiles
from ralph_tui.adapters.importers.imported_run import TOOL, ImportedRun
from ralph_tui.adapters.importers.recomputed import Recomputed
from ralph_tui.adapters.importers.told import ToldIteration, ToldRun
from ralph_tui.adapters.records.journal import Recording
from ralph_tui.events import (
    AgentReported,
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
from ralph_tui.state import RunState
from ralph_tui.text.format import count

Timed = tuple[Event, datetime | None]
"""An event, and when it was, as far as that is known."""


def recording_of(run: ImportedRun, told: ToldRun, files: RunFiles) -> Recording:
    """The whole run; `files` has its notes."""
    events = Telling(told, files).events()
    bad = len(files.notes) + files.unnamed
    problem = f"{count(bad, 'file')} of this run cannot be used: the log names them" if bad else ""
    return Recording(run.path, events, problem, size=files.size(run.path.name))


class Telling:
    """Makes the events, one after the other, and folds them as it goes."""

    def __init__(self, told: ToldRun, files: RunFiles) -> None:
        self._told = told
        self._files = files
        self._state = RunState()
        self._recomputed = Recomputed(self._state)
        self._events: list[Event] = []
        self._at = told.started or _first(told) or told.updated or EPOCH

    def events(self) -> list[Event]:
        """All of them, stamped."""
        for event, at in self._run():
            self._at = max(self._at, at or self._at)
            stamped = event.model_copy(update={"seq": len(self._events) + 1, "at": self._at})
            self._events.append(stamped)
            self._state.apply(stamped)
        return self._events

    def _run(self) -> Iterator[Timed]:
        told = self._told
        yield self._started(), None
        for sentence in self._files.notes:
            yield Noticed(level="warn", source=TOOL, text=sentence), None
        for note in told.notes:
            yield Noticed(level=note.level, source=TOOL, text=note.text, detail=note.detail), None
        if not told.iterations:
            yield Noticed(source=TOOL, text="no iteration was recorded"), None
        for iteration in told.iterations:
            yield from self._iteration(iteration)
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
            max_iterations=told.max_iterations or len(told.iterations),
            session_timeout_s=told.timeout_s,
            iteration_budget_usd=told.iteration_budget_usd,
            pid=told.pid,
        )

    def _iteration(self, told: ToldIteration) -> Iterator[Timed]:
        k, run = told.number, self._state.run
        yield IterationStarted(iteration=k, max_iterations=run.max_iterations), told.started
        if told.prompt:
            size = self._files.size(told.prompt)
            yield PromptPrepared(iteration=k, path=told.prompt, characters=size), None
        if told.report is not None:
            yield self._reported(told), told.ended
        if told.read:
            held = told.completion is None
            points = run.completion or 0.0 if told.completion is None else told.completion
            yield (
                ReadingTaken(iteration=k, completion=points, source="agent", held=held),
                told.closed or told.ended,
            )
            for event in self._recomputed.events(k):
                yield event, None
        yield self._iteration_finished(told), told.closed or told.ended

    def _reported(self, told: ToldIteration) -> AgentReported:
        report = told.report
        assert report is not None
        return AgentReported(
            iteration=told.number,
            completion=report.completion,
            summary=report.summary,
            blockers=list(report.blockers),
            learnings=list(report.learnings),
            next=report.next,
        )

    def _iteration_finished(self, told: ToldIteration) -> IterationFinished:
        run = self._state.run
        return IterationFinished(
            iteration=told.number,
            status=told.status,
            completion=run.completion or 0.0,
            duration_s=told.duration_s or 0.0,
        )

    def _finished(self) -> RunFinished:
        told, run = self._told, self._state.run
        assert told.outcome is not None
        ended = max(self._at, told.updated or self._at)
        return RunFinished(
            outcome=told.outcome,
            reason=told.reason or f"{TOOL} recorded {told.outcome}",
            iterations=run.iteration,
            completion=run.completion or 0.0,
            best=run.best,
            best_iteration=run.best_iteration,
            duration_s=run.worked_s(ended),
            cost_usd=run.cost_usd if run.cost_known else None,
            tokens=run.tokens,
        )


def _first(told: ToldRun) -> datetime | None:
    return next((i.started for i in told.iterations if i.started is not None), None)
