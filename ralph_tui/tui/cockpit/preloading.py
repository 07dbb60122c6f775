"""Loads and parses what the first dialogs need, after the first paint.

Rule: it changes nothing visible, and runs in steps of at most about 10 ms, so that keys are handled
in between.
"""

from collections.abc import Iterator

from textual.app import App
from textual.containers import Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from ralph_tui.tui.modals.modal import KeysRow, Modal
from ralph_tui.tui.stylesheets import add_styles

AFTER_S, BETWEEN_S = 1.0, 0.1
"""Seconds from the screen's mount to the first step, and between steps."""


def steps(app: App[str]) -> Iterator[None]:
    """Yield after each step, which imports a module or parses the style rules of a few widgets.

    Textual parses the rules of a widget class when its first instance is mounted, and `add_styles`
    those of a dialog.
    """
    add_styles(app, Modal.STYLES)
    _parse(app)
    yield
    from ralph_tui.tui.modals import abort, leave, restore, text_dialog  # noqa: F401, PLC0415
    from ralph_tui.tui.modals.help import Help  # noqa: PLC0415

    yield
    _parse(app, Help(()), Vertical(), Static(), KeysRow())
    yield
    from textual.widgets import Input, TextArea  # noqa: PLC0415 both are slow to import

    yield
    _parse(app, Input())
    yield
    _parse(app, TextArea())
    yield
    from ralph_tui.tui.modals.guide import Guide, TextEntry  # noqa: PLC0415

    _parse(app, Guide("", into_session=lambda: True), TextEntry())
    yield
    from ralph_tui.tui.modals.palette import Palette  # noqa: PLC0415

    _parse(app, Palette(()))


def _parse(app: App[str], *widgets: Widget) -> None:
    for widget in widgets:
        widget._post_register(app)  # noqa: SLF001 - the first step of mounting
    _ = app.stylesheet.rules  # parses the new rules


def begin(screen: Screen[None]) -> None:
    """Schedule the steps, the first after `AFTER_S`."""
    left = steps(screen.app)

    def step() -> None:
        if next(left, left) is None:
            screen.set_timer(BETWEEN_S, step)

    screen.set_timer(AFTER_S, step)
