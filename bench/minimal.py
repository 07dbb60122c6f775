"""The smallest Textual app, for comparison; its argument is a timer's frequency, 0 for none."""

import sys

from textual.app import App, ComposeResult
from textual.widgets import Static

SHOWN = "a minimal app"


class Minimal(App[None]):
    """An app that shows one line of text."""

    def compose(self) -> ComposeResult:
        yield Static(SHOWN)

    def on_mount(self) -> None:
        hertz = int(sys.argv[1]) if len(sys.argv) > 1 else 0
        if hertz:
            self.set_interval(1 / hertz, self.tick)

    def tick(self) -> None:
        pass


if __name__ == "__main__":
    Minimal().run()
