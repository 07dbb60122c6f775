"""What an answer would change, as a dialog tells it; it is looked up in a thread."""

import asyncio
from collections.abc import Callable

from ralph_tui.errors import RalphError
from ralph_tui.tui.draw.spans import flat
from ralph_tui.tui.modals.outlook import Outlook


class Preview:
    """Says that it reads, then what it has read, or why it cannot be told."""

    def __init__(self, look: Callable[[], Outlook]) -> None:
        """`look` blocks, and raises ``RalphError`` when it cannot tell."""
        self.words = "would change: reading…"
        self.ready = self.failed = False
        self._look = look
        self._paths: frozenset[str] | None = None
        """Of what it tells; None: it could not be told."""

    async def read(self) -> None:
        """Look."""
        try:
            outlook = await asyncio.to_thread(self._look)
        except RalphError as error:
            self._paths, self.failed = None, True
            self.words = f"what it would change cannot be told: {flat(str(error))}"
        else:
            self._paths, self.failed = outlook.paths, False
            self.words = f"would change {outlook.words}"
        self.ready = True

    async def grown(self) -> bool:
        """Look once more; whether there is now something to change that was not told."""
        before = self._paths
        await self.read()
        return before is not None and self._paths is not None and not self._paths <= before
