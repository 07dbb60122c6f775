"""``ralph-tui attach``: open the cockpit on a run of another process on this machine."""

import argparse
import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.folders import ralph_folder, worktree_root
from ralph_tui.adapters.records.foreign import ForeignRun, foreign_runs
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.run_status import RunStatus
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.exit_codes import ExitCode, NextCommand
from ralph_tui.cli.fronts.presentation import on_terminal
from ralph_tui.cli.live import sender_name
from ralph_tui.cli.status_words import command_row, next_step
from ralph_tui.config.files import screen_settings
from ralph_tui.runtime.sources.find_run import find_run, read_run
from ralph_tui.text.terms import outcome_word

if TYPE_CHECKING:
    from ralph_tui.cli.fronts.stage import Front, Stage


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Show and steer a live run, from one or more terminals. Closing the "
        "screen never stops the run. Without a terminal, print plain lines until the run ends."
    )
    parser.add_argument(
        "run",
        metavar="RUN",
        nargs="?",
        help="task, task/attempt, fleet/loop, folder or journal (default: the live run)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print events, one JSON object per line"
    )


def run(args: argparse.Namespace) -> int:
    """Show the run. Raises ``UsageError`` or ``JournalError`` if there is nothing to show."""
    root = worktree_root(Path.cwd())
    owner = holder(ralph_folder(root) / "lock")
    live_name = owner.run if owner is not None and owner.run else None
    found = find_run(root, args.run or live_name)
    if not on_terminal() or args.json:
        if not isinstance(found, RecordedRun):
            raise UsageError(
                f"{found.name} is a past run of another tool; see 'ralph-tui report {found.name}'"
            )
        from ralph_tui.cli.watching import watch  # noqa: PLC0415 - only without a terminal

        return watch(found, as_json=args.json)
    if not isinstance(found, RecordedRun):
        return _show_past(root, found)
    status = read_status(found)
    # A record written by hooks never ends: another session may follow.
    watched = found.hooked and status["outcome"] is None
    is_live = status["alive"] or watched
    if is_live and found.loop:  # its commands go to the fleet
        raise NextCommand(("fleet", "attach", found.name), worktree_root(found.folder))
    from ralph_tui.cli.fronts.stage import Stage  # noqa: PLC0415 - only with a terminal

    def load(stage: "Stage") -> "Front":
        # Imported while the first frame is already visible.
        from ralph_tui.cli.fronts.run_viewer import RunViewer, open_replay  # noqa: PLC0415
        from ralph_tui.runtime.sources.attached import Attached, WatchedLoop  # noqa: PLC0415
        from ralph_tui.runtime.sources.snapshots import RecordedFiles  # noqa: PLC0415

        if is_live:
            kind = WatchedLoop if watched else Attached
            source = kind(found, sender_name(), files=RecordedFiles(found.folder))
            return RunViewer(source, stage)
        over = f"{_describe_end(found, status)}; " if status["phase"] != "died" else ""
        note = f"{over}showing its replay"  # the header already reports a process that is gone
        # A user who attaches wants the latest state: the replay is paused at its end.
        return open_replay(found.journal, stage, note=note, at=-1)

    code = Stage(load, screen_settings(root, os.environ), left=ExitCode.COMPLETED).show()
    if is_live:
        with suppress(OSError):  # the terminal may be gone
            print(_describe_left(found, args.run))
    return code


def _show_past(root: Path, found: ForeignRun) -> int:
    """Replay a run of another tool, which counts as past: its record shows no process."""
    from ralph_tui.cli.fronts.stage import Stage  # noqa: PLC0415 - only with a terminal

    def load(stage: "Stage") -> "Front":
        from ralph_tui.cli.fronts.run_viewer import open_replay  # noqa: PLC0415

        recording = read_run(found)
        tool = foreign_runs().tool
        note = f"{found.name} is a past run recorded by {tool}; read-only"
        return open_replay(recording, stage, note=note, at=-1)

    return Stage(load, screen_settings(root, os.environ), left=ExitCode.COMPLETED).show()


def _describe_end(found: RecordedRun, status: RunStatus) -> str:
    if status["outcome"]:
        return f"the run {found.name} has ended"
    return str(status["reason"])


def _describe_left(found: RecordedRun, name: str | None) -> str:
    """Describe the state of the run whose screen was closed, and how to return to it."""
    status = read_status(found)
    named = f" {shlex.quote(name)}" if name else ""
    option = f" --run{named}" if name else ""
    if not status["alive"]:
        if found.hooked and status["outcome"] is None:
            return f"{found.name}: {status['reason']}; reopen: ralph-tui attach{named}"
        outcome = status["outcome"] or "died"
        rows = [f"the run {found.name} has ended ({outcome_word(outcome)})"]
        if command := next_step(status, named.lstrip()):
            rows.append(command_row("continue it", command))
        return "\n".join([*rows, command_row("read its report", f"ralph-tui report{named}")])
    rows = [f"the run {found.name} continues"]
    if status["paused"]:
        rows = [
            f"the run {found.name} is paused",
            command_row("let it continue", f"ralph-tui unpause{option}"),
        ]
    elif status["pause_requested"] and not status["question"]:
        rows = [
            f"the run {found.name} continues; it pauses after this iteration",
            command_row("let it continue", f"ralph-tui unpause{option}"),
        ]
    elif status["question"]:
        rows = [
            f"the run {found.name} waits for an answer",
            command_row("answer", f"ralph-tui decide{option}"),
        ]
    return "\n".join([*rows, command_row("reopen the screen", f"ralph-tui attach{named}")])
