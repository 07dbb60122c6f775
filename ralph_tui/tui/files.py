"""What the screen may ask about snapshots. Rule: these calls block, so they run in a thread."""

from collections.abc import Callable
from typing import Protocol

from ralph_tui.errors import RalphError
from ralph_tui.events.workspace import FileChange
from ralph_tui.tui.spans import clip, flat
from ralph_tui.words import count

NAMED = 3
"""Paths that a preview names."""
NOBODY = "the files cannot be looked at from here"


class Files(Protocol):
    """The snapshots of a run, each named by its tree."""

    def changes(self, since: str, until: str) -> tuple[FileChange, ...]:
        """Changed files between two trees; ``RalphError`` when they are not there any more."""
        ...

    def diff(self, since: str, until: str, path: str | None = None) -> str:
        """A unified diff of one path or all, as git wrote it: untrusted; raises as `changes`."""
        ...


def lines(added: int, removed: int) -> str:
    """``+9 −4``; empty where no line is counted."""
    return " ".join(([f"+{added}"] if added else []) + ([f"−{removed}"] if removed else []))


def preview(
    files: Files | None, since: str, until: str, *, named: int = NAMED
) -> Callable[[], str]:
    """What a restore would change, in words; the call blocks and raises nothing expected."""

    def look() -> str:
        if files is None:
            return NOBODY
        try:
            changes = files.changes(since, until)
        except RalphError as error:
            return flat(str(error))
        if not changes:
            return "nothing: the last snapshot has the same files"
        sizes = lines(sum(c.added for c in changes), sum(c.removed for c in changes))
        words = f"{count(len(changes), 'file')} {sizes}".rstrip()
        if not named:
            return words
        names = [clip(flat(change.path), 40) for change in changes[:named]]
        more = f" and {len(changes) - named} more" if len(changes) > named else ""
        return f"{words}: {', '.join(names)}{more}"

    return look
