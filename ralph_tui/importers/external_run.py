"""Read an external run from its state and the files below its folder (forms A-D).

The analytics of an earlier run (form F) provide measurements, times and reflections, but no
session.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import get_args

from pydantic import ValidationError

from ralph_tui.events import LearningPromoted
from ralph_tui.events.memory import Learning, LearningType
from ralph_tui.events.run import IterationStatus
from ralph_tui.events.workspace import ChangeStatus, FileChange
from ralph_tui.importers import external, verdicts
from ralph_tui.importers.conversion import (
    IterationContent,
    NoteLevel,
    RunContent,
    note,
    run_started,
)
from ralph_tui.importers.external import (
    Analysis,
    ExternalState,
    Loop,
    Numbered,
    read_analysis,
    read_state,
    rebuild_state,
)
from ralph_tui.importers.numbering import (
    ExternalFiles,
    TimeClues,
    checkpoints_of,
    number_iterations,
    settle_times,
)
from ralph_tui.importers.output_reader import OutputReader, Timed
from ralph_tui.importers.records import (
    TOOL,
    ImportedRun,
    Json,
    RunFiles,
    as_minutes,
    as_ordinal,
    as_points,
    as_seconds,
    as_texts,
    as_time,
)
from ralph_tui.layers.memory.content import text_of
from ralph_tui.layers.sensor.agent_report import AgentReport
from ralph_tui.layers.sensor.categories import categorize
from ralph_tui.text.json_fields import as_amount, as_count, as_list, as_map, as_number, as_text
from ralph_tui.text.sanitize import shorten

STATUS: Mapping[str, IterationStatus] = {
    "completed": "completed",
    "incomplete": "incomplete",
    "error": "error",
    "failed": "error",
    "interrupted": "interrupted",
    "aborted": "interrupted",
}
"""Our status for each of the tool's; any other means that the iteration did not complete."""

_REASONS = {
    "completed": f"{TOOL} recorded that the work is done",
    "paused": "it was paused and never continued",
}
KNOWLEDGE = "knowledge/ralph-learnings.json"
MAX_LEARNINGS = 200
"""Maximum number of learnings from one run."""
MAX_CHANGES = 5_000
"""Maximum number of changed files in one iteration."""
_UNRATED: float = Learning.model_fields["success_rate"].default
_DIFFED: Mapping[str, ChangeStatus] = {
    "filesAdded": "added",
    "filesModified": "modified",
    "filesDeleted": "deleted",
}
_STATUS: Mapping[str, ChangeStatus] = {"added": "added", "deleted": "deleted"}


def read_run(run: ImportedRun, files: RunFiles) -> RunContent:
    """Return the run's content, and add notes to its files."""
    state = read_state(files) or rebuild_state(files) or ExternalState({}, ())
    return ExternalReader(run, files, state).convert()


