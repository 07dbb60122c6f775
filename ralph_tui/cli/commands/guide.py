"""``ralph-tui guide``: words for the agent of a living run."""

import argparse

from ralph_tui.cli.live import find_live, text_argument
from ralph_tui.cli.run_option import add_run_option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument("text", metavar="TEXT", help="what to say; - reads standard input")
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Queue the words. Raises ``RalphError`` when there is no such run or it refuses."""
    live = find_live(args.run)
    live.request("guide", text=text_argument(args.text))
    print(
        f"guidance queued for {live.run.name}: it goes into the session where the agent takes it, "
        "else into the next prompt"
    )
    return 0
