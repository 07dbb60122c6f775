"""``ralph-tui context``: how full the context window of a run is, and what to do about it."""

import argparse
import json
from pathlib import Path

from ralph_tui.adapters.records.files import without_unknown
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.adapters.records.runs import resolve_run
from ralph_tui.adapters.records.status import Known, folded_status, read_status
from ralph_tui.cli.context_words import context_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("run", metavar="RUN", nargs="?", help="task, task/attempt, folder, journal")
    which.add_argument("--run", dest="named", metavar="RUN", help="the same, by its name elsewhere")
    parser.add_argument("--json", action="store_true", help="everything, as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print it. Raises ``UsageError`` when there is no such run."""
    found = resolve_run(worktree_root(Path.cwd()), args.run or args.named, hooked=True)
    status = read_status(found)
    context = status["context"]
    if not isinstance(context, dict):  # of an older version
        context = Known(folded_status(found)["context"])
    if args.json:
        fields = {"run": status["run"], "alive": status["alive"], **context}
        print(json.dumps(without_unknown(fields), ensure_ascii=False, indent=2))
    else:
        watched = bool(status["watched"])
        print(context_table(context, status["run"], alive=status["alive"], watched=watched))
    return 0
