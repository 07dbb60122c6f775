"""What extensions bring, as names of modules: the core imports none of them.

An extension is a folder of this package. Where the folder is missing, so is all that it brings.
"""

import importlib
from functools import cache
from importlib.util import find_spec
from typing import Any

COMMANDS = {"fleet": "ralph_tui.fleet.cli.command", "hooks": "ralph_tui.hooks.command"}
"""Modules of commands, by the word that is typed."""
FLEET_GLANCES = "ralph_tui.fleet.sources.whole:FollowedFleet"
"""Makes a `runtime.sources.listed.FleetGlances` of a worktree."""
FOREIGN_RUNS = "ralph_tui.importers.foreign_runs:ImportedRuns"
"""Makes a `adapters.records.foreign.ForeignRuns`."""
FOREIGN_PLACES = (
    "ralph-external",
    *(f"ralph/{name}" for name in ("current-loop.json", "iterations", "loops", "archive")),
)
"""Below a worktree's ``.aiwg``: one without any of them has no foreign runs."""


@cache
def is_there(target: str) -> bool:
    """Whether the extension is installed that a module, or an object of one, belongs to."""
    package, extension = target.split(".")[:2]
    spec = find_spec(f"{package}.{extension}")
    return spec is not None and spec.origin is not None  # a folder without modules has none


def brought(target: str) -> Any:
    """The object that ``module:name`` names; its extension has to be there."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
