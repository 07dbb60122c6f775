"""Quickly checks whether a text may contain a secret; most texts need nothing more."""

import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

HIDDEN: Final = "[redacted]"
"""Replaces a secret."""

_SECRET_NAME = re.compile(
    r"(?i)(?:key|token|secret|passw(?:or)?d|passphrase|pass|pwd|credential|webhook|auth|cookie)s?$"
)
_SHORTEST_VALUE = 8
"""Minimum length of an environment value that is hidden wherever it appears."""

_SHORTEST_TOKEN = 15
"""Every format has at least this many token characters in a row."""
_CLASSES = bytes(
    ord("l") if 97 <= code <= 122
    else ord("D") if 65 <= code <= 90 or 48 <= code <= 57
    else ord("s") if code in b"+/_=-"
    else ord(" ")
    for code in range(256)
)  # fmt: skip
"""Character classes: lowercase letters, capitals or digits, other token characters, the rest."""
_LETTERS = b"l" * 16
_IDENTIFIER = re.compile(
    r"(?<![\w+/=-])(?:[0-9a-f]{40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![\w+/=-])"
)
"""Matches Git object names and UUIDs: every journal has them, and no format matches them."""
_HASH = re.compile(r"\$(?:2[abxy]|[156y]|apr1)\$")
"""The dots in a password hash may split it into short words."""
RETURN = re.compile(r"(?<=[\w+/=.~-])(?:\r|\\{1,8}r(?!\\{1,8}n))(?=[\w+/=.~-])")
"""A carriage return, raw or escaped; after it, a terminal overwrites a token's beginning."""


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return values of environment variables with secret-sounding names, longest first."""
    values: set[str] = set()
    for name, value in environ.items():
        if _SECRET_NAME.search(name) and not value.startswith("/"):
            # Each line of a value by itself, both raw and as escaped in JSON.
            lines = [line.strip() for line in value.splitlines()]
            values |= {form for line in lines for form in (line, json.dumps(line)[1:-1])}
    return tuple(
        sorted(
            (value for value in values if len(value) >= _SHORTEST_VALUE and value not in HIDDEN),
            key=lambda value: (-len(value), value),
        )
    )


@lru_cache(maxsize=8)
def pattern_of(values: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return a pattern that matches any of the values; None if there are none."""
    return re.compile("|".join(map(re.escape, values))) if values else None


@lru_cache(maxsize=1)
def own_secrets() -> tuple[str, ...]:
    """Return the secrets of this process's environment, which do not change while it runs."""
    return secrets_of(os.environ)


def is_known(text: str) -> bool:
    """True if the text contains a secret of this process's environment."""
    own = pattern_of(own_secrets())
    return own is not None and own.search(text) is not None


def may_match(text: str) -> bool:
    """True if a pattern could match; uses plain searches because it is called often."""
    return may_be_named(text) or may_hold_token(text)


def may_be_named(text: str) -> bool:
    """True if a name or place, such as a header, could mark a value as a secret."""
    lowered = text.lower()
    return (
        "passw" in lowered
        or "passp" in lowered
        or "passc" in lowered
        or "pass=" in lowered
        or "pass:" in lowered
        or 'pass"' in lowered
        or "pass'" in lowered
        or "pass " in lowered
        or "pass\\" in lowered
        # No pattern accepts "tokens" as a name, and agents count them in many lines.
        or ("token" in lowered and "token" in lowered.replace("tokens", ""))
        or "secret" in lowered
        or "key" in lowered
        or "://" in lowered
        or "auth" in lowered
        or "pwd" in lowered
        or "psw" in lowered
        or "credential" in lowered
        or "private-lines" in lowered
        or "cookie" in lowered
        or "bearer" in lowered
        or "basic " in lowered
        or "sig=" in lowered
        or "signature" in lowered
        or " -u" in lowered
        or " -p" in lowered
        or "-user" in lowered
        or "digest" in lowered
        or "redis-cli" in lowered
        or "kennwort" in lowered
        or "contrase" in lowered
        or "senha" in lowered
        or "de passe" in lowered
        or "depasse" in lowered
        or "de_passe" in lowered
        or "wachtwoord" in lowered
        or ("\r" in text and RETURN.search(text) is not None)
    )


def may_hold_token(text: str) -> bool:
    """True if any word could be a token; quick, because most texts need no further check."""
    for word in text.encode("latin-1", "replace").translate(_CLASSES).split():
        # Names of files and functions have lowercase letters and short words.
        if len(word) >= _SHORTEST_TOKEN and (b"D" in word or _LETTERS in word):
            rest = _IDENTIFIER.sub(" ", text)
            return rest == text or may_hold_token(rest)
    return "$" in text and _HASH.search(text) is not None
