"""The lab against an independent reading of the rules, field by field, on series of many shapes."""

from collections.abc import Iterator
from dataclasses import replace
from math import isclose
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.analysis.lab import follow, simulate
from ralph_tui.layers.control.history import Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.oversight import Evidence
from ralph_tui.layers.settings import ControlSettings
from tests.examples import HALF
from tests.property import oracle
from tests.rows import each_row

EXACT = ("iteration", "profile", "band", "alarms", "detections", "intervention")

STEPS = (0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 4.99, 5.0, 5.01, 7.0, 10.0, 15.0, 20.0, 30.0)
ROUNDING = (0.0, 0.0, 0.0, 0.0, 4e-10, -4e-10, 1e-4, -1e-4)
"""Either within the tolerance of any comparison, or clearly outside."""


class Case(NamedTuple):
    progress: list[float]
    baseline: float
    max_iterations: int
    tests: int | None
    settings: oracle.Settings
    marks: dict[int, oracle.Mark] = {}


def kept(value: float, top: float = 100.0) -> float:
    return min(top, max(0.0, value))


@st.composite
def walks(draw: st.DrawFn, baseline: float, tests: int | None) -> list[float]:
    """Steps that lie on, just under and just over what the rules compare with."""
    readings = [baseline, *draw(st.lists(st.sampled_from([30.0, 60.0, 88.0, 95.0]), max_size=1))]
    top = draw(st.sampled_from([100.0, 99.9, 99.9, 99.9]))
    grain = 200 / (tests or 100)
    for _ in range(draw(st.integers(1, 40))):
        now, best = readings[-1], max(readings)
        gain = min(5 * (100 - baseline) / 100, (100 - best) / 4)
        size = draw(st.sampled_from([*STEPS, grain]))
        goal = draw(
            st.sampled_from(
                [now + size] * 4
                + [now - size] * 3
                + [best, best + gain, best + 0.6 * gain, best - 15, best - grain, now + gain, 30.0]
            )
        )
        readings.append(kept(goal + draw(st.sampled_from(ROUNDING)), top))
    return readings[1:]


@st.composite
def lines(draw: st.DrawFn, baseline: float) -> list[float]:
    """A steady climb or fall; some just fit a budget."""
    step = draw(st.sampled_from([-7.0, -2.0, 0.3, 1.0, 2.0, 2.5, 100 / 30, 5.0, 8.0, 10.0]))
    length = draw(st.integers(1, 60))
    return [kept(baseline + step * k) for k in range(1, length + 1)]


@st.composite
def zigzags(draw: st.DrawFn) -> list[float]:
    """Up and down about a slope, settling at times."""
    middle, slope = draw(st.integers(0, 100)), draw(st.sampled_from([0.0, 0.5, 1.0, 3.0, -1.0]))
    swing = draw(st.sampled_from([2.0, 4.99, 5.0, 8.0, 15.0, 25.0]))
    turning = draw(st.lists(st.sampled_from([1, 1, 1, 0]), min_size=2, max_size=45))
    return [
        kept(middle + slope * k + swing * turns * (-1) ** k / 2) for k, turns in enumerate(turning)
    ]


@st.composite
def stairs(draw: st.DrawFn) -> list[float]:
    """Plateaus, each at its own height: climbs, collapses, and 100 reached and lost."""
    heights = st.one_of(st.integers(0, 100).map(float), st.sampled_from([0.0, 95.0, 99.9, 100.0]))
    floors = draw(st.lists(st.tuples(heights, st.integers(1, 14)), min_size=1, max_size=6))
    return [height for height, length in floors for _ in range(length)]


