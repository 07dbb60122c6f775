"""A measured row, and the few statistics the rows are made of."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    quick: bool = False

    def of(self, full: int, quick: int) -> int:
        """One of two sizes."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Result:
    """One row of the table."""

    what: str
    measured: str
    budget: str
    ok: bool | None
    """None: there is no budget for it, it explains another row."""
    numbers: dict[str, float] = field(default_factory=dict)
    """The raw figures: seconds, bytes or counts, as their names say."""
    appendix: tuple[str, ...] = ()
    """Lines below the table that explain it."""

    @property
    def verdict(self) -> str:
        """``ok``, ``OVER``, or nothing."""
        return "" if self.ok is None else "ok" if self.ok else "OVER"


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` of the values do not exceed."""
    ordered = sorted(values)
    rank = max(1, -(-len(ordered) * percent // 100))
    return ordered[int(rank) - 1]


def in_turns(rounds: int, *measures: Callable[[], float]) -> list[list[float]]:
    """What each measure returned, taken in turns, each round begun by another of them."""
    taken: list[list[float]] = [[] for _ in measures]
    for round_number in range(rounds):
        for step in range(len(measures)):
            index = (round_number + step) % len(measures)
            taken[index].append(measures[index]())
    return taken


def seconds_of(work: Callable[[], object]) -> float:
    """How long `work` took, by the wall."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def per_call(work: Callable[[], object], calls: int, rounds: int = 5) -> float:
    """Seconds of one call: the median of rounds of `calls` each."""

    def one_round() -> None:
        for _ in range(calls):
            work()

    return median(seconds_of(one_round) for _ in range(rounds)) / calls


def ms(seconds: float) -> str:
    """Milliseconds, with as many digits as they deserve."""
    value = seconds * 1000
    digits = 0 if value >= 10 else 1 if value >= 1 else 3
    return f"{value:.{digits}f} ms"
