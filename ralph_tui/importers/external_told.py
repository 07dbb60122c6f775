"""What an external run (forms A-D) tells, from its state and the files below its folder."""

from collections.abc import Mapping
from datetime import datetime

from ralph_tui.adapters.agents.json_fields import as_amount, as_count, as_map, as_text
from ralph_tui.events.run import IterationStatus
from ralph_tui.importers import verdicts
from ralph_tui.importers.analysis import Analysed, analysed
from ralph_tui.importers.changed import changes_of
from ralph_tui.importers.external import loop_of, outcome_of, state_of
from ralph_tui.importers.external_files import ExternalFiles
from ralph_tui.importers.fields import (
    Json,
    as_minutes,
    as_number,
    as_ordinal,
    as_seconds,
    as_texts,
    as_when,
)
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.imported_run import TOOL, ImportedRun
from ralph_tui.importers.learned import learned
from ralph_tui.importers.moments import checkpoints_of
from ralph_tui.importers.numbering import Numbered, numbered
from ralph_tui.importers.printed import OutputReader
from ralph_tui.importers.state_file import ExternalState
from ralph_tui.importers.stubs import stub_of
from ralph_tui.importers.times import Clues, settle
from ralph_tui.importers.told import (
    NoteLevel,
    ToldIteration,
    ToldNote,
    ToldRun,
)
from ralph_tui.layers.sensor import AgentReport
from ralph_tui.text.sanitize import shorten

STATUS: Mapping[str, IterationStatus] = {
    "completed": "completed",
    "incomplete": "incomplete",
    "error": "error",
    "failed": "error",
    "interrupted": "interrupted",
    "aborted": "interrupted",
}
"""What theirs are called here; any other is one that did not complete."""

_REASONS = {
    "completed": f"{TOOL} recorded that the work is done",
    "paused": "it was paused and never went on",
}


def told_of(run: ImportedRun) -> tuple[ToldRun, RunFiles]:
    """The run, and the files that its events name."""
    files = RunFiles(run.folder, run.base)
    state = state_of(files)
    return External(run, files, state).told(), files


