"""Durations as people write them."""

import re
from typing import Annotated

from pydantic import BeforeValidator

DAY = 86_400.0
"""A day in seconds."""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhd])")


def seconds(value: object) -> object:
    """Convert ``"90"``, ``"90s"``, ``"30m"`` or ``"1.5h"`` to seconds; return non-text unchanged.

    Raises ``ValueError`` for any other text.
    """
    if not isinstance(value, str):
        return value
    if match := _DURATION.fullmatch(value.strip()):
        return float(match[1]) * _UNITS[match[2]]
    try:
        return float(value)
    except ValueError:
        raise ValueError("must be seconds or a duration such as 90s, 30m or 8h") from None


def format_seconds(number: float) -> str:
    """Return text that `seconds` can parse, in the largest unit with a whole number: ``8h``."""
    for unit, size in reversed(_UNITS.items()):
        if number >= size and number % size == 0:
            return f"{number / size:.0f}{unit}"
    return f"{number:.12g}s"


Seconds = Annotated[float, BeforeValidator(seconds)]
"""A setting in seconds that also accepts text such as ``30m``."""
