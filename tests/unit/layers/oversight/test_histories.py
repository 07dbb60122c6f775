"""The rules against recorded histories of real projects: which runs they interrupt.

The numbers are measurements, not goals: review every rule change that moves them.
"""

import json
from collections.abc import Iterator
from typing import Any

from ralph_tui.events.intelligence import Approach
from ralph_tui.layers.control.history import Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.intelligence.strategy import Grounds
from ralph_tui.layers.oversight import Evidence
from tests.paths import FIXTURES
from tests.rows import each_row

HISTORIES = [
    json.loads(line)
    for line in (FIXTURES / "histories/histories.jsonl").read_text("utf-8").splitlines()
]


CHANGED = Evidence(changed=("a",))
"""A step of these histories is a commit, so every one of them changed a file."""


def asked(history: dict[str, Any], most: int | None = None) -> set[str]:
    """Levels that reached a human; by default with a quarter more iterations than the run took."""
    governor, levels = Governor(history["baseline"]), set[str]()
    most = most or -(-5 * len(history["readings"]) // 4)
    for k, reading in enumerate(history["readings"][:most], 1):
        budget = Budget(most, history["totals"][k - 1])
        sample = Sample(k, reading, grew=k in history["grew"])
        finding = governor.take(sample, budget, CHANGED).finding
        assert finding
        assert all(one.about != "circuit" for one in finding.situations)
        if finding.opened:
            governor.answered(approved=True)
        if [one.about for one in finding.situations if one.level == finding.level] != ["budget"]:
            levels.add(finding.level or "")
    return levels


@each_row(
    ("label", "all_", "bounds"),
    [
        ("healthy", 155, {"REDIRECT": (0, 37), "PAUSE": (0, 3), "ABORT": (0, 0)}),
        ("stuck", 17, {"REDIRECT": (17, 17), "PAUSE": (14, 17)}),
        ("oscillating", 2, {"REDIRECT": (2, 2)}),
        ("mixed", 26, {}),
    ],
)
def test_real_histories(label: str, all_: int, bounds: dict[str, tuple[int, int]]) -> None:
    runs = [asked(history) for history in HISTORIES if history["label"] == label]
    assert len(runs) == all_
    for level, (least, most) in bounds.items():
        assert least <= sum(level in levels for levels in runs) <= most


@each_row(
    ("budget", "label", "least", "most"),
    [(50, "healthy", 0, 8), (50, "stuck", 11, 17), (200, "stuck", 8, 17)],
)
def test_a_larger_budget_asks_fewer_and_not_too_few(
    budget: int, label: str, least: int, most: int
) -> None:
    runs = [asked(history, budget) for history in HISTORIES if history["label"] == label]
    assert least <= sum("PAUSE" in levels for levels in runs) <= most


BLOCKED = Grounds(standing=(("report", "no network"),))


def approaches(
    history: dict[str, Any], grounds: Grounds = BLOCKED, *, estimated: bool = False
) -> Iterator[Approach]:
    """Yield the approach after each measurement, by default with a blocker after every one."""
    governor, most = Governor(history["baseline"]), -(-5 * len(history["readings"]) // 4)
    for k, reading in enumerate(history["readings"], 1):
        budget = Budget(most, history["totals"][k - 1])
        sample = Sample(k, reading, grew=k in history["grew"], estimated=estimated)
        taken = governor.take(sample, budget, grounds=grounds)
        if taken.finding and taken.finding.opened:
            governor.answered(approved=True)
        yield taken.course.strategy.approach


def asked_about_strategy(history: dict[str, Any], *, estimated: bool = False) -> bool:
    return "escalate" in approaches(history, estimated=estimated)


def test_recorded_histories_reach_every_approach() -> None:
    stuck = [history for history in HISTORIES if history["label"] == "stuck"]
    assert {next(approaches(run, Grounds())) for run in stuck} == {"persist"}
    assert {one for run in stuck for one in approaches(run, Grounds())} == {"persist", "pivot"}
    assert {one for run in stuck for one in approaches(run)} == {"pivot", "escalate"}


@each_row(("label", "least", "most"), [("healthy", 0, 1), ("stuck", 3, 17), ("mixed", 9, 26)])
def test_a_measured_history_is_asked_in_the_episode_of_its_standstill(
    label: str, least: int, most: int
) -> None:
    runs = [history for history in HISTORIES if history["label"] == label]
    runs = runs[:: 3 if label == "healthy" else 1]
    assert least <= sum(map(asked_about_strategy, runs)) <= most


@each_row(("label", "least", "most"), [("healthy", 0, 1), ("stuck", 11, 17)])
def test_where_activity_alone_is_estimated_a_blocker_that_stands_asks_the_stuck_ones(
    label: str, least: int, most: int
) -> None:
    runs = [history for history in HISTORIES if history["label"] == label]
    runs = runs[:: 3 if label == "healthy" else 1]
    assert least <= sum(asked_about_strategy(one, estimated=True) for one in runs) <= most
