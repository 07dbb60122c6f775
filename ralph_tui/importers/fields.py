"""Values of foreign records: a wrong type, an impossible number or time reads as absent.

Standard library only: lists of runs are quick.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime

from ralph_tui.adapters.agents.json_fields import as_list, as_text

Json = Mapping[str, object]

_EARLIEST, _LATEST = 946_684_800.0, 4_102_444_800.0  # 2000 and 2100, seconds
MOST_ITERATIONS = 100_000
"""A number beyond it counts nothing that has happened."""


def as_when(value: object) -> datetime | None:
    """A time, UTC: ISO-8601, or an epoch in milliseconds or seconds."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        try:
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        except OverflowError:
            return None
        return found if 2000 <= found.year < 2100 else None
    seconds = as_number(value)
    if seconds is None:
        return None
    if seconds > _LATEST:
        seconds /= 1000
    return datetime.fromtimestamp(seconds, UTC) if _EARLIEST <= seconds < _LATEST else None


def as_number(value: object) -> float | None:
    """A finite number, else None."""
    if type(value) not in (int, float):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_ordinal(value: object) -> int | None:
    """The number of an iteration or of a limit: a whole one from 0 that can be counted to."""
    number = as_number(value)
    if number is None or number != int(number) or not 0 <= number <= MOST_ITERATIONS:
        return None
    return int(number)


def as_points(value: object) -> float | None:
    """Completion in points, 0-100; 1 is one point."""
    number = as_number(value)
    return None if number is None or not 0 <= number <= 100 else number


def as_seconds(value: object) -> float | None:
    """Milliseconds as seconds; None for none, or for more than a year."""
    number = as_number(value)
    return None if number is None or not 0 <= number < 3.2e10 else number / 1000


def as_minutes(value: object) -> float:
    """Minutes as seconds; 0 for none, or for more than a year."""
    number = as_number(value)
    return 60 * number if number is not None and 0 < number < 530_000 else 0.0


def as_texts(value: object) -> list[str]:
    """Texts of a list, or the one text that stands in its place; empty ones are left out."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [text for item in as_list(value) if (text := as_text(item)).strip()]
