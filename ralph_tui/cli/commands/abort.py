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
        "Abort a running run. Its work stays as it is, unless you ask to restore the best snapshot."
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument(
        "--roll-back", action="store_true", help="put the files back to the best snapshot"
    )
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Ask, then abort the run.

    Raises ``RalphError`` if there is no such run or it refuses.
    """
    live = find_live(args.run)
    what, fields = _best(live) if args.roll_back else ("the work stays as it is", {})
    if not args.yes:
        if not sys.stdin.isatty():
            raise UsageError("nobody can be asked here: say ralph-tui abort --yes")
        status = live.status
        where = f"in iteration {status['iteration']} of {status['max_iterations']}"
        if not confirm(f"Abort {live.run.name} {where}? {what[0].upper()}{what[1:]}."):
            print("not aborted", file=sys.stderr)
            return ExitCode.FAILED
    live.request("abort", **fields)
    print(f"{live.run.name} is being aborted; {what}")
    return 0


def _best(live: LiveRun) -> tuple[str, dict[str, object]]:
    status = live.status
    number = status["best_snapshot"]
    if number is None:
        raise RalphError("there is no snapshot to restore yet; abort without --roll-back")
    where = f"iteration {status['best_iteration']}" if status["best_iteration"] else "the start"
    what = f"the files go back to {where} ({percent(status['best'])}, snapshot {number})"
    return what, {"roll_back_to": number}
