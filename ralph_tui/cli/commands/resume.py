"""``ralph-tui resume``: continue a run that ended early, in its own journal."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.records.folders import worktree_root
from ralph_tui.cli.fronts import show_run
from ralph_tui.cli.fronts.presentation import Presentation, RunFactory, Warn, wants_screen
from ralph_tui.cli.options import (
    Once,
    add_presentation,
    add_settings,
    add_starter,
    check_settings,
    load_settings,
)
from ralph_tui.config.files import screen_settings
from ralph_tui.runtime.sources.find_run import find_ours

if TYPE_CHECKING:
    from ralph_tui.adapters.records.runs import RecordedRun
    from ralph_tui.events.run import Mode
    from ralph_tui.runtime.assembly import AssembledRun
    from ralph_tui.runtime.request import ResumeRequest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.description = (
        "Continue a run that died, was stopped or aborted, or reached its limit: same attempt, "
        "same journal, from where it ended."
    )
    parser.add_argument(
        "name",
        metavar="RUN",
        nargs="?",
        help="task, task/attempt or folder; the newest run if omitted",
    )
    parser.add_argument(
        "-c",
        "--command",
        metavar="COMMAND",
        action=Once,
        help="the completion command, if the record omits it because of a secret",
    )
    parser.add_argument(
        "--from",
        dest="from_seq",
        metavar="SEQ",
        type=int,
        help="keep a damaged journal up to this event; the rest is moved aside",
    )
    add_presentation(parser)
    add_starter(parser)
    add_settings(parser, resumed=True)


def resume_request(args: argparse.Namespace, mode: "Mode") -> "ResumeRequest":
    """Return the request for this command line."""
    from ralph_tui.runtime.request import ResumeRequest  # noqa: PLC0415 - behind the first frame

    return ResumeRequest(
        command=args.command,
        from_seq=args.from_seq,
        max_iterations=_limit(args, "limits.max_iterations"),
        budget_usd=_limit(args, "limits.budget_usd"),
        budget_tokens=_limit(args, "limits.budget_tokens"),
        mode=mode,
    )


def _limit(args: argparse.Namespace, name: str) -> str | None:
    """Return a limit as typed, by its flag or by ``--set``; None if it was not given."""
    given = [text.partition("=") for text in args.set_options]
    typed = [value.strip() for key, _, value in given if key.strip() == name]
    flag: str | None = vars(args).get(name)
    return flag if flag is not None or not typed else typed[-1]


def run(args: argparse.Namespace) -> int:
    """Resume the run and return the exit code of its outcome."""
    check_settings(args)
    run = find_ours(worktree_root(Path.cwd()), args.name)
    root = worktree_root(run.folder)  # a folder may name a run of another worktree
    screen = wants_screen(headless=args.headless, as_json=args.json)
    settings = screen_settings(root, os.environ, args.set_options) if screen else None
    return show_run(partial(_prepare, args, root, run), settings)


def _prepare(
    args: argparse.Namespace, root: Path, run: "RecordedRun", warn: Warn
) -> tuple[RunFactory, Presentation]:
    # Imported while the first frame is already visible.
    from ralph_tui.runtime.resumption import checkpoint_words, plan_resume  # noqa: PLC0415

    presentation = Presentation(args.headless, args.json, commands_from=args.commands_from)
    resumption = plan_resume(
        root,
        run,
        resume_request(args, presentation.mode),
        lambda recorded: load_settings(args, root, recorded, warn).settings,
    )
    presentation = presentation._replace(on_hangup=resumption.request.settings.ui.on_hangup)

    @contextmanager
    def create_run(warn: Warn) -> "Iterator[AssembledRun]":
        # This loads git and agents, so it happens behind a painted screen.
        from ralph_tui.runtime.assembly import resumed_run  # noqa: PLC0415

        with resumed_run(root, resumption, warn) as assembled:
            if presentation.mode != "attended":  # a screen shows them in its log
                for line in checkpoint_words(resumption.state, assembled.worked_until):
                    warn(line)
            yield assembled

    return create_run, presentation
