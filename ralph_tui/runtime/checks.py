"""The quick look at a request before a screen opens.

Rule: it loads neither git nor agents, and it refuses nothing. Where something looks odd,
`preflight` looks thoroughly and says in one sentence what is wrong.
"""

import os
import shutil
from pathlib import Path

from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.worktree import worktree_root
from ralph_tui.runtime.request import RunRequest


def looks_well(folder: Path, request: RunRequest) -> bool:
    """Whether a run in the repository around `folder` can begin, as far as a quick look tells."""
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
