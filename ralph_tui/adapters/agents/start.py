"""How a session's process is started: the settings of a run, and the keeper."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ralph_tui.adapters.processes.child import PIPE, Child, launch
from ralph_tui.errors import AgentError, ProcessError
from ralph_tui.ports import Turn


@dataclass(frozen=True)
class Settings:
    """What every session of a run is started with."""

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


def start_child(argv: list[str], settings: Settings, turn: Turn) -> Child:
    """The agent's process under the keeper; raises ``AgentError``."""
    environ = {
        **settings.environ,
        "RALPH_ITERATION": str(turn.iteration),
        "RALPH_RUN_ID": settings.run_id,
    }
    try:
        return launch(
            argv,
            cwd=settings.root,
            env=environ,
            run_id=settings.run_id,
            lock_fd=settings.lock_fd,
            stdin="pipe",
            stdout=PIPE,
            stderr=PIPE,
        )
    except ProcessError as error:
        raise AgentError(str(error)) from error
