"""``ralph-tui checkpoint``: save a running run's files, hand off, or list checkpoints."""

import argparse
import json
import time
from pathlib import Path

from ralph_tui.adapters.records.aiwg.checkpoint_files import read_checkpoints
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.run_status import HandoffStatus, RunStatus
from ralph_tui.adapters.records.status import read_status
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.checkpoint_words import as_json, format_iteration
from ralph_tui.cli.context_words import handoff_text
from ralph_tui.cli.live import LiveRun, find_live, text_argument
from ralph_tui.cli.parser import add_run_option
from ralph_tui.runtime.sources.find_run import find_ours
from ralph_tui.state import RunState

LONGEST_REASON = 1000
"""Maximum length of a note for a handoff, in characters."""
PATIENCE_S = 15.0
"""Seconds to wait for the handoff; a running tool finishes first, which may take longer."""
POLL_S = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Save the files of a running run, start a fresh session, or list a run's checkpoints."
    )
    actions = parser.add_subparsers(dest="action", metavar="[list]", title="actions")
    listing = actions.add_parser("list", help="list the checkpoints of a run with their details")
    listing.add_argument(
        "listed",
        metavar="RUN",
        nargs="?",
        help="task, task/attempt or folder (default: the newest)",
    )
    listing.add_argument("--json", action="store_true", help="print all data as JSON")
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
    """Request a checkpoint or a handoff, or list checkpoints.

    Raises ``RalphError`` if there is no such run, or the run refuses.
    """
    if args.action == "list":
        return _list(args)
    live = find_live(args.run)
    note = text_argument(args.note) if args.note else ""
    if args.rollover:
        return _hand_off(live, " ".join(note.split()))
    live.request("checkpoint", note=note)
    print(f"taking a checkpoint of {live.run.name} in iteration {live.status['iteration']}")
    return 0


def _list(args: argparse.Namespace) -> int:
    found = find_ours(worktree_root(Path.cwd()), args.listed)
    state = RunState().apply_all(read_journal(found.journal).events)
    spans = [span for span in state.timeline.spans if span.checkpoints]
    data = [read_checkpoints(found.folder / "results" / f"iter-{span.number:03}") for span in spans]
    if args.json:
        iterations = [as_json(span, of_span) for span, of_span in zip(spans, data, strict=True)]
        print(json.dumps({"run": found.name, "iterations": iterations}, indent=2))
        return 0
    for span, of_span in zip(spans, data, strict=True):
        print("\n".join(format_iteration(span, of_span)))
    return 0


def _hand_off(live: LiveRun, note: str) -> int:
    if len(note) > LONGEST_REASON:
        raise UsageError(
            f"a handoff note can have at most {LONGEST_REASON:,} characters; shorten it, or "
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
