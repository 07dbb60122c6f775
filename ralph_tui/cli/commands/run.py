"""``ralph-tui run``: start a loop in this repository."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph_tui.cli.options import add_presentation, add_settings, load_settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ralph_tui.runtime.assembly import AssembledRun


def add_parser(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "run",
        help="run an agent in a loop until a command passes",
        description="Runs an agent in a loop in this git repository until COMMAND exits with 0, "
        "or until you agree that a criterion in words is met.",
    )
    parser.add_argument("objective", metavar="OBJECTIVE", help="what the agent is to reach")
    parser.add_argument("-c", "--command", metavar="COMMAND", help="the completion command")
    parser.add_argument(
        "--criterion",
        metavar="TEXT",
        help="instead of -c: when the work is done, in words; you are asked at each promise",
    )
    parser.add_argument(
        "--plan", metavar="FILE", help="a checklist (Markdown or prd.json) to read progress from"
    )
    add_presentation(parser)
    parser.add_argument(
        "--detach", action="store_true", help="start it in the background, without a screen"
    )
    parser.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Run it to its end; the exit code tells the outcome."""
    from ralph_tui.adapters.records.worktree import worktree_root
    from ralph_tui.cli.fronts import show_run
    from ralph_tui.cli.fronts.common import Presentation, warn
    from ralph_tui.errors import UsageError
    from ralph_tui.runtime.checks import looks_well
    from ralph_tui.runtime.request import RunRequest

    if not args.objective.strip():
        raise UsageError('the objective is empty: say in quotes what to reach, as in run "Fix it"')
    command, criterion = ((text or "").strip() for text in (args.command, args.criterion))
    if not command and not criterion:
        raise UsageError(
            "a run needs a command that tells when the work is done: give one with -c, "
            'as in -c "pytest -q", or say it in words with --criterion'
        )
    if command and criterion:
        raise UsageError("a run has either a command (-c) or a criterion in words: leave one out")
    if args.detach and (args.headless or args.json):
        raise UsageError("--detach prints how to reach the run: leave --headless and --json out")
    folder = Path.cwd()
    settings = load_settings(args, worktree_root(folder)).settings
    if settings.agent.name == "demo":
        raise UsageError("the demo's agent works only in its own project: try ralph-tui demo")
    presentation = Presentation(
        args.headless,
        args.json,
        settings.ui.theme,
        on_hangup=settings.ui.on_hangup,
        detached=args.detached,
    )
    request = RunRequest(
        args.objective,
        args.command if command else None,
        settings,
        args.plan,
        criterion=args.criterion if criterion else None,
        mode=presentation.mode,
    )
    if not looks_well(folder, request):
        # Loads git and agents; where all looks well, that is done behind a painted screen.
        from ralph_tui.runtime.preflight import check_startable

        check_startable(folder, request)
    if args.detach and not args.detached:
        from ralph_tui.cli.fronts.background import start_in_background

        return start_in_background(sys.argv[1:])

    def create_run() -> "AbstractContextManager[AssembledRun]":
        from ralph_tui.runtime.assembly import new_run

        return new_run(folder, request, warn)

    return show_run(create_run, presentation)
