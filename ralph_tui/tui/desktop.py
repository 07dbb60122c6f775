"""What a terminal is told beside the screen: title and notification, when you are needed."""

from collections.abc import Mapping

from ralph_tui.text.sanitize import clip, one_line

NEEDED = "\x1b[22;2t\x1b]2;ralph-tui needs you\x07"
"""Puts the terminal's title away and sets another."""
NEEDED_NO_MORE = "\x1b]2;ralph-tui\x07\x1b[23;2t"
"""Brings the title back; where the terminal cannot, it is at least no longer a call."""
CALL_CELLS = 160
"""Of the text of a desktop notification."""


def desktop_call(text: str, environ: Mapping[str, str]) -> str:
    """The sequence that notifies the desktop, in the dialect of this terminal.

    A terminal that knows none ignores it; one that knows both would notify twice. tmux hands it on
    where ``allow-passthrough`` is on.
    """
    text = clip(one_line(text), CALL_CELLS)
    term = environ.get("TERM", "")
    if "VTE_VERSION" in environ or term.startswith(("foot", "rxvt")):
        sequence = f"\x1b]777;notify;ralph-tui needs you;{text}\x07"
    else:
        sequence = f"\x1b]9;ralph-tui needs you: {text}\x07"
    if environ.get("TMUX"):
        sequence = "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return sequence
