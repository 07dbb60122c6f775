"""Agents that are programs of their own: how such a program is called and found. Light."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.text.format import count

if TYPE_CHECKING:
    from ralph_tui.config.settings import AgentSettings


def find_program(binary: str, environ: Mapping[str, str]) -> str | None:
    """The program's absolute path, by name or path; None where it cannot be run."""
    found = shutil.which(os.path.expanduser(binary), path=environ.get("PATH"))  # noqa: PTH111
    return None if found is None else str(Path(found).absolute())


def binary_of(settings: "AgentSettings", usual: str) -> str:
    """What ``agent.binary`` names, else the program's `usual` name."""
    return settings.binary or usual


@dataclass(frozen=True)
class Program:
    """The program that an agent is, by its usual name: what a description tells of it."""

    usual: str

    def is_installed(self, settings: "AgentSettings", environ: Mapping[str, str]) -> bool:
        """Whether it can be run."""
        return find_program(binary_of(settings, self.usual), environ) is not None

    def looked_for(self, settings: "AgentSettings", environ: Mapping[str, str]) -> str:
        """Where it was looked for: ``claude in the 9 folders of PATH``."""
        binary = binary_of(settings, self.usual)
        if "/" in binary:
            return f"the program {binary}"
        # The folders themselves fill a screen, and whoever wants them knows how to ask for them.
        folders = count(
            len([part for part in environ.get("PATH", "").split(os.pathsep) if part]), "folder"
        )
        return f"{binary} in the {folders} of PATH"
