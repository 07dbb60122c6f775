"""Names of the modules that extensions provide; the core imports none of them.

An extension is a folder of this package. Without the folder, its features are missing.
"""

import importlib
from functools import cache
from importlib.util import find_spec
from typing import Any

COMMANDS = {"fleet": "ralph_tui.fleet.cli.command", "hooks": "ralph_tui.hooks.command"}
"""Modules of commands, by command name."""
FLEET_GLANCES = "ralph_tui.fleet.sources.fleet:FollowedFleet"
"""Creates a `runtime.sources.listed.FleetGlances` for a worktree."""
FOREIGN_RUNS = "ralph_tui.importers.foreign_runs:ImportedRuns"
"""Creates an `adapters.records.foreign.ForeignRuns`."""
HOOKED_LOOPS = "ralph_tui.hooks.tasks:track"
"""Writes task attempts for loops that the hooks recorded."""
FOREIGN_PLACES = (
    "ralph-external",
    *(f"ralph/{name}" for name in ("current-loop.json", "iterations", "loops", "archive")),
)
"""Paths below a worktree's ``.aiwg``; a worktree without any of them has no foreign runs."""


@cache
def is_installed(target: str) -> bool:
    """Return True if the extension that provides this module or object is installed."""
    package, extension = target.split(".")[:2]
    spec = find_spec(f"{package}.{extension}")
    return spec is not None and spec.origin is not None  # a folder without modules has no origin


def load_object(target: str) -> Any:
    """Return the object that ``module:name`` names; its extension must be installed."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
