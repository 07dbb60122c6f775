"""A question with yes or no, on one line."""

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ralph_tui.tui.modals.modal import Modal

LOOK_S = 0.25


class Confirm(Modal[bool]):
    """Answers True for yes; esc is no. None: what was asked about is over."""

    DECIDES = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape", "answer(False)", show=False),
    ]

    def __init__(
        self,
        question: str,
        detail: str = "",
        clock: Callable[[], float] = monotonic,
        stands: Callable[[], bool] = lambda: True,
    ) -> None:
        """`stands`: whether it still has to be asked; where it has not, the dialog closes."""
        super().__init__(clock)
        self._question, self._detail, self._stands = question, detail, stands

    def on_mount(self) -> None:
        """Look from time to time."""
        self.set_interval(LOOK_S, self._close_if_over)

    def _close_if_over(self) -> None:
        if self.is_current and not self._stands():
            self.dismiss(None)

    def compose(self) -> ComposeResult:
        """One line, and a dim one below it."""
        with Vertical(classes="dialog"):
            yield Static(Content(self._question), classes="question")
            if self._detail:
                yield Static(Content(self._detail), classes="hint")
            yield Static(
                Content.assemble(("y", "bold"), " yes    ", ("n", "bold"), " no"), classes="keys"
            )

    def action_answer(self, yes: bool) -> None:  # noqa: FBT001 - Textual parses the argument
        """Close with the answer."""
        self.dismiss(yes)
