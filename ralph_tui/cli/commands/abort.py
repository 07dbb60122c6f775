"""``ralph-tui abort``: abort a running run."""

import argparse
import sys

from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.live import LiveRun, confirm, find_live
from ralph_tui.cli.parser import add_run_option
from ralph_tui.text.format import percent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Abort a running run. Your files stay as they are, unless you restore "
        "the best snapshot with --roll-back."
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    parser.add_argument(
        "--roll-back", action="store_true", help="restore the files to the best snapshot"
    )
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Ask, then abort the run.

    Raises ``RalphError`` if there is no such run, or the run refuses.
    """
    live = find_live(args.run)
    what, fields = _best_snapshot(live) if args.roll_back else ("its work is kept", {})
    if not args.yes:
        if not sys.stdin.isatty():
            raise UsageError("not a terminal; use ralph-tui abort --yes to confirm")
        status = live.status
        where = f"in iteration {status['iteration']} of {status['max_iterations']}"
        if not confirm(f"Abort {live.run.name} {where}? {what[0].upper()}{what[1:]}."):
            print("not aborted", file=sys.stderr)
            return ExitCode.FAILED
    live.request("abort", **fields)
    print(f"{live.run.name} is being aborted; {what}")
    return 0


def _best_snapshot(live: LiveRun) -> tuple[str, dict[str, object]]:
    status = live.status
    number = status["best_snapshot"]
    if number is None:
        raise RalphError("no snapshot to restore yet; abort without --roll-back")
    where = f"iteration {status['best_iteration']}" if status["best_iteration"] else "the start"
    what = f"its files are restored to {where} ({percent(status['best'])}, snapshot {number})"
    return what, {"roll_back_to": number}
