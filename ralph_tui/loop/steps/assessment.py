"""Steps 1 and 11: what an iteration came to, from evidence.

It is made while the iteration is measured (an estimate of progress may be its reading), recorded
right after the reading, and kept as a file at the next iteration's step 1, or at the run's end.
"""

from datetime import datetime

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events import AssessmentMade, Noticed
from ralph_tui.layers.intelligence import Traces, assess, gather, unassessed
from ralph_tui.layers.sensor import Progress
from ralph_tui.loop.guard import guarded
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step, guards
from ralph_tui.loop.waiting.ends import Late
from ralph_tui.loop.waiting.scheduler import JOB_S

FILE = "assessment.json"
WITHOUT = "commits and loops inside the session are not looked at"


class Assessment(Step):
    """Assesses each measured iteration once."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._records = run.ports.records
        self._enabled = run.settings.intelligence.enabled
        self._saved = 0
        """Of the assessment that its file tells: its place in the journal."""

    def make(self, k: int, plan: Progress | None) -> AssessmentMade | None:
        """What iteration k comes to; None when that cannot be said. It is not recorded yet."""
        traces = self._traces(k)
        return self.guarded(
            "intelligence",
            lambda: _sound(assess(gather(self._state, k, plan=plan, traces=traces))),
            lambda: None,
            instead="the next prompt does without an assessment",
        )

    def keep(self, k: int, made: AssessmentMade | None) -> None:
        """Right after the reading of iteration k."""
        if self._enabled:
            self.record(made or unassessed(k))

    def catch_up(self, k: int) -> None:
        """Record the assessment of a reading whose process ended before it could."""
        assessed, readings = self._state.intelligence.assessments.get(k), self._state.gate.readings
        if not self._enabled or not readings or (assessed and assessed.seq > readings[-1].seq):
            return
        plan = read_plan(self._run)
        made = self.make(k, plan)
        self.keep(k, made)

    @guards("records", instead=f"{FILE} is not written")
    def save(self) -> None:
        """Step 1: the latest assessment, with the second opinion, becomes its iteration's file."""
        made = self._state.intelligence.assessment
        if made is None or made.seq == self._saved:
            return
        records, k = self._records, made.iteration
        content = records.assessment(self._state, k)
        try:
            self._scheduler.run_job(
                "assessment", lambda: records.write_iteration_file(k, FILE, content)
            )
        except WorkspaceError as error:
            self.record(Noticed(level="warn", source="records", text=str(error)))
        self._saved = made.seq

    def conclude(self) -> None:
        """At the run's end; the journal's end needs what room is left on a full disk."""
        wait = self._state.needs.wait
        if wait is None or wait.cause != "disk_full":
            self.save()

    def _traces(self, k: int) -> Traces | None:
        """What the session left behind; None where that cannot be looked at."""
        span = self._state.timeline.current
        if not k or span is None:
            return None
        since: datetime = span.started_at
        self._scheduler.join()  # the inventory after the session tells of commits
        look, unseen = self._run.ports.read_traces, Traces(missing=("commits",))
        try:
            return self.guarded(
                "intelligence",
                lambda: self._scheduler.run_job("traces", lambda: look(k, since), JOB_S),
                lambda: unseen,
                instead=WITHOUT,
            )
        except (WorkspaceError, Late) as error:
            self.record(Noticed(level="warn", source="intelligence", text=f"{error}; {WITHOUT}"))
            return unseen


def read_plan(run: Run, within_s: float = JOB_S) -> Progress | None:
    """The plan file as it is; None without one, and where it cannot be read."""
    look = run.ports.read_plan
    try:
        return guarded(
            run.record,
            "sensor",
            lambda: run.scheduler.run_job("plan", look, within_s),
            lambda: None,
            instead="the plan is not read this time",
        )
    except Late as error:
        text = f"{error}; the plan is not read this time"
        run.record(Noticed(level="warn", source="sensor", text=text))
        return None


def _sound(made: AssessmentMade) -> AssessmentMade:
    if not isinstance(made, AssessmentMade):
        raise TypeError(f"an assessment is no {type(made).__name__}")
    return made
