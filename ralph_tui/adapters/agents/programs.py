"""Agents that are programs of their own: how such a program is called and found. Light."""

import os
import shutil
from collections.abc import Mapping
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


def is_installed(settings: "AgentSettings", environ: Mapping[str, str], usual: str) -> bool:
    """Whether the program can be run."""
    return find_program(binary_of(settings, usual), environ) is not None


def looked_for(settings: "AgentSettings", environ: Mapping[str, str], usual: str) -> str:
    """Where it was looked for: ``claude in the 9 folders of PATH``."""
    binary = binary_of(settings, usual)
    if "/" in binary:
        return f"the program {binary}"
    # The folders themselves fill a screen, and whoever wants them knows how to ask for them.
    folders = count(
        len([part for part in environ.get("PATH", "").split(os.pathsep) if part]), "folder"
    )
    return f"{binary} in the {folders} of PATH"
