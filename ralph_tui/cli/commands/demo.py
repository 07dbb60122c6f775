"""``ralph-tui demo``: a run on the embedded sample project; no account, no network."""

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui import demo
from ralph_tui.adapters.agents.demo import DEMO
from ralph_tui.adapters.records.folders import named_path
from ralph_tui.base.errors import UsageError, WorkspaceError
from ralph_tui.cli.fronts import show_run
from ralph_tui.cli.fronts.presentation import Presentation, RunFactory, Warn, wants_screen
from ralph_tui.cli.options import add_presentation, add_settings, check_settings, load_settings
from ralph_tui.config.files import screen_settings
from ralph_tui.demo.agent.scenario import SCENARIOS

if TYPE_CHECKING:
    from ralph_tui.config.settings import Settings
    from ralph_tui.config.sources import Loaded
    from ralph_tui.runtime.assembly import AssembledRun


ANSWER_S, FAST_ANSWER_S = 20.0, 2.0
"""Seconds to answer the agent's questions in the scenario `asking`."""
HANDOFF_EDIT_S = 15.0
"""Seconds to read a handoff or start editing it; ``--fast`` skips the wait."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Run a scripted agent on a copy of an embedded project. Its edits, tests "
        "and measurements are real."
    )
    parser.add_argument(
        "--scenario",
        metavar="NAME",
        default="steady",
        help="steady (default), stuck, oscillating, regressing, limit, context, asking",
    )
    parser.add_argument("--fast", action="store_true", help="run in seconds instead of a minute")
    parser.add_argument(
        "--keep", metavar="FOLDER", help="work in FOLDER (new or empty) and keep it"
    )
    add_presentation(parser)
    add_settings(parser, agent=False)


def run(args: argparse.Namespace) -> int:
    """Run the demo to its end and return the exit code of its outcome."""
    if args.scenario not in SCENARIOS:
        raise UsageError(
            f"no demo scenario {args.scenario!r}; choose one of {', '.join(SCENARIOS)}"
        )
    check_settings(args)
    screen = wants_screen(headless=args.headless, as_json=args.json)
    settings = screen_settings(None, os.environ, args.set_options) if screen else None
    return show_run(partial(_prepare, args), settings)


def _prepare(args: argparse.Namespace, warn: Warn) -> tuple[RunFactory, Presentation]:
    from ralph_tui.runtime.request import RunRequest  # noqa: PLC0415 - behind the first frame

    settings = _demo_settings(load_settings(args, None, warn=warn), args.scenario, fast=args.fast)
    kept = _new_folder(args.keep) if args.keep else None
    presentation = Presentation(
        args.headless,
        args.json,
        lasting=kept is not None,
        # A demo in a temporary folder could never be found again.
        on_hangup=settings.ui.on_hangup if kept is not None else "stop",
    )
    request = RunRequest(
        demo.OBJECTIVE,
        demo.completion_command(),
        settings,
        plan=demo.plan_of(args.scenario),
        scenario=args.scenario,
        fast=args.fast,
        mode=presentation.mode,
    )

    @contextmanager
    def create_run(warn: Warn) -> "Iterator[AssembledRun]":
        # This loads git and agents, so it happens behind a painted screen.
        from ralph_tui.analysis.next_steps import SCRATCH  # noqa: PLC0415
        from ralph_tui.runtime.assembly import new_run  # noqa: PLC0415

        with tempfile.TemporaryDirectory(prefix=SCRATCH, ignore_cleanup_errors=True) as scratch:
            folder = kept or Path(scratch) / "calculator"
            _create(folder, args.scenario)
            with new_run(folder, request, warn) as run:
                yield run

    return create_run, presentation


def _create(folder: Path, scenario: str) -> None:
    try:
        demo.prepare(folder, scenario)
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip() or "no reason given"
        raise WorkspaceError(f"`git` failed in {folder}: {reason}") from error
    except OSError as error:
        raise WorkspaceError(f"cannot create the demo project with git: {error}") from error


def _demo_settings(loaded: "Loaded", scenario: str, *, fast: bool) -> "Settings":
    """Return the settings for the demo's agent, with waits for the user kept short."""
    settings = loaded.settings
    update: dict[str, object] = {"agent": settings.agent.model_copy(update={"name": DEMO.name})}
    if loaded.origins["context.handoff_edit_s"] == "default":
        seconds = 0.0 if fast else HANDOFF_EDIT_S
        update["context"] = settings.context.model_copy(update={"handoff_edit_s": seconds})
    if scenario == "asking":
        asks = {"mode": "ask", "answer_s": FAST_ANSWER_S if fast else ANSWER_S}
        unset = {
            key: asks[key] for key in asks if loaded.origins[f"permissions.{key}"] == "default"
        }
        update["permissions"] = settings.permissions.model_copy(update=unset)
    return settings.model_copy(update=update)


def _new_folder(name: str) -> Path:
    folder = named_path(name).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder; choose a new or empty one")
    return folder
