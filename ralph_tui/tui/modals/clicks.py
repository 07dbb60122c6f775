"""A click on a key as it is written presses that key; what a key may do is decided by the key."""

from textual import events
from textual.widget import Widget

from ralph_tui.tui.draw.spans import Line, cells

NAMES = {
    "esc": "escape",
    "space": "space",
    "enter": "enter",
    "tab": "tab",
    "?": "question_mark",
    "+": "plus",
    "*": "asterisk",
    ":": "colon",
    "/": "slash",
    "↑": "up",
    "↓": "down",
    "←": "left",
    "→": "right",
}
"""Textual's name of a key that is written otherwise."""


def key_at(line: Line, x: int) -> str:
    """The key that was written last at or before cell `x`, as it is written; or none."""
    at, key = 0, ""
    for span in line:
        if at > x:
            break
        if "key" in span[1].split():
            key = span[0].strip()
        at += cells([span])
    return key if x < at else ""


def press_at(widget: Widget, line: Line, x: int) -> None:
    """Press the key that a click on this row means; the app treats it as one that was typed."""
    written = key_at(line, x)
    name = NAMES.get(written) or (written if len(written) == 1 or "+" in written else "")
    if name:
        widget.app.post_message(events.Key(name, written if len(written) == 1 else None))
