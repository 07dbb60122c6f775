"""``ralph-tui checkpoint``: capture the present of a living run."""

import argparse

from ralph_tui.cli.live import find_live, text_argument
from ralph_tui.cli.run_option import add_run_option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument("--note", metavar="TEXT", default="", help="why; - reads standard input")
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Ask for it. Raises ``RalphError`` when there is no such run or it refuses."""
    live = find_live(args.run)
    live.request("checkpoint", note=text_argument(args.note) if args.note else "")
    print(f"a checkpoint of {live.run.name} is taken, in iteration {live.status['iteration']}")
    return 0
