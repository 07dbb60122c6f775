"""Read a loop of form G or H: iterations as the agent described them, without measurements.

The loop's own file has priority; an iteration's file is used only if the former omits it.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from ralph_tui.events import ForeignVerdict
from ralph_tui.importers.conversion import IterationContent, RunContent, note, run_started
from ralph_tui.importers.internal import LoopState, find_objective, read_loop
from ralph_tui.importers.output_reader import Timed
from ralph_tui.importers.records import (
    TOOL,
    ImportedRun,
    Json,
    RunFiles,
    as_minutes,
    as_ordinal,
    as_seconds,
    as_texts,
    as_time,
)
from ralph_tui.layers.sensor.agent_report import AgentReport
from ralph_tui.text.json_fields import as_map, as_text
from ralph_tui.text.terms import in_words

MAX_GAPS = 1000
"""Maximum number of iterations added for missing numbers; a number alone proves little."""
_FILE = re.compile(r"iteration-(\d{1,6})\.json")
_REPORT = re.compile(r"completion-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)\.md")


def read_run(run: ImportedRun, files: RunFiles) -> RunContent:
    """Return the run's content, and add notes to its files."""
    state = read_loop(run, files)
    fields = state.fields
    content = RunContent(
        run_started(
            run,
            objective=find_objective(run, state),
            criterion=as_text(fields.get("completion")) or None,
            agent="",
            max_iterations=as_ordinal(fields.get("maxIterations")) or 0,
            session_timeout_s=as_minutes(fields.get("timeoutMinutes")),
            pid=as_ordinal(fields.get("pid")) or 0,
        ),
        started=state.started,
        updated=state.updated or state.started,
        outcome=state.outcome,
        reason=_end_reason(state),
        iterations=_read_iterations(state, files),
    )
    _set_times(content.iterations, state)
    content.notes += _report_notes(files, content)
    return content


def _end_reason(state: LoopState) -> str:
    """Return why it ended, if more than its outcome is known."""
    fields = state.fields
    final, status = as_map(fields.get("finalResult")), as_text(fields.get("status"))
    recorded = as_text(final.get("reason")) or as_text(fields.get("abortReason"))
    return in_words(recorded or ("" if status in ("success", state.outcome) else status))


def _read_iterations(state: LoopState, files: RunFiles) -> list[IterationContent]:
    """Return iterations in the file's order, with missing numbers inserted."""
    entries = [
        (as_ordinal(entry.get("number")) or place, entry)
        for place, entry in enumerate(state.entries, 1)
    ]
    filed = _file_numbers(files, state.current)
    known = {number for number, _ in entries}
    ahead = [number for number in filed if number > max(known, default=0)]
    last, made = 0, 0
    found: dict[int, IterationContent] = {}
    for number, entry in [*entries, *((number, _read_entry(files, number)) for number in ahead)]:
        if number in found:
            text = f"recorded again: {_entry_text(entry) or 'no details'}"
            found[number].notes.append(note(text, at=as_time(entry.get("timestamp"))))
            continue
        for missing in range(last + 1, number):
            if missing not in known and made < MAX_GAPS:
                made += 1
                found[missing] = _unlisted(missing, files if missing in filed else None)
        found[number] = _read_iteration(number, entry)
        last = max(last, number)
    if state.current == last + 1 and state.outcome != "completed":
        found[last + 1] = _unlisted(last + 1, None)
    return list(found.values())


def _file_numbers(files: RunFiles, current: int | None) -> list[int]:
    """Return the numbers of iteration files, except those of an older loop."""
    found = (match[1] for name in files.names("iterations") if (match := _FILE.fullmatch(name)))
    return sorted(n for n in map(int, found) if n and (current is None or n <= current))


def _read_entry(files: RunFiles, number: int) -> Json:
    return files.json(f"iterations/iteration-{number}.json") or {}


def _unlisted(number: int, files: RunFiles | None) -> IterationContent:
    """Return an unlisted iteration from its own file; without one it counts as interrupted."""
    entry = _read_entry(files, number) if files is not None else {}
    if entry:
        return _read_iteration(number, entry)
    return IterationContent(number, status="interrupted", read=False)


def _read_iteration(number: int, entry: Json) -> IterationContent:
    result = as_text(entry.get("result"))
    verified = entry.get("verified") is True
    ended = as_time(entry.get("timestamp"))
    checked = "verified" if verified else "not verified"
    return IterationContent(
        number,
        status="completed" if verified else "incomplete",
        completion=100.0 if verified else None,
        report=AgentReport(
            summary=_entry_text(entry), learnings=tuple(as_texts(entry.get("learnings")))
        ),
        duration_s=as_seconds(entry.get("duration_ms")),
        ended=ended,
        after=[
            (
                ForeignVerdict(
                    iteration=number,
                    tool=TOOL,
                    layer="validation",
                    about="completion",
                    text=f"{checked}: {result}" if result else checked,
                ),
                ended,
            )
        ],
    )


def _entry_text(entry: Json) -> str:
    return ": ".join(filter(None, (as_text(entry.get("action")), as_text(entry.get("result")))))


def _set_times(iterations: Sequence[IterationContent], state: LoopState) -> None:
    """Set the iterations' times without overlaps, because recorded durations are unreliable."""
    begin = state.started or state.updated
    ends = _spread_times([one.ended for one in iterations], begin, state.updated)
    for one, end in zip(iterations, ends, strict=True):
        if end is None:
            continue
        end = max(end, begin or end)  # noqa: PLW2901  times never decrease
        lasted = timedelta(seconds=one.duration_s) if one.duration_s is not None else None
        one.started = begin if lasted is None or begin is None else max(begin, end - lasted)
        one.started = one.started or end
        one.ended = one.closed = end
        one.duration_s = (end - one.started).total_seconds()
        begin = end


def _spread_times(
    times: Sequence[datetime | None], first: datetime | None, last: datetime | None
) -> list[datetime | None]:
    """Spread unknown times evenly between known ones."""
    known = [(i, at) for i, at in enumerate(times) if at is not None]
    fixed = [*([(-1, first)] if first else []), *known, *([(len(times), last)] if last else [])]
    placed = list(times)
    for (i, begin), (j, end) in pairwise(fixed):
        step = max(end - begin, timedelta()) / (j - i)
        for k in range(i + 1, j):
            placed[k] = begin + (k - i) * step
    return placed


def _report_notes(files: RunFiles, content: RunContent) -> list[Timed]:
    """Note the run's own final report; others in the folder belong to earlier loops."""
    found: list[Timed] = []
    for name in (
        files.names("") if content.updated is not None and content.outcome is not None else ()
    ):
        match = _REPORT.fullmatch(name)
        at = as_time(f"{match[1]}T{match[2]}:{match[3]}:{match[4]}Z") if match else None
        if at and content.updated and abs((at - content.updated).total_seconds()) <= 2:
            found.append(note(f"its own report is in {name}", "log", content.updated))
    return found
