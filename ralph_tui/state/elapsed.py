"""How long a run has worked: monotonic within a process, by its events across a resume."""

from datetime import datetime

JUMP_S = 300.0
"""A longer silence before a process died may be a clock that was set, or a sleeping machine."""


class Elapsed:
    """The part of the header's fold that counts seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.started_at: datetime | None = None
        self.ended_at: datetime | None = None
        self.away_s = 0.0
        """Seconds since the start in which the run did not work: between an end and a resume, and
        what its wall clock jumped; negative where that was set back further."""
        self._seen_at: datetime | None = None
        self._jumps_s = 0.0  # since the working time was last recorded

    def worked_s(self, now: datetime) -> float:
        """Seconds the run has taken so far, without those between an end and a resume."""
        if self.started_at is None:
            return 0.0
        whole = ((self.ended_at or now) - self.started_at).total_seconds()
        return max(0.0, whole - self.away_s)

    def see(self, at: datetime) -> None:
        """An event was recorded at this time."""
        gap = 0.0 if self._seen_at is None else (at - self._seen_at).total_seconds()
        self._jumps_s += gap if gap < 0 or gap > JUMP_S else 0.0
        self._seen_at = at

    def anchor(self, at: datetime, worked_s: float) -> None:
        """At this time the run had worked so long, by a clock that nobody sets."""
        if self.started_at is not None:
            self.away_s = (at - self.started_at).total_seconds() - worked_s
            self._jumps_s = 0.0

    def come_back(self, at: datetime, away_s: float) -> float:
        """Resume the run after so many seconds; return those that count as away.

        After a recorded end that is all the time since: a restore may come in between.
        """
        ended, self.ended_at = self.ended_at, None
        away = (at - ended).total_seconds() if ended else away_s + self._jumps_s
        self.away_s += away
        self._seen_at, self._jumps_s = at, 0.0
        return away
