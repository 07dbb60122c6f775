"""How to abort a run: keep the files as they are, or restore their best state."""

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType

from ralph_tui.tui import background
from ralph_tui.tui.modals.choice_dialog import Choice, ChoiceDialog
from ralph_tui.tui.modals.restore_effect import Preview, RestoreEffect

Way = Literal["keep", "roll_back", "stay"]


class AbortDialog(ChoiceDialog[Way]):
    """Keep the work, restore its best point if there is one, or go back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('keep')", show=False),
        Binding("n,escape", "answer('stay')", show=False),
    ]

    def __init__(
        self,
        best: str,
        clock: Callable[[], float] = monotonic,
        look: Callable[[], RestoreEffect] | None = None,
        lacks: str = "",
        is_valid: Callable[[], bool] | None = None,
    ) -> None:
        """`best` names the point to restore; it is empty if there is no such point.

        See `ChoiceDialog` for `is_valid` and `Restore` for the rest.
        """
        question = "Abort this run? The agent stops; your current files are saved."
        super().__init__(question, clock, is_valid)
        self._best, self._lacks = best, lacks
        self.preview = Preview(look) if look is not None else None

    def choices(self) -> Sequence[Choice]:
        effect = "the files as they were then"
        if self.preview is not None:
            effect = "\n".join(filter(None, [self.preview.words, self._lacks]))
        back = Choice("r", f"abort and restore {self._best}", effect)
        return (
            Choice("y", "abort", "the files stay as they are"),
            *([back] if self._best else []),
            Choice("esc", "back", "the run continues"),
        )

    def on_mount(self) -> None:
        if self.preview is not None and self._best:
            background.run(self, partial(self._read, self.preview))

    async def _read(self, preview: Preview) -> None:
        await preview.read()
        self.lay()

    def accept_key(self, event: events.Key) -> bool:
        if event.key == "r" and self._best:
            self.dismiss("roll_back")
            return True
        if event.key == "r":
            self.report("r does nothing here; there is no best snapshot to restore yet")
        return event.key == "r"

    def action_answer(self, way: Way) -> None:
        self.dismiss(way)
