"""``ralph-tui report``: a run as a Markdown page, on standard output or in a file."""

import argparse
import sys
from pathlib import Path

from ralph_tui.adapters.records.folders import named_path, worktree_root
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.cli.output_file import write_output
from ralph_tui.cli.view_marks import begin_view
from ralph_tui.runtime.sources.build_report import build_report
from ralph_tui.runtime.sources.find_run import find_run, read_run
from ralph_tui.text.sanitize import one_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Print a Markdown page for a reviewer: objective, result, tests, changes, questions, cost."
    )
    parser.add_argument(
        "run",
        metavar="RUN",
        nargs="?",
        help="task, task/attempt, fleet/loop, folder or journal (default: the newest)",
    )
    parser.add_argument(
        "--full", action="store_true", help="include iterations, chart, approaches and checkpoints"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def run(args: argparse.Namespace) -> int:
    """Write the report.

    Raises ``RalphError`` if there is no such run, or FILE cannot be written.
    """
    root = worktree_root(Path.cwd())
    found = find_run(root, args.run)
    seen = begin_view(found) if isinstance(found, RecordedRun) and not args.output else None
    page = build_report(read_run(found), root, full=args.full)
    if args.output:
        write_output(named_path(args.output), page, force=args.force)
        print(one_line(f"the report of {found.name} is in {args.output}"), file=sys.stderr)
    else:
        print(page, end="")
        if seen:
            seen()
    return 0
