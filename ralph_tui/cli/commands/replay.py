"""``ralph-tui replay``: replay a past run on the same screen as a live one."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.fronts.presentation import wants_screen
from ralph_tui.config.files import screen_settings
from ralph_tui.runtime.sources.find_run import find_run, read_run, to_replay
from ralph_tui.text.sanitize import one_line

if TYPE_CHECKING:
    from ralph_tui.cli.fronts.stage import Front, Stage
    from ralph_tui.runtime.sources.find_run import AnyRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument(
        "run",
        metavar="RUN",
        nargs="?",
        help="task, task/attempt, fleet/loop, folder or journal (default: the newest)",
    )
    parser.add_argument(
        "--at",
        metavar="SEQ",
        type=int,
        help="open paused at this event number, as shown by 'search'",
    )
    parser.add_argument(
        "--headless", action="store_true", help="print plain lines instead of a screen"
    )
    parser.add_argument(
        "--json", action="store_true", help="print events, one JSON object per line"
    )


def run(args: argparse.Namespace) -> int:
    """Show the run. Raises ``UsageError`` or ``JournalError`` if there is nothing to show."""
    if args.at is not None and args.at < 1:
        raise UsageError(f"--at takes an event number from 1 up, not {args.at}")
    root = worktree_root(Path.cwd())
    found = find_run(root, args.run)
    if wants_screen(headless=args.headless, as_json=args.json):
        from ralph_tui.cli.fronts.stage import Stage  # noqa: PLC0415 - lines need no screen

        def load(stage: "Stage") -> "Front":
            # Imported while the first frame is already visible.
            from ralph_tui.cli.fronts.run_viewer import open_replay  # noqa: PLC0415

            return open_replay(to_replay(found), stage, at=args.at)

        return Stage(load, screen_settings(root, os.environ), left=ExitCode.COMPLETED).show()
    return _print_lines(found, args.at, as_json=args.json)


def _print_lines(found: "AnyRun", at: int | None, *, as_json: bool) -> int:
    # Imported here, so that a screen's first frame does not wait for these.
    from ralph_tui.cli.fronts.common import Printer  # noqa: PLC0415
    from ralph_tui.runtime.sources.recorded import check_position, run_name  # noqa: PLC0415

    recording = read_run(found)
    until = None if at is None else check_position(run_name(recording), len(recording.events), at)
    is_loop = isinstance(found, RecordedRun) and found.loop
    printer = Printer(as_json=as_json, loop=found.name if is_loop else "")
    for event in recording.events[:until]:
        printer.print(event)
    if remark := recording.problem or recording.newer:
        print(f"ralph-tui: {one_line(remark)}", file=sys.stderr)
    return ExitCode.COMPLETED
