"""How to leave a run that is alive."""

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ralph_tui.tui.modals.modal import Modal

Leaving = Literal["now", "after_iteration", "stay"]


class Leave(Modal[Leaving]):
    """Stop now, stop after this iteration, or stay."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "answer('now')", show=False),
        Binding("i", "answer('after_iteration')", show=False),
        Binding("escape,n,q", "answer('stay')", show=False),
    ]

    def compose(self) -> ComposeResult:
        """Three ways, one per line."""
        with Vertical(classes="dialog"):
            yield Static(Content("The run is alive. How do you want to leave?"), classes="question")
            for key, words, hint in (
                ("s", "stop now", "the agent is stopped; the work stays as it is"),
                ("i", "stop after this iteration", "the agent ends its work first"),
                ("esc", "stay", ""),
            ):
                yield Static(
                    Content.assemble((f"{key:>4}", "bold"), f"  {words:<26}", (hint, "dim")),
                    classes="choice",
                )
            yield Static(Content("ctrl+c again stops now"), classes="keys")

    def action_answer(self, way: Leaving) -> None:
        """Close with the answer."""
        self.dismiss(way)
