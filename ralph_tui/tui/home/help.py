"""The help of home: its keys by what one wants to do, and what stands in a row."""

from ralph_tui.keys import DEFAULTS, Keys
from ralph_tui.text.terms import (
    CRITICAL,
    DIED,
    NEEDS_YOU,
    OUTCOMES,
    PHASES,
)
from ralph_tui.tui.home.keys import KEYS
from ralph_tui.tui.modals.help import Block

TASKS = ("find a run", "open", "look", "leave")
MOUSE = ("mouse", "click selects, twice opens")
ENTER = (
    ("", "a live one: its screen"),
    ("", "a past one: its replay"),
)
STATES: Block = (
    "how a run stands",
    (
        (NEEDS_YOU.glyph, "it needs you"),
        *((PHASES[name].glyph, f"live: {PHASES[name].word}") for name in ("agent", "paused")),
        *((term.glyph, term.word) for term in OUTCOMES.values()),
        (DIED.glyph, "died: its process is gone"),
    ),
)
COLUMNS: Block = (
    "columns",
    (
        (CRITICAL.glyph, "interventions"),
        ("~$", "the cost is an estimate"),
        ("—", "not known"),
    ),
)


def blocks(keys: Keys = DEFAULTS) -> list[Block]:
    """All that is explained."""
    told: list[Block] = []
    for task in TASKS:
        rows = [(key.shown(keys), key.help) for key in KEYS if key.task == task]
        if task == "find a run":
            rows.append(MOUSE)
        if task == "open":
            rows[1:1] = ENTER
        if task == "leave":
            rows.append(("ctrl+c", "the same"))
        told.append((task, rows))
    return [*told, STATES, COLUMNS]
