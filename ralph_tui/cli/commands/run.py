"""``ralph-tui run``: start a loop in this repository."""

import argparse
import os
import shutil
import sys
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.agents import AgentContext, choose_fallbacks, find_agent, selectable_agents
from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.base.errors import UsageError
from ralph_tui.cli.fronts import show_run
from ralph_tui.cli.fronts.presentation import Presentation, RunFactory, Warn, wants_screen
from ralph_tui.cli.options import (
    PROMISE_HELP,
    add_goal,
    add_presentation,
    add_settings,
    add_starter,
    check_agent_name,
    check_goal,
    check_settings,
    load_settings,
)
from ralph_tui.config.files import screen_settings
from ralph_tui.runtime.checks import is_place_ready

if TYPE_CHECKING:
    from ralph_tui.ports.new_runs import By
    from ralph_tui.runtime.assembly import AssembledRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Run an agent in a loop in this git repository until COMMAND exits with 0, "
        "or until you agree that a criterion is met. "
        f"{PROMISE_HELP}"
    )
    parser.add_argument("objective", metavar="OBJECTIVE", help="what the agent should achieve")
    add_goal(parser)
    parser.add_argument(
        "--plan", metavar="FILE", help="read progress from a checklist (Markdown or prd.json)"
    )
    add_presentation(parser)
    add_starter(parser)
    parser.add_argument(
        "--detach", action="store_true", help="run in the background, without a screen"
    )
    parser.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Run the loop to its end and return the exit code of its outcome."""
    if not args.objective.strip():
        raise UsageError('the objective is empty; describe it in quotes, as in run "Fix it"')
    check_goal(args, "run")
    if args.detach and (args.headless or args.json):
        raise UsageError("--detach cannot be combined with --headless or --json")
    check_settings(args)
    screen = wants_screen(headless=args.headless, as_json=args.json)
    away = args.detach and not args.detached
    if away or (screen and not (is_place_ready(Path.cwd()) and _agent_exists(args))):
        # Report errors without a screen, which would appear and vanish.
        from ralph_tui.cli.fronts.common import warn  # noqa: PLC0415 - behind the first frame

        _prepare(args, warn)
    if away:
        from ralph_tui.cli.fronts.background import start_in_background  # noqa: PLC0415 - only to detach

        return start_in_background(sys.argv[1:])
    root = worktree_root(Path.cwd())
    settings = screen_settings(root, os.environ, args.set_options) if screen else None
    return show_run(partial(_prepare, args), settings)


def _agent_exists(args: argparse.Namespace) -> bool:
    """True if an agent seems to exist, as far as is known before settings are loaded."""
    named: str | None = vars(args)["agent.name"]
    if named is None and vars(args)["agent.command"]:
        return True
    if named is None:
        return any(shutil.which(agent.program) for agent in selectable_agents() if agent.program)
    agent = next((agent for agent in selectable_agents() if agent.name == named), None)
    return agent is not None and bool(agent.program or vars(args)["agent.command"])


def _prepare(args: argparse.Namespace, warn: Warn) -> tuple[RunFactory, Presentation]:
    # Imported while the first frame is already visible.
    from ralph_tui.runtime.checks import is_run_ready  # noqa: PLC0415
    from ralph_tui.runtime.request import RunRequest  # noqa: PLC0415

    folder = Path.cwd()
    loaded = load_settings(args, worktree_root(folder), warn=warn)
    settings = loaded.settings
    if settings.agent.name:
        check_agent_name(settings.agent.name)
    choose_fallbacks(settings.agent)
    agent = find_agent(settings.agent)
    if agent is not None and not agent.program:
        # Without a program of its own, only the user's command needs a check.
        agent.check(AgentContext(settings.agent, folder))
    presentation = Presentation(
        args.headless,
        args.json,
        on_hangup=settings.ui.on_hangup,
        detached=args.detached,
        commands_from=args.commands_from,
    )
    request = RunRequest(
        args.objective,
        args.command if (args.command or "").strip() else None,
        settings,
        args.plan,
        criterion=args.criterion if (args.criterion or "").strip() else None,
        until_promise=args.until_promise,
        mode=presentation.mode,
        set_names=tuple(name for name, place in loaded.origins.items() if place == "--set"),
    )
    if not is_run_ready(folder, request):
        # This loads git and agents; a run that seems ready does so behind a painted screen.
        from ralph_tui.runtime.preflight import check_startable  # noqa: PLC0415

        check_startable(folder, request)

    def create_run(warn: Warn) -> "AbstractContextManager[AssembledRun]":
        # This loads git and agents, so it happens behind a painted screen.
        from ralph_tui.runtime.assembly import new_run  # noqa: PLC0415

        if args.commands_from is None:
            _record_start(args, worktree_root(folder), agent.name if agent is not None else "")
        return new_run(folder, request, warn)

    return create_run, presentation


def _record_start(args: argparse.Namespace, root: Path, agent: str) -> None:
    """Save goal and agent as the new-run form's defaults, unless an agent starts the run."""
    from ralph_tui.adapters.processes.lineage import belongs_to_run, lineage  # noqa: PLC0415 - behind the first frame
    from ralph_tui.adapters.records.drafts import save_last_start  # noqa: PLC0415 - behind the first frame
    from ralph_tui.ports.new_runs import Draft  # noqa: PLC0415 - behind the first frame

    if belongs_to_run(lineage(os.getpid())):
        return
    command, criterion = (args.command or "").strip(), (args.criterion or "").strip()
    named = {name: (vars(args)[name] or "").strip() for name in ("agent.name", "agent.command")}
    if any(named.values()):
        named["agent.name"] = agent
    by: By = "both" if command and criterion else "criterion" if criterion else "command"
    save_last_start(root, Draft("", by, command, criterion, named))
