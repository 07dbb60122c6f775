"""The system clock."""

from datetime import UTC, datetime, timedelta
from time import monotonic


class SystemClock:
    """The system clock; if it was set back, time continues from the last known moment."""

    def __init__(self, not_before: datetime | None = None) -> None:
        """`not_before` is the last moment in the journal; None if there is none."""
        behind = (not_before - datetime.now(UTC)) if not_before is not None else timedelta()
        self.behind = max(timedelta(), behind)

    def now(self) -> datetime:
        """Return the wall time in UTC."""
        return datetime.now(UTC) + self.behind

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return monotonic()
