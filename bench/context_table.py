"""Sum up the context benchmark's runs per variant, as rows of the table."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.context_service import Taken
from bench.context_task import Verdict
from bench.result import Result

RESTS_ON = (
    "The model is scripted: it takes over what a handoff plainly says, and knows nothing else.",
    "This shows whether what was in progress reaches the next session, and whether edits survive;",
    "how well a real model understands a handoff, it does not show. Blanked: the same, but no",
    "session sees that another handed over to it. Rollover off: the session dies of its full",
    "window, and the next iteration begins with what the files tell.",
)


@dataclass(frozen=True)
class Ran:
    """One run."""

    seed: int
    completed: bool
    iterations: int
    rollovers: Mapping[str, int]
    """Number of handoffs by their cause."""
    ends: Mapping[str, int]
    """Number of sessions by their outcome."""
    windows: int
    calls: int
    resumes: Sequence[Taken]
    verdict: Verdict

    @property
    def success(self) -> bool:
        """True if the run completed and every step of each item is there once, in one way."""
        return self.completed and self.verdict.whole == self.verdict.items


@dataclass(frozen=True)
class Sums:
    """The totals of a variant's runs."""

    runs: int
    success: int
    resumes: int
    continued: int
    begun: int
    """Resumes within an item."""
    continued_begun: int
    edits: int
    lost: int
    repeated: int
    items: int
    whole: int
    windows: int
    calls: int
    iterations: int
    rollovers: Mapping[str, int]
    """By their cause."""

    @classmethod
    def of(cls, runs: Sequence[Ran]) -> "Sums":
        """Add up the runs of a variant."""
        resumes = [taken for one in runs for taken in one.resumes]
        begun = [taken for taken in resumes if taken.mid_item]
        causes: Counter[str] = Counter()
        for one in runs:
            causes.update(one.rollovers)
        return cls(
            runs=len(runs),
            success=sum(one.success for one in runs),
            resumes=len(resumes),
            continued=sum(taken.continued for taken in resumes),
            begun=len(begun),
            continued_begun=sum(taken.continued for taken in begun),
            edits=sum(one.verdict.edits for one in runs),
            lost=sum(one.verdict.lost for one in runs),
            repeated=sum(one.verdict.repeated for one in runs),
            items=sum(one.verdict.items for one in runs),
            whole=sum(one.verdict.whole for one in runs),
            windows=sum(one.windows for one in runs),
            calls=sum(one.calls for one in runs),
            iterations=sum(one.iterations for one in runs),
            rollovers=causes,
        )


@dataclass(frozen=True)
class Row:
    """One row: a figure for each variant."""

    what: Callable[[Sums], str]
    value: Callable[[Sums], float]
    budget: str
    met: Callable[[float, float, float], bool] | None
    """Judges the figures with handoffs, with blank ones and without; None for no target."""
    unit: str = " %"


ROWS = (
    Row(
        lambda on: f"sessions that take over and go on with the right step ({on.resumes})",
        lambda one: share(one.continued, one.resumes),
        "> 95 %",
        lambda on, blanked, off: on > 95,
    ),
    Row(
        lambda on: f"...of those that take over within an item ({on.begun})",
        lambda one: share(one.continued_begun, one.begun),
        "> 95 %, blanked less than half",
        lambda on, blanked, off: on > 95 and blanked < on / 2,
    ),
    Row(
        lambda on: f"edits lost, of {on.edits}",
        lambda one: share(one.lost, one.edits),
        "0 %",
        lambda on, blanked, off: on == 0,
    ),
    Row(
        lambda on: f"edits lost or made twice, of {on.edits}",
        lambda one: share(one.lost + one.repeated, one.edits),
        "< 5 %, blanked more",
        lambda on, blanked, off: on < 5 and on < blanked,
    ),
    Row(
        lambda on: f"items whole at the end, of {on.items}",
        lambda one: share(one.whole, one.items),
        "100 %",
        lambda on, blanked, off: on == 100,
    ),
    Row(
        lambda on: f"runs that complete with every item whole, of {on.runs}",
        lambda one: share(one.success, one.runs),
        "> 90 %",
        lambda on, blanked, off: on > 90,
    ),
    Row(
        lambda on: "whole items per window",
        lambda one: one.whole / max(1, one.windows),
        "30 % more than with rollover off",
        lambda on, blanked, off: on >= 1.3 * off,
        "",
    ),
    Row(lambda on: "calls per window", lambda one: one.calls / max(1, one.windows), "", None, ""),
    Row(lambda on: "calls per whole item", lambda one: one.calls / max(1, one.whole), "", None, ""),
    Row(lambda on: "windows per run", lambda one: one.windows / one.runs, "", None, ""),
    Row(lambda on: "iterations per run", lambda one: one.iterations / one.runs, "", None, ""),
    Row(
        lambda on: f"rollovers per run ({_causes(on)})",
        lambda one: sum(one.rollovers.values()) / one.runs,
        "",
        None,
        "",
    ),
)


def rows(sums: Mapping[str, Sums], who: str) -> Iterator[Result]:
    """Yield the table; `sums` has handoffs, blank ones and no handoffs, in this order."""
    on = next(iter(sums.values()))
    for row in ROWS:
        values = {name: row.value(one) for name, one in sums.items()}
        said = ", ".join(f"{name} {value:.3g}{row.unit}" for name, value in values.items())
        met = row.met(*values.values()) if row.met is not None else None
        note = (f"{on.runs} runs an arm with {who}.", *RESTS_ON) if row is ROWS[-1] else ()
        yield Result(f"context: {row.what(on)}", said, row.budget, met, values, note)


def share(part: int, whole: int) -> float:
    """Return a percentage; 100 if `whole` is 0."""
    return 100 * part / whole if whole else 100.0


def _causes(one: Sums) -> str:
    return ", ".join(f"{cause} {number}" for cause, number in sorted(one.rollovers.items()))
