"""Everything that `doctor` examines: folder, environment, terminal, settings."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ralph_tui.adapters.agents import AgentContext
from ralph_tui.adapters.agents.installed import run_once
from ralph_tui.adapters.records.folders import ralph_folder, worktree_root
from ralph_tui.base.errors import ProcessError
from ralph_tui.config.settings import Settings
from ralph_tui.config.sources import Loaded, examine
from ralph_tui.text.sanitize import one_line

ASK_S = 5.0
"""Seconds to wait for a program's answer."""


@dataclass(frozen=True)
class Environment:
    """Everything that the checks may use; a test builds its own."""

    folder: Path
    environ: Mapping[str, str]
    loaded: Loaded
    columns: int = 0
    """Width of the terminal; 0 without one."""
    rows: int = 0
    platform: str = sys.platform
    proc: Path = Path("/proc")
    """The folder in which Linux exposes the state of the system."""
    seconds: float = 10.0
    """Time limit of one check."""
    root: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", worktree_root(self.folder))

    @property
    def settings(self) -> Settings:
        """The settings, without the invalid ones."""
        return self.loaded.settings

    @property
    def records(self) -> Path:
        """The folder of this worktree's records, which may not exist yet."""
        return ralph_folder(self.root)

    @property
    def home(self) -> Path:
        return Path(self.environ.get("HOME") or Path.home())

    def program(self, name: str) -> str | None:
        return shutil.which(name, path=self.environ.get("PATH"))

    def ask(self, *command: str) -> str | None:
        """Return a program's output as one line; None if it fails or takes too long.

        It runs under a keeper, so that none of its processes is left behind.
        """
        context = AgentContext(self.settings.agent, self.folder, environ=self.environ)
        try:
            output = run_once(command, context, timeout_s=min(ASK_S, self.seconds))
        except ProcessError:
            return None
        return one_line(output.out.strip()) if output.code == 0 else None

    def short_path(self, path: Path) -> str:
        """Shorten a path below the home folder to ``~/...``."""
        near = path.absolute()
        return f"~/{near.relative_to(self.home)}" if near.is_relative_to(self.home) else str(near)


def read_environment(set_options: Sequence[str] = ()) -> Environment:
    """Return the environment of this process.

    Raises ``OSError`` if the current folder no longer exists.
    """
    folder = Path.cwd()
    size = os.get_terminal_size() if sys.stdout.isatty() else os.terminal_size((0, 0))
    loaded = examine(worktree_root(folder), {}, os.environ, set_options)
    return Environment(folder, os.environ, loaded, size.columns, size.lines)
