"""One iteration of the Ralph loop, step by step.

Step numbers follow the overall design.
"""

from ralph_tui import events as ev
from ralph_tui.layers.checkpoints import interval_advice
from ralph_tui.layers.inputs import budget_of
from ralph_tui.layers.sensor.passing import needed, needs_promise
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.assessment import Assessment
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.detection import Detector
from ralph_tui.loop.steps.escalation import Escalation
from ralph_tui.loop.steps.goal import Goal
from ralph_tui.loop.steps.handoff_runner import HandoffRunner
from ralph_tui.loop.steps.handoff_writer import HandoffWriter
from ralph_tui.loop.steps.judge import Judge
from ralph_tui.loop.steps.measurement import Measurement
from ralph_tui.loop.steps.memory import MemoryLayer
from ralph_tui.loop.steps.model_help import ModelHelp
from ralph_tui.loop.steps.overseer import Overseer
from ralph_tui.loop.steps.prompting import PromptWriter
from ralph_tui.loop.steps.questions import QuestionAsker
from ralph_tui.loop.steps.recording import IterationRecorder
from ralph_tui.loop.steps.second_opinion import SecondOpinion
from ralph_tui.loop.steps.sessions import Sessions
from ralph_tui.loop.steps.state_file import StateFile
from ralph_tui.loop.steps.strategy import Strategist
from ralph_tui.loop.waiting.ends import Ended
from ralph_tui.text.format import all_used, percent

STEPS: dict[int, str] = {
    0: "preparation",
    1: "assessment",
    2: "memory",
    3: "strategy",
    4: "metrics",
    5: "gains",
    6: "signal",
    7: "alarms",
    8: "validation",
    9: "prompt",
    10: "session",
    11: "verification",
    12: "detection",
    13: "intervention",
    14: "oversight",
    15: "learning",
    16: "promotion",
    17: "record",
}
"""Step names shown in the header."""


