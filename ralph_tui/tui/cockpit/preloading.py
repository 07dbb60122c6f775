"""What the first dialogs need, loaded and parsed while nobody waits: the first paint did not.

Rule: it changes nothing that is seen, and it goes in steps of some 10 ms at most: keys are answered
between them.
"""

from collections.abc import Iterator

from textual.app import App
from textual.containers import Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from ralph_tui.tui.modals.help import Help
from ralph_tui.tui.modals.modal import KeysRow

AFTER_S, BETWEEN_S = 1.0, 0.1
"""From the mount of the screen to the first step, and from each to the next."""


def steps(app: App[str]) -> Iterator[None]:
    """Each `next` is a step: a module is imported, or the style rules of a few widgets are parsed.

    Textual parses the rules of a kind of widget when the first one is mounted.
    """
    _parse(app, Help(()), Vertical(), Static(), KeysRow())
    yield
    from textual.widgets import Input, TextArea  # noqa: PLC0415  both take long to import

    yield
    _parse(app, Input())
    yield
    _parse(app, TextArea())
    yield
    from ralph_tui.tui.modals.guide import Guide, TextEntry  # noqa: PLC0415

    _parse(app, Guide("", into_session=True), TextEntry())
    yield
    from ralph_tui.tui.modals.palette import Palette  # noqa: PLC0415

    _parse(app, Palette(()))


def _parse(app: App[str], *widgets: Widget) -> None:
    for widget in widgets:
        widget._post_register(app)  # noqa: SLF001 - what mounting begins with
    _ = app.stylesheet.rules  # parses what is new


def begin(screen: Screen[None]) -> None:
    """Take the steps, from soon on."""
    left = steps(screen.app)

    def step() -> None:
        if next(left, left) is None:
            screen.set_timer(BETWEEN_S, step)

    screen.set_timer(AFTER_S, step)
