"""``ralph-tui decide``: show a running run's question, or answer it."""

import argparse
import shlex

from ralph_tui.base.errors import RalphError
from ralph_tui.cli.answering import add_answer_arguments, answer_question
from ralph_tui.cli.live import LiveRun, find_live
from ralph_tui.cli.parser import add_run_option
from ralph_tui.cli.question_words import question_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = "Show the open question of a running run, or answer it."
    add_answer_arguments(parser)
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Show the open question, or answer it.

    Raises ``RalphError`` if no question is open, or the run refuses.
    """
    live = find_live(args.run)
    if args.run:
        args.decide += f" --run {shlex.quote(args.run)}"
        args.guide += f" --run {shlex.quote(args.run)}"
    question = live.question
    if question is None:
        raise RalphError(f"{live.run.name} has no open question; {_suggest(live, args)}")
    if args.answer is not None or args.iterations or args.budget:
        return answer_question(live, question, args)
    print(f"{live.run.name} asks in iteration {question['iteration']}\n")
    print(question_text(question, args.decide))
    return 0


def _suggest(live: LiveRun, args: argparse.Namespace) -> str:
    named = f" --run {shlex.quote(args.run)}" if args.run else ""
    if live.status["phase"] == "paused":
        return f"it is paused; continue with ralph-tui unpause{named}"
    return f"see ralph-tui status{named}"
