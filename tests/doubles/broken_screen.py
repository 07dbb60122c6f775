"""``python -m tests.doubles.broken_screen BUG WORDS...``: ralph-tui with a bug in its screen.

The key ``?`` meets the bugs `widget` and `input`; with `compose` no screen appears at all.
"""

import sys
from typing import NoReturn

from ralph_tui.__main__ import main
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.driver import TerminalInput

_feed = TerminalInput.feed


def _break(bug: str) -> None:
    def fail(*_: object) -> NoReturn:
        raise KeyError(bug)

    match bug:
        case "widget":
            CockpitScreen.open_help = fail  # type: ignore[method-assign, assignment]
        case "compose":
            CockpitScreen.compose = fail  # type: ignore[method-assign, assignment]
        case "input":
            TerminalInput.feed = (  # type: ignore[method-assign]
                lambda self, data: fail() if data == b"?" else _feed(self, data)
            )


if __name__ == "__main__":
    _break(sys.argv.pop(1))
    sys.exit(main())
