"""``ralph-tui status``: the status of a run, read from its status file."""

import argparse
import json
from pathlib import Path

from ralph_tui.adapters.processes.sweep import keepers
from ralph_tui.adapters.records.files import without_unknown
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.run_status import RunStatus
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import (
    describe_status,
    find_damage,
    newer_version_note,
    phase_without_end,
    status_of_past,
)
from ralph_tui.cli.status_words import recorded_verdict, status_line, status_text
from ralph_tui.cli.view_marks import begin_view
from ralph_tui.runtime.sources.find_run import find_run, read_run
from ralph_tui.text.terms import ENDLESS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = "Show the status of a run (default: the newest)."
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "run", metavar="RUN", nargs="?", help="task, task/attempt, fleet/loop, folder or journal"
    )
    which.add_argument("--run", dest="named", metavar="RUN", help="same as RUN")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as one JSON object")
    form.add_argument("--line", action="store_true", help="print one line for a status bar")


def run(args: argparse.Namespace) -> int:
    """Print the status. Raises ``UsageError`` if there is no such run."""
    found = find_run(worktree_root(Path.cwd()), args.run or args.named)
    if not isinstance(found, RecordedRun):
        recording = read_run(found)
        status = status_of_past(recording.events, found.name, found.path)
        status["problem"] = "" if args.line else recording.problem
        print(_page(args, status))
        return 0
    seen = None if args.line or args.json else begin_view(found)
    print(describe_status(found, lambda status: _words(args, found, status)))
    if seen:
        seen()
    return 0


def _words(args: argparse.Namespace, found: RecordedRun, status: RunStatus) -> str:
    if status["phase"] == "died" and not found.hooked and holder(found.lock) is not None:
        status["reason"] = (
            f"{_describe_keeper(found)}; ralph-tui resume ends that and continues the run"
        )
    # A status bar runs this every few seconds, and a live run appends during the read.
    if args.line or status["alive"]:
        status["problem"] = ""
    elif damage := find_damage(found):
        status["problem"], status["kept"] = damage.words, damage.kept
        if status["phase"] == "died" and damage.kept:
            status["phase"], status["reason"] = phase_without_end(found, kept=damage.kept)
    else:
        status["problem"] = newer_version_note(found)
    if not args.json:
        status["of_fleet"] = found.of_fleet
    return _page(args, status)


def _page(args: argparse.Namespace, status: RunStatus) -> str:
    if args.json:
        status["verdict_glyph"], status["verdict"] = recorded_verdict(status)
        if status["phase"] in ENDLESS:
            status["verdict_word"] = ENDLESS[status["phase"]].word
        return json.dumps(without_unknown(status), ensure_ascii=False, indent=2)
    status["asked_as"] = args.run or args.named
    return status_line(status) if args.line else status_text(status)


def _describe_keeper(run: RecordedRun) -> str:
    """Describe what still holds the worktree of a run that died."""
    left = ", ".join(f"process {pid}" for pid in keepers(run.lock.parents[2]))
    still = (
        f"its keeper ({left}) is still running"
        if left
        else "processes that it started are still running"
    )
    return f"its process is gone, but {still}"
