"""``ralph-tui resume``: go on with a run that ended early, in its own journal."""

import argparse
from typing import TYPE_CHECKING, Any

from ralph_tui.cli.options import add_presentation, add_settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ralph_tui.runtime.assembly import AssembledRun


def add_parser(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "resume",
        help="go on with a run that ended early",
        description="Goes on with a run that crashed, was killed, stopped, aborted or reached its "
        "limit: same attempt, same journal, from where it stood.",
    )
    parser.add_argument(
        "name", metavar="RUN", nargs="?", help="task, task/attempt or folder (the newest run)"
    )
    parser.add_argument(
        "-c",
        "--command",
        metavar="COMMAND",
        help="the completion command again, where a secret in it kept it out of the record",
    )
    parser.add_argument(
        "--from",
        dest="from_seq",
        metavar="SEQ",
        type=int,
        help="of a damaged journal, keep the events up to this one; the rest is set aside",
    )
    add_presentation(parser)
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Run it to its end; the exit code tells the outcome."""
    from dataclasses import replace
    from pathlib import Path

    from ralph_tui.adapters.records.runs import resolve_run
    from ralph_tui.adapters.records.worktree import worktree_root
    from ralph_tui.cli.fronts import show_run
    from ralph_tui.cli.fronts.common import Presentation, warn
    from ralph_tui.runtime.resumption import plan_resume

    root = worktree_root(Path.cwd())
    presentation = Presentation(args.headless, args.json)
    resumption = plan_resume(root, resolve_run(root, args.name), args, presentation.mode)
    ui = resumption.request.settings.ui
    presentation = replace(presentation, theme=ui.theme, on_hangup=ui.on_hangup)

    def create_run() -> "AbstractContextManager[AssembledRun]":
        from ralph_tui.runtime.assembly import resumed_run

        return resumed_run(root, resumption, warn)

    return show_run(create_run, presentation)
