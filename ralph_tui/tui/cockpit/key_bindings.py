"""Which keys the cockpit's screen has: those of its places, and those of the table of actions.

Two actions may have the same key, of which one at most can be done at a time. Textual's own map of
keys would drop one of them, so keys that a user has set are bound as all others are.
"""

from collections.abc import Iterator

from textual.binding import Binding

from ralph_tui.text.keys import Keys
from ralph_tui.tui.actions import ACTIONS, offered
from ralph_tui.tui.cockpit import layout

PLACES = [
    *(
        Binding(str(i % 10), f"pane('{name}')", show=False)
        for i, name in enumerate(layout.ORDER, start=1)
    ),
    Binding("tab", "next(1)", show=False),
    Binding("shift+tab", "next(-1)", show=False),
    Binding("escape", "unzoom", show=False),
]


def of_actions(keys: Keys, *, live: bool) -> Iterator[tuple[str, str, bool]]:
    """Keys, what they do, and whether they come before those of panes."""
    for action in ACTIONS:
        if offered(action, live=live):
            # In a replay a key to move in time means that from every pane.
            moves = action.moves and not live
            yield ",".join(keys.of(action.name)), f"do('{action.name}')", moves