MARKS = st.one_of(
    st.just(oracle.Mark(novel=True)),
    st.just(oracle.Mark(grew=True)),
    st.builds(
        oracle.Mark, rolled_back=st.just(True), undone=st.integers(0, 6), novel=st.booleans()
    ),
)
TESTS = st.sampled_from([None, None, 0, 1, 7, 12, 40, 100, 1000])
SETTINGS = st.one_of(
    st.just(oracle.Settings()),
    st.builds(
        oracle.Settings,
        window_size=st.integers(1, 12),
        decay=st.sampled_from([0.0, 0.3, 0.9, 0.99, 1.0]),
        noise_threshold=st.sampled_from([0.0, 0.01, 0.05, 0.2, 1.0]),
        smoothing=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
        integral_term=st.sampled_from(["mean", "accumulated"]),
        patience=st.sampled_from([0.1, 0.5, 0.7, 1.0, 1.1, 1.4, 2.0, 3.0, 5.0]),
        stuck_after=st.sampled_from([None, None, 1, 2, 3, 8, 40]),
        oscillations=st.integers(1, 5),
        falls=st.integers(1, 6),
        budget_warning=st.sampled_from([0.01, 0.5, 0.7, 0.85, 0.9, 1.0]),
        first_profile=st.sampled_from(["exploration", "focused", "aggressive"]),
    ),
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    baseline = draw(
        st.one_of(
            st.just(0.0), st.integers(0, 99).map(float), st.sampled_from([100 / 3, 99.9, 100.0])
        )
    )
    tests = draw(TESTS)
    progress = draw(
        st.one_of(
            walks(baseline, tests),
            lines(baseline),
            zigzags(),
            stairs(),
            st.lists(st.integers(0, 100).map(float), min_size=1, max_size=30),
        )
    )
    length = len(progress)
    budget = draw(
        st.one_of(
            st.integers(1, 200),
            st.integers(max(1, length - 3), length + 20),
            st.sampled_from([10, 20, 30, 40, 50, 100]),
        )
    )
    marks = st.dictionaries(st.integers(1, length), MARKS, max_size=length)
    return Case(
        progress, baseline, budget, tests, draw(SETTINGS), draw(st.one_of(st.just({}), marks))
    )


def samples(case: Case) -> Iterator[Sample]:
    for k, completion in enumerate(case.progress, start=1):
        yield Sample(k, completion, **case.marks.get(k, oracle.Mark())._asdict())


def produced(case: Case) -> list[dict[str, Any]]:
    """The package's result for a case."""
    control = ControlSettings.model_validate(case.settings._asdict())
    budget = Budget(case.max_iterations, case.tests)
    rows = follow(samples(case), budget, case.baseline, control)
    if not case.marks:
        assert rows == simulate(
            case.progress,
            baseline=case.baseline,
            max_iterations=case.max_iterations,
            tests=case.tests,
            control=control,
        )
    return [
        vars(row) | {"alarms": sorted(row.alarms), "detections": sorted(row.detections)}
        for row in rows
    ]


def differences(case: Case) -> list[str]:
    """Every field in which the two disagree."""
    ours = produced(case)
    theirs = oracle.rows(*case)
    assert [set(row) for row in ours] == [set(row) for row in theirs]
    found: list[str] = []
    for mine, its in zip(ours, theirs, strict=True):
        for name, value in its.items():
            same = mine[name] == value
            if name not in EXACT:
                same = isclose(mine[name], value, rel_tol=1e-9, abs_tol=1e-9)
            if not same:
                found.append(f"{its['iteration']}: {name} is {mine[name]!r}, not {value!r}")
    return found


PLAIN = oracle.Settings()


@each_row(
    "case",
    [
        pytest.param(
            Case([20.4, 18.1, 15.4], 0.0, 10, None, PLAIN),
            id="two losses of 5 together, less a rounding error",
        ),
        pytest.param(
            Case([0.0] * 9, 0.0, 100, 12, PLAIN._replace(patience=0.28)),
            id="25 iterations of patience times 0.28 are 7",
        ),
        pytest.param(
            Case([95.0, 95.0, 60.0, 60.0, 61.0, 63.0], 0.0, 20, None, PLAIN._replace(patience=2.0)),
            id="far below the best an escape is measured from the reading, not from the best",
        ),
        pytest.param(
            Case([3.0 * k for k in range(1, 17)] + [44.0, 40.0, 40.0], 0.0, 20, None, PLAIN),
            id="a budget question takes the place of a redirect, which comes after it",
        ),
        pytest.param(
            Case([0.0] * 30, 0.0, 25, 100, PLAIN), id="an episode's questions up to the limit"
        ),
        pytest.param(
            Case([40.0, 60.0, 40.0, 60.0, 40.0, 60.0], 0.0, 10, None, PLAIN), id="a zigzag"
        ),
        pytest.param(
            Case([2.0 * k for k in range(1, 51)], 0.0, 50, None, PLAIN), id="a pace that just fits"
        ),
        pytest.param(
            Case([50.0, 60.0, 40.0, 40.0], 0.0, 5, None, PLAIN._replace(window_size=2)),
            id="volatility on its bound",
        ),
        pytest.param(
            Case([50.0, 50.0 + 4e-10, 50.0, 50.0], 0.0, 50, None, PLAIN),
            id="a rounding error is no new best",
        ),
        pytest.param(
            Case([50.0, 45.0 + 4e-10, 50.0, 45.0 + 4e-10], 0.0, 10, None, PLAIN),
            id="a rounding error makes no step small",
        ),
        pytest.param(
            Case([30.0] * 4 + [33.0, 30.4, 27.9, 35.0, 35.0, 35.0, 35.0], 0.0, 20, None, PLAIN),
            id="an episode ends by the best at its opening, not at its pause",
        ),
        pytest.param(
            Case([50.0, 100.0, 100.0, 70.0, 70.0, 70.0, 70.0], 0.0, 10, None, PLAIN),
            id="100 reached and lost",
        ),
    ],
)
def test_lab_agrees_at_the_edges(case: Case) -> None:
    assert not differences(case)


@given(cases())
def test_lab_agrees_with_the_rules_as_written(case: Case) -> None:
    assert not differences(case)


def asked(case: Case) -> dict[int, str]:
    """Iterations at which the overseer does more than log, and what it does."""
    rows = oracle.rows(*case)
    assert not differences(case)
    return {
        r["iteration"]: r["intervention"] for r in rows if r["intervention"] not in (None, "LOG")
    }


GREW, NOVEL = oracle.Mark(grew=True), oracle.Mark(novel=True)


@each_row(
    ("case", "expected"),
    [
        (Case([10.0 * k for k in range(1, 11)], 0.0, 10, 100, PLAIN), {7: "WARN", 9: "WARN"}),
        (Case([30.0, 30, 31, 30, 31, 30], 0.0, 10, 100, PLAIN), {4: "REDIRECT", 6: "PAUSE"}),
        (Case([40.0, 60, 40, 60, 40], 0.0, 10, 100, PLAIN), {5: "REDIRECT"}),
        (Case([70.0, 60, 50], 0.0, 10, 100, PLAIN), {3: "REDIRECT"}),
        (Case([2.0 * k for k in range(1, 51)], 0.0, 50, 100, PLAIN), {35: "WARN", 45: "WARN"}),
        (Case([20.0, 14, 30, 25, 45, 40, 60, 55, 75, 90], 0.0, 20, 100, PLAIN), {}),
        (Case([80.0, 80, 20, 20], 0.0, 20, 100, PLAIN), {4: "REDIRECT"}),
        (
            Case([100 * k / 171 for k in range(1, 50)], 0.0, 50, 171, PLAIN),
            {35: "WARN", 45: "PAUSE"},
        ),
        (
            Case([30.0] * 20, 0.0, 20, 100, PLAIN),
            {4: "REDIRECT", 6: "PAUSE", 11: "PAUSE", 14: "WARN", 18: "PAUSE"},
        ),
        (
            Case([30.0] * 49, 0.0, 50, 100, PLAIN),
            {4: "REDIRECT", 35: "WARN"} | dict.fromkeys([8, 13, 23, 43, 45], "PAUSE"),
        ),
        (
            Case([30.0] * 80, 0.0, 200, 100, PLAIN),
            {8: "REDIRECT"} | dict.fromkeys([22, 29, 43, 71], "PAUSE"),
        ),
        (Case([4.0, 8, 8, 8, 12, 16, 16, 16, 16, 16, 16, 20, 24], 0.0, 60, 100, PLAIN), {}),
        (Case([40.0, 45, 50, 25, 27.5, 30, 32.5, 35, 37.5], 35.0, 30, 100, PLAIN, {4: GREW}), {}),
        (
            Case([0.0] * 12, 0.0, 20, 100, PLAIN, dict.fromkeys(range(1, 13), NOVEL)),
            {9: "REDIRECT", 11: "PAUSE"},
        ),
        (Case([40.0, 44, 48, 8, 55, 58, 60, 62], 0.0, 50, 100, PLAIN), {}),
    ],
)
def test_worked_examples(case: Case, expected: dict[int, str]) -> None:
    assert asked(case) == expected


STRAYED = Evidence("Implement user login with JWT tokens", ("docs/palette.md", "theme.css"))
ON_COURSE = Evidence("Implement user login with JWT tokens", ("src/login.py", "src/user.py"))

FACTS = st.builds(
    oracle.Facts,
    deviated=st.booleans(),
    calls=st.sampled_from([0, 0, 100, 333, 500, 1000, 2000]),
    conflicts=st.sampled_from([False, False, False, True]),
    error=st.sampled_from(["", "", "no such model", "no such model", "not logged in"]),
)


def evidence(fact: oracle.Facts, k: int) -> Evidence:
    """Evidence that these facts are read from."""
    return replace(
        STRAYED if fact.deviated else ON_COURSE,
        actions=fact.calls,
        conflicts=("a.py", f"b{k}.py") if fact.conflicts else (),
        error=f"session {k}: {fact.error} (/tmp/log.{k})" if fact.error else "",
    )


@HALF
@given(cases(), st.data())
def test_overseer_agrees_about_evidence_too(case: Case, data: st.DataObject) -> None:
    repeated = st.lists(st.tuples(FACTS, st.integers(1, 6)), min_size=1, max_size=12)
    drawn = [fact for fact, times in data.draw(repeated) for _ in range(times)]
    facts = [drawn[k % len(drawn)] for k in range(len(case.progress))]
    control = ControlSettings.model_validate(case.settings._asdict())
    governor, budget = Governor(case.baseline, control), Budget(case.max_iterations, case.tests)
    series = oracle.Series(*case)
    for sample, expected in zip(samples(case), oracle.watched(series, facts), strict=True):
        k = sample.iteration
        verdict = governor.take(sample, budget, evidence(facts[k - 1], k)).finding
        assert verdict
        if verdict.opened:
            governor.answered(approved=True)
        opened = verdict.opened.about.upper() if verdict.opened else None
        level, opening, shows = expected
        assert (verdict.level, opened) == (
            level, "OBJECTIVE_DEVIATION" if opening == "DEVIATION" else opening
        ), k  # fmt: skip
        assert {found.name for found in verdict.detections} == shows, k
