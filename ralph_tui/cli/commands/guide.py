"""``ralph-tui guide``: guidance for a running agent, once or in every prompt."""

import argparse

from ralph_tui.base.errors import UsageError
from ralph_tui.cli.live import GUIDANCE_WAY, find_live, text_argument
from ralph_tui.cli.parser import add_run_option
from ralph_tui.text.sanitize import clip, one_line

LONGEST_INSTRUCTION = 10_000
"""Maximum length of an instruction for every prompt, in characters."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Send guidance to the agent of a running run: "
        "now if the agent accepts it, else with the next prompt."
    )
    parser.add_argument(
        "text", metavar="TEXT", nargs="?", help="the guidance; - reads standard input"
    )
    parser.add_argument(
        "--always",
        metavar="TEXT",
        help='put TEXT in every prompt from now on, replacing any earlier one; "" removes it',
    )
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Send the guidance. Raises ``RalphError`` if there is no such run, or the run refuses."""
    if (args.text is None) == (args.always is None):
        raise UsageError("pass either TEXT or --always TEXT")
    if args.always is not None:
        return _instruct(args.run, args.always)
    text = text_argument(args.text)
    live = find_live(args.run)
    live.request("guide", text=text)
    print(f"guidance queued for {live.run.name}: {GUIDANCE_WAY}")
    return 0


def _instruct(name: str | None, words: str) -> int:
    text = text_argument(words) if words.strip() else ""
    if len(text) > LONGEST_INSTRUCTION:
        raise UsageError(
            f"a standing instruction has at most {LONGEST_INSTRUCTION:,} characters; shorten it, "
            "or refer to a file"
        )
    live = find_live(name)
    before = one_line(live.status["standing_instruction"] or "")
    live.request("instruct", text=text)
    message = "removed; prompts no longer contain it"
    if text:
        instead = f", instead of {clip(before, 100)!r}" if before else ""
        message = (
            f"in every prompt from now on{instead}; remove it with ralph-tui guide --always ''"
        )
    print(f"{live.run.name}: {message}")
    return 0
