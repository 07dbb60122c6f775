"""A row of measurements, and the statistics it needs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True)
class Scale:
    """The size of the measurements."""

    quick: bool = False

    def of(self, full: int, quick: int) -> int:
        return quick if self.quick else full


@dataclass(frozen=True)
class Result:
    """One row of the table."""

    what: str
    measured: str
    budget: str
    ok: bool | None
    """None if it has no budget because it explains another row."""
    numbers: dict[str, float] = field(default_factory=dict)
    """Raw figures in seconds, bytes or counts, as their names say."""
    appendix: tuple[str, ...] = ()
    """Lines below the table that explain it."""

    @property
    def verdict(self) -> str:
        """``ok``, ``OVER``, or empty."""
        return "" if self.ok is None else "ok" if self.ok else "OVER"


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least `percent` of the values do not exceed."""
    ordered = sorted(values)
    rank = max(1, -(-len(ordered) * percent // 100))
    return ordered[int(rank) - 1]


def in_turns(rounds: int, *measures: Callable[[], float]) -> list[list[float]]:
    """Run the measures alternately, each round beginning with another; return their results."""
    taken: list[list[float]] = [[] for _ in measures]
    for round_number in range(rounds):
        for step in range(len(measures)):
            index = (round_number + step) % len(measures)
            taken[index].append(measures[index]())
    return taken


def seconds_of(work: Callable[[], object]) -> float:
    """Return the elapsed seconds of `work`."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def per_call(work: Callable[[], object], calls: int, rounds: int = 5) -> float:
    """Return the seconds of one call: the median of rounds of `calls` each."""

    def one_round() -> None:
        for _ in range(calls):
            work()

    return median(seconds_of(one_round) for _ in range(rounds)) / calls


def ms(seconds: float) -> str:
    """Format as milliseconds, with fewer digits for larger values."""
    value = seconds * 1000
    digits = 0 if value >= 10 else 1 if value >= 1 else 3
    return f"{value:.{digits}f} ms"
