"""How to leave a live run."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType

from ralph_tui.tui.modals.choice_dialog import Choice, ChoiceDialog

Leaving = Literal["screen", "now", "after_iteration", "taken_back", "stay"]
Activity = Literal["going", "pausing", "paused", "asking"]
"""The run is working, about to pause, paused, or waiting for an answer."""

HERE: dict[Activity, str] = {
    "going": "the run continues here as plain lines",
    "pausing": "it pauses after this iteration and waits",
    "paused": "the run stays paused",
    "asking": "the question stays open",
}
THERE: dict[Activity, str] = {**HERE, "going": "the run continues in its own process"}
"""How the run continues after its screen closes, in this process (`HERE`) or in another one."""
LAST: dict[Activity, str] = {
    "going": "the agent finishes its work first",
    "pausing": "the agent finishes its work first",
    "paused": "one more iteration runs after you unpause",
    "asking": "it stops once you answer the question",
}
AFTERWARDS: dict[Activity, str] = {
    "going": "ralph-tui attach reopens this screen",
    "pausing": "ralph-tui unpause continues it, attach reopens this screen",
    "paused": "ralph-tui unpause continues it, attach reopens this screen",
    "asking": "ralph-tui decide answers it, attach reopens this screen",
}


class Leave(ChoiceDialog[Leaving]):
    """Stop now, stop after this iteration, leave only the screen, or stay."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "answer('now')", show=False),
        Binding("i", "stop_later", show=False),
        Binding("l", "answer('screen')", show=False),
        Binding("escape,n,q", "answer('stay')", show=False),
    ]
    COMMON_KEYS = (("?", "help"),)

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        *,
        elsewhere: bool = False,
        activity: Activity = "going",
        stopping: bool = False,
    ) -> None:
        """`elsewhere` is true if the run belongs to another process: leaving is then the default.

        `stopping` is true if a stop after this iteration is pending and can be cancelled.
        """
        self._elsewhere, self._activity, self._stopping = elsewhere, activity, stopping
        super().__init__("The run is still running. How do you want to leave?", clock)

    def choices(self) -> Sequence[Choice]:
        stop = [
            Choice("s", "stop now", "the agent stops; you can resume later"),
            Choice("i", "keep running after this iteration", "the stop is cancelled")
            if self._stopping
            else Choice("i", "stop after this iteration", LAST[self._activity]),
        ]
        stay = Choice("esc", "back")
        if self._elsewhere:
            return (Choice("enter", "leave this screen", THERE[self._activity]), *stop, stay)
        return (*stop, Choice("l", "leave only the screen", HERE[self._activity]), stay)

    def hints(self) -> Sequence[str]:
        twice = "leaves this screen" if self._elsewhere else "stops now"
        return (f"{AFTERWARDS[self._activity]}; ctrl+c twice within 2 s {twice}",)

    def action_stop_later(self) -> None:
        self.dismiss("taken_back" if self._stopping else "after_iteration")

    def action_answer(self, way: Leaving) -> None:
        self.dismiss(way)

    def accept_key(self, event: events.Key) -> bool:
        """Let enter leave the screen if leaving does not stop the run."""
        if event.key == "enter" and self._elsewhere:
            self.dismiss("screen")
            return True
        return False
