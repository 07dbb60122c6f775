"""The item that is worked on: of the state file, else of a plan that lies in the project."""

from pathlib import Path

from ralph_tui.layers.context.state_file import State, todo_of
from ralph_tui.layers.sensor.plan import read_plan
from ralph_tui.plain_files import reading

PLANS = ("fix_plan.md", "PLAN.md", "TODO.md")
LARGEST = 1 << 20
"""Bytes that are read."""


def item_of(root: Path, state: State) -> str:
    """The first that is open; empty where none is known."""
    if item := todo_of(state):
        return item
    for name in PLANS:
        try:
            with reading(root / name) as file:
                text = file.read(LARGEST).decode("utf-8", "replace")
        except OSError:
            continue
        plan = read_plan(text, name)
        if plan is not None:
            return next((item for item, done in plan.items if not done), "")
    return ""
