"""The circuit breaker of a loop: what came out the same three times will do so again.

A loop is stuck when three iterations running end with the same state of the worktree, or with the
same error. Standard library only: the hook program runs it too. Pure.
"""

from typing import NamedTuple

TIMES = 3
"""Iterations running with one and the same result."""
KEPT = 10
"""Error hashes that are remembered."""


class Circuit(NamedTuple):
    """What the last iterations came to."""

    no_change_count: int = 0
    """Iterations running that ended with the same worktree as the one before them."""
    last_diff_hash: str = ""
    error_hashes: tuple[str, ...] = ()
    """Of the iterations running that ended with an error, the latest last."""

    def after(self, diff_hash: str, error_hash: str = "") -> "Circuit":
        """The breaker after one more iteration; an empty hash where nothing is known or failed."""
        same = bool(diff_hash) and diff_hash == self.last_diff_hash
        return Circuit(
            no_change_count=self.no_change_count + 1 if same else 0,
            last_diff_hash=diff_hash,
            error_hashes=(*self.error_hashes, error_hash)[-KEPT:] if error_hash else (),
        )

    @property
    def tripped(self) -> str:
        """Why the loop should stop, as a sentence without its end; empty: it may go on."""
        if self.no_change_count >= TIMES - 1:
            # The first of them is no repetition of another.
            return f"{self.no_change_count + 1} iterations running left the files as they were"
        latest = self.error_hashes[-TIMES:]
        if len(latest) == TIMES and len(set(latest)) == 1:
            return f"{TIMES} iterations running ended with the same error"
        return ""
