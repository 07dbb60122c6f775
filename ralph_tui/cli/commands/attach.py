"""``ralph-tui attach``: the cockpit on a run that lives in another process of this machine."""

import argparse
import os
import shlex
from contextlib import suppress
from pathlib import Path

from ralph_tui.adapters.records.folders import ralph_folder, worktree_root
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.runs import RecordedRun, resolve_run
from ralph_tui.adapters.records.status import read_status
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.fronts.common import on_terminal
from ralph_tui.cli.fronts.onlooker import look_on, replay_in_cockpit
from ralph_tui.cli.live import here
from ralph_tui.cli.status_words import next_step
from ralph_tui.config.sources import load
from ralph_tui.errors import UsageError
from ralph_tui.sources.attached import Attached
from ralph_tui.sources.hooked import Watched
from ralph_tui.sources.snapshots import RecordedFiles
from ralph_tui.text.terms import in_words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.description = (
        "Shows a live run and steers it, from any terminal and from several at once. "
        "Leaving the screen never stops the run."
    )
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="task, task/attempt, folder or journal; the live one"
    )


def run(args: argparse.Namespace) -> int:
    """Show it. Raises ``UsageError`` or ``JournalError`` when there is nothing to show."""
    root = worktree_root(Path.cwd())
    owner = holder(ralph_folder(root) / "lock")
    living = owner.run if owner is not None and owner.run else None
    found = resolve_run(root, args.run or living, hooked=True)
    if not on_terminal():
        raise UsageError("attach needs a terminal; without one, see 'ralph-tui status'")
    status = read_status(found)
    theme = load(root, {}, os.environ, []).settings.ui.theme
    # Of sessions that are not ours nobody knows whether another one comes.
    watched = found.hooked and status["outcome"] is None
    if status["alive"] or watched:
        kind = Watched if watched else Attached
        source = kind(found, here(), files=RecordedFiles(found.folder))
        look_on(source, theme)
        with suppress(OSError):  # the terminal may be gone
            print(_left(found, args.run))
        return ExitCode.COMPLETED

    why = (
        f"the run {found.name} is over"
        if status["outcome"]
        else f"the process of {found.name} is gone: 'ralph-tui resume' goes on with it"
    )
    replay_in_cockpit(read_journal(found.journal), f"{why}; this is its replay", theme)
    return ExitCode.COMPLETED


def _left(found: RecordedRun, name: str | None) -> str:
    """How the run stands whose screen was left, and how to come back."""
    status = read_status(found)
    named = f" {shlex.quote(name)}" if name else ""
    if not status["alive"]:
        if found.hooked and status["outcome"] is None:
            return f"{found.name}: {status['reason']}; the screen: ralph-tui attach{named}"
        outcome = status["outcome"] or "died"
        words = next_step(status, named) or f"ralph-tui report{named} sums it up"
        return f"the run {found.name} is over ({in_words(outcome)}): {words}"
    how = "goes on"
    if status["paused"]:
        how = "is paused: ralph-tui unpause goes on"
    elif status["question"]:
        how = "waits for an answer: ralph-tui decide"
    return f"the run {found.name} {how}; the screen: ralph-tui attach{named}"
