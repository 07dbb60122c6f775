"""Step 11: completion is measured, not believed. The gate runs, the sensor reads."""

from dataclasses import replace
from uuid import uuid4

from ralph_tui.events import (
    AbortRequested,
    AgentReported,
    AssessmentMade,
    FilesChanged,
    GateFinished,
    GateStarted,
    GuidanceQueued,
    Noticed,
    QuestionAsked,
)
from ralph_tui.events.waiting import Option
from ralph_tui.layers.sensor import AgentReport, GateResult, Progress, Reading
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.assessment import Assessment
from ralph_tui.loop.steps.questions import QuestionDesk
from ralph_tui.loop.waiting.controls import Controls, Ended, Steps
from ralph_tui.text.format import percent

YES = Option(key="y", answer="yes", verb="yes: end the run")
NO = Option(key="n", answer="no", verb="no: go on")
GUIDE = Option(key="g", answer="guide", verb="no: go on, with words to the agent", takes="words")
ABORT = Option(key="x", answer="abort", verb="abort the run")
SHOWN = 8
"""Changed files that a question names."""


class Measurement:
    """Runs the completion command and turns what it said, the plan and the report to a reading."""

    def __init__(self, run: Run, desk: QuestionDesk, assessment: Assessment) -> None:
        self._run = run
        self._scheduler = run.scheduler
        self._state = run.state
        self._gate = run.ports.gate
        self._records = run.ports.records
        self._desk = desk
        self._assessment = assessment
        self._command = run.start.command or ""
        self._sensor = run.layers.sensor

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
            reading = yield from self._judge(iteration, reading, files)
        return (yield from self._take(reading, made))

    def _judge(self, iteration: int, reading: Reading, files: FilesChanged) -> Steps[Reading]:
        """A promise without a gate: a human says whether it is kept."""
        answer = yield from self._desk.ask(
            QuestionAsked(
                iteration=iteration,
                question_id="",
                topic="criterion",
                text=f"The agent says that it is done. Is this true: {self._run.start.criterion}",
                evidence=[*_claimed(self._state.agent.report), _changed(files)],
                options=[YES, NO, GUIDE, ABORT],
                default="no" if self._run.headless else "",
            ),
            within_s=self._run.rules.oversight.pause_timeout_s if self._run.headless else None,
        )
        match answer.answer:
            case "yes":
                note = f"accepted by {answer.by}"
                return replace(reading, completion=100.0, held=False, note=note)
            case "guide":
                yield GuidanceQueued(guidance_id=str(uuid4()), text=answer.text, by=answer.by)
            case "abort":
                yield AbortRequested(by=answer.by)
                raise Ended("aborted", f"aborted by {answer.by}; the work stays as it is")
        return reading

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
        return (yield from self._scheduler.run_job("plan", self._run.ports.read_plan))

    def _take(self, reading: Reading, made: AssessmentMade | None) -> Steps[Reading]:
        yield reading.event()
        yield from self._assessment.record(reading.iteration, made)
        for warning in reading.warnings:
            yield Noticed(level="warn", source="sensor", text=warning)
        return reading


def _claimed(said: AgentReported | None) -> list[str]:
    """What the agent says of its work, for who has to judge it."""
    if said is None:
        return ["the agent left no report"]
    points = "" if said.completion is None else f"it claims {percent(said.completion)}"
    summary = said.summary and f"it says: {said.summary}"
    return [
        *(words for words in (points, summary) if words),
        *(f"in its way: {blocker}" for blocker in said.blockers),
        *([f"it would go on with: {said.next}"] if said.next else []),
    ]


def _changed(files: FilesChanged) -> str:
    """What the session did to the files."""
    whole = sum(total.files for total in files.totals)
    if not whole:
        return "no file was changed in this iteration"
    named = [f"{c.path} +{c.added} −{c.removed}" for c in files.changes[:SHOWN]]
    more = f" and {whole - len(named)} more" if whole > len(named) else ""
    return f"changed in this iteration: {', '.join(named)}{more}"
