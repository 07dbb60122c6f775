"""The life of a run: a generator of events, from its first to its last.

It knows the layers and the ports, no clock, disk, thread or screen. The engine records each event
and folds it into `state` before the generator goes on, so `state` is always what the journal says.
"""

from collections.abc import Iterator
from itertools import count

from ralph_tui.errors import RalphError
from ralph_tui.events import Event, Noticed, RunResumed
from ralph_tui.events.run import Outcome
from ralph_tui.loop.iteration import Iteration
from ralph_tui.loop.recovery import Recovery
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.pause import pause_point
from ralph_tui.loop.waiting.controls import Ended, Steps
from ralph_tui.state.ending import ended


class Loop:
    """One run: start or resume, iterate, close."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.start = run.start
        self.ports = run.ports
        self.state = run.state
        self.scheduler = run.scheduler
        self.iteration = Iteration(run)
        self.checkpoints = self.iteration.checkpoints

    def run(self) -> Iterator[Event]:
        """The whole run."""
        yield self.start
        self.scheduler.stopwatch.start()
        yield from self.run_to_end(self.iteration.prepare())

    def resume(self, resumed: RunResumed) -> Iterator[Event]:
        """The rest of a run that had ended, whose past `state` and layers have taken up."""
        recovery = Recovery(self.iteration)
        yield resumed
        self.scheduler.stopwatch.start()
        yield from self.run_to_end(recovery.run())

    def run_to_end(self, begin: Steps[int]) -> Steps[None]:
        """From the first iteration, whose number `begin` gives back, to the end of the run."""
        try:
            first = yield from begin
            for k in count(first):
                yield from pause_point(self._run, self.checkpoints)
                yield from self.iteration.perform(k)
                self.iteration.end_if_last(k)
        except Ended as end:
            yield from self.close(end.outcome, end.reason)
        except RalphError as error:
            yield from self.close("failed", str(error))

    def close(self, outcome: Outcome, reason: str) -> Steps[None]:
        """End the run: nothing is left running, and the work is held in a snapshot."""
        self.scheduler.close()
        yield from self.scheduler.wait_until(lambda: self.scheduler.session is None)
        yield from self.scheduler.run_job("watcher", self.ports.watcher.stop)
        yield from self.scheduler.join()
        run, span = self.state.run, self.state.timeline.current
        if run.iteration and span is not None and span.finished is None:
            yield from self.checkpoints.take_boundary(run.iteration, f"the run ended: {outcome}")
            yield self.checkpoints.announce(run.iteration, "end")
            yield self.iteration.recorder.record(run.iteration)
        if outcome == "aborted":
            yield from self.iteration.overseer.tell_abort(reason)
            yield from self.iteration.escalation.wait_for_delivery()
        if run.roll_back_to is not None:
            self.checkpoints.restore(run.roll_back_to, "the abort")
            yield from self.scheduler.join()
        yield from self.scheduler.join()
        yield from self.iteration.assessment.conclude()
        yield from self.iteration.memory.conclude(outcome)
        if waiting := [item.text for item in self.state.guidance.queued]:
            yield Noticed(
                level="warn",
                source="guidance",
                text=f"the run ended before the agent could be told: {' / '.join(waiting)}",
            )
        yield from self.iteration.state_file.conclude(outcome)
        now = self.scheduler.host.clock.now()
        yield ended(run, outcome, reason, now, self.scheduler.stopwatch.worked_s)
