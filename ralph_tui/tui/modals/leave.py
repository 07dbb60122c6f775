"""How to leave a run that is alive."""

from collections.abc import Callable
from time import monotonic
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ralph_tui.tui.modals.modal import Modal

Leaving = Literal["screen", "now", "after_iteration", "stay"]

OWN: tuple[tuple[str, str, str], ...] = (
    ("s", "stop now", "the agent ends, the work stays"),
    ("i", "stop after this iteration", "the agent ends its work first"),
    ("l", "leave only the screen", "the run goes on here, as lines"),
    ("esc", "stay", ""),
)
ELSEWHERE: tuple[tuple[str, str, str], ...] = (
    ("enter", "leave this screen", "the run goes on where it lives"),
    ("s", "stop the run now", "the agent ends, the work stays"),
    ("i", "stop after this iteration", "the agent ends its work first"),
    ("esc", "stay", ""),
)


class Leave(Modal[Leaving]):
    """Stop now, stop after this iteration, leave only the screen, or stay."""

    DECIDES = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "answer('now')", show=False),
        Binding("i", "answer('after_iteration')", show=False),
        Binding("l", "answer('screen')", show=False),
        Binding("enter", "default", show=False),
        Binding("escape,n,q", "answer('stay')", show=False),
    ]

    def __init__(self, clock: Callable[[], float] = monotonic, *, elsewhere: bool = False) -> None:
        """`elsewhere`: the run belongs to another process, so leaving the screen is the default."""
        super().__init__(clock)
        self._elsewhere = elsewhere

    def compose(self) -> ComposeResult:
        """The ways, one per line."""
        again = "leaves this screen" if self._elsewhere else "stops now"
        with Vertical(classes="dialog"):
            yield Static(Content("The run is alive. How do you want to leave?"), classes="question")
            for key, words, hint in ELSEWHERE if self._elsewhere else OWN:
                yield Static(
                    Content.assemble((f"{key:>5}", "bold"), f"  {words:<27}", (hint, "dim")),
                    classes="choice",
                )
            yield Static(Content(f"ctrl+c again {again}"), classes="keys")

    def action_default(self) -> None:
        """Enter: what stops nothing, where there is such a thing to do at once."""
        if self._elsewhere:
            self.dismiss("screen")

    def action_answer(self, way: Leaving) -> None:
        """Close with the answer."""
        self.dismiss(way)
