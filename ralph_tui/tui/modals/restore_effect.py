"""The effect of a restore, in words for a dialog.

Rule: the check blocks, so it runs in a thread.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from ralph_tui.base.errors import RalphError, WorkspaceError
from ralph_tui.events.workspace import FileChange, SnapshotTaken
from ralph_tui.ports.source import Files
from ralph_tui.text.format import count
from ralph_tui.tui.draw.spans import clip, flat, flat_name

NAMED = 3
"""Maximum number of paths named in a preview."""
UNCHECKED = "the files cannot be checked from here"


def lines(added: int, removed: int) -> str:
    """Return ``+9 −4``; empty if no line was counted."""
    return " ".join(([f"+{added}"] if added else []) + ([f"−{removed}"] if removed else []))


class RestoreEffect(NamedTuple):
    """The changes that a restore would make."""

    words: str
    paths: frozenset[str]


def preview(files: Files | None, tree: str, *, named: int = NAMED) -> Callable[[], RestoreEffect]:
    """Return a function that describes what a restore would change.

    Call the function in a thread, because it blocks. It raises ``RalphError`` if checking fails.
    """

    def look() -> RestoreEffect:
        if files is None:
            raise WorkspaceError(UNCHECKED)
        changes = files.from_present(tree)
        return RestoreEffect(
            _describe_effect(changes, named), frozenset(change.path for change in changes)
        )

    return look


def _describe_effect(changes: tuple[FileChange, ...], named: int) -> str:
    if not changes:
        return "nothing: the files already match"
    sizes = lines(sum(c.added for c in changes), sum(c.removed for c in changes))
    gone = sum(change.status == "deleted" for change in changes)
    words = f"{count(len(changes), 'file')} {sizes}".rstrip()
    words += f" ({gone} deleted)" if gone else ""
    if not named:
        return words
    names = [clip(flat_name(change.path), 40) for change in changes[:named]]
    more = f" and {len(changes) - named} more" if len(changes) > named else ""
    return f"{words}: {', '.join(names)}{more}"


def missing_paths(snapshot: SnapshotTaken) -> str:
    """Return a sentence on the paths that the snapshot could not hold; empty if it holds all."""
    number = max(snapshot.missing_count, len(snapshot.missing))
    if not number:
        return ""
    names = [clip(flat_name(path), 40) for path in snapshot.missing[:NAMED]]
    more = f" and {number - len(names)} more" if names and number > len(names) else ""
    named = f": {', '.join(names)}{more}" if names else ""
    return f"It lacks {count(number, 'path')}, left unchanged{named}"


class Preview:
    """The text of a preview: first a notice that it is loading, then the result or an error."""

    def __init__(self, look: Callable[[], RestoreEffect]) -> None:
        """`look` blocks, and raises ``RalphError`` if checking fails."""
        self.words = "checking what would change…"
        self.ready = self.failed = False
        self._look = look
        self._paths: frozenset[str] | None = None
        """Paths that the restore would change; None if that is unknown."""

    async def read(self) -> None:
        """Call `look` in a thread, and store its result."""
        try:
            outlook = await asyncio.to_thread(self._look)
        except RalphError as error:
            self._paths, self.failed = None, True
            self.words = f"cannot check what would change: {flat(str(error))}"
        else:
            self._paths, self.failed = outlook.paths, False
            self.words = f"would change {outlook.words}"
        self.ready = True

    async def has_grown(self) -> bool:
        """Check again; return True if the restore would now change further paths."""
        before = self._paths
        await self.read()
        return before is not None and self._paths is not None and not self._paths <= before
