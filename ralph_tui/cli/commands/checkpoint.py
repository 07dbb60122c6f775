"""``ralph-tui checkpoint``: save a running run's files, or continue in a fresh session."""

import argparse
import time

from ralph_tui.adapters.records.run_status import HandoffStatus, RunStatus
from ralph_tui.adapters.records.status import read_status
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.context_words import handoff_text
from ralph_tui.cli.live import LiveRun, find_live, text_argument
from ralph_tui.cli.parser import add_run_option

LONGEST_REASON = 1000
"""Characters of a note for a handoff."""
PATIENCE_S = 15.0
"""Seconds to wait for the handoff; a running tool ends first, which may take longer."""
POLL_S = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = "Save the files of a running run, or start a fresh session."
    parser.add_argument(
        "--note", metavar="TEXT", default="", help="note for the checkpoint; - reads standard input"
    )
    parser.add_argument(
        "--rollover",
        action="store_true",
        help="end the session with a handoff; a fresh session continues the iteration",
    )
    add_run_option(parser)


def run(args: argparse.Namespace) -> int:
    """Request a checkpoint or a handoff.

    Raises ``RalphError`` if there is no such run or it refuses.
    """
    live = find_live(args.run)
    note = text_argument(args.note) if args.note else ""
    if args.rollover:
        return _hand_off(live, " ".join(note.split()))
    live.request("checkpoint", note=note)
    print(f"taking a checkpoint of {live.run.name} in iteration {live.status['iteration']}")
    return 0


def _hand_off(live: LiveRun, note: str) -> int:
    if len(note) > LONGEST_REASON:
        raise UsageError(
            f"a note for a handoff has at most {LONGEST_REASON:,} characters; shorten it, or "
            "send it with ralph-tui guide"
        )
    before = _handoff(live.status)
    live.request("rollover", note=note)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        status = read_status(live.run)
        left = _handoff(status)
        if left is not None and left != before:
            print(handoff_text(left))
            return 0
        if not status["alive"]:
            break
        time.sleep(POLL_S)
    print(
        f"{live.run.name}: the session hands off when its running tool ends; ralph-tui context "
        "then shows the handoff"
    )
    return 0


def _handoff(status: RunStatus) -> HandoffStatus | None:
    context = status["context"]
    return context.get("handoff") if isinstance(context, dict) else None
