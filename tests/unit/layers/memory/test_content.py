"""A learning's text from its fields: ours, another tool's, and invalid ones."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events.memory import LearningType
from ralph_tui.layers.memory.content import (
    antipattern,
    convention,
    estimate,
    iterations_of,
    join_estimates,
    learning_id,
    samples_of,
    strategy,
    text_of,
    with_text,
)
from tests.rows import each_row
from tests.unit.layers.memory.learnings import TYPES

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(
    [
        "approach",
        "description",
        "pattern",
        "consequence",
        "alternative",
        "examples",
        "convention",
        "toolSequence",
        "estimatedIterations",
        "estimatedMinutes",
        "basedOnSamples",
        "avgIterationTime",
        "totalIterations",
    ]
)


@each_row(
    ("type_", "content", "text"),
    [
        ("strategy", strategy("Start with one test", ["bash", "edit"]), "Start with one test"),
        (
            "antipattern",
            antipattern("Large refactors", "Nothing passed", "One file at a time."),
            "Large refactors. Nothing passed. Better: One file at a time.",
        ),
        ("antipattern", antipattern("Large refactors", "Why"), "Large refactors. Why."),
        (
            "estimate",
            estimate(4.0, 12.4, 6),
            "A task of this kind takes about 4 iterations and 12 minutes, based on 6 runs.",
        ),
        (
            "estimate",
            estimate(3.5, 0.2, 1),
            "A task of this kind takes about 3.5 iterations and less than a minute, based on 1 "
            "run.",
        ),
        (
            "estimate",
            estimate(1, None, 2),
            "A task of this kind takes about 1 iteration, based on 2 runs.",
        ),
        ("convention", convention("Always sign off", "the agent"), "Always sign off"),
        # as another tool writes them
        ("strategy", {"description": "revert first", "effectiveness": 1}, "revert first"),
        (
            "antipattern",
            {"pattern": "Guessing", "examples": ["a.py", 3, "b.py", "c.py", "d.py"]},
            "Guessing. Seen as: a.py; b.py; c.py.",
        ),
        (
            "estimate",
            {"avgIterationTime": 60_000, "totalIterations": 8, "complexity": "high"},
            "A task of this kind takes about 8 iterations and 8 minutes, based on 1 run.",
        ),
        (
            "estimate",
            {"avgIterationTime": 150_000},
            "One iteration of such a task takes 2.5 minutes, based on 1 run.",
        ),
        # invalid forms
        ("strategy", {"approach": ["a"], "description": None}, ""),
        ("estimate", {"estimatedIterations": True}, ""),
        ("estimate", {"estimatedIterations": float("nan")}, ""),
        ("estimate", {"estimatedIterations": 1e300}, ""),
        ("antipattern", {"consequence": "without a pattern"}, ""),
        ("convention", {}, ""),
    ],
)
def test_it_says_it_in_sentences(type_: LearningType, content: dict[str, Any], text: str) -> None:
    assert text_of(type_, content) == text


def test_what_is_not_known_is_left_out() -> None:
    assert "alternative" not in antipattern("a", "b")
    assert "toolSequence" not in strategy("a")
    assert "estimatedMinutes" not in estimate(3, None, 1)
    assert estimate(3, None, 2)["confidence"] == 0.5


@given(TYPES, st.dictionaries(NAMES, ANYTHING, max_size=6))
def test_any_content_has_a_text(type_: LearningType, content: dict[str, Any]) -> None:
    assert isinstance(text_of(type_, content), str)
    assert iterations_of(content) is None or iterations_of(content)
    assert samples_of(content) >= 1


@given(TYPES, st.dictionaries(NAMES, ANYTHING, max_size=6), st.text(min_size=1))
def test_an_edit_is_what_it_says_from_then_on(
    type_: LearningType, content: dict[str, Any], text: str
) -> None:
    said = text.strip()
    if not said:
        return
    shown = text_of(type_, with_text(type_, content, text))
    assert shown in (said, f"{said}.")


def test_an_edit_keeps_what_is_not_its_words() -> None:
    assert with_text("strategy", {"description": "old", "iterations": 8}, "new") == {
        "description": "new",
        "iterations": 8,
    }


@given(st.integers(1, 50), st.integers(1, 50), st.floats(1, 100), st.floats(1, 100))
def test_estimates_join_by_their_runs(runs: int, others: int, one: float, other: float) -> None:
    both = join_estimates(estimate(one, None, runs), estimate(other, 10.0, others))
    assert both["basedOnSamples"] == runs + others
    assert both["estimatedIterations"] == pytest.approx(
        (one * runs + other * others) / (runs + others), abs=0.02
    )
    assert both["estimatedMinutes"] == 10.0


def test_joined_estimates_worked_out() -> None:
    both = join_estimates({**estimate(4, 10, 3), "theirs": 1}, estimate(8, 30, 1))
    assert both == {**estimate(5, 15, 4), "theirs": 1}


def test_only_those_who_said_how_many_count_as_having_said_it() -> None:
    """Another tool's estimate may give only the time of an iteration."""
    theirs = {"avgIterationTime": 60_000}
    ours = estimate(6, 12, 2)
    assert join_estimates(theirs, ours) == {**theirs, **ours}
    assert join_estimates(ours, theirs) == ours
    assert "based on 2 runs" in text_of("estimate", join_estimates(theirs, ours))


def test_the_same_words_of_two_runs_meet() -> None:
    one = learning_id("strategy", "feature", "Run  the tests.")
    assert one == learning_id("strategy", "feature", "run the TESTS")
    assert one.startswith("learn-")
    assert len(one) == len("learn-") + 12
    others = {
        learning_id("convention", "feature", "Run the tests"),
        learning_id("strategy", "bug-fix", "Run the tests"),
        learning_id("strategy", "feature", "Run a test"),
    }
    assert len({one, *others}) == 4
    assert learning_id("estimate", "feature", "3") == learning_id("estimate", "feature", "4")
