"""The life of a run, from its first event to its last.

This module knows the layers and the ports, but not the clock, the disk, threads or screens. Every
event is recorded and folded into `state` before the next line runs, so `state` always matches the
journal.
"""

from collections.abc import Callable
from itertools import count

from ralph_tui.base.errors import JournalError, RalphError
from ralph_tui.events import Noticed, RunResumed
from ralph_tui.events.run import Outcome
from ralph_tui.loop.iteration import Iteration
from ralph_tui.loop.recovery import Recovery, is_unmeasured
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.pause import pause_point
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.state.ending import ended


class Loop(Step):
    """One run: start or resume it, iterate, close it."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.start = run.start
        self.ports = run.ports
        self.state = run.state
        self.scheduler = run.scheduler
        self.iteration = Iteration(run)
        self.checkpoints = self.iteration.checkpoints

    def run(self) -> None:
        """Start a new run and carry it through to its end."""
        self.record(self.start)
        self.scheduler.stopwatch.start()
        self.run_to_end(self.iteration.prepare)

    def resume(self, resumed: RunResumed) -> None:
        """Continue an ended run; `state` and the layers have already replayed its journal."""
        recovery = Recovery(self.iteration)
        self.record(resumed)
        self.scheduler.stopwatch.start()
        self.run_to_end(recovery.run)

    def run_to_end(self, begin: Callable[[], int]) -> None:
        """Iterate to the end of the run; `begin` returns the first iteration's number."""
        try:
            first = begin()
            for k in count(first):
                pause_point(self._run, self.checkpoints)
                self.iteration.perform(k)
                self.iteration.end_if_last(k)
        except Ended as end:
            self.close(end.outcome, end.reason)
        except JournalError:  # nothing can be recorded any more, not even an end
            raise
        except RalphError as error:
            self.close("failed", str(error))

    def close(self, outcome: Outcome, reason: str) -> None:
        """End the run: stop everything that is still running and save the work in a snapshot."""
        self.scheduler.close()
        self.scheduler.wait_until(lambda: self.scheduler.session is None)
        self.scheduler.run_job("watcher", self.ports.watcher.stop)
        self.scheduler.join()
        run, span = self.state.run, self.state.timeline.current
        if run.iteration and span is not None and span.finished is None:
            why = f"the run ended: {outcome}"
            if self.checkpoints.began and (span.files is None or span.files.live):
                self.checkpoints.record_changes(run.iteration, why)
            else:
                self.checkpoints.take_boundary(run.iteration, why)
                self.checkpoints.save_checkpoint(run.iteration, "end")
            if not is_unmeasured(self.state, run.iteration):  # else a resume measures it
                self.record(self.iteration.recorder.finished(run.iteration))
        if outcome == "aborted":
            self.iteration.overseer.record_abort(reason)
            self.iteration.escalation.wait_for_delivery()
        if run.roll_back_to is not None:
            self.checkpoints.restore(run.roll_back_to, "the abort")
            self.scheduler.join()
        self.scheduler.join()
        self.iteration.assessment.conclude()
        self.iteration.memory.conclude(outcome)
        if waiting := self.state.guidance.unsent:
            self.record(
                Noticed(
                    level="warn",
                    source="guidance",
                    text=f"the run ended before the agent got this guidance: {' / '.join(waiting)}",
                )
            )
        self.iteration.state_file.conclude(outcome)
        now = self.scheduler.host.clock.now()
        self.record(ended(run, outcome, reason, now, self.scheduler.stopwatch.worked_s))
