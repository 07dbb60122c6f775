"""``ralph-tui checkpoint``: capture the present of a living run."""

import argparse
from typing import Any

from ralph_tui.cli.run_option import add_run_option


def add_parser(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Register the command."""
    parser = subparsers.add_parser("checkpoint", help="capture the present of a living run")
    parser.add_argument("--note", metavar="TEXT", default="", help="why; - reads standard input")
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Ask for it. Raises ``RalphError`` when there is no such run or it refuses."""
    from ralph_tui.cli.live import find_live, text_argument

    live = find_live(args.run)
    live.order("checkpoint", note=text_argument(args.note) if args.note else "")
    print(f"a checkpoint of {live.run.name} is taken, in iteration {live.status['iteration']}")
    return 0
