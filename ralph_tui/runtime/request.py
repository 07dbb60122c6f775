"""What a user asked for, and a first look at whether it can be had."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.worktree import worktree_root
from ralph_tui.config.settings import Settings

Mode = Literal["attended", "headless", "detached"]
"""As in ``RunStarted``, whose module is too heavy for a quick refusal."""


@dataclass(frozen=True)
class RunRequest:
    """What a user asked for."""

    objective: str
    command: str | None
    """The completion command; None when there is a criterion."""
    settings: Settings
    plan: str | None = None
    """Path of the plan file, relative to the repository."""
    scenario: str | None = None
    """Of the demo."""
    fast: bool = False
    criterion: str | None = None
    """When the work is done, in words."""
    mode: Mode = "attended"
    """How it is started: with a screen, as plain lines, or in the background."""


def refuse_early(folder: Path, request: RunRequest) -> None:
    """Raise, before any screen opens, what keeps the run from beginning.

    A quick look spares loading git and agents where all is well; whatever looks odd is looked at
    thoroughly, in the words of whoever refuses.
    """
    if _looks_well(folder, request):
        return
    from ralph_tui.adapters.records.lock import acquire
    from ralph_tui.runtime.assembly import refuse

    repository, _ = refuse(folder, request)
    acquire(ralph_folder(repository.root) / "lock", "", "", "").release()


def _looks_well(folder: Path, request: RunRequest) -> bool:
    root, agent = worktree_root(folder), request.settings.agent
    records = ralph_folder(root)
    place = records if records.exists() else root
    knows_agent = (
        bool(agent.command)
        if agent.name == "command"
        else agent.name in (None, "claude") and shutil.which(agent.binary) is not None
    )
    return (
        (root / ".git").exists()
        and request.plan is None
        and request.settings.outreach.silent
        and knows_agent
        and os.access(place, os.W_OK)
        and place.is_dir()
        and holder(records / "lock") is None
    )
