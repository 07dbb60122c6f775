"""Measure how well the overseer separates healthy from sick runs, simulated and recorded.

Redirects are approved and pauses continued. Half of the seeds are held out: no choice was ever
based on them. The delay of a pathology counts from the first measurement that completes the
evidence the rules require. That is: `n` steps without a rise, the third change of direction, the
second fall, or the second measurement after a collapse.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from statistics import mean

from bench.families import APART, HEALTHY, SICK, Family, Simulated
from bench.histories import recorded
from bench.result import Result, Scale
from ralph_tui.layers.control.history import Sample
from ralph_tui.layers.governor import Governor

BUDGETS = (5, 10, 20, 50, 200)
SMALL = 20
"""Largest budget with a target for healthy runs."""
PROGRESS = ("stuck", "oscillating", "regressing")


@dataclass
class AlarmUpdate:
    """Observations of one run: iteration numbers, None for never."""

    redirect: int | None = None
    pause: int | None = None
    """The first PAUSE other than the budget question."""
    budget: int | None = None
    """The budget question."""
    seen: int | None = None
    """The first progress detection after the onset."""
    redirects: int = 0
    questions: int = 0
    """REDIRECTs and PAUSEs, without the budget question."""
    iterations: int = 0


@dataclass
class Cell:
    """All runs of a family and a budget, from one half of the seeds."""

    runs: list[AlarmUpdate] = field(default_factory=list)
    delays: list[int | None] = field(default_factory=list)
    """Delays of pathologies that had time to show; None if never detected."""

    def share(self, name: str) -> float:
        """Return the percentage of runs in which it happened."""
        return 100 * mean(getattr(run, name) is not None for run in self.runs)

    @property
    def redirects(self) -> float:
        """REDIRECTs per 1000 iterations."""
        return (
            1000
            * sum(run.redirects for run in self.runs)
            / sum(run.iterations for run in self.runs)
        )


Table = dict[tuple[str, int, bool], Cell]
"""By family, by budget, and by whether the seeds were held out."""


def quality(scale: Scale) -> Iterator[Result]:
    """Yield both targets on the held-out half, with the complete table as appendix."""
    ours, literal = (_table(scale, rules) for rules in ("default", "seed"))
    small = tuple(budget for budget in BUDGETS if budget <= SMALL)
    paused, asked, count = _healthy(ours, small)
    literally, _, _ = _healthy(literal, small)
    yield Result(
        f"healthy runs paused, budgets up to {SMALL}, held-out seeds",
        f"{paused:.2f} % of {count} (the seed's literal rules: {literally:.1f} %; asked about the "
        f"budget alone: {asked:.1f} %)",
        "< 1 %",
        paused < 1,
        {"percent": paused, "literal_percent": literally, "budget_percent": asked},
    )
    delays = [delay for (_, _, held), cell in ours.items() if held for delay in cell.delays]
    late = sum(delay is None or delay > 1 for delay in delays)
    yield Result(
        "pathologies seen, iterations after the earliest possible, held-out seeds",
        f"{late} of {len(delays)} later than one; on average "
        f"{mean(delay for delay in delays if delay is not None):+.2f}",
        "<= 1 in every run",
        late == 0,
        {"late": late, "runs": len(delays)},
        appendix=(
            *_lines({"default rules": ours, "the seed's literal rules": literal}),
            *_flat_runs(),
            *_recorded_runs(),
        ),
    )


def _table(scale: Scale, rules: str) -> Table:
    table: Table = {}
    for name, family in {**HEALTHY, **APART, **SICK}.items():
        for budget in BUDGETS:
            seeds = scale.of(400 if budget <= 50 else 200, 40)
            for seed in range(seeds):
                held = seed >= seeds // 2
                cell = table.setdefault((name, budget, held), Cell())
                _add(cell, family, budget, Random(f"{name} {budget} {seed}"), rules)
    return table


def _add(cell: Cell, family: Family, budget: int, dice: Random, rules: str) -> None:
    run = family(dice, budget)
    watched = (_watch if rules == "default" else _watch_literally)(run, budget)
    cell.runs.append(watched)
    if run.earliest is not None and run.earliest <= budget:
        cell.delays.append(None if watched.seen is None else watched.seen - run.earliest)


def _watch(run: Simulated, most: int) -> AlarmUpdate:
    governor, seen = Governor(run.baseline), AlarmUpdate()
    for k, reading in enumerate(run.readings[:most], 1):
        sample = Sample(k, reading, grew=k in run.grew)
        verdict = governor.take(sample, run.budget(most, k)).finding
        assert verdict
        seen.iterations = k
        if verdict.opened:
            governor.answered(approved=True)
            seen.redirect = seen.redirect or k
            seen.redirects += 1
        pauses = [one.about for one in verdict.situations if one.level == "PAUSE"]
        if verdict.level == "PAUSE":
            if pauses == ["budget"]:
                seen.budget = seen.budget or k
            else:
                seen.pause = seen.pause or k
        seen.questions += bool(verdict.opened) or (pauses != ["budget"] and bool(pauses))
        if k > run.onset and any(found.name in PROGRESS for found in verdict.detections):
            seen.seen = seen.seen or k
    return seen


def _watch_literally(run: Simulated, most: int) -> AlarmUpdate:
    """Watch a run by the seed's literal rules, in which a detection redirects.

    The seed has no table of levels. "pause on critical" is read as oscillating or regressing, and
    "stuck for 5 iterations" as stuck.
    """
    seen, path = AlarmUpdate(), [run.baseline]
    for k, reading in enumerate(run.readings, 1):
        path.append(reading)
        if reading >= 100:
            break
        steps = [later - earlier for earlier, later in pairwise(path)]
        signs = [(step > 0) - (step < 0) for step in steps]
        stuck = [abs(step) < 5 for step in steps]
        oscillating = sum(one != other for one, other in pairwise(signs)) >= 3
        regressing = k >= 2 and signs[-2:] == [-1, -1]
        seen.iterations = k
        if (k >= 3 and all(stuck[-3:])) or oscillating or regressing:
            seen.redirect = seen.redirect or k
            seen.redirects += 1
            if k > run.onset:
                seen.seen = seen.seen or k
        if k < most and ((k >= 5 and all(stuck[-5:])) or oscillating or regressing):
            seen.pause = seen.pause or k
    return seen


def _healthy(table: Table, budgets: tuple[int, ...]) -> tuple[float, float, int]:
    """Return the percentages of held-out healthy runs paused and asked, and the number of runs."""
    runs = [
        run
        for (name, budget, held), cell in table.items()
        if held and name in HEALTHY and budget in budgets
        for run in cell.runs
    ]
    paused, asked = (
        100 * mean(getattr(run, name) is not None for run in runs) for name in ("pause", "budget")
    )
    return paused, asked, len(runs)


def _lines(tables: Mapping[str, Table]) -> Iterator[str]:
    """Yield Markdown per family and budget: the tuning half / the held-out half of the seeds."""
    for rules, table in tables.items():
        yield ""
        yield f"**Detection with {rules}** (percent of runs; seeds for tuning / held out)"
        yield ""
        yield (
            "| family | budget | REDIRECT | per 1000 iterations | PAUSE | budget question "
            "| never seen | delay mean | delay max |"
        )
        yield "|---|---|---|---|---|---|---|---|---|"
        for name, budget, held in table:
            if not held:
                halves = [table[name, budget, half] for half in (False, True)]
                yield f"| {name} | {budget} | " + " | ".join(_cells(halves)) + " |"
        for budget in BUDGETS:
            paused, asked, count = _healthy(table, (budget,))
            cells = [
                cell
                for (name, most, held), cell in table.items()
                if held and name in HEALTHY and most == budget
            ]
            redirects = mean(cell.redirects for cell in cells)
            yield (
                f"| all healthy, held out | {budget} | | {redirects:.1f} | {paused:.2f} "
                f"| {asked:.1f} | {count} runs | | |"
            )


def _flat_runs() -> Iterator[str]:
    """Yield how often a run without any movement is interrupted."""
    yield ""
    yield "**Questions in a flat run** (REDIRECT and PAUSEs, the one about the budget left out)"
    yield ""
    for budget in BUDGETS:
        watched = _watch(Simulated(0.0, [30.0] * budget), budget)
        yield f"- budget {budget}: {watched.questions}"


def _recorded_runs() -> Iterator[str]:
    """Yield the results of the same rules on histories of real projects and loops."""
    histories = list(recorded())
    yield ""
    yield "**Recorded histories** (readings up to the budget; `own`: 1.25 times the length)"
    yield ""
    yield (
        "| label | budget | runs | REDIRECT % | per 1000 iterations | PAUSE % | budget question % |"
    )
    yield "|---|---|---|---|---|---|---|"
    for label in dict.fromkeys(history.label for history in histories):
        runs = [history.run for history in histories if history.label == label]
        for most in (*BUDGETS, None):
            cell = Cell([_watch(run, most or -(-5 * len(run.readings) // 4)) for run in runs])
            shares = [f"{cell.share(name):.1f}" for name in ("redirect", "pause", "budget")]
            yield (
                f"| {label} | {most or 'own'} | {len(runs)} | {shares[0]} | {cell.redirects:.1f} "
                f"| {shares[1]} | {shares[2]} |"
            )


def _cells(halves: list[Cell]) -> Iterator[str]:
    yield " / ".join(f"{half.share('redirect'):.3g}" for half in halves)
    yield " / ".join(f"{half.redirects:.3g}" for half in halves)
    for name in ("pause", "budget"):
        yield " / ".join(f"{half.share(name):.3g}" for half in halves)
    if not any(half.delays for half in halves):
        yield from ("", "", "")
        return
    yield " / ".join(str(sum(delay is None for delay in half.delays)) for half in halves)
    known = [[delay for delay in half.delays if delay is not None] for half in halves]
    yield " / ".join(f"{mean(half):+.2f}" if half else "-" for half in known)
    yield " / ".join(f"{max(half):+d}" if half else "-" for half in known)
