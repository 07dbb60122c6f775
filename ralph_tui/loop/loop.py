"""The Ralph loop: a generator of events whose body reads like its steps.

It knows the layers and the ports, no clock, disk, thread or screen. The engine records each event
and folds it into `state` before the generator goes on, so `state` is always what the journal says.
The numbers of the steps are those of the whole design; a step that is not here is not built yet.
"""

from collections.abc import Iterator, Sequence
from itertools import count

from ralph_tui.errors import RalphError, WorkspaceError
from ralph_tui.events import (
    Event,
    IterationFinished,
    IterationStarted,
    Noticed,
    Paused,
    RunFinished,
    RunResumed,
    StepEntered,
)
from ralph_tui.events.run import Outcome
from ralph_tui.layers.governor import Governor, budget_of
from ralph_tui.loop.recovery import Recovery
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.escalation import Escalation
from ralph_tui.loop.steps.measurement import Measurement
from ralph_tui.loop.steps.overseer import Overseer
from ralph_tui.loop.steps.prompting import PromptWriter
from ralph_tui.loop.steps.questions import Questions
from ralph_tui.loop.steps.sessions import SESSION_STATUS, Sessions
from ralph_tui.loop.waiting.controls import Controls, Ended, Steps

STEPS: dict[int, str] = {
    0: "preparation",
    4: "metrics",
    5: "gains",
    6: "signal",
    7: "alarms",
    9: "prompt",
    10: "session",
    11: "verification",
    12: "detection",
    13: "intervention",
    14: "oversight",
    17: "record",
}
"""What the header calls each step."""


