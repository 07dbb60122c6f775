"""What an answer would change, inside a dialog; it is looked up in a thread."""

import asyncio
from collections.abc import Callable

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ralph_tui.errors import RalphError
from ralph_tui.tui.draw.spans import flat
from ralph_tui.tui.modals.outlook import Outlook


class Preview(Static):
    """Says that it reads, then what it has read, or why it cannot be told."""

    class Failed(Message):
        """It cannot be told."""

    def __init__(self, look: Callable[[], Outlook], indent: str = "") -> None:
        """`look` blocks, and raises ``RalphError`` when it cannot tell."""
        super().__init__(Content(f"{indent}would change: reading…"), classes="hint")
        self._look, self._indent = look, indent
        self._paths: frozenset[str] | None = None
        """Of what stands there; None: it could not be told."""
        self.ready = False

    def on_mount(self) -> None:
        """Begin to read."""
        self.run_worker(self._read())

    async def grown(self) -> bool:
        """Look once more; whether there is now something to change that does not stand here."""
        before = self._paths
        await self._read()
        return before is not None and self._paths is not None and not self._paths <= before

    async def _read(self) -> None:
        try:
            outlook = await asyncio.to_thread(self._look)
        except RalphError as error:
            self._paths = None
            text = f"what it would change cannot be told: {flat(str(error))}"
            self.post_message(self.Failed())
        else:
            self._paths = outlook.paths
            text = f"would change {outlook.words}"
        self.update(Content(f"{self._indent}{text}"))
        self.ready = True
