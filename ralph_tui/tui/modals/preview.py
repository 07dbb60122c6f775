"""What an answer would change, inside a dialog; it is looked up in a thread."""

import asyncio
from collections.abc import Callable

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ralph_tui.errors import RalphError
from ralph_tui.tui.spans import flat


class Preview(Static):
    """Says that it reads, then what it has read, or why it cannot be told."""

    class Failed(Message):
        """It cannot be told."""

    def __init__(self, look: Callable[[], str], indent: str = "") -> None:
        """`look` blocks, and raises ``RalphError`` when it cannot tell."""
        super().__init__(Content(f"{indent}would change: reading…"), classes="hint")
        self._look, self._indent = look, indent
        self.ready = False

    def on_mount(self) -> None:
        """Begin to read."""
        self.run_worker(self._read())

    async def _read(self) -> None:
        try:
            text = f"would change {await asyncio.to_thread(self._look)}"
        except RalphError as error:
            text = f"what it would change cannot be told: {flat(str(error))}"
            self.post_message(self.Failed())
        self.update(Content(f"{self._indent}{text}"))
        self.ready = True
