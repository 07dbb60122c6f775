"""``ralph-tui replay``: a past run on the same screen."""

import argparse
import sys
from pathlib import Path

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.runs import resolve_run
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.fronts.common import on_terminal, print_event
from ralph_tui.sources.recorded import within


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="task, task/attempt, folder or journal; the newest"
    )
    parser.add_argument(
        "--at",
        metavar="SEQ",
        type=int,
        help="open, paused, at the event of this number, as 'search' names it",
    )
    parser.add_argument("--headless", action="store_true", help="plain lines instead of a screen")
    parser.add_argument("--json", action="store_true", help="events, one JSON object per line")


def run(args: argparse.Namespace) -> int:
    """Show it. Raises ``UsageError`` or ``JournalError`` when there is nothing to show."""
    found = resolve_run(worktree_root(Path.cwd()), args.run, hooked=True)
    recording = read_journal(found.journal)
    if on_terminal() and not (args.headless or args.json):
        # Plain lines do without a screen.
        from ralph_tui.cli.fronts.onlooker import replay_in_cockpit  # noqa: PLC0415

        replay_in_cockpit(recording, at=args.at)
        return ExitCode.COMPLETED
    until = None if args.at is None else within(recording, args.at)
    for event in recording.events[:until]:
        print_event(event, as_json=args.json)
    if recording.problem:
        print(f"ralph-tui: {recording.problem}", file=sys.stderr)
    return ExitCode.COMPLETED
