"""A question with yes or no."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType

from ralph_tui.tui.modals.choosing import Choice, Choosing


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
        stands: Callable[[], bool] | None = None,
        *,
        yes: str = "yes",
    ) -> None:
        """`stands`: see `Choosing`; `yes`: what y does, in a word or two."""
        super().__init__(question, clock, stands)
        self._detail, self._yes = detail, yes

    def choices(self) -> Sequence[Choice]:
        """See `Choosing`."""
        return (Choice("y", self._yes, self._detail), Choice("esc", "back"))

    def action_answer(self, yes: bool) -> None:  # noqa: FBT001 - Textual parses the argument
        """Close with the answer."""
        self.dismiss(yes)
