"""Where `doctor` looks: the folder, the environment, the terminal, the settings."""

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
"""Seconds that a program may take to say what it is."""


@dataclass(frozen=True)
class Surroundings:
    """All that the checks know; a test makes its own."""

    folder: Path
    """The one we are in."""
    environ: Mapping[str, str]
    loaded: Loaded
    columns: int = 0
    """Of the terminal; 0 where there is none."""
    rows: int = 0
    platform: str = sys.platform
    proc: Path = Path("/proc")
    """Where Linux tells of itself."""
    seconds: float = 10.0
    """That one check may take."""
    root: Path = field(init=False)
    """Of the worktree."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", worktree_root(self.folder))

    @property
    def settings(self) -> Settings:
        """What is right in them."""
        return self.loaded.settings

    @property
    def records(self) -> Path:
        """Where the records of this worktree are, or will be."""
        return ralph_folder(self.root)

    @property
    def home(self) -> Path:
        """The user's."""
        return Path(self.environ.get("HOME") or Path.home())

    def program(self, name: str) -> str | None:
        """Where a program is on PATH."""
        return shutil.which(name, path=self.environ.get("PATH"))

    def ask(self, *command: str) -> str | None:
        """What a program prints, in one line; None where it fails, or takes too long.

        It runs under a keeper: nothing of it is left.
        """
        context = AgentContext(self.settings.agent, self.folder, environ=self.environ)
        try:
            output = run_once(command, context, timeout_s=min(ASK_S, self.seconds))
        except ProcessError:
            return None
        return one_line(output.out.strip()) if output.code == 0 else None

    def shown(self, path: Path) -> str:
        """A path as its user would write it."""
        near = path.absolute()
        return f"~/{near.relative_to(self.home)}" if near.is_relative_to(self.home) else str(near)


def survey(set_options: Sequence[str] = ()) -> Surroundings:
    """Those of this process. Raises ``OSError`` where the folder we are in is gone."""
    folder = Path.cwd()
    size = os.get_terminal_size() if sys.stdout.isatty() else os.terminal_size((0, 0))
    loaded = examine(worktree_root(folder), {}, os.environ, set_options)
    return Surroundings(folder, os.environ, loaded, size.columns, size.lines)
