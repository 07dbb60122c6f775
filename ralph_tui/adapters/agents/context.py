"""What every session of a run is started with."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class AgentContext:
    """The worktree, the run, and what is set for its agent."""

    root: Path
    """The worktree the agent works in."""
    run_id: str
    lock_fd: int | None = None
    """The run's lock, handed to the keeper."""
    timeout_s: float = 8 * 3600
    """How long a session may run."""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    model: str | None = None
    """Of the agent `claude`; None leaves the choice to it."""
    binary: str = "claude"
    """Of the agent `claude`: a name on PATH, or a path."""
    command: str = ""
    """Of the agent `command`."""
    scenario: str = "steady"
    """Of the agent `demo`."""
    fast: bool = False
    """Whether the agent `demo` works without pauses."""
