"""Format the runs of other tools for ``history``: a table, and a page for each run."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from ralph_tui.adapters.records import listing
from ralph_tui.adapters.records.listing import RunRow, newest_first
from ralph_tui.adapters.records.runs import HOOKED, RecordedRun
from ralph_tui.cli.pages import Page, Section
from ralph_tui.events import Event
from ralph_tui.ports.runs import NO_OBJECTIVE
from ralph_tui.state import RunState
from ralph_tui.text.format import count, duration, ending, percent, signed, step
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import STATES, in_words

RUNS = ("run", "status", "best", "iterations", "when", "from", "description")


def list_foreign(
    imported: Iterable[RunRow], hooked: Iterable[RecordedRun]
) -> tuple[Section, list[dict[str, object]], list[str]]:
    """List runs recorded by other tools or by hooks, newest first: a table and JSON values.

    The third value has a sentence for each run whose record is not fully readable.
    """
    rows = newest_first([*imported, *(listing.row_of(run, None) for run in hooked)])
    table = Section("Recorded by other tools or by hooks", head=RUNS, rows=[*map(_row_cells, rows)])
    broken = [f"{row.name}: {row.problem}" for row in rows if row.problem]
    return table, [row_json(row) for row in rows], broken


def _row_cells(row: RunRow) -> list[str]:
    of = "" if row.max_iterations is None else f" of {row.max_iterations}"
    done = row.iterations or "none"
    return [
        row.name,
        _status_word(row.status),
        percent(100 * max(row.completions)) if row.completions else "—",
        f"{done}{of}",
        "—" if row.updated is None else f"{row.updated.astimezone():%Y-%m-%d %H:%M}",
        row.imported or HOOKED,
        row.objective or NO_OBJECTIVE,
    ]


def row_json(row: RunRow) -> dict[str, object]:
    """Return a row as an object, without unknown fields."""
    known = {
        "run": row.name,
        "imported": row.imported or None,
        "status": row.status,
        "description": row.objective,
        "iterations": row.iterations,
        "max_iterations": row.max_iterations,
        "best": 100 * max(row.completions) if row.completions else None,
        "started": _format_iso(row.started),
        "updated": _format_iso(row.updated),
        "problem": row.problem or None,
    }
    return {name: value for name, value in known.items() if value is not None}


def run_page(name: str, events: Sequence[Event], problem: str) -> Page:
    """Build the page of a run of another tool: its facts, iterations and result."""
    state = RunState().apply_all(events)
    run, started = state.run, state.run.started
    assert started is not None  # every recording begins with it
    end = run.finished
    state_text = (
        ending(end.outcome, end.reason) if end else f"{_status_word('died')}: no end was recorded"
    )
    facts = [
        ("description", started.objective or NO_OBJECTIVE),
        ("done when", started.criterion or ""),
        ("state", state_text),
        ("recorded by", f"{started.imported}; pace, control output and alarms are recomputed"),
        ("agent", " ".join(word for word in (started.agent, run.model) if word)),
        ("best", "—" if run.completion is None else percent(run.best)),
        ("time", f"{duration(run.worked_s(state.at))} since {_format_time(run.started_at)}"),
        ("problem", problem),
        ("open the screen", f"ralph-tui replay {one_line(name)}"),
    ]
    before, rows = run.baseline or 0.0, list[list[str]]()
    for span in (span for span in state.timeline.spans if span.number):
        known = span.completion is not None
        gain = signed(step(before, span.completion or 0.0)) if known else ""
        alarms = [mark.name for mark in state.control.marks if mark.iteration == span.number]
        rows.append(
            [
                str(span.number),
                percent(span.completion) if span.completion is not None else "—",
                gain,
                in_words(span.finished.status) if span.finished else "",
                ", ".join(alarm.lower().partition("_")[0] for alarm in alarms),
            ]
        )
        before = span.completion if span.completion is not None else before
    head = ("iteration", "completion", "gain", "status", "alarms, recomputed")
    table = Section(count(len(rows), "iteration"), head=head, rows=rows)
    return Page(one_line(name), [Section(facts=facts), table])


def _status_word(status: str) -> str:
    return STATES[status].word if status in STATES else in_words(status)


def _format_iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat().replace("+00:00", "Z")


def _format_time(at: datetime | None) -> str:
    return "—" if at is None else f"{at.astimezone():%Y-%m-%d %H:%M}"
