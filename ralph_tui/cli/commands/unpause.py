"""``ralph-tui unpause``: let a paused run go on."""

import argparse

from ralph_tui.cli.live import answers, find_live
from ralph_tui.cli.parser import add_run_option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.description = "Let a paused run continue."
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Let it go on; where the overseer paused it, that is an answer to its question.

    Raises ``RalphError`` when there is no such run or it refuses.
    """
    live = find_live(args.run)
    question = live.question
    if question and question["topic"] == "pause" and "continue" in answers(question):
        live.request("answer", question_id=question["question_id"], answer="continue")
    else:
        live.request("unpause")
    print(f"{live.run.name} goes on")
    return 0
