"""``ralph-tui history``: tasks, their attempts, the results and the reflections."""

import argparse
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph_tui.adapters.records.folders import named_path, ralph_folder, worktree_root
from ralph_tui.adapters.records.foreign import ForeignRun, foreign_runs, track_hooked_loops
from ralph_tui.adapters.records.history import TaskHistory, list_tasks, read_task, status_of
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.runs import RecordedRun, describe_no_runs, find_hooked
from ralph_tui.adapters.records.task_index import TaskIndex
from ralph_tui.adapters.records.task_table import TaskRow
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.history_words import (
    attempt_page,
    list_page,
    reflections_page,
    status_word,
    task_json,
    task_page,
)
from ralph_tui.cli.live import find_live, text_argument
from ralph_tui.cli.output_file import write_output
from ralph_tui.cli.pages import Page, as_markdown, as_text
from ralph_tui.runtime.sources.find_run import explain_read_only, find_foreign, read_run
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line

if TYPE_CHECKING:
    from ralph_tui.adapters.records.aiwg.records import Attempt

MAX_LISTED = 100
"""Maximum number of tasks listed without ``--all``."""
FORMS = (".json", ".md")
STATUSES = (
    *("running", "paused", "completed", "failed", "died", "unknown"),
    *("stopped", "aborted", "limit reached"),
)
"""Recorded statuses, and the outcomes that the list shows for a failed task."""
FILTERS = ("status", "agent", "since", "tag")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "List the tasks of this repository. With TASK, list its attempts; with an attempt, show "
        "its plan, iterations and reflections."
    )
    parser.add_argument(
        "task",
        metavar="TASK",
        nargs="?",
        help="a task such as task-001, or an attempt such as task-001/002",
    )
    parser.add_argument("--attempt", metavar="N", type=int, help="show one attempt of TASK")
    parser.add_argument(
        "--reflections", action="store_true", help="show only the reflections of TASK"
    )
    parser.add_argument(
        "--reflect", metavar="TEXT", help="add a reflection of your own; - reads standard input"
    )
    parser.add_argument(
        "--all", action="store_true", help=f"list all tasks, not only the last {MAX_LISTED}"
    )
    parser.add_argument("--status", choices=STATUSES, help="list only tasks with this status")
    parser.add_argument("--agent", metavar="NAME", help="list only tasks that this agent attempted")
    parser.add_argument(
        "--since",
        metavar="AGE",
        help="list only tasks changed within this time (12h, 30d) or since a date",
    )
    parser.add_argument(
        "--tag", metavar="TAG", help="list only tasks with this tag, such as test-fix"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    parser.add_argument("--export", metavar="FILE", help="write to FILE: *.json or *.md")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def run(args: argparse.Namespace) -> int:
    """Show tasks and attempts, or add a reflection.

    Raises ``RalphError`` if there is no such task, or FILE cannot be written.
    """
    root = worktree_root(Path.cwd())
    tracked = track_hooked_loops(root)
    if args.task is None:
        _refuse_without_task(args)
        return _show_list(root, args, tracked)
    for option in FILTERS:
        if getattr(args, option) is not None:
            raise UsageError(f"--{option} filters the list of tasks; leave out TASK")
    if (imported := find_foreign(root, args.task)) is not None:
        return _show_imported(imported, args)
    name, number = _parse_task(args)
    task = read_task(root, name)
    for problem in task.problems:
        print(f"ralph-tui: {problem}", file=sys.stderr)
    attempts = task.attempts if number is None else (task.attempt(number),)
    if args.reflect is not None:
        return _reflect(task, attempts, text_argument(args.reflect))
    if args.reflections:
        reflections = [each.as_json() for attempt in attempts for each in attempt.reflections]
        return _show(args, reflections_page(task, attempts), reflections)
    if number is not None:
        [attempt] = attempts
        return _show(args, attempt_page(attempt, status_of(root, attempt)), attempt.as_json())
    statuses = [status_of(root, attempt) for attempt in task.attempts]
    return _show(args, _build_page(task, statuses, whole=bool(args.export)), _task_object(task))


def _refuse_without_task(args: argparse.Namespace) -> None:
    for option in ("attempt", "reflections", "reflect"):
        if getattr(args, option) not in (None, False):
            raise UsageError(f"--{option} needs a task: ralph-tui history TASK --{option}")


def _parse_task(args: argparse.Namespace) -> tuple[str, int | None]:
    """Return the task's name and the attempt's number, None if no attempt is named."""
    name, slash, number = args.task.partition("/")
    if not (slash and number.isascii() and number.isdecimal()):
        return args.task, args.attempt
    if args.attempt not in (None, int(number)):
        raise UsageError(
            f"{one_line(args.task)} and --attempt {args.attempt} name different attempts; "
            "give only one"
        )
    return name, int(number)


def _show_list(root: Path, args: argparse.Namespace, tracked: frozenset[str]) -> int:
    """List tasks and runs without a task; loops in `tracked` are already listed as tasks."""
    rows = _filtered(list_tasks(root), root, args)
    foreign = foreign_runs()
    imported = foreign.find(root)
    hooked = [run for run in find_hooked(root) if run.folder.name not in tracked]
    if any(getattr(args, option) is not None for option in FILTERS):
        if not (rows or args.json):
            raise UsageError("no task matches; ralph-tui history --all lists every task")
        imported, hooked = [], []
    lost = [*foreign.remains(root)]
    if not (rows or imported or hooked or args.json):
        raise UsageError("; ".join([describe_no_runs(root, "task"), *lost]))
    older = 0 if args.all or args.json or args.export else max(0, len(rows) - MAX_LISTED)
    shown = dict([*rows.items()][older:])
    page, value = list_page(shown), [task_json(name, row) for name, row in shown.items()]
    if imported or hooked:
        from ralph_tui.cli.foreign_words import list_foreign  # noqa: PLC0415 - keeps our own list quick

        section, others, broken = list_foreign(map(foreign.row_of, imported), hooked)
        lost += broken
        title = page.title if rows else "No ralph-tui tasks yet"
        page, value = Page(title, [*page.sections, section]), [*value, *others]
    code = _show(args, page, value)
    for sentence in lost:
        print(f"ralph-tui: {sentence}", file=sys.stderr)
    if older:
        print(f"and {count(older, 'older task')}; --all lists them", file=sys.stderr)
    return code


def _filtered(rows: dict[str, TaskRow], root: Path, args: argparse.Namespace) -> dict[str, TaskRow]:
    """Return the rows that match all given filters."""
    index = TaskIndex(ralph_folder(root))
    since = _since(args.since) if args.since is not None else None
    attempted = index.of_agent(args.agent) if args.agent is not None else rows.keys()
    return {
        name: row
        for name, row in rows.items()
        if name in attempted
        and args.status in (None, row.status, status_word(row))
        and (since is None or datetime.fromisoformat(row.updated) >= since)
        and (args.tag is None or args.tag in index.tags(name))
    }


def _since(words: str) -> datetime:
    """Parse an age or a date. Raises ``UsageError``."""
    from ralph_tui.text.durations import seconds  # noqa: PLC0415 - keeps a plain list quick

    try:
        return datetime.fromisoformat(words).astimezone()
    except ValueError:
        pass
    try:
        return datetime.now(UTC) - timedelta(seconds=float(str(seconds(words))))
    except (ValueError, OverflowError):
        raise UsageError(
            f"--since takes an age such as 12h or 30d, or a date such as 2026-11-28, not {words!r}"
        ) from None


def _show_imported(found: ForeignRun, args: argparse.Namespace) -> int:
    """Show a run of another tool: it has a single attempt, and nothing can be added to it."""
    for option in ("attempt", "reflections", "reflect"):
        if getattr(args, option) not in (None, False):
            raise UsageError(
                f"--{option} works only for tasks of ralph-tui; {explain_read_only(found)}"
            )
    from ralph_tui.cli.foreign_words import row_json, run_page  # noqa: PLC0415

    recording = read_run(found)
    page = run_page(found.name, recording.events, recording.problem)
    return _show(args, page, row_json(foreign_runs().row_of(found)))


def _build_page(task: TaskHistory, statuses: list[str], *, whole: bool) -> Page:
    """Build a task's page; with `whole` (for a file), include every attempt in full."""
    page = task_page(task, statuses)
    if not whole:
        return page
    parts = [*page.sections]
    for attempt, status in zip(task.attempts, statuses, strict=True):
        each = attempt_page(attempt, status)
        first, *rest = each.sections
        parts += [first.with_title(each.title), *rest]
    return Page(page.title, parts)


def _task_object(task: TaskHistory) -> dict[str, Any]:
    return {
        "task": task.name,
        "description": task.attempts[0].description,
        "attempts": [attempt.as_json() for attempt in task.attempts],
    }


def _show(args: argparse.Namespace, page: Page, value: object) -> int:
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    if args.export is None:
        print(text if args.json else as_text(page), end="")
        return ExitCode.COMPLETED
    path = named_path(args.export)
    if path.suffix not in FORMS:
        raise UsageError(
            f"unknown format: {one_line(str(path))}; choose a name ending in {' or '.join(FORMS)}"
        )
    write_output(path, text if path.suffix == ".json" else as_markdown(page), force=args.force)
    print(f"written to {one_line(str(path))}", file=sys.stderr)
    return ExitCode.COMPLETED


def _reflect(task: TaskHistory, attempts: "tuple[Attempt, ...]", text: str) -> int:
    """Add a reflection to the journal: through the run while it is active, else directly."""
    recorded = [
        RecordedRun(folder / "events.jsonl")
        for attempt in attempts
        if (folder := task.folder / "attempts" / f"{attempt.id:03}").is_dir()
    ]
    found = [run for run in recorded if run.journal.is_file()]
    if not found and attempts[-1].journal:
        raise UsageError(
            f"{task.name} is a loop that hooks recorded; only runs of ralph-tui accept reflections"
        )
    if not found:
        raise UsageError(f"{task.name} has no journal for the reflection; its run never started")
    run = found[-1]
    owner = holder(run.lock)
    if owner is not None and owner.alive and owner.run == run.name:
        find_live(run.name).request("reflect", text=text)
    else:
        from ralph_tui.runtime.reflecting import reflect  # noqa: PLC0415 - keeps a list quick

        reflect(run, text)
    print(f"saved for {run.name}; the next attempt's plan can use it")
    return ExitCode.COMPLETED
