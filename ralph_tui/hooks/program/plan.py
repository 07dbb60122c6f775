"""Items and how far they are: of the state file, else of a plan that lies in the project."""

from pathlib import Path
from typing import NamedTuple

from ralph_tui.layers.context.state_file import State, todo_of
from ralph_tui.layers.sensor.plan import read_plan
from ralph_tui.plain_files import reading

PLANS = ("fix_plan.md", "PLAN.md", "TODO.md")
LARGEST = 1 << 20
"""Bytes that are read."""


class Progress(NamedTuple):
    """How far the items are done."""

    done: int
    total: int
    """At least 1."""
    item: str
    """The first that is open; empty where none is."""


def item_of(root: Path, state: State) -> str:
    """The first that is open; empty where none is known."""
    progress = progress_in(root, state)
    return progress.item if progress else ""


def progress_in(root: Path, state: State) -> Progress | None:
    """How far it is; None where no items are known."""
    done, left = len(state["completed_items"]), len(state["todo_items"])
    if done + left:
        return Progress(done, done + left, todo_of(state))
    for name in PLANS:
        try:
            with reading(root / name) as file:
                text = file.read(LARGEST).decode("utf-8", "replace")
        except OSError:
            continue
        plan = read_plan(text, name)
        if plan is not None:
            item = next((item for item, ticked in plan.items if not ticked), "")
            return Progress(plan.done, plan.total, item)
    return None
