"""``ralph-tui run``: start a loop in this repository."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph_tui.cli.settings import add_settings, load_settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ralph_tui.cli.launch import Launched


def add_parser(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "run",
        help="run an agent in a loop until a command passes",
        description="Runs an agent in a loop in this git repository until COMMAND exits with 0.",
    )
    parser.add_argument("objective", metavar="OBJECTIVE", help="what the agent is to reach")
    parser.add_argument(
        "-c", "--command", metavar="COMMAND", help="the completion command; required"
    )
    parser.add_argument(
        "--plan", metavar="FILE", help="a checklist (Markdown or prd.json) to read progress from"
    )
    add_front(parser)
    add_settings(parser)


def add_front(parser: argparse.ArgumentParser) -> None:
    """Add the flags that choose a front end."""
    parser.add_argument("--headless", action="store_true", help="plain lines instead of a screen")
    parser.add_argument("--json", action="store_true", help="events, one JSON object per line")


def run(args: argparse.Namespace) -> int:
    """Run it to its end; the exit code tells the outcome."""
    from ralph_tui.cli.front import Front, show_run
    from ralph_tui.cli.order import Order, refuse_early
    from ralph_tui.errors import UsageError
    from ralph_tui.records.worktree import worktree_root

    if not args.objective.strip():
        raise UsageError('the objective is empty: say in quotes what to reach, as in run "Fix it"')
    if not (args.command or "").strip():
        raise UsageError(
            "a run needs a command that tells when the work is done: give one with -c, "
            'as in -c "pytest -q"'
        )
    folder = Path.cwd()
    settings = load_settings(args, worktree_root(folder)).settings
    if settings.agent.name == "demo":
        raise UsageError("the demo's agent works only in its own project: try ralph-tui demo")
    order = Order(args.objective, args.command, settings, args.plan)
    refuse_early(folder, order)

    def stage() -> "AbstractContextManager[Launched]":
        from ralph_tui.cli.launch import launched

        return launched(folder, order)

    return show_run(stage, Front(args.headless, args.json, settings.ui.theme))
