"""How to give a run up: as it is, or with the files as they were at their best."""

from collections.abc import Callable
from time import monotonic
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.modals.outlook import Outlook
from ralph_tui.tui.modals.preview import Preview

Way = Literal["keep", "roll_back", "stay"]


class GiveUp(Modal[Way]):
    """Keep the work, roll it back to the best point where there is one, or go on."""

    DECIDES = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('keep')", show=False),
        Binding("b", "answer('roll_back')", show=False),
        Binding("n,escape", "answer('stay')", show=False),
    ]

    def __init__(
        self,
        best: str,
        clock: Callable[[], float] = monotonic,
        look: Callable[[], Outlook] | None = None,
        lacks: str = "",
    ) -> None:
        """`best` names the point to roll back to, empty: there is none; the rest: see `Restore`."""
        super().__init__(clock)
        self._best, self._look, self._lacks = best, look, lacks

    def compose(self) -> ComposeResult:
        """One way per line."""
        ways = [("y", "give up, keep the work", "")]
        if self._best:
            ways.append(("b", "give up, roll back", f"to {self._best}"))
        with Vertical(classes="dialog"):
            yield Static(Content("Give this run up? The agent is stopped."), classes="question")
            for key, words, hint in (*ways, ("esc", "go on", "")):
                yield Static(
                    Content.assemble((f"{key:>4}", "bold"), f"  {words:<24}", (hint, "dim")),
                    classes="choice",
                )
                if key == "b" and self._look is not None:
                    yield Preview(self._look, " " * 6)
                if key == "b" and self._lacks:
                    yield Static(Content(f"{' ' * 6}{self._lacks}"), classes="hint")
            yield Static(Content("A snapshot holds the present either way."), classes="keys")

    def action_answer(self, way: Way) -> None:
        """Close with the answer."""
        if way != "roll_back" or self._best:
            self.dismiss(way)
