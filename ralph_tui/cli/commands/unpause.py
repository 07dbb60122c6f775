"""``ralph-tui unpause``: let a paused run continue."""

import argparse

from ralph_tui.adapters.remote.protocol import RefusedError
from ralph_tui.cli.live import answer_words, find_live
from ralph_tui.cli.parser import add_run_option
from ralph_tui.text.terms import NOT_PAUSED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = "Let a paused run continue."
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Unpause the run, or answer the overseer's question if the overseer paused it.

    Succeed if the run is not paused.

    Raises ``RalphError`` if there is no such run, or the run refuses.
    """
    live = find_live(args.run)
    question = live.question
    if question and question["topic"] == "pause" and "continue" in answer_words(question):
        live.request("answer", question_id=question["question_id"], answer="continue")
    else:
        try:
            live.request("unpause")
        except RefusedError as refusal:
            if str(refusal) != NOT_PAUSED:
                raise
            print(f"{live.run.name}: {refusal}; pause it with ralph-tui pause")
            return 0
    print(f"{live.run.name} continues")
    return 0
