"""Simulated runs with known truth: healthy ones, and pathologies with a known onset."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import Budget, Patience
from ralph_tui.layers.settings import ControlSettings

TOP = 99.9
"""Highest completion of an unfinished run."""


@dataclass(frozen=True)
class Simulated:
    """One run: its measurements in percent, up to its budget or its end."""

    baseline: float
    readings: list[float]
    tests: int | None = None
    onset: int = 0
    """The last healthy iteration of a pathology."""
    earliest: int | None = None
    """Iteration that completes the evidence the rules require; None for a healthy run."""
    grew: frozenset[int] = frozenset()
    """Iterations at which the total grew."""
    totals: tuple[int, ...] = ()
    """Tests or items at each measurement, if their number changes."""

    def budget(self, most: int, iteration: int) -> Budget:
        """Return the limits at an iteration."""
        return Budget(most, self.totals[iteration - 1] if self.totals else self.tests)


Family = Callable[[Random, int], Simulated]


def steady(dice: Random, budget: int) -> Simulated:
    """A run that ends after 60-95 % of the budget, with steps of 0.5 to 1.5 times the mean."""
    return _climb(dice, budget, lambda step: step * dice.uniform(0.5, 1.5))


def noisy(dice: Random, budget: int) -> Simulated:
    """A run with steps from zero to twice the mean, and measurement errors of a few percent."""
    run = _climb(dice, budget, lambda step: step * dice.uniform(0, 2))
    return _seen(run, lambda value: value + dice.gauss(0, 2))


def zigzag(dice: Random, budget: int) -> Simulated:
    """A run that goes two steps forward, one back."""
    turn = [dice.random() < 0.5]

    def step(mean: float) -> float:
        turn[0] = not turn[0]
        swing = dice.uniform(1.2, 2.0) * mean
        return mean + swing if turn[0] else mean - swing

    return _climb(dice, budget, step)


def twelve_tests(dice: Random, budget: int) -> Simulated:
    """A steady run that only twelve tests measure."""
    run = _climb(dice, budget, lambda step: step * dice.uniform(0.5, 1.5))
    return _counted(run, 12)


def flaky_tests(dice: Random, budget: int) -> Simulated:
    """A steady run with one or two flaky tests."""
    tests, flaky = dice.randint(20, 60), dice.randint(1, 2)
    run = _counted(_climb(dice, budget, lambda step: step * dice.uniform(0.5, 1.5)), tests)
    worth = 100 / tests

    def seen(value: float) -> float:
        failing = sum(dice.random() < 0.25 for _ in range(flaky))
        return max(0.0, value - failing * worth)

    return _seen(run, seen, over=True)


def long_tail(dice: Random, budget: int) -> Simulated:
    """A run that does a share of the remaining work in each step: fast at first, then slow."""
    share = 1 - 0.01 ** (1 / (dice.uniform(0.6, 0.95) * budget))
    value, readings = 0.0, []
    for _ in range(budget):
        value += (100 - value) * share * dice.uniform(0.6, 1.4)
        readings.append(value if value < 99 else 100.0)
        if value >= 99:
            break
    return Simulated(0.0, readings)


def slow(dice: Random, budget: int) -> Simulated:
    """A steady run that ends at the limit at the earliest, or up to 40 % beyond it."""
    return _climb(dice, budget, lambda step: step * dice.uniform(0.5, 1.5), (1.0, 1.4))


def one_jump(dice: Random, budget: int) -> Simulated:
    """A run that shows nothing for 30-90 % of the budget, then everything at once."""
    level = dice.choice([0.0, 20.0, 50.0])
    jump = max(2, round(dice.uniform(0.3, 0.9) * budget))
    return Simulated(level, [*[level] * (jump - 1), 100.0])


def heavy_tail(dice: Random, budget: int) -> Simulated:
    """A run of tiny steps and a few large ones, drawn from a Pareto distribution."""
    return _climb(dice, budget, lambda step: step * min(20.0, dice.paretovariate(1.5)) / 2.5)


def lulls(dice: Random, budget: int) -> Simulated:
    """A steady run with pauses, whose lengths follow a Pareto distribution."""
    standing = [0]

    def step(mean: float) -> float:
        if standing[0]:
            standing[0] -= 1
            return 0.0
        if dice.random() < 0.15:
            standing[0] = min(budget // 8, int(dice.paretovariate(1.2)))
        return mean * dice.uniform(1, 2)

    return _climb(dice, budget, step)


def batches(dice: Random, budget: int) -> Simulated:
    """A run that ticks a few items of its plan at a time, every few iterations."""
    gap = dice.randint(2, max(2, min(4, budget // 8)))
    count = [dice.randrange(gap)]

    def step(mean: float) -> float:
        count[0] += 1
        return mean * gap * dice.uniform(0.7, 1.3) if count[0] % gap == 0 else 0.0

    return _counted(_climb(dice, budget, step), dice.randint(15, 60))


def glitches(dice: Random, budget: int) -> Simulated:
    """A steady run with an occasional measurement that is far too low."""
    run = _climb(dice, budget, lambda step: step * dice.uniform(0.5, 1.5))
    return _seen(run, lambda value: value * (0.2 if dice.random() < 0.05 else 1.0))


def growing(dice: Random, budget: int) -> Simulated:
    """A run whose plan grows by a fifth a few times, so completion falls while work continues."""
    total, done, target = dice.randint(15, 40), 0.0, dice.uniform(0.6, 0.9) * budget
    growths = set(dice.sample(range(2, max(3, budget)), k=min(3, max(1, budget // 5))))
    pace = total * 1.2 ** len(growths) / target
    readings, totals, grew = [], [], set()
    for k in range(1, budget + 1):
        done = min(total, done + pace * dice.uniform(0.5, 1.5))
        if k in growths and done < total:
            total += max(1, total // 5)
            grew.add(k)
        readings.append(100.0 * int(done) / total if int(done) < total else 100.0)
        totals.append(total)
        if int(done) >= total:
            break
    return Simulated(0.0, readings, grew=frozenset(grew), totals=tuple(totals))


def flat(dice: Random, budget: int) -> Simulated:
    """A run that stays at one level, from the start or after a climb to it."""
    level = dice.choice([0.0, 10.0, 30.0, 50.0, 75.0, 90.0, 99.0])
    path = _prefix(dice, budget, level) if dice.random() < 0.5 else [level]
    onset, before = len(path) - 1, History(path[0])
    for k, reading in enumerate(path[1:], 1):
        before.add(Sample(k, reading))
    short = Patience.of(before, Budget(budget), ControlSettings()).short
    # A climb may already contain waits.
    return _pathology(path, [level] * budget, budget, onset + max(1, short - before.since_new))


def oscillating(dice: Random, budget: int) -> Simulated:
    """A run that swings by 8-20 % with a period of 2, 3 or 4 iterations."""
    period = dice.choice([2, 3, 4])
    middle, swing = dice.uniform(30, 60), dice.uniform(8, 20)
    path = _prefix(dice, budget, middle)
    shape = {2: [1, -1], 3: [1, 0, -1], 4: [0, 1, 0, -1]}[period]
    after = [middle + swing * shape[k % period] * dice.uniform(0.9, 1.1) for k in range(budget)]
    # Direction changes at a period's third step at the earliest: the third change.
    third = {2: 4, 3: 5, 4: 7}[period]
    return _pathology(path, after, budget, len(path) - 1 + third)


def regressing(dice: Random, budget: int) -> Simulated:
    """A run that falls 3-12 % in each iteration after its peak."""
    peak = dice.uniform(40, 90)
    path, value, after = _prefix(dice, budget, peak), peak, []
    for _ in range(budget):
        value = max(0.0, value - dice.uniform(3, 12))
        after.append(value)
    enough = min(15.0, max(5.0, budget / 20))
    falls = next((k for k, low in enumerate(after, 1) if k >= 2 and peak - low >= enough), budget)
    return _pathology(path, after, budget, len(path) - 1 + falls)


def collapse(dice: Random, budget: int) -> Simulated:
    """A run that loses 25-60 % at once, and stays there."""
    peak = dice.uniform(60, 95)
    path, low = _prefix(dice, budget, peak), peak - dice.uniform(25, 60)
    after = [low + dice.uniform(-1, 1) for _ in range(budget)]
    return _pathology(path, after, budget, len(path) - 1 + 2)


HEALTHY: dict[str, Family] = {
    "steady": steady,
    "noisy": noisy,
    "zigzag": zigzag,
    "12-test": twelve_tests,
    "flaky-test": flaky_tests,
    "long-tail": long_tail,
    "slow": slow,
    "heavy-tail": heavy_tail,
    "lulls": lulls,
    "batches": batches,
    "glitches": glitches,
    "growing": growing,
}
APART: dict[str, Family] = {"one-jump": one_jump}
SICK: dict[str, Family] = {
    "flat": flat,
    "oscillating": oscillating,
    "regressing": regressing,
    "collapse": collapse,
}


def _climb(
    dice: Random,
    budget: int,
    move: Callable[[float], float],
    share: tuple[float, float] = (0.6, 0.95),
) -> Simulated:
    """Climb from the baseline to 100 within a share of the budget, in steps given by `move`."""
    baseline = dice.choice([0.0, 0.0, dice.uniform(0, 60)])
    step = (100 - baseline) / (dice.uniform(*share) * budget)
    value, readings = baseline, []
    for _ in range(budget):
        value = max(0.0, value + move(step))
        readings.append(min(100.0, value))
        if value >= 100:
            break
    return Simulated(baseline, readings)


def _counted(run: Simulated, tests: int) -> Simulated:
    """Return the run as measured by a number of tests."""

    def count(value: float) -> float:
        return 100 * int(value / 100 * tests + 1e-9) / tests

    return Simulated(count(run.baseline), [count(value) for value in run.readings], tests)


def _seen(run: Simulated, see: Callable[[float], float], *, over: bool = False) -> Simulated:
    """Return the run as measured; `over` allows a finished run to be measured as unfinished."""
    readings = []
    for value in run.readings:
        seen = 100.0 if value >= 100 and not over else see(value)
        readings.append(min(max(seen, 0.0), 100.0 if value >= 100 else TOP))
    return Simulated(run.baseline, readings, run.tests)


def _prefix(dice: Random, budget: int, level: float) -> list[float]:
    """Return a steady climb to a level in 10-30 % of the budget, after the baseline."""
    length = max(1, round(dice.uniform(0.1, 0.3) * budget))
    return [level * k / length for k in range(length + 1)]


def _pathology(path: list[float], after: list[float], budget: int, earliest: int) -> Simulated:
    readings = [min(TOP, max(0.0, value)) for value in [*path[1:], *after]][:budget]
    return Simulated(path[0], readings, None, len(path) - 1, earliest)
