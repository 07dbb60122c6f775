"""``assessment.json``: an iteration's assessment in its schema's terms, from the folded run.

Unknown fields are left out. In addition to the schema's fields, the file has the `evidence` for the
assessment, the standing blockers, the missing sources, and a model's second opinion.
"""

from typing import Any, Literal, get_args

from ralph_tui.adapters.records.aiwg.forms import Camel
from ralph_tui.events import FilesChanged
from ralph_tui.events.intelligence import WorkPhase
from ralph_tui.events.workspace import Category
from ralph_tui.state import RunState


class ByCategory(Camel):
    """Changed files by category; deleted files are included."""

    source: list[str] = []
    test: list[str] = []
    config: list[str] = []
    docs: list[str] = []
    aiwg: list[str] = []
    other: list[str] = []


class AssessedFiles(Camel):
    """The first 200 file changes of the session."""

    added: list[str] = []
    modified: list[str] = []
    deleted: list[str] = []
    by_category: ByCategory = ByCategory()
    omitted: int | None = None
    """Number of changes that are not listed."""


class AssessedTests(Camel):
    """Test counts from the completion command."""

    __test__ = False  # the name is the schema's; pytest must not collect it
    ran: bool
    passed: int
    failed: int
    skipped: int
    total: int
    summary: str


class FilesToRead(Camel):
    """Files for the next session; kinds without files are left out."""

    recently_modified: list[str] | None = None
    test_files: list[str] | None = None
    artifacts: list[str] | None = None


class SecondOpinion(Camel):
    """A model's opinion of the assessment."""

    enhanced_summary: str
    additional_learnings: list[str] = []
    refined_progress: float | None = None
    measured_progress: float | None = None
    """The measured progress, for comparison with the estimate."""
    suggested_approach: str = ""


class AssessmentFile(Camel):
    """The schema's ``OrientationResult``, and the tasks and files of its next prompt, extended."""

    iteration: int
    summary: str
    phase: WorkPhase
    estimated_progress: float
    accomplishments: list[str]
    pending_tasks: list[str]
    blockers: list[str]
    learnings: list[str]
    accumulated_learnings: list[str] = []
    """Learnings from earlier iterations of this run, newest first."""
    last_action: str
    recommended_next_step: str
    files_changed: AssessedFiles
    test_status: AssessedTests | None = None
    evidence: dict[Literal["accomplishments", "blockers"], list[str]]
    """The source of each accomplishment and each blocker, in the same order."""
    standing_blockers: list[str] = []
    event_patterns: list[str] = []
    prioritized_tasks: list[str] | None = None
    """Priorities of the next iteration, in order; None before it is planned."""
    context_files: FilesToRead = FilesToRead()
    transcript_path: str | None = None
    """Relative to the attempt's folder; None if no session ran."""
    missing: list[str] = []
    second_opinion: SecondOpinion | None = None


def assessment_of(state: RunState, iteration: int) -> dict[str, Any] | None:
    """Return the content of an iteration's file, or None if it was not assessed."""
    made = state.intelligence.assessments.get(iteration)
    if made is None:
        return None
    spans = (span for span in reversed(state.timeline.spans) if span.number == iteration)
    span, tests = next(spans, None), made.tests
    refined = state.intelligence.refined.get(iteration)
    strategy = state.intelligence.strategies.get(iteration + 1)
    files = made.context_files
    return AssessmentFile(
        iteration=iteration,
        summary=made.summary,
        phase=made.phase,
        estimated_progress=made.progress,
        accomplishments=[each.text for each in made.accomplishments],
        pending_tasks=made.pending,
        blockers=[each.text for each in made.blockers],
        learnings=made.learnings,
        accumulated_learnings=made.found_out,
        last_action=made.last_action,
        recommended_next_step=made.next_step,
        files_changed=_files(span.files if span else None),
        test_status=AssessedTests(
            ran=tests.ran,
            passed=tests.passed,
            failed=tests.failed,
            skipped=tests.skipped,
            total=tests.total,
            summary=f"{tests.passed} passed, {tests.failed} failed, {tests.skipped} skipped"
            if tests.ran
            else "no tests ran",
        )
        if tests
        else None,
        evidence={
            "accomplishments": [each.source for each in made.accomplishments],
            "blockers": [each.source for each in made.blockers],
        },
        standing_blockers=[each.text for each in made.blockers if each.standing],
        event_patterns=[each.words for each in made.patterns],
        prioritized_tasks=strategy.priorities if strategy else None,
        context_files=FilesToRead(
            recently_modified=files.recently_modified or None,
            test_files=files.test_files or None,
            artifacts=files.artifacts or None,
        ),
        transcript_path=made.transcript or None,
        missing=made.missing,
        second_opinion=SecondOpinion(
            enhanced_summary=refined.summary,
            additional_learnings=refined.learnings,
            refined_progress=refined.progress,
            measured_progress=refined.measured,
            suggested_approach=refined.approach,
        )
        if refined
        else None,
    ).as_json()


def assessments(state: RunState) -> dict[str, dict[str, Any] | None]:
    """Return every iteration's file content, by its path below the attempt's folder."""
    return {
        f"results/iter-{iteration:03}/assessment.json": assessment_of(state, iteration)
        for iteration in state.intelligence.assessments
    }


def _files(files: FilesChanged | None) -> AssessedFiles:
    if files is None or files.live:
        return AssessedFiles()
    by_status: dict[str, list[str]] = {"added": [], "modified": [], "deleted": []}
    by_category: dict[str, list[str]] = {category: [] for category in get_args(Category)}
    for change in files.changes:
        by_status[change.status].append(change.path)
        by_category[change.category].append(change.path)
    more = sum(total.files for total in files.totals) - len(files.changes)
    return AssessedFiles.model_validate(
        {**by_status, "by_category": by_category, "omitted": more if more > 0 else None}
    )
