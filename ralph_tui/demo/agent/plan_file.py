"""The plan of the sample project in the scenario `context`: each item covers several bugs."""

from pathlib import Path
from typing import NamedTuple

from ralph_tui.demo.agent.bugs import (
    ARGUMENTS,
    COMMENT,
    EXPONENT,
    FLOOR,
    GROUPS,
    MEAN,
    POSITION,
    POWER,
    SIGN,
    VARIABLES,
    ZERO,
    ZEROS,
    Bug,
)

PLAN = "PLAN.md"


class Item(NamedTuple):
    """A line of the plan; it is ticked when all of its bugs are fixed."""

    title: str
    bugs: tuple[Bug, ...]

    @property
    def open(self) -> str:
        """The line while the item is open."""
        return f"- [ ] {self.title}"

    @property
    def ticked(self) -> str:
        """The line when the item is done."""
        return f"- [x] {self.title}"


# Each item is tagged with its number of changed lines: few, but enough to fill a small window.
ITEMS = (
    Item(
        "Lexer: signed exponents, comments, positions in errors (~10 lines)",
        (EXPONENT, COMMENT, POSITION),
    ),
    Item("Parser: more than two arguments, powers, signs (~6 lines)", (ARGUMENTS, POWER, SIGN)),
    Item(
        "Evaluator: variables before constants, division by zero, floor division, mean (~10 lines)",
        (VARIABLES, ZERO, FLOOR, MEAN),
    ),
    Item("Formatting: groups of negative numbers, whole numbers (~5 lines)", (GROUPS, ZEROS)),
)
TEXT = "# Plan\n\nOne item at a time; tick each when its tests pass.\n\n" + "".join(
    f"{item.open}\n" for item in ITEMS
)


def open_items() -> list[Item]:
    """Return the items that are not ticked in this folder's plan."""
    try:
        lines = Path(PLAN).read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return [item for item in ITEMS if item.ticked not in lines]