class Loop:
    """One run, from its first event to its last."""

    def __init__(self, run: Run) -> None:
        self.start = run.start
        self.rules = run.rules
        self.ports = run.ports
        self.state = run.state
        self.scheduler = run.scheduler
        self.checkpoints = Checkpoints(run)
        self.prompt_writer = PromptWriter(run)
        self.sessions = Sessions(run, self.checkpoints)
        self.escalation = Escalation(run)
        self.questions = Questions(run, self.escalation, self.checkpoints)
        self.measurement = Measurement(run, self.questions)
        self.governor = Governor(0.0, self.rules.control, self.rules.oversight)
        self.overseer = Overseer(
            run, self.checkpoints, self.questions, self.escalation, self.governor
        )

    def run(self) -> Iterator[Event]:
        """The whole run."""
        yield self.start
        yield from self.to_its_end(self.prepare())

    def resume(self, resumed: RunResumed, events: Sequence[Event]) -> Iterator[Event]:
        """The rest of a run that had ended; `events` are its journal, whose fold `state` is."""
        recovery = Recovery(self, events)
        yield resumed
        yield from self.to_its_end(recovery.run())

    def to_its_end(self, begin: Steps[int]) -> Steps[None]:
        """From the first iteration, which `begin` gives, to the end, whatever that is."""
        try:
            first = yield from begin
            for k in count(first):
                yield from self.pause_point()
                yield from self.iterate(k)
                self.end_if_over(k)
        except Ended as end:
            yield from self.close(end.outcome, end.reason)
        except RalphError as error:
            yield from self.close("failed", str(error))

    def prepare(self) -> Steps[int]:
        """Before iteration 1: leftovers stopped, baseline, first snapshot, first checkpoint."""
        yield self.at(0, 0)
        yield from self.sweep()
        reading = yield from self.measurement.baseline()
        self.governor.begin(reading.completion)
        yield from self.checkpoints.first("before iteration 1")
        return 1

    def sweep(self) -> Steps[None]:
        """Stop what dead runs of this worktree have left behind."""
        if swept := (yield from self.scheduler.run_job("sweep", self.ports.sweep)):
            yield Noticed(source="processes", text=f"{len(swept)} left-over processes stopped")

    def iterate(self, k: int) -> Steps[None]:
        """One iteration. Steps 4-7 act on the reading that step 11 of the one before took."""
        self.checkpoints.begin_iteration()
        yield IterationStarted(iteration=k, max_iterations=self.state.run.max_iterations)

        yield self.at(k, 4)  # MetricsCollector: the evaluation of the last reading,
        yield self.at(k, 5)  # GainScheduler:    computed when it was taken (step 12),
        yield self.at(k, 6)  # PIDController:    because the last reading of a run
        yield self.at(k, 7)  # ControlAlarms:    deserves one too
        control = self.governor.evaluation if self.rules.control.enabled else None
        yield self.at(k, 9)  # PromptGenerator
        prompt = yield from self.prompt_writer.write(k, control)
        yield self.at(k, 10)  # SessionLauncher
        yield from self.sessions.run(k, prompt)
        yield from self.measure(k)

    def measure(self, k: int) -> Steps[None]:
        """Step 11, and what follows from it. The session has ended."""
        files = yield from self.checkpoints.record_changes(k)
        yield self.at(k, 11)  # the verification gate
        yield from self.measurement.after(k, files)
        yield from self.finish_iteration(k)

    def finish_iteration(self, k: int) -> Steps[None]:
        """Steps 12-17. The reading of iteration k is taken."""
        yield from self.run_oversight(k)
        yield self.at(k, 17)  # StateManager
        yield self.record(k)
        yield from self.project()

        reading = self.state.gate.readings[-1]
        if reading.completion >= 100:
            proof = "the completion command passed" if self.start.command else reading.note
            raise Ended("completed", f"{proof} after iteration {k}")
        self.overseer.end_if_aborted()

    def run_oversight(self, k: int) -> Steps[None]:
        """Steps 12-14."""
        yield self.at(k, 12)  # BehaviorDetector
        verdict = yield from self.overseer.detect(k)
        if verdict is not None:
            yield self.at(k, 13)  # InterventionSystem, with the human in the loop
            yield from self.overseer.intervene(k, verdict)
            yield self.at(k, 14)  # Overseer: the health check
            yield from self.overseer.check(k, verdict)

    # -- the steps -----------------------------------------------------------------------------

    def at(self, k: int, step: int) -> Event:
        """Say where the loop stands."""
        return StepEntered(iteration=k, step=step, name=STEPS[step])

    def record(self, k: int) -> Event:
        """Step 17: the record of the iteration."""
        run, gate, span = self.state.run, self.state.gate.last, self.state.timeline.current
        ended, files = self.state.agent.ended, span.files if span else None
        read = bool(self.state.gate.readings) and self.state.gate.readings[-1].iteration == k
        status = SESSION_STATUS.get(ended.outcome, "error") if ended and read else "interrupted"
        totals = files.totals if files and not files.live else []
        return IterationFinished(
            iteration=k,
            status="completed" if read and (run.completion or 0) >= 100 else status,
            completion=run.completion or 0.0,
            gate_ok=read and gate is not None and gate.ok,
            duration_s=self.scheduler.seconds_since(run.iteration_started_at),
            cost_usd=run.iteration_cost_usd if run.cost_known else None,
            tokens=run.iteration_tokens,
            tool_calls=run.iteration_tool_calls,
            tool_errors=run.iteration_tool_errors,
            files=sum(total.files for total in totals),
            added=sum(total.added for total in totals),
            removed=sum(total.removed for total in totals),
        )

    def project(self) -> Steps[None]:
        """Bring the files that others read up to date; the journal does not depend on them."""
        records, projected = self.ports.records, self.ports.records.project(self.state)
        try:
            yield from self.scheduler.run_job(
                "projections", lambda: records.write_projections(projected)
            )
        except WorkspaceError as error:
            yield Noticed(level="warn", source="records", text=str(error))

    # -- between iterations ----------------------------------------------------------------------

    def pause_point(self) -> Steps[None]:
        """Pause before an iteration when the owner wants it; files may change meanwhile."""
        if not self.state.run.pause_requested:
            return
        yield Paused()
        k = self.state.run.iteration
        controls = Controls(
            capture=lambda note: self.checkpoints.capture(k, "key", note),
            restore=self.checkpoints.restore,
        )
        with self.scheduler.offering(controls):
            yield from self.scheduler.wait_until(lambda: not self.state.run.paused, idle=True)
            yield from self.scheduler.join()
        yield from self.checkpoints.take_boundary(self.state.run.iteration, "after a pause")

    def end_if_over(self, k: int) -> None:
        """Raise `Ended` when this was the last iteration."""
        run = self.state.run
        if run.stopping == "after_iteration":
            raise Ended("interrupted", f"stopped after iteration {k}, as asked")
        if budget_of(self.state).spent >= 1:
            raise Ended("limit_reached", f"the budget is used up after iteration {k}")
        if k >= run.max_iterations:
            raise Ended(
                "limit_reached",
                f"all {k} iterations are used up at {run.completion or 0:.1f} % "
                f"(best {run.best:.1f} %)",
            )

    def close(self, outcome: Outcome, reason: str) -> Steps[None]:
        """Whatever ended the run: nothing is left running, and the work is held."""
        self.scheduler.close()
        yield from self.scheduler.wait_until(lambda: self.scheduler.session is None)
        yield from self.scheduler.run_job("watcher", self.ports.watcher.stop)
        yield from self.scheduler.join()
        run, span = self.state.run, self.state.timeline.current
        if run.iteration and span is not None and span.finished is None:
            yield from self.checkpoints.take_boundary(run.iteration, f"the run ended: {outcome}")
            yield self.checkpoints.announce(run.iteration, "end")
            yield self.record(run.iteration)
        if outcome == "aborted":
            yield from self.overseer.tell_abort(reason)
            yield from self.escalation.wait_for_delivery()
        if run.roll_back_to is not None:
            self.checkpoints.restore(run.roll_back_to, "the abort")
            yield from self.scheduler.join()
        yield from self.scheduler.join()
        if waiting := [item.text for item in self.state.guidance.queued]:
            yield Noticed(
                level="warn",
                source="guidance",
                text=f"the run ended before the agent could be told: {' / '.join(waiting)}",
            )
        yield RunFinished(
            outcome=outcome,
            reason=reason,
            iterations=run.iteration,
            completion=run.completion or 0.0,
            best=run.best,
            best_iteration=run.best_iteration,
            duration_s=run.worked_s(self.scheduler.host.clock.now()),
            cost_usd=run.cost_usd if run.cost_known else None,
            tokens=run.tokens,
        )
