"""Step 11: completion is measured, not believed. The gate runs, the sensor reads."""

from ralph_tui.events import AssessmentMade, FilesChanged, GateFinished, GateStarted, Noticed
from ralph_tui.layers.sensor import AgentReport, GateResult, Progress, Reading
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.assessment import Assessment
from ralph_tui.loop.steps.judging import Judging
from ralph_tui.loop.waiting.controls import Controls, Ended, Steps


class Measurement:
    """Runs the completion command and turns what it said, the plan and the report to a reading."""

    def __init__(self, run: Run, judging: Judging, assessment: Assessment) -> None:
        self._run = run
        self._scheduler = run.scheduler
        self._state = run.state
        self._gate = run.ports.gate
        self._records = run.ports.records
        self._judging = judging
        self._assessment = assessment
        self._command = run.start.command or ""
        self._sensor = run.layers.sensor
        self._plan_is_gone = False

    def baseline(self) -> Steps[Reading]:
        """The reading before iteration 1."""
        gate = yield from self._run_gate(0)
        if gate is not None and gate.error:
            raise Ended("failed", gate.error)
        plan = yield from self._read_plan()
        made = yield from self._assessment.make(0, plan)
        return (yield from self._take(self._sensor.baseline(gate, plan, None), made))

    def after(self, iteration: int, files: FilesChanged) -> Steps[Reading]:
        """The reading after an iteration's session."""
        gate = yield from self._run_gate(iteration)
        plan = yield from self._read_plan()
        made = yield from self._assessment.make(iteration, plan)
        said = self._state.agent.report
        reading = self._sensor.read(
            iteration,
            gate=gate,
            plan=plan,
            report=AgentReport(said.completion) if said else None,
            estimate=made.progress if made else None,
            promise=self._state.agent.promised,
            changed=[change.path for change in files.changes],
        )
        if gate is None and self._state.agent.promised:
            reading = yield from self._judging.judge(iteration, reading, files)
        return (yield from self._take(reading, made))

    def _run_gate(self, iteration: int) -> Steps[GateResult | None]:
        gate = self._gate
        if gate is None:
            return None
        folder = yield from self._scheduler.run_job(
            "record", lambda: self._records.iteration_folder(iteration)
        )
        log = folder / "verification.log"
        yield GateStarted(iteration=iteration, command=self._command)
        with self._scheduler.offering(Controls(cancel=gate.cancel)):
            result = yield from self._scheduler.run_job("gate", lambda: gate.run(log))
            # Only a full disk cancels it while the run goes on: what it would have said is unknown.
            while result.cancelled and not self._scheduler.ending:
                result = yield from self._scheduler.run_job("gate", lambda: gate.run(log))
        counts = result.counts
        yield GateFinished(
            iteration=iteration,
            ok=result.ok,
            exit_code=result.exit_code,
            timed_out=result.timed_out,
            duration_s=result.duration_s,
            runner=counts.runner if counts else None,
            passed=counts.passed if counts else None,
            failed=counts.failed if counts else 0,
            errors=counts.errors if counts else 0,
            skipped=counts.skipped if counts else 0,
            failing=list(counts.failing) if counts else [],
            tail=result.tail,
            log=self._records.relative(log),
            error=result.error,
        )
        yield from self._scheduler.run_job(
            "record", lambda: self._records.write_verification(iteration, result)
        )
        return result

    def _read_plan(self) -> Steps[Progress | None]:
        """The plan as it is; one that cannot be read is told once, and its last items stand."""
        plan = yield from self._scheduler.run_job("plan", self._run.ports.read_plan)
        gone, self._plan_is_gone = self._plan_is_gone, plan is None
        name = self._run.start.plan
        if name and plan is None and not gone:
            text = (
                f"the plan {name} is not there, or has no items to tick: what it said last stands; "
                "put it back, or go on without it"
            )
            yield Noticed(level="warn", source="sensor", text=text)
        return plan

    def _take(self, reading: Reading, made: AssessmentMade | None) -> Steps[Reading]:
        yield reading.event()
        yield from self._assessment.record(reading.iteration, made)
        for warning in reading.warnings:
            yield Noticed(level="warn", source="sensor", text=warning)
        return reading
