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
from ralph_tui.tui.list_keys import told_by_task
from ralph_tui.tui.modals.help import AT_WORK, Block, by_sign

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
        (
            "".join(dict.fromkeys(PHASES[name].glyph for name in AT_WORK)),
            "live: its word is beside",
        ),
        *by_sign(OUTCOMES.values()),
        (DIED.glyph, "died: its process is gone"),
    ),
)
COLUMNS: Block = (
    "columns",
    (
        (CRITICAL.glyph, "as a title: interventions"),
        ("~$", "the cost is an estimate"),
        ("—", "not told in its record, or"),
        ("", "not added up: see status"),
    ),
)


def blocks(keys: Keys = DEFAULTS) -> list[Block]:
    """All that is explained."""
    told: list[Block] = []
    for task, rows in told_by_task(KEYS, keys):
        if task == "find a run":
            rows.append(MOUSE)
        if task == "open":
            rows[1:1] = ENTER
        if task == "leave":
            rows.append(("ctrl+c", "the same"))
        told.append((task, rows))
    told.sort(key=lambda block: TASKS.index(block[0]))
    return [*told, STATES, COLUMNS]
