"""Steps 1 and 11: assess from evidence what an iteration achieved.

The assessment is made while the iteration is measured, because an estimate of progress may be its
measurement. It is recorded right after the measurement. Its file is written in step 1 of the next
iteration, or at the end of the run; step 9 adds the priorities to it.
"""

from collections.abc import Sequence
from datetime import datetime

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events import AssessmentMade, Noticed
from ralph_tui.layers.intelligence import Traces, assess, gather, unassessed
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.loop.guard import guarded
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step, guards
from ralph_tui.loop.waiting.ends import Late
from ralph_tui.loop.waiting.scheduler import JOB_S

FILE = "assessment.json"
WITHOUT = "commits and loops inside the session are not checked"


class Assessment(Step):
    """Assesses each measured iteration once."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._records = run.ports.records
        self._enabled = run.settings.intelligence.enabled
        self.path = ""
        """The latest file, relative to the attempt's folder; empty if it could not be written."""
        self._saved = (0, 0)
        """Journal sequence numbers of the assessment and strategy last written to a file."""

    def assess(self, k: int, plan: Progress | None) -> AssessmentMade | None:
        """Assess iteration k without recording it; None if the assessment fails."""
        traces, tests = self._find_traces(k), self._list_test_files()
        return self.guarded(
            "intelligence",
            lambda: _validate(
                assess(gather(self._state, k, plan=plan, traces=traces, test_files=tests))
            ),
            lambda: None,
            instead="the next prompt has no assessment",
        )

    def keep(self, k: int, made: AssessmentMade | None) -> None:
        """Record the assessment right after the measurement of iteration k."""
        if self._enabled:
            self.record(made or unassessed(k))

    def catch_up(self, k: int) -> None:
        """Record the assessment of a measurement if the process ended before it could."""
        assessed, readings = self._state.intelligence.assessments.get(k), self._state.gate.readings
        if not self._enabled or not readings or (assessed and assessed.seq > readings[-1].seq):
            return
        plan = read_plan(self._run)
        made = self.assess(k, plan)
        self.keep(k, made)

    @guards("records", instead=f"{FILE} is not written")
    def save(self) -> None:
        """Write the latest assessment and second opinion to the iteration's file (step 1).

        The priorities that follow from it are added in step 9.
        """
        known = self._state.intelligence
        made = known.assessment
        if made is None:
            return
        records, k = self._records, made.iteration
        strategy = known.strategies.get(k + 1)
        version = made.seq, strategy.seq if strategy else 0
        if version == self._saved:
            return
        self.path = ""
        content = records.assessment(self._state, k)
        try:
            path = self._scheduler.run_job(
                "assessment", lambda: records.write_iteration_file(k, FILE, content)
            )
            self.path = records.relative(path)
        except WorkspaceError as error:
            self.record(Noticed(level="warn", source="records", text=str(error)))
        self._saved = version

    def conclude(self) -> None:
        """Save at the end of the run unless the disk is full: the last events need the room."""
        wait = self._state.needs.wait
        if wait is None or wait.cause != "disk_full":
            self.save()

    def _find_traces(self, k: int) -> Traces | None:
        """Return traces of the session's work; None if there was no session."""
        span = self._state.timeline.current
        if not k or span is None:
            return None
        since: datetime = span.started_at
        self._scheduler.join()  # the inventory after the session reports commits
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

    def _list_test_files(self) -> Sequence[str]:
        """List the repository's test files if some test fails; the next prompt points to them."""
        gate = self._state.gate.last
        nothing: Sequence[str] = ()
        if gate is None or gate.ok or not self._enabled:
            return nothing
        without = "the next prompt does not point to test files"
        try:
            return self.guarded(
                "intelligence",
                lambda: self._scheduler.run_job("test files", self._run.ports.test_files, JOB_S),
                lambda: nothing,
                instead=without,
            )
        except (WorkspaceError, Late) as error:
            self.record(Noticed(level="warn", source="intelligence", text=f"{error}; {without}"))
            return nothing


def read_plan(run: Run, within_s: float = JOB_S) -> Progress | None:
    """Read the plan file; None if it is missing or unreadable."""
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


def _validate(made: AssessmentMade) -> AssessmentMade:
    if not isinstance(made, AssessmentMade):
        raise TypeError(f"expected an assessment, not a {type(made).__name__}")
    return made
