"""``ralph-tui rebuild``: regenerate every derived file from the journals."""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

from ralph_tui.adapters.records.aiwg.tasks import rebuild_attempt, write_task
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.foreign import track_hooked_loops
from ralph_tui.adapters.records.runs import RecordedRun, find_runs
from ralph_tui.adapters.records.task_index import TaskIndex
from ralph_tui.base.errors import JournalError, WorkspaceError, why
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.runtime.sources.find_run import find_ours
from ralph_tui.runtime.worktree_lock import acquire_worktree_lock
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Rebuild from the journals: status, attempt, outcome, plan, actions, "
        "assessments, task files and the task index. An unreadable file is kept as NAME.TIME.bad."
    )
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="task, task/attempt, folder or journal (default: all)"
    )


def run(args: argparse.Namespace) -> int:
    """Rebuild. Raises ``UsageError``, ``JournalError``, ``WorkspaceError`` or ``LockHeldError``."""
    root = worktree_root(Path.cwd())
    hooked = track_hooked_loops(root, again=True) if args.run is None else frozenset[str]()
    runs = [] if hooked else [find_ours(root, args.run)]
    if args.run is None:
        runs = [*find_runs(root)]
    with ExitStack() as held:
        for path in {run.lock for run in runs if _is_local(run)}:
            # A live run updates its files itself.
            held.callback(acquire_worktree_lock(path, "rebuild").release)
        try:
            return ExitCode.COMPLETED if _rebuild(runs) else ExitCode.FAILED
        except OSError as error:
            raise WorkspaceError(
                f"cannot write {error.filename}: "
                f"{why(error, 'make the folder writable or free some space')}"
            ) from error


def _rebuild(runs: list[RecordedRun]) -> bool:
    """Return True if every journal could be read to its end."""
    aside, tasks, problems = list[Path](), dict[Path, None](), list[str]()
    done = 0
    for found in runs:
        try:
            rebuilt = rebuild_attempt(found.folder)
        except JournalError as error:
            problems.append(str(error))
            continue
        done += 1
        aside += rebuilt.aside
        problems += [rebuilt.problem] if rebuilt.problem else []
        if _is_local(found):
            tasks[found.folder.parent.parent] = None
    for task in tasks:
        aside += write_task(task)
    for records in {task.parent.parent for task in tasks}:
        aside += TaskIndex(records).rebuild()
    for path in aside:
        print(f"{one_line(str(path.parent))}: an unreadable file was saved as {path.name}")
    for problem in problems:
        print(f"ralph-tui: {one_line(problem)}", file=sys.stderr)
    print(f"{count(done, 'run')} and {count(len(tasks), 'task')} rebuilt from the journals")
    return not problems


def _is_local(run: RecordedRun) -> bool:
    """True if the run is in the worktree's records; False for a copy elsewhere."""
    return run.folder.parent.name == "attempts" and run.lock.parent.name == "ralph"
