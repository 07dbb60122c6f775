"""Exports a run to files; the dialog stays open and shows where each file is."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType

from ralph_tui.tui.draw.spans import Line, wrap
from ralph_tui.tui.modals.choice_dialog import Choice, ChoiceDialog
from ralph_tui.tui.modals.modal import Pair, key_name

What = Literal["screen", "pane", "picture", "report", "events"]
KEYS: dict[str, What] = {"1": "screen", "2": "picture", "3": "pane", "4": "report", "5": "events"}
LABELS = {
    "1": "text", "2": "picture", "3": "pane", "4": "report", "5": "events", "y": "copy its path"
}  # fmt: skip
LONGEST_PATH = 12
"""Maximum number of rows for a path: enough to show any path in full."""


class Export(ChoiceDialog[None]):
    """Each key writes one file; `y` copies the path of the last one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter", "close", show=False)]

    def __init__(
        self,
        pane: str,
        write: Callable[[What], None],
        clock: Callable[[], float] = monotonic,
        *,
        of_a_moment: bool = False,
    ) -> None:
        """`pane` is the pane's name; `write` starts writing, and reports to `answer`.

        `of_a_moment` is true if the screen shows an earlier moment of the run.
        """
        super().__init__("What do you want to export?", clock)
        self._of_a_moment = of_a_moment
        self._pane, self._write = pane, write
        self._path, self._said, self._style = "", "", ""

    def answer(self, words: str, style: str, path: str = "") -> None:
        """Show the result of the last key; `path` is the file that was written."""
        self._said, self._style, self._path = words, style, path
        if self.is_mounted:
            self.lay()

    def hints(self) -> Sequence[str]:
        note = "screen and pane show this moment; report and events cover the whole run"
        return (note,) if self._of_a_moment else ()

    def choices(self) -> Sequence[Choice]:
        return (
            Choice("1", "this screen", "text"),
            Choice("2", "this screen", "picture (SVG)"),
            Choice("3", f"the pane “{self._pane}”", "text, all rows"),
            Choice("4", "the report", "Markdown"),
            Choice("5", "the events", "JSON, one per line"),
            *([Choice("y", "copy its path")] if self._path else []),
            Choice("esc", "close"),
        )

    def pairs(self) -> Sequence[Pair]:
        return [(key, LABELS.get(key, verb)) for key, verb in super().pairs()]

    def rows(self, width: int) -> list[Line]:
        """Add the result of the last key below the choices."""
        lines = super().rows(width)
        for words, style in ((self._said, self._style), (self._path, "accent")):
            if words:
                lines += [[], *([(row, style)] for row in wrap(words, width, LONGEST_PATH))]
        return lines

    def accept_key(self, event: events.Key) -> bool:
        if what := KEYS.get(key_name(event)):
            self._write(what)
        elif key_name(event) == "y" and self._path:
            self.app.copy_to_clipboard(self._path)
            self.report("copied")
        else:
            return False
        return True

    def action_close(self) -> None:
        self.dismiss(None)