class ExternalReader:
    """Reads one run."""

    def __init__(self, run: ImportedRun, files: RunFiles, state: ExternalState) -> None:
        self._run = run
        self._files = files
        self._run_files = ExternalFiles(files, run.run_id)
        self._state = state
        loops = state.loops
        self._whole = len(loops) == 1
        own = (loop for loop in loops if loop.session == run.session)
        self._loop = next(own, Loop(run.session, ()))
        self._others = set[int]()
        if run.session and loops:  # files with these numbers belong to the other, later loop
            self._others = {as_ordinal(e.get("number")) or 0 for e in loops[0].entries}
        self._root = as_text(as_map(state.fields.get("config")).get("workingDir"))

    def convert(self) -> RunContent:
        content = self._header()
        found = number_iterations(
            self._loop.entries,
            0 if self._run.session else self._state.current,
            lambda number: self._is_own(number) and number in self._run_files.left,
            whole=self._whole,
        )
        checkpoints = checkpoints_of(self._files, found, own=not self._run.session)
        clues = []
        for one in found:
            iteration = self._iteration(one)
            iteration.checkpoints = checkpoints.get(one.shown, [])
            content.iterations.append(iteration)
            clues.append(self._time_clues(one, iteration))
        settle_times(content, clues)
        self._add_ending(content)
        return content

    def _is_own(self, number: int) -> bool:
        return number not in self._others

    def _header(self) -> RunContent:
        run, state, fields = self._run, self._state, self._state.fields
        config = as_map(fields.get("config"))
        entry = external.list_entry(self._files, state.objective, state.started)
        content = RunContent(
            run_started(
                run,
                objective=state.objective,
                criterion=as_text(fields.get("completionCriteria")) or None,
                root=self._root,
                model=as_text(config.get("model")) or None,
                max_iterations=state.max_iterations or 0,
                session_timeout_s=as_minutes(config.get("timeoutMinutes")),
                iteration_budget_usd=as_amount(config.get("budgetPerIteration")) or None,
                pid=0 if run.session else state.pid or (entry.pid if entry else 0),
            ),
            started=state.started,
            updated=state.updated,
            outcome=external.find_outcome(state.status, entry),
            reason=as_text(fields.get("abortReason")) or _REASONS.get(state.status, ""),
        )
        if run.session:  # the state belongs to a later loop, so this one ended before that began
            content.started, content.updated, content.outcome = None, state.started, None
        return content

    def _iteration(self, one: Numbered) -> IterationContent:
        number = one.number
        entry = one.entry or {}
        content = IterationContent(one.shown, session_id=as_text(entry.get("sessionId")))
        own = self._is_own(number)
        if own:
            content.prompt = self._files.first(f"prompts/{number:03}-prompt.md")
            content.system_context = self._files.first(f"iterations/{number:03}/system-context.md")
            content.output = self._run_files.output(number)
            self._read_output(content, number, as_number(entry.get("exitCode")))
        if one.shown != number:
            content.notes.append(note(f"{TOOL} recorded it as iteration {number}", "log"))
        if one.entry is None:
            content.status, content.read = "interrupted", False
            text = f"iteration {one.shown} crashed: {TOOL} recorded nothing about it"
            content.notes.append(note(text))
        else:
            self._apply_entry(content, entry, number)
        for again in one.again:
            content.notes.append(_repeat_note(again, one.shown))
        logged = self._run_files.checks.get(number, {}) if own else {}
        content.after += verdicts.after_session(entry, logged)
        if own and number in self._run_files.reflections:
            content.after += verdicts.reflection_rows(self._run_files.reflections[number])
        return content

    def _read_output(self, content: IterationContent, number: int, exit_code: float | None) -> None:
        """Read the session's output; if it is gone, its transcript has the same lines."""
        start = 0
        transcript, begins = self._run_files.transcript(number)
        if not content.output and transcript:
            content.output, start = transcript, begins
        if content.output:
            transcript_of, errors = (
                self._run_files.transcript_of(number),
                self._run_files.output(number, "stderr"),
            )
            content.parsed = OutputReader(content.number, self._root).read(
                self._files,
                content.output,
                transcript_of,
                errors,
                None if exit_code is None else int(exit_code),
                start=start,
            )

    def _apply_entry(self, content: IterationContent, entry: Json, number: int) -> None:
        own = self._is_own(number)
        analysis = read_analysis(entry, number, self._files if own else None)
        content.status = STATUS.get(as_text(entry.get("status")), "incomplete")
        content.completion, content.reading_note = analysis.completion, analysis.note
        content.report = _report(entry, analysis)
        content.duration_s = as_seconds(entry.get("duration"))
        content.tool_calls = as_count(entry.get("toolCallCount"))
        content.tool_errors = as_count(entry.get("errorCount"))
        if analysis.note:
            level: NoteLevel = "warn" if analysis.completion is None else "log"
            content.notes.append(note(f"iteration {content.number}: {analysis.note}", level))
        if analysis.error:
            text = f"{TOOL} could not analyse iteration {content.number}: {shorten(analysis.error)}"
            content.notes.append(note(text))
        diff = self._run_files.beside(number, "snapshot-diff.json") if own else {}
        content.changes = _find_changes(diff, entry, analysis, self._root)
        assessed = self._run_files.beside(number, "assessment.json") if own else {}
        content.before += verdicts.before_session(
            entry, as_map(entry.get("assessment")) or assessed, as_time(assessed.get("timestamp"))
        )

    def _time_clues(self, one: Numbered, content: IterationContent) -> TimeClues:
        entry = one.entry or {}
        check = as_map(entry.get("healthReport")) or self._run_files.checks.get(one.number, {})
        analytics = self._run_files.rows_by_number.get(one.number, {})
        return TimeClues(
            before=_timestamp(entry.get("preSnapshot")),
            first=content.parsed.first if content.parsed else None,
            last=content.parsed.last if content.parsed else None,
            health=_timestamp(check),
            after=_timestamp(entry.get("postSnapshot")),
            analytics=_timestamp(analytics),
        )

    def _add_ending(self, content: RunContent) -> None:
        fields, analytics = self._state.fields, self._run_files.analytics
        if self._run.session:
            return
        last = content.iterations[-1].number if content.iterations else 0
        content.afterwards += _find_learnings(self._files, self._run.run_id, last, content.updated)
        chosen, why = fields.get("bestIterationSelected"), as_text(fields.get("selectionSource"))
        if chosen is None and content.outcome is not None:
            chosen = analytics.get("selected_iteration")
            why = as_text(analytics.get("selection_reason"))
        content.afterwards += verdicts.selection_rows(chosen, why)


