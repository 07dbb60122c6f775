"""Access to foreign JSON without trusting its shape: a wrong type counts as absent."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime


def as_map(value: object) -> Mapping[str, object]:
    """Return the value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> Sequence[object]:
    """Return the value if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else ()


def as_text(value: object) -> str:
    """Return the value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int:
    """Return the value if it is a whole number and not negative, else 0."""
    return value if type(value) is int and value >= 0 else 0


def as_number(value: object) -> float | None:
    """Return the value if it is a finite number, else None."""
    if type(value) not in (int, float):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_amount(value: object) -> float | None:
    """Return the value if it is a finite number and not negative, else None."""
    number = as_number(value)
    return None if number is None or number < 0 else number


def as_moment(value: object) -> datetime | None:
    """Convert seconds or milliseconds since 1970 to a UTC time; None if that fails."""
    amount = as_amount(value)
    try:
        # Values that would mean the year 5138 or later in seconds are milliseconds.
        seconds = amount / 1000 if amount and amount > 1e11 else amount
        return datetime.fromtimestamp(seconds, UTC) if seconds else None
    except (ValueError, OverflowError, OSError):
        return None


def content_text(content: object) -> str:
    """Return the text of a message's content: a string, or the text of its blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(
        text for block in as_list(content) if (text := as_text(as_map(block).get("text")))
    )
