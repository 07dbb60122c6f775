"""Whether the files shall go back to a point, once it stands there what that would change."""

from collections.abc import Callable
from time import monotonic

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ralph_tui.tui.modals.confirm import Confirm
from ralph_tui.tui.modals.outlook import Outlook
from ralph_tui.tui.modals.preview import Preview


class Restore(Confirm):
    """Takes a yes only when its reader can know what to."""

    def __init__(
        self,
        question: str,
        look: Callable[[], Outlook],
        lacks: str = "",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`look`: see `Preview`; `lacks`: what the point could not hold, as a sentence."""
        super().__init__(question, "A snapshot holds the present first: it can be undone.", clock)
        self.preview = Preview(look)
        self._lacks = lacks
        self._keys = Static(_keys("restore"), classes="keys")

    def compose(self) -> ComposeResult:
        """One line, and what it means."""
        with Vertical(classes="dialog"):
            yield Static(Content(self._question), classes="question")
            yield self.preview
            if self._lacks:
                yield Static(Content(self._lacks), classes="hint")
            yield Static(Content(self._detail), classes="hint")
            yield self._keys

    def on_preview_failed(self) -> None:
        """A yes is then given without knowing."""
        self._keys.update(_keys("restore all the same"))

    def action_answer(self, yes: bool) -> None:  # noqa: FBT001 - Textual parses the argument
        """Close with the answer; a yes counts for what its giver has seen."""
        if not yes:
            self.dismiss(False)
        elif self.preview.ready:
            self.run_worker(self._agree(), exclusive=True)

    async def _agree(self) -> None:
        if await self.preview.grown():
            self._keys.update(_keys("restore that; it has grown since you looked"))
            self.look_away()
        else:
            self.dismiss(True)


def _keys(verb: str) -> Content:
    return Content.assemble(("y", "bold"), f" {verb}    ", ("n", "bold"), " leave it")
