"""The thorough check before a run: its repository, plan, agents and channels. Writes nothing.

It loads git and the agents; `checks` is the quick check that does not.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.agents import AgentContext, AgentDescription, choose_agent
from ralph_tui.adapters.outreach import Channel, build_channels, outbox_folder
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.workspace.plan_file import find_plan
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.adapters.workspace.template_file import load_template
from ralph_tui.ports.agents import Agent
from ralph_tui.ports.records import PromptTemplate
from ralph_tui.runtime.lineup import Lineup, line_up
from ralph_tui.runtime.request import RunRequest
from ralph_tui.runtime.worktree_lock import acquire_worktree_lock


@dataclass(frozen=True)
class Preflight:
    """A checked request, from which the run is assembled."""

    repository: Repository
    plan: Path | None
    agent: AgentDescription
    """The chosen agent, even if it cannot work."""
    lineup: Lineup
    """The chosen agent if it can work, its fallbacks, and notes on them."""
    channels: Sequence[Channel]
    template: PromptTemplate | None

    def build_agents(self, run_id: str, lock_fd: int) -> list[Agent]:
        """Build the agents of one run; `lock_fd` is the descriptor of the worktree's lock."""
        return [
            agent.build(context._replace(run_id=run_id, lock_fd=lock_fd))
            for agent, context in self.lineup.agents
        ]


def check(folder: Path, request: RunRequest) -> Preflight:
    """Check everything that a run in the repository around `folder` needs.

    Raises ``UsageError`` or ``WorkspaceError`` for anything wrong in the request.
    """
    repository = open_repository(folder)
    root, settings = repository.root, request.settings
    plan = find_plan(root, request.plan)
    agent = choose_agent(settings.agent)
    context = AgentContext(
        settings.agent,
        root,
        timeout_s=settings.limits.session_timeout_s,
        hands_off=settings.context.rollover,
        scenario=request.scenario or "steady",
        fast=request.fast,
    )
    lineup = line_up(agent, context, settings)
    channels = build_channels(settings.outreach, os.environ, outbox_folder(root))
    if not settings.outreach.escalate:
        channels = []
    template = load_template(root, settings.intelligence.prompt_template)
    return Preflight(repository, plan, agent, lineup, channels, template)


def check_startable(folder: Path, request: RunRequest) -> None:
    """Check the request; raise ``LockHeldError`` if another run holds the worktree's lock."""
    root = check(folder, request).repository.root
    acquire_worktree_lock(ralph_folder(root) / "lock").release()
