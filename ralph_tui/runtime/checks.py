"""The quick check of a request before a screen opens.

It loads neither git nor agents (only their descriptions), and it refuses nothing. If something
looks wrong, `preflight` checks thoroughly and reports the problem in one sentence.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.agents import choose_fallbacks, fallback_settings, find_agent
from ralph_tui.adapters.records.folders import ralph_folder, worktree_root
from ralph_tui.adapters.records.lock import holder

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings
    from ralph_tui.runtime.request import RunRequest


def is_place_ready(folder: Path) -> bool:
    """True if a run can begin in the repository around `folder`, whatever its request."""
    root = worktree_root(folder)
    records = ralph_folder(root)
    place = records if records.exists() else root
    return (
        (root / ".git").exists()
        and os.access(place, os.W_OK)
        and place.is_dir()
        and holder(records / "lock") is None
    )


def is_run_ready(folder: Path, request: "RunRequest") -> bool:
    """True if this run can begin there, as far as a quick check shows."""
    settings = request.settings.agent
    agent = find_agent(settings)
    return (
        is_place_ready(folder)
        and request.plan is None
        and request.settings.outreach.unset
        and request.settings.intelligence.prompt_template is None
        and agent is not None
        and agent.is_ready(settings, os.environ)
        and _fallbacks_ready(settings)
    )


def _fallbacks_ready(settings: "AgentSettings") -> bool:
    return all(
        agent.restricted and agent.is_ready(fallback_settings(settings, agent.name), os.environ)
        for agent in choose_fallbacks(settings)
    )
