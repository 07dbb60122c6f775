"""``ralph-tui pause``: hold a living run before its next iteration."""

import argparse

from ralph_tui.cli.live import find_live
from ralph_tui.cli.run_option import add_run_option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Ask for the pause. Raises ``RalphError`` when there is no such run or it refuses."""
    live = find_live(args.run)
    live.request("pause")
    following = live.status["iteration"] + 1
    if following <= live.status["max_iterations"]:
        print(f"{live.run.name} pauses before iteration {following}")
    else:
        print(f"{live.run.name} is in its last iteration; it pauses if there is one more")
    return 0
