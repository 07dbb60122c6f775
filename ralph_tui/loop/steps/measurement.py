"""Step 11: measure completion by running the completion command and reading the plan."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from ralph_tui import events as ev
from ralph_tui.commands import Controls
from ralph_tui.events.waiting import Option
from ralph_tui.layers.sensor.agent_report import AgentReport
from ralph_tui.layers.sensor.expected import broken_by, gone_words
from ralph_tui.layers.sensor.gate import GateResult
from ralph_tui.layers.sensor.passing import CompletedBy, completed_by, completes
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.layers.sensor.reading import Reading
from ralph_tui.layers.sensor.sensor import UNPROVEN
from ralph_tui.layers.sensor.tampering import deciding_files, named_files
from ralph_tui.layers.sensor.unread import sound, unread
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.assessment import Assessment, read_plan
from ralph_tui.loop.steps.judge import Judge
from ralph_tui.loop.steps.offers import ABORT
from ralph_tui.loop.steps.questions import QuestionAsker
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.ports.worktree import Gate
from ralph_tui.text.format import count
from ralph_tui.text.terms import sender_label

YES = Option(key="y", answer="yes", verb="yes: accept the missing tests")
NO = Option(key="n", answer="no", verb="no: continue; the tests must be restored")
GUIDE = Option(key="g", answer="guide", verb="no: continue with guidance", takes="words")
SHOWN = 8
"""Maximum number of changed test files named in the question."""


def ask_about_removal(
    run: Run, asker: QuestionAsker, k: int, reading: Reading, files: ev.FilesChanged
) -> Reading:
    """Ask the user to accept the missing tests; return the measurement of iteration k.

    Called when the command passes and tests are gone. Until the user says yes, these tests count as
    failing and the run cannot complete.
    """
    missing = reading.missing
    within = 0.0 if run.headless else run.settings.oversight.pause_timeout_s
    counted = reading.passed or 0, reading.total or 0, reading.expected or 0
    words = gone_words(*(reading.lost or counted), reading.gone)
    named = named_files(run.start.command or "")
    config, tests, scripts = deciding_files((change.path for change in files.changes), named)
    changed = {
        "changed test files": tests,
        "changed test configuration": config,
        "changed files named in the command": scripts,
    }
    answer = asker.ask(
        ev.QuestionAsked(
            iteration=k,
            question_id="",
            topic="removal",
            text=f"Accept {count(missing, 'missing test')}? The command passes: {words}.",
            evidence=[
                f"{words}: {', '.join(paths[:SHOWN])}" for words, paths in changed.items() if paths
            ],
            options=[YES, NO, GUIDE, ABORT],
            default="no",
        ),
        within_s=within,
    )
    match answer.answer:
        case "yes":
            note = f"accepted by {answer.by}"
            expected = reading.total if reading.source == "tests" else reading.expected
            return replace(
                reading,
                completion=100.0,
                held=False,
                expected=expected,
                gone=(),
                lost=None,
                note=note,
            )
        case "guide":
            run.record(ev.GuidanceQueued(guidance_id=str(uuid4()), text=answer.text, by=answer.by))
        case "abort":
            run.record(ev.AbortRequested(by=answer.by))
            raise Ended("aborted", f"aborted by {sender_label(answer.by)}; the work stays as it is")
    return reading


UNMEASURED = GateResult(
    ok=False,
    exit_code=None,
    error="The completion command could not be measured; the log has the traceback.",
)


class Measurement(Step):
    """Turns the completion command's result, the plan and the agent's report into a measurement."""

    def __init__(
        self, run: Run, judging: Judge, assessment: Assessment, asker: QuestionAsker
    ) -> None:
        super().__init__(run)
        self._asker = asker
        self._gate = run.ports.gate
        self._records = run.ports.records
        self._judge = judging
        self._assessment = assessment
        self._command = run.start.command or ""
        self._sensor = run.layers.sensor
        self._guard = run.layers.guard
        self._plan_is_gone = False
        self._warned = False

    def baseline(self) -> Reading:
        """Measure before iteration 1. Raises `Ended` if the command cannot run."""
        gate = self._run_gate(0)
        if gate is not None and gate.error:
            raise Ended("failed", gate.error)
        plan = self._read_plan()
        made = self._assessment.assess(0, plan)
        before = self._sensor.state
        reading = self._read(
            lambda: self._sensor.baseline(gate, plan, None), lambda: unread(before, 0, gate)
        )
        return self._take(reading, made)

    def after(self, iteration: int, files: ev.FilesChanged) -> Reading:
        """Measure after an iteration's session."""
        gate = self._run_gate(iteration)
        plan = self._read_plan()
        made = self._assessment.assess(iteration, plan)
        said = self._state.agent.report
        promised, changed = self._state.agent.promised, [change.path for change in files.changes]
        by = completed_by(self._state)
        before = self._sensor.state
        reading = self._read(
            lambda: self._sensor.read(
                iteration,
                gate=gate,
                plan=plan,
                report=AgentReport(said.completion) if said else None,
                estimate=made.progress if made else None,
                promise=promised,
                changed=changed,
                by=by,
            ),
            lambda: unread(before, iteration, gate, promise=promised, changed=changed, by=by),
        )
        passed = gate is None or gate.ok
        if gate is not None and passed and reading.missing and self._may_complete(by):
            lost = reading.lost
            reading = ask_about_removal(self._run, self._asker, iteration, reading, files)
            if lost and not reading.missing:
                self._sensor.state = replace(self._sensor.state, most=lost[1])
        if by == "judge" and promised and passed and not reading.missing:
            reading = replace(reading, completion=min(UNPROVEN, reading.completion))
            reading = self._judge.judge(iteration, reading, files)
        return self._take(reading, made)

    def _may_complete(self, by: CompletedBy) -> bool:
        """True if a passing command would complete the run if no tests were missing."""
        state, promised = self._sensor.state, self._state.agent.promised
        if by == "judge":
            return promised
        return completes(by, green=state.green, promised=promised and state.changed)

    def _read(self, read: Callable[[], Reading], otherwise: Callable[[], Reading]) -> Reading:
        """Return the sensor's measurement; on failure, reset the sensor and use `otherwise`."""
        sensor = self._sensor
        before = sensor.state

        def fall_back() -> Reading:
            sensor.state = before
            return otherwise()

        instead = "the last value is kept; a passed completion command still ends the run"
        return self.guarded("sensor", lambda: sound(read()), fall_back, instead=instead)

    def _run_gate(self, iteration: int) -> GateResult | None:
        gate = self._gate
        if gate is None:
            return None
        folder = self._scheduler.run_job(
            "record", lambda: self._records.iteration_folder(iteration)
        )
        log = folder / "verification.log"
        self.record(ev.GateStarted(iteration=iteration, command=self._command))
        with self._scheduler.accepting(Controls(cancel=gate.cancel)):
            result, finished = self.guarded(
                "sensor",
                lambda: self._measured(gate, iteration, log),
                lambda: (UNMEASURED, self._finished(iteration, UNMEASURED, log)),
                instead="the result of this completion command is unknown",
            )
        self.record(*self._guard.take())
        finished = self.guarded(
            "sensor",
            lambda: self._with_build(finished, result),
            lambda: finished,
            instead="the state of the build is unknown",
        )
        self.record(finished)
        if result.doubt and not self._warned:
            self._warned = True
            self.record(ev.Noticed(level="warn", source="sensor", text=result.doubt))
        self.guarded(
            "records",
            lambda: self._scheduler.run_job(
                "record", lambda: self._records.write_verification(iteration, result)
            ),
            lambda: None,
            instead="the completion command's result is recorded only in the journal",
        )
        return result

    def _with_build(self, finished: ev.GateFinished, result: GateResult) -> ev.GateFinished:
        broken = broken_by(result, self._sensor.state.most)
        return ev.GateFinished.model_validate({**finished.model_dump(), "broken": broken})

    def _measured(
        self, gate: Gate, iteration: int, log: Path
    ) -> tuple[GateResult, ev.GateFinished]:
        result = self._scheduler.run_job("gate", lambda: gate.run(log))
        # While the run continues, only a full disk cancels the command: run it again.
        while result.cancelled and not self._scheduler.ending:
            result = self._scheduler.run_job("gate", lambda: gate.run(log))
        return result, self._finished(iteration, result, log)

    def _finished(self, iteration: int, result: GateResult, log: Path) -> ev.GateFinished:
        counts = result.counts
        return ev.GateFinished(
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

    def _read_plan(self) -> Progress | None:
        """Read the plan; report once if it cannot be read, and keep its last items."""
        plan = read_plan(self._run)
        gone, self._plan_is_gone = self._plan_is_gone, plan is None
        name = self._run.start.plan
        if name and plan is None and not gone:
            text = (
                f"the plan {name} is missing or has no items to tick; its last known items, if "
                "any, are used; restore it, add items such as '- [ ] item', or continue without it"
            )
            self.record(ev.Noticed(level="warn", source="sensor", text=text))
        return plan

    def _take(self, reading: Reading, made: ev.AssessmentMade | None) -> Reading:
        self.record(reading.event())
        self._assessment.keep(reading.iteration, made)
        for warning in reading.warnings:
            self.record(ev.Noticed(level="warn", source="sensor", text=warning))
        return reading
