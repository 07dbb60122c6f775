"""What an external run (forms A-D) tells, from its state and the files below its folder."""

from ralph_tui.adapters.agents.json_fields import as_amount, as_map, as_text
from ralph_tui.adapters.importers.external import ENDS, completion_of, loop_of
from ralph_tui.adapters.importers.fields import (
    Json,
    as_number,
    as_ordinal,
    as_seconds,
    as_texts,
    as_when,
)
from ralph_tui.adapters.importers.folder import RunFiles
from ralph_tui.adapters.importers.imported_run import ImportedRun
from ralph_tui.adapters.importers.state_file import ExternalState, number_of, read_state
from ralph_tui.adapters.importers.told import ToldIteration, ToldReport, ToldRun


def told_of(run: ImportedRun) -> tuple[ToldRun, RunFiles]:
    """The run, and the files that its events name."""
    files = RunFiles(run.folder, run.base)
    state = read_state(files) or ExternalState({}, ())
    told = _run(run, state.fields)
    for entry in loop_of(state, run).entries:
        number = number_of(entry)
        if number is not None:
            told.iterations.append(_iteration(number, entry, files))
    return told, files


def _run(run: ImportedRun, fields: Json) -> ToldRun:
    config = as_map(fields.get("config"))
    status = as_text(fields.get("status"))
    minutes = as_number(config.get("timeoutMinutes"))
    return ToldRun(
        run_id=run.run_id,
        name=run.name,
        form=run.form,
        objective=as_text(fields.get("objective")),
        criterion=as_text(fields.get("completionCriteria")),
        root=as_text(config.get("workingDir")),
        model=as_text(config.get("model")),
        max_iterations=as_ordinal(fields.get("maxIterations")) or 0,
        timeout_s=60 * minutes if minutes is not None and minutes > 0 else 0.0,
        iteration_budget_usd=as_amount(config.get("budgetPerIteration")) or None,
        pid=as_ordinal(fields.get("currentPid")) or 0,
        started=as_when(fields.get("startTime")),
        updated=as_when(fields.get("lastUpdate")),
        outcome=ENDS.get(status),
        reason=as_text(fields.get("abortReason")),
    )


def _iteration(number: int, entry: Json, files: RunFiles) -> ToldIteration:
    analysis = as_map(entry.get("analysis"))
    return ToldIteration(
        number,
        completion=completion_of(entry),
        report=ToldReport(
            completion=completion_of(entry),
            summary=as_text(entry.get("progress")),
            blockers=tuple(as_texts(analysis.get("blockers"))),
            learnings=tuple(as_texts(analysis.get("learnings"))),
            next=as_text(analysis.get("nextApproach")),
        ),
        prompt=files.first(f"prompts/{number:03}-prompt.md"),
        session_id=as_text(entry.get("sessionId")),
        duration_s=as_seconds(entry.get("duration")),
    )
