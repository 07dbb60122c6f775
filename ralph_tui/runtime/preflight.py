"""The thorough look before a run: its repository, plan, agent and channels. It writes nothing.

It loads git and the agents; `checks` is the quick look that spares them.
"""

import os
from pathlib import Path

from ralph_tui.adapters import agents
from ralph_tui.adapters.outreach import channels_of, outbox_folder
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import acquire
from ralph_tui.adapters.workspace.plan_file import find_plan
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.runtime.request import RunRequest


def check(folder: Path, request: RunRequest) -> tuple[Repository, Path | None]:
    """The repository around `folder`, and its plan file.

    Raises ``UsageError`` or ``WorkspaceError`` for whatever is wrong in the request.
    """
    repository = open_repository(folder)
    plan = find_plan(repository.root, request.plan)
    agents.build(agent_name(request), agent_context(request, repository.root, "", None))
    channels_of(request.settings.outreach, os.environ, outbox_folder(repository.root))
    return repository, plan


def check_startable(folder: Path, request: RunRequest) -> None:
    """As `check`, and whether another run holds the worktree's lock: ``LockHeldError``."""
    repository, _ = check(folder, request)
    acquire(ralph_folder(repository.root) / "lock", "", "", "").release()


def agent_name(request: RunRequest) -> str:
    """Who works; empty when nobody was chosen and Claude Code is not installed."""
    agent = request.settings.agent
    # A program that was named says itself what is wrong with it.
    named = "claude" if agent.binary != "claude" else ""
    return agent.name or agents.default_agent(agent.binary) or named


def agent_context(
    request: RunRequest, root: Path, run_id: str, lock_fd: int | None
) -> agents.AgentContext:
    """What an agent is built from; `lock_fd` is the descriptor of the worktree's lock."""
    return agents.AgentContext(
        root=root,
        run_id=run_id,
        lock_fd=lock_fd,
        timeout_s=request.settings.limits.session_timeout_s,
        model=request.settings.agent.model,
        binary=request.settings.agent.binary,
        command=request.settings.agent.command or "",
        scenario=request.scenario or "steady",
        fast=request.fast,
    )
