"""What a soak has counted, and how it is told."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Figures:
    """Of all runs together."""

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By moment and what was killed."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Of the runs."""
    events_before: int = 0
    """That were readable at the kills, all told."""
    events_lost: int = 0
    torn: int = 0
    resumes: int = 0
    asked_again: int = 0
    snapshots: int = 0
    """Recorded, each found whole after each kill that followed."""
    restores: int = 0
    """Of the last snapshot, compared byte for byte."""
    files_lost: int = 0
    orphan_seconds: float = 0.0
    """The longest that a process of a killed run lived on."""
    problems: list[str] = field(default_factory=list)

    @property
    def killed(self) -> int:
        """All kills."""
        return self.kills.total()

    def table(self, seconds: float) -> Iterator[str]:
        """Lines for a note."""
        targets = ("ralph-tui", "its keeper", "both")
        yield f"{'killed while':<20}" + "".join(f"{target:>12}" for target in (*targets, "all"))
        for moment in sorted({moment for moment, _ in self.kills}):
            numbers = [self.kills[moment, target] for target in targets]
            yield f"{moment:<20}" + "".join(f"{n:>12}" for n in (*numbers, sum(numbers)))
        sums = [sum(n for (_, t), n in self.kills.items() if t == target) for target in targets]
        yield f"{'all':<20}" + "".join(f"{n:>12}" for n in (*sums, sum(sums)))
        yield ""
        outcomes = ", ".join(f"{number} {name}" for name, number in self.outcomes.most_common())
        rows = {
            "runs": f"{self.outcomes.total()} ({outcomes}), resumed {self.resumes} times",
            "events": f"{self.events_before:,} readable at the kills, {self.events_lost} lost",
            "torn last lines": f"{self.torn}",
            "questions": f"{self.asked_again} open ones asked again",
            "snapshots": f"{self.snapshots}, each whole after each later kill",
            "restores": f"{self.restores} compared byte for byte, {self.files_lost} files lost",
            "processes": f"the last one was gone after {self.orphan_seconds:.1f} s",
            "problems": f"{len(self.problems)}",
            "time": f"{seconds:.0f} s",
        }
        yield from (f"{name:<20}{text}" for name, text in rows.items())
        yield from (f"  {problem}" for problem in self.problems)
