"""Short hashes that distinguish a loop's iterations.

This is a separate module so that `hashlib` is loaded only when a hash is made. It uses only the
standard library, because the hook program runs it too.
"""

import re
from hashlib import sha256

DIGITS = 12
"""Hexadecimal digits of a hash, enough to distinguish one loop's iterations."""

# Text that varies between occurrences of an error. Counts are kept: fewer failing tests are a
# different result.
_VARYING = re.compile(
    r"0x[0-9a-fA-F]+"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds)\b"
    r"|/tmp/[^\s:'\"]+"
)


def hash_of(*parts: str) -> str:
    """Return a short hash of the texts, in the given order."""
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:DIGITS]


def error_hash_of(text: str) -> str:
    """Return the hash of an error, ignoring times and addresses; empty for an empty text."""
    words = " ".join(_VARYING.sub("#", text).split())
    return hash_of(words) if words else ""
