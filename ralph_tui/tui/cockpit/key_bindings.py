"""Key bindings of the cockpit: those for the panes, and those from the table of actions.

Two actions may share a key if only one is available at a time. Textual's own keymap would drop one
of them, so the user's own keys are bound like all others.
"""

from collections.abc import Iterator

from textual.binding import Binding

from ralph_tui.text.keys import Keys
from ralph_tui.tui.actions import ACTIONS, is_offered
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
    """Yield each action's keys, its binding, and whether it takes priority over the panes' keys."""
    for action in ACTIONS:
        if is_offered(action, live=live):
            # In a replay, keys that move in time work from every pane.
            moves = action.moves and not live
            yield ",".join(keys.of(action.name)), f"do('{action.name}')", moves
