"""JSON as JavaScript's ``JSON.stringify`` writes it, so that two programs agree on a checksum.

There are three differences from pydantic's writer. Numbers look different (``1``, not ``1.0``),
lone surrogates are escaped, and keys that are array indices come first. Numbers of any size have
the precision of a double. Few learnings contain any of these, so pydantic's writer, which is much
faster, writes the rest.
"""

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any

from pydantic_core import to_json

_EXACT = 1 << 53
"""Integers below this are exact as doubles."""
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
        "NaN",
        "Infinity",
    )
]
"""Patterns for text that may differ between the writers. A match inside a string only costs time.

Each begins with a character that is fast to find; a single pattern takes four times as long.
"""
_AT_ONCE = 20
"""Number of values per call of the fast writer: calls are slow, but any value may need our own."""


def stringify(value: Any, indent: int = 0) -> str:
    """Return what ``JSON.stringify(value, null, indent)`` writes for a JSON value.

    Raises ``ValueError`` for a number that JSON cannot represent: outside the range of doubles, or
    not a number.
    """
    if not indent and isinstance(value, list):
        return f"[{','.join(_compact_lists(value))}]"
    parts: list[str] = []
    _put(value, parts, " " * indent, "\n" if indent else "")
    return "".join(parts)


def _compact_lists(values: list[Any]) -> Iterator[str]:
    """Write many values, several at once if the fast writer produces the same text for them."""
    for start in range(0, len(values), _AT_ONCE):
        several = values[start : start + _AT_ONCE]
        text = _quickly(several)
        yield text[1:-1] if text else ",".join(map(_compact, several))


def _compact(value: Any) -> str:
    """Write one value, with the fast writer if that produces the same text."""
    if text := _quickly([value]):
        return text[1:-1]
    parts: list[str] = []
    _put(value, parts, "", "")
    return "".join(parts)


def _quickly(values: list[Any]) -> str:
    """Return the text of the fast writer; empty if it may differ from JavaScript's."""
    try:
        text = to_json(values, inf_nan_mode="constants").decode()
    except ValueError:  # a lone surrogate
        return ""
    return "" if any(found(text) for found in _OURS) else text


def number(value: float) -> str:
    """Return the number in JavaScript's form; raise ``ValueError`` outside the range of doubles."""
    if isinstance(value, int):
        if -_EXACT <= value <= _EXACT:
            return str(value)
        try:
            value = float(value)
        except OverflowError:
            raise ValueError("a number in it is too large") from None
    if not math.isfinite(value):
        raise ValueError("it contains a number that is too large or not valid")
    if value == 0:
        return "0"
    text = repr(value)
    # both write plain decimals the same way
    if "e" not in text and not text.endswith(".0"):
        return text
    return _form(text)


def _form(text: str) -> str:
    """Return the shortest digits, which both languages find, in ECMAScript's layout."""
    sign, found, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, found))
    digits = written.rstrip("0")
    point = len(written) + exponent
    """Number of digits before the decimal point."""
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
"""Cached, because there are few field names."""


@lru_cache(maxsize=1024)
def _is_index(key: str) -> bool:
    return _INDEX.match(key) is not None and int(key) <= _LAST_INDEX


def _put(value: Any, parts: list[str], indent: str, line: str) -> None:
    """Add the parts of a value's text; `line` starts a new line at the value's depth."""
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
    if any(map(_is_index, value)):  # JavaScript puts these first in objects
        value = {**{key: value[key] for key in sorted(filter(_is_index, value), key=int)}, **value}
    before, colon = "{", ": " if line else ":"
    for key, inner in value.items():
        parts += (before, line, indent, _key(key), colon)
        _put(inner, parts, indent, line + indent)
        before = ","
    parts.append(f"{line}}}" if before == "," else "{}")
