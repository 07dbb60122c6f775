"""JSON as JavaScript's ``JSON.stringify`` writes it, so that two programs agree on a checksum.

What differs from Python's: the form of numbers (``1``, not ``1.0``; ``1e+21``; ``1e-7``), a lone
surrogate is an escape, and keys that are array indices come first, in their order. A number of any
size is what a double holds of it. Hardly any learning has one of these: Python's own writer, which
is three times as fast, writes each that has none.
"""

import json
import math
import re
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any

_EXACT = 1 << 53
"""Integers below it are doubles as they are."""
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z", re.ASCII)
_LAST_INDEX = (1 << 32) - 2
_SURROGATE = re.compile("[\ud800-\udfff]")
_OURS = [
    re.compile(form).search
    for form in (
        r"\.0[,\]}]",
        r"e[-+][0-9]+[,\]}]",
        *(rf"{before}-?[0-9]{{16}}" for before in (":", ",", r"\[")),
        r'"[0-9]+":',
    )
]
"""What may differ in a compact text; it may also be part of a string, which costs time alone.

Each begins with a character that is looked for fast: one pattern for all takes four times as long.
"""
_PYTHON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def stringify(value: Any, indent: int = 0) -> str:
    """What ``JSON.stringify(value, null, indent)`` gives for a value that JSON can hold.

    Raises ``ValueError`` for a number that no JSON can hold (beyond the doubles, or none at all).
    """
    if not indent and isinstance(value, list):
        return f"[{','.join(map(_compact, value))}]"
    parts: list[str] = []
    _put(value, parts, " " * indent, "\n" if indent else "")
    return "".join(parts)


def _compact(value: Any) -> str:
    """One of many values, by the quicker way where both ways write the same."""
    if isinstance(value, dict | list):
        try:
            text = _PYTHON.encode(value)
        except ValueError:  # a number that neither way can write: the words are ours
            text = ""
        plain = text.isascii() or _SURROGATE.search(text) is None
        if text and plain and not any(found(text) for found in _OURS):
            return text
    parts: list[str] = []
    _put(value, parts, "", "")
    return "".join(parts)


def number(value: float) -> str:
    """The number in JavaScript's form; ``ValueError`` when it is beyond the doubles."""
    if isinstance(value, int):
        if -_EXACT <= value <= _EXACT:
            return str(value)
        try:
            value = float(value)
        except OverflowError:
            raise ValueError("a number in it is too large") from None
    if not math.isfinite(value):
        raise ValueError("a number in it is too large, or none at all")
    if value == 0:
        return "0"
    text = repr(value)
    # Where both write plain decimals they write the same.
    if "e" not in text and not text.endswith(".0"):
        return text
    return _form(text)


def _form(text: str) -> str:
    """The shortest digits, which both find, in the layout of ECMAScript's Number::toString."""
    sign, found, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, found))
    digits = written.rstrip("0")
    point = len(written) + exponent
    """Digits before the decimal point."""
    if len(digits) <= point <= 21:
        body = digits.ljust(point, "0")
    elif 0 < point <= 21:
        body = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        body = f"0.{'0' * -point}{digits}"
    else:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        body = f"{digits[0]}{fraction}e{point - 1:+d}"
    return f"-{body}" if sign else body


def _text(value: str) -> str:
    quoted = encode_basestring(value)
    if quoted.isascii():
        return quoted
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)


_key = lru_cache(maxsize=1024)(_text)
"""Names of fields are few."""


@lru_cache(maxsize=1024)
def _is_index(key: str) -> bool:
    return _INDEX.match(key) is not None and int(key) <= _LAST_INDEX


def _put(value: Any, parts: list[str], indent: str, line: str) -> None:
    """Add the parts of a value's text; `line` begins a line as deep as the value is."""
    if isinstance(value, str):
        parts.append(_text(value))
    elif value is None or isinstance(value, bool):
        parts.append("null" if value is None else "true" if value else "false")
    elif isinstance(value, int | float):
        parts.append(number(value))
    elif isinstance(value, dict):
        _put_object(value, parts, indent, line)
    else:
        before = "["
        for inner in value:
            parts += (before, line, indent)
            _put(inner, parts, indent, line + indent)
            before = ","
        parts.append(f"{line}]" if before == "," else "[]")


def _put_object(value: dict[str, Any], parts: list[str], indent: str, line: str) -> None:
    if any(map(_is_index, value)):  # JavaScript's objects have these first
        value = {**{key: value[key] for key in sorted(filter(_is_index, value), key=int)}, **value}
    before, colon = "{", ": " if line else ":"
    for key, inner in value.items():
        parts += (before, line, indent, _key(key), colon)
        _put(inner, parts, indent, line + indent)
        before = ","
    parts.append(f"{line}}}" if before == "," else "{}")
