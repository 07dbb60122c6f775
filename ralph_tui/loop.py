"""The Ralph loop: a generator of events whose body reads like its steps.

It knows the layers and the ports, no clock, disk, thread or screen. The engine records each event
and folds it into `state` before the generator goes on, so `state` is always what the journal says.
The numbers of the steps are those of the whole design; a step that is not here is not built yet.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ralph_tui.briefing import brief
from ralph_tui.checkpoints import Checkpoints
from ralph_tui.control.budget import Budget
from ralph_tui.control.evaluation import Evaluation, evaluate
from ralph_tui.control.history import History, Sample
from ralph_tui.control.settings import ControlSettings
from ralph_tui.errors import RalphError, WorkspaceError
from ralph_tui.events import (
    Event,
    FilesChanged,
    GuidanceDelivered,
    IterationFinished,
    IterationStarted,
    Noticed,
    Paused,
    PromptPrepared,
    RunFinished,
    RunStarted,
    SessionFinished,
    StepEntered,
)
from ralph_tui.events.run import Outcome
from ralph_tui.events.workspace import FileChange
from ralph_tui.measurement import Measurement, ProgressSource
from ralph_tui.observation.changes import files_changed
from ralph_tui.observation.sensor import Reading
from ralph_tui.ports import Host, Ports
from ralph_tui.sessions import SESSION_STATUS, Sessions
from ralph_tui.silence import Patience
from ralph_tui.state import RunState
from ralph_tui.steering import Ended, Helm, Steps

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
    17: "record",
}
"""What the header calls each step."""

SAME_FAILURES = 3
"""Sessions that may fail in the same way before the run gives up on the agent."""


@dataclass(frozen=True)
class Rules:
    """The settings the loop itself obeys."""

    control: ControlSettings = field(default_factory=ControlSettings)
    progress: ProgressSource = "auto"
    checkpoint_interval_s: float = 1800.0
    patience: Patience = field(default_factory=Patience)


class Loop:
    """One run, from its first event to its last."""

    def __init__(
        self, start: RunStarted, rules: Rules, ports: Ports, host: Host, state: RunState
    ) -> None:
        """`state` is the fold that the host keeps current while the generator runs."""
        self.start = start
        self.rules = rules
        self.ports = ports
        self.state = state
        self.helm = Helm(host, state)
        self.checkpoints = Checkpoints(self.helm, state, ports.workspace)
        self.sessions = Sessions(
            self.helm,
            state,
            ports,
            start,
            self.checkpoints,
            checkpoint_interval_s=rules.checkpoint_interval_s,
            patience=rules.patience,
        )
        self.measurement = Measurement(
            self.helm,
            state,
            ports.gate,
            ports.records,
            command=start.command or "",
            read_plan=ports.read_plan,
            progress=rules.progress,
        )
        self.history = History()
        self.failures: list[str] = []
        """Why the last sessions in a row failed without a changed file."""
        self.control: Evaluation | None = None
        """The control law's answer to the latest reading; None before the first."""

    def run(self) -> Iterator[Event]:
        """The whole run."""
        yield self.start
        try:
            yield from self.prepare()
            for k in range(1, self.start.max_iterations + 1):
                yield from self.hold()
                yield from self.iterate(k)
                self.end_if_over(k)
        except Ended as end:
            yield from self.close(end.outcome, end.reason)
        except RalphError as error:
            yield from self.close("failed", str(error))

    def prepare(self) -> Steps[None]:
        """Before iteration 1: leftovers stopped, baseline, first snapshot, first checkpoint."""
        yield self.at(0, 0)
        if swept := (yield from self.helm.job("sweep", self.ports.sweep)):
            yield Noticed(source="processes", text=f"{len(swept)} left-over processes stopped")
        reading = yield from self.measurement.baseline()
        self.history = History(reading.completion)
        yield from self.checkpoints.first("before iteration 1")

    def iterate(self, k: int) -> Steps[None]:
        """One iteration. Steps 4-7 act on the reading that step 11 of the one before took."""
        self.checkpoints.begin_iteration()
        yield IterationStarted(iteration=k, max_iterations=self.start.max_iterations)

        yield self.at(k, 4)  # MetricsCollector: the evaluation of the last reading,
        yield self.at(k, 5)  # GainScheduler:    computed when it was taken (step 12),
        yield self.at(k, 6)  # PIDController:    because the last reading of a run
        yield self.at(k, 7)  # ControlAlarms:    deserves one too
        control = self.control if self.rules.control.enabled else None
        yield self.at(k, 9)  # PromptGenerator
        prompt = yield from self.generate_prompt(k, control)
        yield self.at(k, 10)  # SessionLauncher
        session = yield from self.sessions.run(k, prompt)
        files = yield from self.settle_files(k)
        yield self.at(k, 11)  # the verification gate
        reading = yield from self.measurement.after(k, files)
        yield self.at(k, 12)  # BehaviorDetector
        yield from self.detect(k, reading)
        yield self.at(k, 17)  # StateManager
        yield self.record(k, session, files, completed=reading.completed)
        self.count_failure(session, files)

        if reading.completed:
            raise Ended("completed", f"the completion command passed after iteration {k}")

    # -- the steps -----------------------------------------------------------------------------

    def at(self, k: int, step: int) -> Event:
        """Say where the loop stands."""
        return StepEntered(iteration=k, step=step, name=STEPS[step])

    def generate_prompt(self, k: int, control: Evaluation | None) -> Steps[str]:
        """Step 9: what was measured and what the controller makes of it, in words."""
        records, guidance = self.ports.records, self.state.guidance.queued
        prompt = brief(k, self.start, self.state, control, self.budget())
        path = yield from self.helm.job("prompt", lambda: records.write_prompt(k, prompt.text))
        yield PromptPrepared(
            iteration=k,
            path=records.relative(path),
            urgency=prompt.urgency,
            characters=len(prompt.text),
            guidance=[item.guidance_id for item in guidance],
        )
        for item in guidance:
            yield GuidanceDelivered(guidance_id=item.guidance_id, into="prompt")
        return prompt.text

    def settle_files(self, k: int) -> Steps[FilesChanged]:
        """What the session did to the files, held in a snapshot."""
        before = self.checkpoints.latest.tree
        yield from self.checkpoints.boundary(k, f"after the session of iteration {k}")
        after = self.checkpoints.latest.tree
        changes: tuple[FileChange, ...] = ()
        try:
            changes = yield from self.helm.job(
                "changes", lambda: self.ports.workspace.changes(before, after)
            )
        except WorkspaceError as error:  # the agent may have deleted what they are counted against
            yield Noticed(level="warn", source="workspace", text=f"no changes told: {error}")
        files = files_changed(k, changes, live=False)
        yield files
        yield self.checkpoints.event(k, "end")
        return files

    def detect(self, k: int, reading: Reading) -> Steps[None]:
        """Step 12: the control law on this reading, and the alarms it raises, once."""
        report = self.state.agent.report
        self.history.add(
            Sample(
                k,
                reading.completion,
                grew=reading.grew,
                restarted=reading.restarted,
                estimated=reading.source == "estimate",
            )
        )
        self.control = evaluate(
            self.history,
            self.budget(),
            self.rules.control,
            previous=self.control,
            issues=len(report.blockers) + len(report.learnings) if report else 0,
        )
        yield self.control.signal
        yield from self.control.cleared
        yield from self.control.raised

    def record(
        self, k: int, session: SessionFinished, files: FilesChanged, *, completed: bool
    ) -> Event:
        """Step 17: the record of the iteration."""
        run, gate = self.state.run, self.state.gate.last
        return IterationFinished(
            iteration=k,
            status="completed" if completed else SESSION_STATUS.get(session.outcome, "error"),
            completion=run.completion or 0.0,
            gate_ok=gate is not None and gate.ok,
            duration_s=self.helm.seconds_since(run.iteration_started_at),
            cost_usd=run.iteration_cost_usd if run.cost_known else None,
            tokens=run.iteration_tokens,
            tool_calls=run.iteration_tool_calls,
            tool_errors=run.iteration_tool_errors,
            files=sum(total.files for total in files.totals),
            added=sum(total.added for total in files.totals),
            removed=sum(total.removed for total in files.totals),
        )

    # -- between iterations ----------------------------------------------------------------------

    def budget(self) -> Budget:
        """The limits as they stand now."""
        run, start = self.state.run, self.start
        cost = run.cost_usd / start.budget_usd if start.budget_usd else 0.0
        tokens = run.tokens / start.budget_tokens if start.budget_tokens else 0.0
        return Budget(start.max_iterations, run.total, max(cost, tokens))

    def count_failure(self, session: SessionFinished, files: FilesChanged) -> None:
        """Raise `Ended` when the agent failed in the same way again and again, and did nothing."""
        failed = session.outcome in ("error", "crashed") and not files.totals
        self.failures = [*self.failures, session.reason] if failed else []
        if len(self.failures) == SAME_FAILURES and len(set(self.failures)) == 1:
            raise Ended("failed", f"{SAME_FAILURES} times in a row: {session.reason}")

    def hold(self) -> Steps[None]:
        """Pause before an iteration when the owner wants it; files may change meanwhile."""
        if not self.state.run.pause_requested:
            return
        yield Paused()
        yield from self.helm.until(lambda: not self.state.run.paused, idle=True)
        yield from self.checkpoints.boundary(self.state.run.iteration, "after a pause")

    def end_if_over(self, k: int) -> None:
        """Raise `Ended` when this was the last iteration."""
        run = self.state.run
        if run.stopping == "after_iteration":
            raise Ended("interrupted", f"stopped after iteration {k}, as asked")
        if self.budget().spent >= 1:
            raise Ended("limit_reached", f"the budget is used up after iteration {k}")
        if k >= self.start.max_iterations:
            raise Ended(
                "limit_reached",
                f"all {k} iterations are used up at {run.completion or 0:.1f} % "
                f"(best {run.best:.1f} %)",
            )

    def close(self, outcome: Outcome, reason: str) -> Steps[None]:
        """Whatever ended the run: nothing is left running, and the work is held."""
        self.helm.close()
        yield from self.helm.until(lambda: self.helm.session is None)
        yield from self.helm.job("watcher", self.ports.watcher.stop)
        yield from self.helm.settle()
        run, span = self.state.run, self.state.timeline.current
        if run.iteration and span is not None and span.finished is None:
            yield from self.checkpoints.boundary(run.iteration, f"the run ended: {outcome}")
            yield self.checkpoints.event(run.iteration, "end")
            yield IterationFinished(
                iteration=run.iteration,
                status="interrupted",
                completion=run.completion or 0.0,
                duration_s=self.helm.seconds_since(run.iteration_started_at),
                cost_usd=run.iteration_cost_usd if run.cost_known else None,
                tokens=run.iteration_tokens,
                tool_calls=run.iteration_tool_calls,
                tool_errors=run.iteration_tool_errors,
            )
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
            duration_s=self.helm.seconds_since(run.started_at),
            cost_usd=run.cost_usd if run.cost_known else None,
            tokens=run.tokens,
        )
