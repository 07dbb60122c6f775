"""A question with yes or no."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType

from ralph_tui.tui.modals.choosing import Choice, Choosing

LOOK_S = 0.25


class Confirm(Choosing[bool]):
    """Answers True for yes; esc is no. None: what was asked about is over."""

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
        *,
        yes: str = "yes",
    ) -> None:
        """`stands`: whether it still has to be asked; where it has not, the dialog closes.

        `yes`: what y does, in a word or two.
        """
        super().__init__(question, clock)
        self._detail, self._stands, self._yes = detail, stands, yes

    def choices(self) -> Sequence[Choice]:
        """See `Choosing`."""
        return (Choice("y", self._yes, self._detail), Choice("esc", "back"))

    def on_mount(self) -> None:
        """Look from time to time."""
        self.set_interval(LOOK_S, self._close_if_over)

    def _close_if_over(self) -> None:
        if self.is_current and not self._stands():
            self.dismiss(None)

    def action_answer(self, yes: bool) -> None:  # noqa: FBT001 - Textual parses the argument
        """Close with the answer."""
        self.dismiss(yes)
