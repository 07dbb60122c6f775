"""While you were away: what happened, in a few lines, to read and close.

Rule: it takes no key that means something on the screen below; such a key closes it and is obeyed.
"""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content

from ralph_tui.analysis.away import Told
from ralph_tui.tui.draw.spans import wrap
from ralph_tui.tui.modals.modal import Pair
from ralph_tui.tui.modals.text_dialog import TextDialog

HELPED = ("question_mark", "f1", "q")
"""Keys that work in every dialog."""
TITLE = "while you were away"
BELOW = "  └ "
WIDTH, MOST_ROWS = 68, 5
"""Of what stands below an entry: cells in the dialog, and rows."""


class Away(TextDialog):
    """Any of enter, esc and space closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "close", show=False)]

    def __init__(self, told: Sequence[Told], clock: Callable[[], float] = monotonic) -> None:
        super().__init__(TITLE, [Content("\n").join(_row(line) for line in told)], clock)

    def pairs(self) -> Sequence[Pair]:
        """See `Modal`."""
        return (("↑", ""), ("↓", "scroll"), ("enter", "close"))

    def take_key(self, event: events.Key) -> bool:
        """See `Modal`: a key of the screen below closes this, and is handed on."""
        if event.key in self.active_bindings or event.key in HELPED:
            return False
        app, key = self.app, event.key
        self.dismiss(None)
        app.call_later(app.simulate_key, key)
        return True


def _row(line: Told) -> Content:
    style = "bold" if line.tone in ("warn", "bad") else "dim" if line.below else ""
    if not line.below:
        return Content.assemble((line.text, style))
    first, *more = wrap(line.text, WIDTH - len(BELOW), MOST_ROWS)
    rest = "".join(f"\n{' ' * len(BELOW)}{row}" for row in more)
    return Content.assemble(BELOW, (f"{first}{rest}", style))
