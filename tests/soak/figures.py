"""Counts of a soak, and their report."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.soak.blows import TARGETS, Target


@dataclass
class Figures:
    """Totals of all runs."""

    kills: Counter[tuple[str, Target]] = field(default_factory=Counter)
    """By moment and what was hit: kills, and stops that were continued."""
    outcomes: Counter[str] = field(default_factory=Counter)
    events_before: int = 0
    """Readable events at the kills, summed over all runs."""
    events_lost: int = 0
    torn: int = 0
    resumes: int = 0
    asked_again: int = 0
    snapshots: int = 0
    """Recorded, each found whole after each kill that followed."""
    restores: int = 0
    """Restores of the last snapshot, compared byte for byte."""
    files_lost: int = 0
    orphan_seconds: float = 0.0
    """The longest that a process of a killed run lived on."""
    stops: int = 0
    """SIGSTOP, each with its SIGCONT."""
    gits: int = 0
    """Number of processes killed."""
    reported: Counter[str] = field(default_factory=Counter)
    """Losses from these blows, as the run reports them."""
    problems: list[str] = field(default_factory=list)

    @property
    def killed(self) -> int:
        """All of them."""
        return self.kills.total()

    def table(self, seconds: float) -> Iterator[str]:
        """Lines for a note."""
        yield f"{'hit while':<18}" + "".join(f"{target:>12}" for target in (*TARGETS, "all"))
        for moment in sorted({moment for moment, _ in self.kills}):
            numbers = [self.kills[moment, target] for target in TARGETS]
            yield f"{moment:<18}" + "".join(f"{n:>12}" for n in (*numbers, sum(numbers)))
        sums = [sum(n for (_, t), n in self.kills.items() if t == target) for target in TARGETS]
        yield f"{'all':<18}" + "".join(f"{n:>12}" for n in (*sums, sum(sums)))
        yield ""
        outcomes = ", ".join(f"{number} {name}" for name, number in self.outcomes.most_common())
        costs = ", ".join(f"{name} ({number})" for name, number in self.reported.most_common())
        rows = {
            "runs": f"{self.outcomes.total()} ({outcomes}), resumed {self.resumes} times",
            "events": f"{self.events_before:,} readable at the kills, {self.events_lost} lost",
            "torn last lines": f"{self.torn}",
            "questions": f"{self.asked_again} open ones asked again",
            "snapshots": f"{self.snapshots}, each whole after each later kill",
            "restores": f"{self.restores} compared byte for byte, {self.files_lost} files lost",
            "processes": f"the last one was gone after {self.orphan_seconds:.1f} s",
            "stops": f"{self.stops}, each continued",
            "git": f"{self.gits} killed, which cost, and the run told: {costs or 'nothing'}",
            "problems": f"{len(self.problems)}",
            "time": f"{seconds:.0f} s",
        }
        yield from (f"{name:<20}{text}" for name, text in rows.items())
        yield from (f"  {problem}" for problem in self.problems)
