"""The help of the fleet's screen: its keys by what one wants to do, and what stands in a row."""

from ralph_tui.fleet.tui.keys import KEYS
from ralph_tui.keys import DEFAULTS, Keys
from ralph_tui.text.terms import CHOSEN, DIED, LOOPS, NEEDS_YOU, OUTCOMES, PHASES, WARNING
from ralph_tui.tui.list_keys import told_by_task
from ralph_tui.tui.modals.help import AT_WORK, Block, by_sign

STATES: Block = (
    "how a loop stands",
    (
        (NEEDS_YOU.glyph, "it needs you"),
        *by_sign(PHASES[name] for name in AT_WORK if name != "starting"),
        (LOOPS["queued"].glyph, "queued: no place is free"),
        (LOOPS["placing"].glyph, "starting; its tree is made"),
        (DIED.glyph, "died, or its host is silent"),
        *by_sign(OUTCOMES.values()),
        (LOOPS["skipped"].glyph, "skipped: it does not run"),
    ),
)  # fmt: skip
TRIES: Block = (
    "several attempts",
    (
        ("┌ ├ └", "attempts at one objective"),
        (CHOSEN.glyph, "the one that counts"),
        (WARNING.glyph, "conflicts, or not collected"),
    ),
)
BESIDE: dict[str, tuple[tuple[str, str], ...]] = {
    "find a loop": (("mouse", "click selects, twice opens"),),
    "leave": (("ctrl+c", "the same"),),
}


def blocks(keys: Keys = DEFAULTS) -> list[Block]:
    """All that is explained."""
    told = [(task, [*rows, *BESIDE.get(task, ())]) for task, rows in told_by_task(KEYS, keys)]
    return [*told, STATES, TRIES]
