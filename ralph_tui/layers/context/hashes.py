"""Short hashes by which a loop's iterations are told apart. Pure.

A module of its own: `hashlib` is loaded only where a hash is made. Standard library only: the hook
program runs it too.
"""

import re
from hashlib import sha256

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
