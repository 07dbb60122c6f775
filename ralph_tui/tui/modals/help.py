"""Keys, lines and glyphs, explained from the tables that draw them."""

from collections.abc import Callable, Iterable
from time import monotonic

from textual.content import Content

from ralph_tui.text.terms import (
    BEST,
    CHECKPOINTS,
    CONTEXT_LEVELS,
    CRITICAL,
    FITS,
    FORGOT,
    GOOD,
    IN_PROMPT,
    LEARNED,
    LEVELS,
    MUTED,
    NO_HELP,
    PHASES,
    PINNED,
    ROLLED_BACK,
    ROLLOVER,
    UNPROVEN,
    WARNING,
)
from ralph_tui.tui.actions import ACTIONS, offered
from ralph_tui.tui.draw.chart import KINDS
from ralph_tui.tui.draw.spans import wrap
from ralph_tui.tui.modals.text_dialog import TextDialog

PANE_KEYS = (
    ("tab", "The next pane; shift+tab the one before."),
    ("↑ ↓", "Move in the focused pane; page up, page down, home and end too."),
    ("← →", "In the checkpoints: select a point; shift+← shift+→ an iteration."),
    ("v space", "In the checkpoints: mark the point, to compare it with another; esc unmarks."),
    (
        "enter",
        "Open what is selected: evidence, the whole of a tool call, changes and diff, the "
        "card of a learning.",
    ),
    ("p m e d", "On that card: pin, mute, edit, delete the learning."),
    ("esc", "Close a zoom or a dialog."),
)


def _captured(first: str, second: str) -> tuple[str, str]:
    one, other = CHECKPOINTS[first], CHECKPOINTS[second]
    return f"{one.glyph} {other.glyph}", f"checkpoint {one.word} · {other.word}"


MEANS = {
    "L0": "nothing is to be done",
    "L1": "a warning",
    "L2": "the running tool ends, then a fresh session goes on",
    "L3": "the session is ended at once",
}
"""What follows from a level; the context pane says where each begins."""
_LOG, _OWNER = LEVELS["log"], LEVELS["owner"]
GLYPHS = (
    (_LOG.glyph, f"{_LOG.word} · an iteration in the checkpoints · agent at work in the header"),
    (
        GOOD.glyph,
        f"{GOOD.word}: an alarm cleared, a new best, a passed gate, a learning that helped",
    ),
    (WARNING.glyph, WARNING.word),
    (CRITICAL.glyph, f"{CRITICAL.word} · the overseer acted"),
    (_OWNER.glyph, f"{_OWNER.word} · a tool call"),
    (BEST.glyph, "the best completion so far"),
    *(
        (term.glyph, f"learning: {term.word}")
        for term in (IN_PROMPT, NO_HELP, LEARNED, FITS, PINNED, MUTED, UNPROVEN)
    ),
    ("○", "the iteration that runs now"),
    ("└", "what was decided about an intervention, and what it changed"),
    (ROLLED_BACK.glyph, "the files were rolled back"),
    _captured("start", "end"),
    _captured("timer", "key"),
    (ROLLOVER.glyph, "context rollover: the session handed over to a fresh one"),
    (FORGOT.glyph, "the agent summed its own context up, and forgot details"),
    ("‹●›", "the point that is marked, to be compared"),
)
CONTEXT = tuple((name, f"{term.word}: {MEANS[name]}") for name, term in CONTEXT_LEVELS.items())

LEFT, RIGHT = 10, 50
"""Cells of the two columns; together they fit a dialog at 80 columns."""


def rows(title: str, pairs: Iterable[tuple[str, str]]) -> Content:
    """A headed two-column table."""
    parts: list[tuple[str, str]] = [(title, "bold")]
    for left, right in pairs:
        first, *more = wrap(right, RIGHT, 9)
        parts += [("\n", ""), (f"  {left:<{LEFT}}", "bold"), (first, "")]
        parts += [("\n" + " " * (LEFT + 2) + piece, "") for piece in more]
    return Content.assemble(*parts)


class Help(TextDialog):
    """What keys, lines and glyphs mean on this screen."""

    def __init__(self, *, live: bool, panes: int, clock: Callable[[], float] = monotonic) -> None:
        """`panes`: how many there are, each with its number."""
        digits = "1-9 0" if panes > 9 else f"1-{panes}"
        numbers = (digits, "Focus a pane; in a group its number opens its tab.")
        keys = [(a.shown_key, a.help) for a in ACTIONS if offered(a, live=live)]
        lines = [(f"{k.sample * 3} {k.letter}", f"{k.name}: {k.meaning}") for k in KINDS]
        super().__init__(
            "Help",
            [
                rows("Keys", keys),
                rows("Panes", (numbers, *PANE_KEYS)),
                rows("Lines of the control signal", lines),
                rows("Glyphs", GLYPHS),
                rows("How full the context is", CONTEXT),
                rows("What the loop is doing", (term[:2] for term in PHASES.values())),
            ],
            clock,
        )
