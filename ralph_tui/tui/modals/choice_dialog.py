"""A question on one line, and below it the answers with their effects."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar, NamedTuple, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from ralph_tui.tui.draw.spans import Line, cells, wrap
from ralph_tui.tui.modals.modal import Modal, Pair, press_on_click
from ralph_tui.tui.modals.scroll_text import ScrollText

T = TypeVar("T")

LOOK_S = 0.25
WIDEST = 100
FRAMED_ROWS, FRAME_CELLS, FRAME_ROWS = 10, 6, 4
"""Minimum number of rows for a frame, and the cells and rows that a frame takes."""
LONGEST_HINT = 6
"""Maximum number of rows for the question, or for one hint."""


class Choice(NamedTuple):
    """One answer."""

    key: str
    """The key as the dialog shows it."""
    verb: str
    then: str = ""


class ChoiceDialog(Modal[T]):
    """A dialog that scrolls if it does not fit; the last row always shows its keys."""

    DECIDES = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "roll(1)", show=False),
        Binding("up", "roll(-1)", show=False),
    ]

    def __init__(
        self,
        question: str,
        clock: Callable[[], float] = monotonic,
        is_valid: Callable[[], bool] | None = None,
    ) -> None:
        """`is_valid` returns False once the question is obsolete: the dialog then closes with None.

        Without `is_valid`, the question never becomes obsolete.
        """
        super().__init__(clock)
        self.question, self._is_valid = question, is_valid

    def choices(self) -> Sequence[Choice]:
        """Return the answers, with the way back last."""
        raise NotImplementedError

    def hints(self) -> Sequence[str]:
        """Return additional sentences, shown dimmed."""
        return ()

    def pairs(self) -> Sequence[Pair]:
        *answers, back = self.choices()
        scroll = [("↑", ""), ("↓", "scroll")] if self.query_one(ScrollText).hidden else []
        named = [(choice.key, "") for choice in answers[:-1]]  # the dialog says what each does
        named.append((answers[-1].key, "choose" if named else answers[-1].verb))
        return (*named, *scroll, (back.key, back.verb))

    def parts(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield ScrollText("choosing")

    def on_mount(self) -> None:
        """Lay out the dialog, and check regularly whether it has become obsolete."""
        self.lay()
        if self._is_valid is not None:
            self.set_interval(LOOK_S, self._close_if_over)

    def _close_if_over(self) -> None:
        if self.is_current and self._is_valid is not None and not self._is_valid():
            self.close_obsolete()

    def on_resize(self, event: events.Resize) -> None:
        self.lay()

    def lay(self) -> None:
        """Lay out and draw the dialog in its current state."""
        columns, rows = self.room
        framed = rows >= FRAMED_ROWS
        dialog = self.query_one(".dialog", Vertical)
        dialog.set_class(not framed, "-bare")
        around = (FRAME_CELLS if framed else 0) + ScrollText.EDGE
        lines = self.rows(max(8, min(columns, WIDEST) - around))
        widest = max(cells(row) for row in lines)
        dialog.styles.width = min(columns, WIDEST, max(widest, 40) + around)
        height = max(1, rows - (FRAME_ROWS if framed else 0))
        self.query_one(ScrollText).show(lines, min(height, len(lines)))
        self.show_keys()

    def rows(self, width: int) -> list[Line]:
        """Return the whole content, drawn for this width."""
        rows: list[Line] = [[(row, "strong")] for row in wrap(self.question, width, LONGEST_HINT)]
        for hint in self.hints():
            rows += [[(row, "dim")] for row in wrap(hint, width, LONGEST_HINT)]
        rows.append([])
        choices = self.choices()
        key = max(len(choice.key) for choice in choices)
        verb = max(cells([(choice.verb, "")]) for choice in choices)
        beside = all(
            "\n" not in choice.then and cells([(choice.then, "")]) + key + verb + 4 <= width
            for choice in choices
        )
        for choice in choices:
            row: Line = [(f"{choice.key:>{key}}", "key"), ("  ", ""), (choice.verb, "text")]
            if beside and choice.then:
                row += [(" " * (verb - cells([(choice.verb, "")]) + 2), ""), (choice.then, "dim")]
            below: list[Line] = []
            if not beside and choice.then:
                texts = wrap(choice.then, max(1, width - key - 4), 3)
                below = [[(" " * (key + 4), ""), (text, "dim")] for text in texts]
            rows += [press_on_click(part, choice.key) for part in (row, *below)]
        return rows

    def action_roll(self, by: int) -> None:
        self.report_end(self.query_one(ScrollText).roll(by))


class Confirm(ChoiceDialog[bool]):
    """Returns True for yes and False for esc; None if the question became obsolete."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape", "answer(False)", show=False),
    ]

    def __init__(
        self,
        question: str,
        detail: str = "",
        clock: Callable[[], float] = monotonic,
        is_valid: Callable[[], bool] | None = None,
        *,
        yes: str = "yes",
    ) -> None:
        """See `ChoiceDialog` for `is_valid`; `yes` says in a word or two what y does."""
        super().__init__(question, clock, is_valid)
        self._detail, self._yes = detail, yes

    def choices(self) -> Sequence[Choice]:
        return (Choice("y", self._yes, self._detail), Choice("esc", "back"))

    def action_answer(self, yes: bool) -> None:  # noqa: FBT001 - Textual parses the argument
        self.dismiss(yes)
