"""Measure the time of control law and overseer per iteration, for short and long histories."""

import math
import time
from collections.abc import Iterator
from statistics import median

from bench.result import Result, Scale, ms
from ralph_tui.layers.control.evaluation import Evaluation, evaluate
from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.oversight import Oversight, assess
from ralph_tui.layers.settings import ControlSettings

SHORT, LONG = 10, 10_000
"""Measurements before those that are timed."""
SETTINGS = ControlSettings()


def law(scale: Scale) -> Iterator[Result]:
    """Yield the times for one measurement: the control law, then the overseer's check."""
    rounds = scale.of(2000, 500)
    short_law, short_look = _seconds(SHORT, rounds)
    long_law, long_look = _seconds(LONG, rounds)
    yield Result(
        "control and alarms, one iteration",
        f"{ms(short_law)} after {SHORT} readings, {ms(long_law)} after {LONG:,}",
        "<= .05 ms",
        max(short_law, long_law) <= 0.00005,
        {"short_seconds": short_law, "long_seconds": long_law},
    )
    ratio = max(long_look / short_look, long_law / short_law)
    yield Result(
        "overseer's check, one iteration",
        f"{ms(short_look)} after {SHORT} readings, {ms(long_look)} after {LONG:,}: at most "
        f"{ratio:.2f}x",
        "independent of history length (<= 1.5x)",
        ratio <= 1.5,
        {"short_seconds": short_look, "long_seconds": long_look, "ratio": ratio},
    )


def _seconds(readings: int, rounds: int) -> tuple[float, float]:
    """Return the median seconds of law and check over `rounds` iterations."""
    budget = Budget(readings + rounds, 200)
    history, oversight = History(0.0), Oversight()
    evaluation: Evaluation | None = None
    laws, looks = [], []
    for k in range(1, readings + rounds + 1):
        sample = Sample(k, _progress(k))
        began = time.perf_counter()
        history.add(sample)
        evaluation = evaluate(history, budget, SETTINGS, previous=evaluation)
        middle = time.perf_counter()
        oversight = assess(oversight, history, evaluation, budget, SETTINGS).state
        ended = time.perf_counter()
        if k > readings:
            laws.append(middle - began)
            looks.append(ended - middle)
    return median(laws), median(looks)


def _progress(k: int) -> float:
    """Return a completion in percent that rises, stalls, swings and falls forever."""
    return 45 + 30 * math.sin(k / 40) + 12 * math.sin(k * 1.3) * (k // 30 % 2)
