"""The real time."""

from datetime import UTC, datetime, timedelta
from time import monotonic


class SystemClock:
    """The real time; where the wall clock was set back, it goes on from the last moment known."""

    def __init__(self, not_before: datetime | None = None) -> None:
        """`not_before`: the last moment that the journal knows."""
        behind = (not_before - datetime.now(UTC)) if not_before is not None else timedelta()
        self.behind = max(timedelta(), behind)

    def now(self) -> datetime:
        """Wall time, UTC."""
        return datetime.now(UTC) + self.behind

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return monotonic()
