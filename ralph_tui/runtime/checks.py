"""The quick look at a request before a screen opens.

Rule: it loads neither git nor agents (only their descriptions), and it refuses nothing. Where
something looks odd, `preflight` looks thoroughly and says in one sentence what is wrong.
"""

import os
from pathlib import Path

from ralph_tui.adapters.agents import find_agent
from ralph_tui.adapters.records.folders import ralph_folder, worktree_root
from ralph_tui.adapters.records.lock import holder
from ralph_tui.runtime.request import RunRequest


def looks_well(folder: Path, request: RunRequest) -> bool:
    """Whether a run in the repository around `folder` can begin, as far as a quick look tells."""
    root, settings = worktree_root(folder), request.settings.agent
    records = ralph_folder(root)
    place = records if records.exists() else root
    agent = find_agent(settings)
    return (
        (root / ".git").exists()
        and request.plan is None
        and request.settings.outreach.unset
        and request.settings.intelligence.prompt_template is None
        and agent is not None
        and agent.looks_ready(settings, os.environ)
        and os.access(place, os.W_OK)
        and place.is_dir()
        and holder(records / "lock") is None
    )
