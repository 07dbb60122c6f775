"""Words that have to be looked up first, inside a dialog; they are fetched in a thread."""

import asyncio
from collections.abc import Callable

from textual.content import Content
from textual.widgets import Static


class Preview(Static):
    """Says that it reads, then what it has read."""

    def __init__(self, look: Callable[[], str], prefix: str = "") -> None:
        """`look` blocks, and raises nothing expected."""
        super().__init__(Content(f"{prefix}reading…"), classes="hint")
        self._look, self._prefix = look, prefix
        self.ready = False

    def on_mount(self) -> None:
        """Begin to read."""
        self.run_worker(self._read())

    async def _read(self) -> None:
        text = await asyncio.to_thread(self._look)
        self.update(Content(f"{self._prefix}{text}"))
        self.ready = True
