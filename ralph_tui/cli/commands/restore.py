"""``ralph-tui restore``: restore any snapshot of a run that is paused or over."""

import argparse
import shlex
import sys
from contextlib import closing
from pathlib import Path

from ralph_tui.adapters.processes.sweep import sweep
from ralph_tui.adapters.records.folders import ralph_folder, worktree_around, worktree_root
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.lock import worker
from ralph_tui.adapters.records.runs import RecordedRun, recorded_run_ids
from ralph_tui.adapters.workspace.hidden_refs import saved_snapshots
from ralph_tui.adapters.workspace.private_repository import PrivateRepository
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.base.errors import RalphError, UsageError, WorkspaceError, why
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.live import LiveRun, confirm, find_live, sender_name
from ralph_tui.cli.parser import add_run_option
from ralph_tui.cli.restore_words import (
    describe_restore,
    format_plan,
    format_row,
    skipped_text,
    snapshot_notes,
)
from ralph_tui.events import Event, Noticed, SnapshotTaken, WorktreeRestored
from ralph_tui.runtime.restoring import (
    check_available,
    check_recordable,
    describe_missing,
    find_snapshot,
    list_snapshots,
    locked,
    refresh,
    restore_worktree,
)
from ralph_tui.runtime.sources.find_run import find_ours
from ralph_tui.runtime.sources.follower import follow_to_end, followed_run
from ralph_tui.state import RunState
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import BEST, ROLLED_BACK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Without SNAPSHOT, list the snapshots of a run. With one, show the "
        "changes, ask, and restore the files. Your current files are saved first, so you can "
        "undo it. Branch, index and stash are not touched."
    )
    parser.add_argument(
        "snapshot",
        metavar="SNAPSHOT",
        nargs="?",
        help="a number, best, or iter-N for the end of iteration N",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """List the snapshots, or restore one.

    Raises ``RalphError`` if that is not possible; then no file has changed.
    """
    root = worktree_root(Path.cwd())
    try:
        live = find_live(args.run)
    except UsageError:
        live = None
    found = live.run if live is not None else find_ours(root, args.run)
    if args.snapshot is None:
        return _list(found)
    if live is not None and not found.loop:
        return _restore_live(live, args)
    return _restore_ended(root, found, args)


def _list(found: RecordedRun) -> int:
    recording = read_journal(found.journal)
    state = RunState().apply_all(recording.events)
    snapshots = list(state.timeline.snapshots.values())
    held: frozenset[int] = frozenset()
    try:
        held = saved_snapshots(open_repository(worktree_root(found.folder)), snapshots)
    except RalphError as error:
        if copied := _elsewhere(found, state):
            held = frozenset(state.timeline.snapshots)
        print(f"ralph-tui: {one_line(copied or str(error))}", file=sys.stderr)
    known, notes = list_snapshots(state, held), snapshot_notes(state)
    print(f"{found.name}: {one_line(state.run.started.objective) if state.run.started else ''}")
    readings = [point.completion for point in known if point.completion is not None]
    for point in known:
        print(format_row(point, notes.get(point.taken.number, ""), *readings))
    if not known:
        print("no snapshots")
    legend = [BEST.label] if any(point.best for point in known) else []
    if any(point.undo for point in known):
        legend.append(f"{ROLLED_BACK.glyph} the files before a restore")
    if legend:
        print(f"   {'   '.join(legend)}")
    if remark := recording.problem or recording.newer:
        print(f"ralph-tui: {one_line(remark)}", file=sys.stderr)
    return ExitCode.COMPLETED


def _elsewhere(found: RecordedRun, state: RunState) -> str:
    """Return where the snapshots are if the record is a copy elsewhere; otherwise empty."""
    if worktree_around(found.folder) is not None or (started := state.run.started) is None:
        return ""
    return (
        f"{found.folder} is a copied record; {started.snapshots_elsewhere}: restore "
        f"{started.name} there"
    )


def _restore_ended(root: Path, found: RecordedRun, args: argparse.Namespace) -> int:
    records, above = ralph_folder(root).resolve(), found.folder.resolve().parents
    ours = records / "tasks" in above[2:3]
    # A fleet loop's clone is removed when its work is collected; its snapshots are here.
    of_fleet = found.fleet is not None and records / "fleets" in above[4:5]
    if not (ours or of_fleet):
        if copied := _elsewhere(found, RunState().apply_all(read_journal(found.journal).events)):
            raise UsageError(copied)
        raise UsageError(
            f"{one_line(str(found.folder))} is not a run of this worktree ({one_line(str(root))}); "
            "restore it in its own repository"
        )
    with locked(root):
        return _restore_locked(root, found, args)


def _restore_locked(root: Path, found: RecordedRun, args: argparse.Namespace) -> int:
    recording = read_journal(found.journal)
    check_recordable(recording)
    state = RunState().apply_all(recording.events)
    target = find_snapshot(state, args.snapshot)
    if found.fleet is not None:
        _refuse_to_write_on(state, target)
    assert state.run.started is not None  # read_journal guarantees the first event
    workspace = GitWorkspace(open_repository(root), state.run.started.run_id)
    check_available(workspace, target)
    if (code := _confirm_plan(workspace, target, state, args)) is not None:
        return code
    # The lock is held, so no run is active, but the git of a killed run may still write.
    sweep(recorded_run_ids(root).__contains__, root)
    with closing(workspace):
        restored, held = restore_worktree(recording, state, workspace, target, sender_name())
    if found.fleet is None:
        _refresh(found)
    code = _report(restored, args)
    if not held:
        print("ralph-tui: the restored files could not be saved in a snapshot", file=sys.stderr)
    return code


def _refuse_to_write_on(state: RunState, target: SnapshotTaken) -> None:
    """Raise ``UsageError`` if this loop of a fleet may still continue in its clone."""
    run = state.run
    if run.crash is None and (run.finished is None or run.finished.outcome == "interrupted"):
        raise UsageError(
            "the loop may continue in its clone, so nothing else can write its record; once its "
            f"work is collected, git has the snapshot as {target.ref}"
        )


def _confirm_plan(
    workspace: GitWorkspace, target: SnapshotTaken, state: RunState, args: argparse.Namespace
) -> int | None:
    """Show what would change, and ask; return an exit code unless the restore is to proceed."""
    if not (args.yes or args.dry_run or sys.stdin.isatty()):
        raise UsageError("not a terminal; use --yes to confirm, or --dry-run to preview")
    rows = workspace.preview_restore(target.tree)
    note = snapshot_notes(state).get(target.number, "")
    while True:
        for line in format_plan(target, rows, note):
            print(line)
        if missing := describe_missing(target):
            print(missing)
        if args.dry_run or not rows:
            return ExitCode.COMPLETED
        able = sum(not why for _, why in rows)
        if not able:
            print("ralph-tui: nothing can be restored", file=sys.stderr)
            return ExitCode.FAILED
        if args.yes:
            return None
        print(f"in {one_line(str(workspace.root))}")  # a record may have come from another place
        if not confirm(f"Change {count(able, 'file')}? Your current files are saved first."):
            print("no files changed", file=sys.stderr)
            return ExitCode.FAILED
        # A yes counts only for what was shown: ask again about files that changed since.
        shown, rows = rows, workspace.preview_restore(target.tree)
        if {change.path for change, _ in rows} <= {change.path for change, _ in shown}:
            return None
        print("now more files would change:")


def _refresh(found: RecordedRun) -> None:
    """Rewrite the files derived from the journal; a failure does not undo the restore."""
    try:
        refresh(found)
    except OSError as error:
        print(
            f"ralph-tui: cannot write {error.filename}: "
            f"{why(error, 'make it writable')}; then run 'ralph-tui rebuild'",
            file=sys.stderr,
        )


def _report(restored: WorktreeRestored, args: argparse.Namespace) -> int:
    for line in describe_restore(restored, f" --run {shlex.quote(args.run)}" if args.run else ""):
        print(line)
    if not (sentence := skipped_text(restored)):
        return ExitCode.COMPLETED
    print(f"ralph-tui: {sentence}", file=sys.stderr)
    return ExitCode.FAILED


def _restore_live(live: LiveRun, args: argparse.Namespace) -> int:
    """Request the restore from the run itself, which refuses unless it is paused."""
    state = RunState().apply_all(read_journal(live.run.journal).events)
    target = find_snapshot(state, args.snapshot)
    # This only reads; its git processes must not be mistaken for the run's own.
    workspace = GitWorkspace(open_repository(worktree_root(live.run.folder)), "looked-at")
    check_available(workspace, target)
    if not PrivateRepository(workspace.repository).has_index:
        # A preview would create the index, which only the run may do.
        raise WorkspaceError("the run is taking a snapshot; try again in a second")
    if (code := _confirm_plan(workspace, target, state, args)) is not None:
        return code
    since = live.request("restore", snapshot=target.number)
    return _report(_wait_for_result(live, since), args)


def _wait_for_result(live: LiveRun, since: int) -> WorktreeRestored:
    """Wait for the result after event `since`. Raises ``RalphError`` if the restore failed."""
    found: WorktreeRestored | None = None

    def on_event(event: Event) -> None:
        nonlocal found
        if event.seq <= since:
            return
        if isinstance(event, WorktreeRestored):
            found = event
        if isinstance(event, Noticed) and event.text.startswith("the restore failed"):
            raise RalphError(event.text)

    def is_waiting(_: RunState) -> bool:
        return found is None and worker(live.run.lock) is not None

    journal = followed_run(live.run.journal, on_event)
    try:
        follow_to_end(journal, RunState(), is_waiting)
    finally:
        journal.close()
    if found is not None:
        return found
    raise RalphError("the run ended before it restored the files; try again")