class Iteration:
    """Runs the steps of an iteration in order, and owns the objects that carry them out."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.checkpoints = Checkpoints(run)
        self.escalation = Escalation(run)
        self.asker = QuestionAsker(run, self.escalation, self.checkpoints)
        self.models = ModelHelp(run)
        self.assessment = Assessment(run)
        self.prompt_writer = PromptWriter(run, self.asker, self.models, self.assessment)
        handoffs = HandoffWriter(run, self.asker, self.checkpoints, self.models)
        self.handoff_runner = HandoffRunner(run, self.checkpoints, handoffs, self.prompt_writer)
        self.state_file = StateFile(run)
        self.sessions = Sessions(
            run, self.checkpoints, self.asker, self.handoff_runner, self.state_file
        )
        self.second_opinion = SecondOpinion(run, self.checkpoints, self.models)
        judging = Judge(run, self.asker, self.checkpoints, self.models)
        self.measurement = Measurement(run, judging, self.assessment, self.asker)
        self.goal = Goal(run, self.asker)
        self.governor = run.layers.governor
        self.memory = MemoryLayer(run, self.models)
        self.strategist = Strategist(run)
        self.detector = Detector(run)
        self.overseer = Overseer(run, self.checkpoints, self.asker, self.escalation)
        self.recorder = IterationRecorder(run)

    def prepare(self) -> int:
        """Prepare for iteration 1 and return its number.

        Stops leftover processes and takes the baseline, the first snapshot and checkpoint, and the
        plan.
        """
        self.run.record(self.step_event(0, 0))
        self.sweep()
        self.sessions.warn()
        self.models.warn()
        reading = self.measurement.baseline()
        self.goal.settle()
        self.governor.begin(reading.completion)
        self.checkpoints.first("before iteration 1")
        self.memory.read_windows()
        self.memory.plan()
        timed, longest_s = self.run.settings.checkpoints, self.run.start.session_timeout_s
        if timed.enabled and (advice := interval_advice(timed.interval_s, longest_s)):
            self.run.record(ev.Noticed(level="warn", source="checkpoints", text=advice))
        return 1

    def sweep(self) -> None:
        """Stop processes left behind by dead runs of this worktree."""
        if swept := (self.run.scheduler.run_job("sweep", self.run.ports.sweep)):
            self.run.record(
                ev.Noticed(source="processes", text=f"{len(swept)} leftover processes stopped")
            )

    def perform(self, k: int) -> None:
        """Run one iteration.

        Steps 4-7 use the evaluation of the previous iteration's measurement. Step 12 computed it
        right after that measurement, so that a run's last measurement gets one, too.
        """
        self.checkpoints.begin_iteration()
        self.run.record(
            ev.IterationStarted(iteration=k, max_iterations=self.run.state.run.max_iterations)
        )
        self.recorder.write_projections()  # to count the open iteration, as the status does
        self.state_file.keep()

        self.run.record(self.step_event(k, 1))  # StateAssessor
        self.second_opinion.refine()
        self.assessment.save()
        self.run.record(self.step_event(k, 2))  # MemoryRetrieval
        self.memory.retrieve(k)
        self.run.record(self.step_event(k, 3))  # StrategyPlanner
        self.strategist.plan(k)
        self.run.record(self.step_event(k, 4))  # MetricsCollector
        self.run.record(self.step_event(k, 5))  # GainScheduler
        self.run.record(self.step_event(k, 6))  # PIDController
        self.run.record(self.step_event(k, 7))  # ControlAlarms
        control = self.governor.evaluation if self.run.settings.control.enabled else None
        self.run.record(self.step_event(k, 8))  # ValidationAgent, before the session
        self.strategist.before(k)
        self.run.record(self.step_event(k, 9))  # PromptGenerator
        self.sessions.read_plan()
        words = self.prompt_writer.write(k, control)
        self.run.record(self.step_event(k, 10))  # SessionLauncher
        self.sessions.run(k, words)
        self.measure(k, self.checkpoints.record_changes(k))

    def measure(self, k: int, files: ev.FilesChanged) -> None:
        """Run step 11 and the steps after it; the session has ended and changed `files`."""
        self.run.record(self.step_event(k, 11))  # the completion command
        self.measurement.after(k, files)
        self.finish_iteration(k)

    def finish_iteration(self, k: int) -> None:
        """Run steps 12-17; iteration k has been measured."""
        self.strategist.after(k)  # part of step 11; it is here because a resumed run needs it, too
        self.run_oversight(k)
        self.run.record(self.step_event(k, 15))  # LearningExtractor
        self.memory.extract(k)
        self.run.record(self.step_event(k, 16))  # MemoryPromotion
        self.memory.promote(k)
        self.run.record(self.step_event(k, 17))  # StateManager
        self.run.record(self.recorder.finished(k))
        self.recorder.write_projections()
        self.state_file.keep()
        self.memory.index()
        self.end_if_completed(k)
        self.overseer.end_if_aborted()

    def run_oversight(self, k: int) -> None:
        """Run steps 12-14."""
        self.run.record(self.step_event(k, 12))  # BehaviorDetector
        finding = self.detector.detect(k)
        if finding is not None:
            self.run.record(self.step_event(k, 13))  # InterventionSystem, with the user in the loop
            self.overseer.intervene(k, finding)
            self.run.record(self.step_event(k, 14))  # Overseer: the health check
            self.overseer.check(k, finding)
        elif self.run.settings.oversight.enabled:
            self.run.record(self.step_event(k, 13))
            self.overseer.report_failure(k)

    def step_event(self, k: int, step: int) -> ev.Event:
        """Return the event that reports the loop's current step."""
        return ev.StepEntered(iteration=k, step=step, name=STEPS[step])

    def end_if_completed(self, k: int) -> None:
        """Raise `Ended` if the measurement of iteration k shows that the work is done."""
        reading = self.run.state.gate.readings[-1]
        if reading.completion >= 100:
            raise Ended("completed", f"{self._proof(reading)} after iteration {k}")

    def _proof(self, reading: ev.ReadingTaken) -> str:
        goal = self.run.goal
        if goal.criterion:
            return f"{reading.note}; the command passed" if goal.command else reading.note
        if needs_promise(self.run.state):
            return "the agent promised, and the completion command passed"
        return "the completion command passed"

    def end_if_last(self, k: int) -> None:
        """Raise `Ended` if no further iteration is allowed after this one."""
        run = self.run.state.run
        if budget_of(self.run.state).spent >= 1:
            raise Ended("limit_reached", f"the budget is used up after iteration {k}")
        if k >= run.max_iterations:
            reached = run.completion or 0.0
            lacks = needed(self.run.state)
            raise Ended(
                "limit_reached",
                f"{all_used(k)}, and completion is at {percent(reached, run.best)} "
                f"(best {percent(run.best, reached)})" + (f"; {lacks}" if lacks else ""),
            )
        if run.stopping == "after_iteration":  # checked last: a run at its limit cannot be resumed
            raise Ended("interrupted", f"stopped after iteration {k}, as requested")
