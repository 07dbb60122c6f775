"""How a fleet is stopped, and how its screen is left."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType

from ralph_tui.tui.modals.choosing import Choice, Choosing

Way = Literal["screen", "after_iteration", "now", "stay"]


class StopFleet(Choosing[Way]):
    """Stop it after the running iterations, or now; or leave only its screen.

    None: it is over meanwhile.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "answer('after_iteration')", show=False),
        Binding("s", "answer('now')", show=False),
        Binding("escape,n", "answer('stay')", show=False),
    ]
    HELPS = (("?", "help"),)

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        stands: Callable[[], bool] | None = None,
        *,
        leaving: bool,
    ) -> None:
        """`leaving`: the screen is left, which stops nothing; `stands`: see `Choosing`."""
        self._leaving = leaving
        asked = "The fleet is alive. How do you want to leave?" if leaving else "Stop the fleet?"
        super().__init__(asked, clock, stands)

    def choices(self) -> Sequence[Choice]:
        """See `Choosing`."""
        stop = (
            Choice("i", "stop after iterations", "nothing new begins"),
            Choice("s", "stop now", "ralph-tui fleet resume goes on"),
        )
        stay = Choice("esc", "back")
        if self._leaving:
            return (Choice("enter", "leave this screen", "the fleet goes on"), *stop, stay)
        return (*stop, stay)

    def hints(self) -> Sequence[str]:
        """See `Choosing`."""
        if self._leaving:
            return ("ralph-tui fleet attach brings the screen back; ctrl+c again leaves it",)
        return ("what the loops have done so far is collected as branches",)

    def action_answer(self, way: Way) -> None:
        """Close with the answer."""
        self.dismiss(way)

    def take_key(self, event: events.Key) -> bool:
        """Enter: what stops nothing; leaving twice leaves."""
        if event.key in ("enter", "q") and self._leaving:
            self.dismiss("screen" if event.key == "enter" else "stay")
            return True
        return False
