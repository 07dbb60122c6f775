"""What an earlier external run (form F) tells: readings, times and reflections, and no session."""

from ralph_tui.adapters.agents.json_fields import as_amount, as_count, as_text
from ralph_tui.importers import earlier, verdicts
from ralph_tui.importers.external import outcome_of
from ralph_tui.importers.fields import Json, as_points, as_seconds, as_texts, as_when
from ralph_tui.importers.folder import RunFiles
from ralph_tui.importers.imported_run import TOOL, ImportedRun
from ralph_tui.importers.numbering import Numbered, numbered
from ralph_tui.importers.times import Clues, settle
from ralph_tui.importers.told import ToldIteration, ToldNote, ToldRun
from ralph_tui.importers.verdicts import verified
from ralph_tui.layers.sensor import AgentReport


def told_of(run: ImportedRun) -> tuple[ToldRun, RunFiles]:
    """The run, and the file that its notes are about."""
    files = RunFiles(run.folder, run.base)
    about, stub = earlier.analytics(run, files)
    told = ToldRun(
        run_id=run.run_id,
        name=run.name,
        form=run.form,
        objective=as_text(about.get("task_description")),
        pid=stub.pid if stub else 0,
        max_iterations=stub.max_iterations if stub else 0,
        started=earlier.began(about),
        updated=earlier.ended(about, stub),
        outcome=outcome_of("", stub),
        notes=[ToldNote(f"only its analytics are left: a later run of {TOOL} wrote over the rest")],
    )
    rows = [{**row, "number": row.get("iteration_number")} for row in earlier.rows_of(about)]
    found = numbered(rows, 0, lambda _number: False, whole=False)
    told.iterations += map(_iteration, found)
    settle(told, [Clues(analytics=as_when((one.entry or {}).get("timestamp"))) for one in found])
    told.afterwards += verdicts.selected(
        about.get("selected_iteration"), as_text(about.get("selection_reason"))
    )
    return told, files


def _iteration(one: Numbered) -> ToldIteration:
    row: Json = one.entry or {}
    reflections = tuple(as_texts(row.get("reflections")))
    return ToldIteration(
        one.shown,
        status="incomplete" if one.entry is not None else "interrupted",
        read=one.entry is not None,
        completion=as_points(row.get("quality_score")),
        reading_note="the quality score of its analytics",
        report=AgentReport(learnings=reflections) if reflections else None,
        duration_s=as_seconds(row.get("execution_time_ms")),
        tokens=as_count(row.get("tokens_used")),
        cost_usd=as_amount(row.get("token_cost_usd")) or None,
        verdicts=[*verified(as_text(row.get("verification_status")))],
    )