class External:
    """Reads one run."""

    def __init__(self, run: ImportedRun, files: RunFiles, state: ExternalState) -> None:
        self._run = run
        self._files = files
        self._there = ExternalFiles(files, run.run_id)
        self._state = state
        loops = state.loops
        self._whole = len(loops) == 1
        main = set[int]()
        if run.session:  # what lies there by a number is the other loop's, which came later
            main = {as_ordinal(e.get("number")) or 0 for e in loops[0].entries} if loops else main
        self._others = main
        self._root = as_text(as_map(state.fields.get("config")).get("workingDir"))

    def told(self) -> ToldRun:
        """All of it."""
        told = self._header()
        found = numbered(
            loop_of(self._state, self._run).entries,
            0 if self._run.session else self._state.current,
            lambda number: self._is_own(number) and number in self._there.left,
            whole=self._whole,
        )
        checkpoints = checkpoints_of(self._files, found, own=not self._run.session)
        clues = []
        for one in found:
            iteration = self._iteration(one)
            iteration.checkpoints = checkpoints.get(one.shown, [])
            told.iterations.append(iteration)
            clues.append(self._clues(one, iteration))
        settle(told, clues)
        self._afterwards(told)
        return told

    def _is_own(self, number: int) -> bool:
        return number not in self._others

    def _header(self) -> ToldRun:
        run, fields = self._run, self._state.fields
        config = as_map(fields.get("config"))
        status, started = as_text(fields.get("status")), as_when(fields.get("startTime"))
        stub = stub_of(self._files, as_text(fields.get("objective")), started)
        updated = as_when(fields.get("lastUpdate"))
        pid = as_ordinal(fields.get("currentPid")) or 0
        if run.session:  # the state tells of a later loop: this one was over when that began
            started, updated, stub = None, started, None
        return ToldRun(
            run_id=run.run_id,
            name=run.name,
            form=run.form,
            objective=as_text(fields.get("objective")),
            criterion=as_text(fields.get("completionCriteria")),
            root=self._root,
            model=as_text(config.get("model")),
            max_iterations=as_ordinal(fields.get("maxIterations")) or 0,
            timeout_s=as_minutes(config.get("timeoutMinutes")),
            iteration_budget_usd=as_amount(config.get("budgetPerIteration")) or None,
            pid=0 if run.session else pid or (stub.pid if stub else 0),
            started=started,
            updated=updated,
            outcome=None if run.session else outcome_of(status, stub),
            reason=as_text(fields.get("abortReason")) or _REASONS.get(status, ""),
        )

    def _iteration(self, one: Numbered) -> ToldIteration:
        number = one.number
        entry = one.entry or {}
        told = ToldIteration(one.shown, session_id=as_text(entry.get("sessionId")))
        own = self._is_own(number)
        if own:
            told.prompt = self._there.prompt(number)
            told.system_context = self._there.system_context(number)
            told.output = self._there.output(number)
        exit_code = as_number(entry.get("exitCode"))
        told.exit_code = None if exit_code is None else int(exit_code)
        if own:
            self._heard(told, number)
        if one.shown != number:
            told.notes.append(ToldNote(f"{TOOL} recorded it as iteration {number}", "log"))
        if one.entry is None:
            told.status, told.read = "interrupted", False
            text = f"iteration {one.shown} crashed: {TOOL} recorded nothing of it"
            told.notes.append(ToldNote(text, "warn"))
        else:
            self._recorded(told, entry, number)
        for again in one.again:
            told.notes.append(_again(again, one.shown))
        logged = self._there.checks.get(number, {}) if own else {}
        told.verdicts += verdicts.after_session(entry, logged)
        if own and number in self._there.reflections:
            told.verdicts += verdicts.reflected(self._there.reflections[number])
        return told

    def _heard(self, told: ToldIteration, number: int) -> None:
        """What its session printed; where that is gone, its own transcript has the same lines."""
        start = 0
        transcript, begins = self._there.transcript(number)
        if not told.output and transcript:
            told.output, start = transcript, begins
        if told.output:
            tape, errors = self._there.tape(number), self._there.output(number, "stderr")
            told.printed = OutputReader(told.number, self._root).read(
                self._files, told.output, tape, errors, told.exit_code, start=start
            )

    def _recorded(self, told: ToldIteration, entry: Json, number: int) -> None:
        own = self._is_own(number)
        analysis = analysed(entry, number, self._files if own else None)
        told.status = STATUS.get(as_text(entry.get("status")), "incomplete")
        told.completion, told.reading_note = analysis.completion, analysis.note
        told.report = _report(entry, analysis)
        told.duration_s = as_seconds(entry.get("duration"))
        told.tool_calls = as_count(entry.get("toolCallCount"))
        told.tool_errors = as_count(entry.get("errorCount"))
        if analysis.note:
            level: NoteLevel = "warn" if analysis.completion is None else "log"
            told.notes.append(ToldNote(f"iteration {told.number}: {analysis.note}", level))
        if analysis.error:
            text = f"{TOOL} could not analyse iteration {told.number}: {shorten(analysis.error)}"
            told.notes.append(ToldNote(text, "warn"))
        diff = self._there.beside(number, "snapshot-diff.json") if own else {}
        told.changes = changes_of(diff, entry, analysis, self._root)
        assessed = self._there.beside(number, "assessment.json") if own else {}
        told.verdicts += verdicts.before_session(
            entry, as_map(entry.get("assessment")) or assessed, as_when(assessed.get("timestamp"))
        )

    def _clues(self, one: Numbered, told: ToldIteration) -> Clues:
        entry = one.entry or {}
        check = as_map(entry.get("healthReport")) or self._there.checks.get(one.number, {})
        analytics = self._there.analysed.get(one.number, {})
        return Clues(
            before=_stamp(entry.get("preSnapshot")),
            first=told.printed.first if told.printed else None,
            last=told.printed.last if told.printed else None,
            health=_stamp(check),
            after=_stamp(entry.get("postSnapshot")),
            analytics=_stamp(analytics),
        )

    def _afterwards(self, told: ToldRun) -> None:
        fields, analytics = self._state.fields, self._there.analytics
        if self._run.session:
            return
        chosen, why = fields.get("bestIterationSelected"), as_text(fields.get("selectionSource"))
        if chosen is None and told.outcome is not None:
            chosen = analytics.get("selected_iteration")
            why = as_text(analytics.get("selection_reason"))
        told.afterwards += verdicts.selected(chosen, why)
        last = told.iterations[-1].number if told.iterations else 0
        told.learned += learned(self._files, told.run_id, last)


def _report(entry: Json, analysis: Analysed) -> AgentReport | None:
    fields = analysis.fields
    report = AgentReport(
        completion=analysis.completion,
        summary=as_text(fields.get("summary")),
        blockers=tuple(as_texts(fields.get("blockers"))),
        learnings=tuple(as_texts(fields.get("learnings")) or as_texts(entry.get("learnings"))),
        next=as_text(fields.get("nextApproach")) or as_text(entry.get("progress")),
    )
    return report if report != AgentReport() else None


def _again(entry: Json, shown: int) -> ToldNote:
    status = as_text(entry.get("status")) or "without a status"
    error = as_map(entry.get("analysis")).get("error")
    said = as_text(error) or as_text(as_map(error).get("message"))
    text = f"{TOOL} recorded iteration {shown} again: {status}"
    return ToldNote(f"{text}, {shorten(said)}" if said else text, "warn")


def _stamp(record: object) -> datetime | None:
    return as_when(as_map(record).get("timestamp"))
