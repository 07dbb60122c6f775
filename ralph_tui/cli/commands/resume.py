"""``ralph-tui resume``: go on with a run that ended early, in its own journal."""

import argparse
from typing import TYPE_CHECKING, Any

from ralph_tui.cli.commands.run import add_front
from ralph_tui.cli.options import add_settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ralph_tui.runtime.assembly import Launched


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
    add_front(parser)
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Run it to its end; the exit code tells the outcome."""
    from dataclasses import replace
    from pathlib import Path

    from ralph_tui.adapters.records.runs import resolve_run
    from ralph_tui.adapters.records.worktree import worktree_root
    from ralph_tui.cli.fronts.common import Front, show_run
    from ralph_tui.runtime.resumption import plan_resume

    root = worktree_root(Path.cwd())
    front = Front(args.headless, args.json)
    resumption = plan_resume(root, resolve_run(root, args.name), args, front.mode)
    ui = resumption.order.settings.ui
    front = replace(front, theme=ui.theme, on_hangup=ui.on_hangup)

    def stage() -> "AbstractContextManager[Launched]":
        from ralph_tui.runtime.assembly import relaunched

        return relaunched(root, resumption)

    return show_run(stage, front)