def _report(entry: Json, analysis: Analysis) -> AgentReport | None:
    fields = analysis.fields
    report = AgentReport(
        completion=analysis.completion,
        summary=as_text(fields.get("summary")),
        blockers=tuple(as_texts(fields.get("blockers"))),
        learnings=tuple(as_texts(fields.get("learnings")) or as_texts(entry.get("learnings"))),
        next=as_text(fields.get("nextApproach")) or as_text(entry.get("progress")),
    )
    return report if report != AgentReport() else None


def _repeat_note(entry: Json, shown: int) -> Timed:
    status = as_text(entry.get("status")) or "without a status"
    error = as_map(entry.get("analysis")).get("error")
    message = as_text(error) or as_text(as_map(error).get("message"))
    text = f"{TOOL} recorded iteration {shown} again: {status}"
    return note(f"{text}, {shorten(message)}" if message else text)


def _timestamp(record: object) -> datetime | None:
    return as_time(as_map(record).get("timestamp"))


def _find_changes(diff: Json, entry: Json, analysis: Analysis, root: str) -> list[FileChange]:
    """Return the changes from the snapshot diff, the later snapshot or the agent.

    The first of these sources that has any is used. Paths are relative to `root`, the folder the
    run worked in.
    """
    lines = _parse_diffs(as_map(entry.get("postSnapshot")), root)
    if any(isinstance(diff.get(name), list) for name in _DIFFED):
        paths = [
            (_relative(path, root), status)
            for name, status in _DIFFED.items()
            for path in as_texts(diff.get(name))
        ]
        return [
            _change(path, status, *lines.get(path, ("", 0, 0))[1:])
            for path, status in paths[:MAX_CHANGES]
        ]
    if lines:
        return [_change(path, *each) for path, each in [*lines.items()][:MAX_CHANGES]]
    message = as_texts(entry.get("filesModified")) or as_texts(
        analysis.fields.get("artifactsModified")
    )
    return [_change(_relative(path, root)) for path in [*dict.fromkeys(message)][:MAX_CHANGES]]


def _parse_diffs(snapshot: Json, root: str) -> dict[str, tuple[ChangeStatus, int, int]]:
    """Return status, lines added and lines removed by path."""
    found = {}
    for each in map(as_map, as_list(snapshot.get("fileDiffs"))):
        if path := _relative(as_text(each.get("path")), root):
            status = _STATUS.get(as_text(each.get("status")), "modified")
            rows = as_text(each.get("diff")).split("\n")
            added = sum(row.startswith("+") and not row.startswith("+++") for row in rows)
            removed = sum(row.startswith("-") and not row.startswith("---") for row in rows)
            found[path] = status, added, removed
    return found


