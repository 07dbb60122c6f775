"""Confirms a restore, after showing what it would change."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType

from ralph_tui.tui import background
from ralph_tui.tui.modals.choice_dialog import Choice, ChoiceDialog
from ralph_tui.tui.modals.restore_effect import Preview, RestoreEffect


class Restore(ChoiceDialog[bool]):
    """Accepts yes only once the user can see what the restore would change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape", "answer(False)", show=False),
    ]

    def __init__(
        self,
        question: str,
        look: Callable[[], RestoreEffect],
        lacks: str = "",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """See `Preview` for `look`; `lacks` is a sentence on the paths that the point lacks."""
        super().__init__(question, clock)
        self.preview = Preview(look)
        self._lacks, self._verb = lacks, "restore"

    def hints(self) -> Sequence[str]:
        return [self.preview.words, *([self._lacks] if self._lacks else [])]

    def choices(self) -> Sequence[Choice]:
        undone = "current files are saved first, so you can undo it"
        back = Choice("esc", "back", "the files stay as they are")
        return (Choice("y", self._verb, undone), back)

    def on_mount(self) -> None:
        background.run(self, self._read)

    async def _read(self) -> None:
        await self.preview.read()
        if self.preview.failed:
            self._verb = "restore anyway"  # the user then agrees without a preview
        self.lay()

    def action_answer(self, yes: bool) -> None:  # noqa: FBT001 - Textual parses the argument
        """Close with the answer; ask again if the restore would change more than was shown."""
        if not yes:
            self.dismiss(False)
        elif self.preview.ready:
            background.run(self, self._agree, exclusive=True)
        else:
            self.report("y: wait until the changes are shown")

    async def _agree(self) -> None:
        if await self.preview.has_grown():
            self._verb = "restore; it would change more than was shown"
            self.lay()
            self.ignore_keys()
        else:
            self.dismiss(True)
