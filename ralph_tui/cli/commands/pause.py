"""``ralph-tui pause``: pause a running run before its next iteration."""

import argparse

from ralph_tui.adapters.remote.protocol import RefusedError
from ralph_tui.cli.live import find_live
from ralph_tui.cli.parser import add_run_option
from ralph_tui.text.terms import PAUSE_ASKED_ALREADY, PAUSED_ALREADY


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = "Pause a running run before its next iteration."
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Request a pause; succeed if the run is already paused or about to pause.

    Raises ``RalphError`` if there is no such run, or the run refuses.
    """
    live = find_live(args.run)
    try:
        live.request("pause")
    except RefusedError as refusal:
        if str(refusal) not in (PAUSED_ALREADY, PAUSE_ASKED_ALREADY):
            raise
        print(f"{live.run.name}: {refusal}; continue the run with ralph-tui unpause")
        return 0
    following = live.status["iteration"] + 1
    if following <= live.status["max_iterations"]:
        print(f"{live.run.name} pauses before iteration {following}")
    else:
        print(f"{live.run.name} is in its last iteration; it pauses only if you add more")
    return 0