def _change(
    path: str, status: ChangeStatus = "modified", added: int = 0, removed: int = 0
) -> FileChange:
    return FileChange(
        path=path, status=status, category=categorize(path), added=added, removed=removed
    )


def _relative(path: str, root: str) -> str:
    folder = root.rstrip("/") + "/"
    return path[len(folder) :] if root and path.startswith(folder) else path


def _find_learnings(
    files: RunFiles, run_id: str, iteration: int, updated: datetime | None
) -> list[Timed]:
    """Return learnings in the tool's knowledge that name this run as a source."""
    fields = RunFiles(files.base, files.base, files.notes).json(KNOWLEDGE) or {}
    mine = [
        each
        for each in map(as_map, as_list(fields.get("learnings")))
        if run_id and run_id in as_texts(each.get("sourceLoops"))
    ]
    found: list[Timed] = []
    for each in mine[:MAX_LEARNINGS]:
        kind, content = as_text(each.get("type")), dict(as_map(each.get("content")))
        message = next((one for one in get_args(LearningType) if one == kind), None)
        text = text_of(message, content) if message is not None else ""
        if message is None or not text:
            continue
        rate = as_number(each.get("successRate"))
        try:
            learning = Learning(
                learning_id=as_text(each.get("id")),
                type=message,
                task_type=as_text(each.get("taskType")) or "general",
                text=text,
                content=content,
                confidence=as_number(each.get("confidence")) or 0.0,
                success_rate=_UNRATED if rate is None else rate,
                uses=as_count(each.get("useCount")),
                runs=len(as_texts(each.get("sourceLoops"))),
            )
        except ValidationError:
            files.note(KNOWLEDGE, "a learning has invalid values")
            continue
        promoted = LearningPromoted(
            iteration=iteration,
            staged_id=learning.learning_id,
            learning=learning,
            because=f"it is in the knowledge file of {TOOL}",
        )
        at = as_time(each.get("createdAt"))
        found.append((promoted, min(at, updated) if at and updated else at))
    return found


def read_earlier_run(run: ImportedRun, files: RunFiles) -> RunContent:
    """Return the content of an earlier run, and add notes to its files."""
    about = files.json(f"analytics/{run.path.name}") or {}
    entry = external.analytics_entry(files, about)
    content = RunContent(
        run_started(
            run,
            objective=as_text(about.get("task_description")),
            pid=entry.pid if entry else 0,
            max_iterations=(entry.max_iterations or 0) if entry else 0,
        ),
        started=as_time(about.get("start_time")),
        updated=external.analytics_end(about, entry),
        outcome=external.find_outcome("", entry),
        notes=[note(f"only its analytics remain; a later run of {TOOL} overwrote the rest")],
    )
    rows = external.analytics_rows(about)
    found = number_iterations(
        [{**row, "number": row.get("iteration_number")} for row in rows],
        0,
        lambda _number: False,
        whole=False,
    )
    content.iterations += map(_earlier_iteration, found)
    settle_times(content, [TimeClues(analytics=_timestamp(one.entry)) for one in found])
    content.afterwards += verdicts.selection_rows(
        about.get("selected_iteration"), as_text(about.get("selection_reason"))
    )
    return content


def _earlier_iteration(one: Numbered) -> IterationContent:
    row: Json = one.entry or {}
    reflections = tuple(as_texts(row.get("reflections")))
    return IterationContent(
        one.shown,
        status="incomplete" if one.entry is not None else "interrupted",
        read=one.entry is not None,
        completion=as_points(row.get("quality_score")),
        reading_note="the quality score of its analytics",
        report=AgentReport(learnings=reflections) if reflections else None,
        duration_s=as_seconds(row.get("execution_time_ms")),
        tokens=as_count(row.get("tokens_used")),
        cost_usd=as_amount(row.get("token_cost_usd")) or None,
        after=verdicts.verification_rows(as_text(row.get("verification_status"))),
    )
