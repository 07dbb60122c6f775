"""Resuming a run: continue the loop where its journal ends.

The memory of every layer is folded again from the events. Unfinished work is completed where
possible: an ended session is measured, a measurement judged, an open question asked again.
Otherwise the iteration is marked as interrupted; its changes are kept and reported to the next
session.
"""

from datetime import datetime

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events import FilesChanged, FilesChangedAway, LimitsChanged, Noticed
from ralph_tui.loop.iteration import Iteration
from ralph_tui.loop.step import Step
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.state.context import CUT_OFF
from ralph_tui.text.format import clock, count, duration

SINCE_A_KILL = (
    "every change made from the start of the iteration until the run is resumed counts as its work"
)
"""Reported if no snapshot was taken when the session ended."""


def describe_unfinished(state: RunState, worked_until: datetime | None = None) -> str:
    """Describe in one line what was in progress when the run ended.

    `worked_until`: when the run last worked; default: the time of its last event.
    """
    run, span = state.run, state.timeline.current
    if span is None or not run.iteration:
        return "nothing was done yet"
    if span.finished is not None and span.finished.status != "interrupted":
        parts = [f"iteration {run.iteration} was complete"]
    else:
        until = span.ended_at or worked_until or state.at
        parts = [
            f"iteration {run.iteration}, {_elapsed_text((until - span.started_at).total_seconds())}"
        ]
        parts.append(f"{count(sum(total.files for total in state.files.totals), 'file')} touched")
        if span.finished is None and is_unmeasured(state, run.iteration):
            began = state.gate.running_since is not None
            again = "the completion command runs again" if began else "it is verified now"
            parts.append(f"its session had finished: {again}")
    if span.checkpoints:
        parts.append(f"last checkpoint {clock(span.checkpoints[-1].at)}")
    if state.needs.question is not None or state.oversight.undecided is not None:
        parts.append("a question was open")
    return ", ".join(parts)


def _elapsed_text(seconds: float) -> str:
    return f"{duration(seconds)} in"


class Recovery(Step):
    """Continues a run where its journal ends, and completes unfinished work where possible."""

    def __init__(self, iteration: Iteration) -> None:
        """`iteration` belongs to a run that has already replayed its journal."""
        super().__init__(iteration.run)
        self._iteration = iteration
        end = iteration.run.state.run.finished
        self._was_reported = end is not None
        """True if the journal has the end of the run, with its reason."""
        self._was_stopped = end is not None and end.outcome == "interrupted"
        self._limit = iteration.run.state.run.max_iterations
        needs = iteration.run.state.needs
        self._asked = needs.question or needs.left_open
        """The question that was open when the run ended."""

    def run(self) -> int:
        """Complete unfinished work; return the number of the next iteration."""
        iteration, span = self._iteration, self._state.timeline.current
        if span is None or not self._state.run.iteration:
            # The run ended before iteration 1: repeat its short preparation.
            iteration.checkpoints.continue_numbering()
            return iteration.prepare()
        k = span.number
        self.record(iteration.step_event(k, 0))
        iteration.recorder.write_projections()  # so that the files show the earlier end
        self.record(*iteration.run.layers.guard.take())
        iteration.sessions.warn()
        iteration.escalation.resend()
        iteration.sweep()
        readings = self._state.gate.readings
        read = bool(readings) and readings[-1].iteration == k
        settled = span.finished is not None or _recorded_changes(span) is not None
        iteration.checkpoints.continue_from(span, settled=settled)
        if begun := self._state.oversight.restoring:
            # The user has agreed to this restore: files must not stay half restored.
            iteration.checkpoints.write_back(begun.snapshot, begun.present, begun.by)
            iteration.run.scheduler.join()
        if settled:
            self._report_changes(k)
        if span.finished is None:
            self._finish(span, read=read)
        elif span.finished.status == "interrupted":
            self._extend_limit(k)
        elif self._state.oversight.undecided is not None:
            iteration.run_oversight(k)
        iteration.governor.recalled = None
        iteration.overseer.end_if_aborted()
        self._end_if_ending(k)
        iteration.end_if_last(k)
        return k + 1

    def _end_if_ending(self, k: int) -> None:
        """End the run if its work was done, or if an abort was decided but not carried out."""
        span = self._state.timeline.current
        finished = span.finished if span is not None else None
        reported = self._was_reported and not self._was_stopped
        if finished is not None and finished.status == "completed" and not reported:
            self._iteration.end_if_completed(k)
        made = self._state.oversight.interventions[-1:]
        if made and made[0].iteration == k and not self._was_reported:
            if made[0].level == "ABORT":
                raise Ended("aborted", made[0].reason)
            if made[0].answer == "abort":
                raise Ended("aborted", made[0].decision)

    def _finish(self, span: IterationSpan, *, read: bool) -> None:
        """Complete an iteration that has no final record; `read`: True if it has been measured."""
        iteration, k = self._iteration, span.number
        if read:
            iteration.assessment.catch_up(k)
            iteration.finish_iteration(k)
            return
        done = is_unmeasured(self._state, k)
        if not done:
            iteration.handoff_runner.catch_up(self._asked)
        files = _recorded_changes(span)
        if files is None:
            files = iteration.checkpoints.record_changes(k)
            if files.changes:
                self.record(Noticed(source="workspace", text=SINCE_A_KILL))
        if done:
            iteration.measure(k, files)
        else:
            self.record(iteration.recorder.finished(k))
            self._extend_limit(k)

    def _report_changes(self, k: int) -> None:
        """Report files changed while nothing ran; they are kept but not counted as work."""
        iteration, before = self._iteration, self._iteration.checkpoints.latest.tree
        iteration.checkpoints.take_boundary(k, "when the run was resumed")
        after, workspace = iteration.checkpoints.latest.tree, iteration.run.ports.workspace
        try:
            changes = iteration.run.scheduler.run_job(
                "changes", lambda: workspace.changes(before, after)
            )
        except WorkspaceError:  # already reported: the snapshots are gone
            return
        if changes:
            self.record(FilesChangedAway(iteration=k, files=len(changes)))

    def _extend_limit(self, k: int) -> None:
        """Raise the iteration limit by one, so that an interrupted iteration does not count."""
        run = self._state.run
        # A user who set a new limit has already allowed for this iteration.
        if run.spared == k or run.max_iterations != self._limit:
            return
        self.record(
            LimitsChanged(
                max_iterations=run.max_iterations + 1,
                budget_usd=run.budget_usd,
                budget_tokens=run.budget_tokens,
                by="the resume",
                spared=k,
            )
        )


def _recorded_changes(span: IterationSpan) -> FilesChanged | None:
    """Return the recorded file changes of an iteration; None unless a snapshot contains them."""
    held = any(point.trigger == "end" for point in span.checkpoints)
    return span.files if held and span.files is not None and not span.files.live else None


def is_unmeasured(state: RunState, k: int) -> bool:
    """True if the agent finished its work in iteration `k` but nothing has measured it yet."""
    ended, readings = state.agent.ended, state.gate.readings
    whole = ended is not None and ended.iteration == k and ended.outcome not in CUT_OFF
    read = bool(readings) and readings[-1].iteration == k
    return whole and not read and state.context.rollover is None
