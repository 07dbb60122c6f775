"""The circuit breaker of a loop: what came out the same three times will do so again.

A loop is stuck when three iterations running end with the same state of the worktree, or with the
same error. Standard library only: the hook program runs it too. Pure.
"""

import re
from dataclasses import dataclass
from hashlib import sha256

TIMES = 3
"""Iterations running with one and the same result."""
KEPT = 10
"""Error hashes that are remembered."""
DIGITS = 12
"""Hexadecimal digits of a hash: they tell one loop's iterations apart."""

# What differs from one occurrence of an error to the next. Counts stay: fewer failing tests are
# another result.
_VARYING = re.compile(
    r"0x[0-9a-fA-F]+"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds)\b"
    r"|/tmp/[^\s:'\"]+"
)


@dataclass(frozen=True)
class Circuit:
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


def hash_of(*parts: str) -> str:
    """A short hash of texts in their order."""
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:DIGITS]


def error_hash_of(text: str) -> str:
    """The hash of an error, whatever times and addresses it names; empty for an empty text."""
    words = " ".join(_VARYING.sub("#", text).split())
    return hash_of(words) if words else ""
