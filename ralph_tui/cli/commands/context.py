"""``ralph-tui context``: how full a run's context window is, and what to do about it."""

import argparse
import json
from pathlib import Path

from ralph_tui.adapters.records.files import without_unknown
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.run_status import RunStatus
from ralph_tui.adapters.records.status import describe_status
from ralph_tui.cli.context_words import context_table
from ralph_tui.runtime.sources.find_run import find_ours


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "run", metavar="RUN", nargs="?", help="task, task/attempt, fleet/loop, folder or journal"
    )
    which.add_argument("--run", dest="named", metavar="RUN", help="same as RUN")
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print how full the run's context window is.

    Raises ``UsageError`` if there is no such run.
    """
    found = find_ours(worktree_root(Path.cwd()), args.run or args.named, hooked=True)
    print(describe_status(found, lambda status: _format_context(args, status)))
    return 0


def _format_context(args: argparse.Namespace, status: RunStatus) -> str:
    """Format the context. Raises ``TypeError`` for a status of an older version, without one."""
    context = status["context"]
    if not isinstance(context, dict):
        raise TypeError("no context data in this status")
    table = context_table(
        context, status["run"] or "", alive=status["alive"], watched=bool(status["watched"])
    )
    fields = {"run": status["run"], "alive": status["alive"], **context}
    if args.json:
        return json.dumps(without_unknown(fields), ensure_ascii=False, indent=2)
    return table
