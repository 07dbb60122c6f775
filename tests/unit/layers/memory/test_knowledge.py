"""The arithmetic of knowledge: proven, joined, credited, unlearned; for all inputs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events.memory import Learning
from ralph_tui.layers.memory.content import estimate, strategy
from ralph_tui.layers.memory.knowledge import (
    START,
    is_same,
    merged,
    promoted,
    proven,
    success_rate,
    with_use,
)
from ralph_tui.layers.settings import MemorySettings
from tests.rows import each_row
from tests.unit.layers.memory.learnings import FRACTIONS, learning, learnings

NEAR = 1e-6
TRUSTED = MemorySettings().min_success_rate


@each_row(
    ("uses", "successes", "rate"),
    [(0, 0, 0.75), (1, 0, 0.6), (2, 0, 0.5), (4, 0, 0.375), (1, 1, 0.8), (7, 6, 9 / 11)],
)
def test_the_rate_worked_out(uses: int, successes: int, rate: float) -> None:
    assert success_rate(uses, successes) == pytest.approx(rate)


@given(st.lists(st.booleans(), max_size=30))
def test_credits_count_as_the_formula_says(outcomes: list[bool]) -> None:
    one = learning()
    for success in outcomes:
        one = with_use(one, success=success)
    assert (one.uses, one.successes) == (len(outcomes), sum(outcomes))
    assert one.success_rate == pytest.approx((3 + one.successes) / (4 + one.uses))


@given(FRACTIONS)
def test_a_harmful_learning_is_unlearned_within_four_uses(confidence: float) -> None:
    """Whatever its confidence: it begins with the starting rate and never helps."""
    one, uses = learning(confidence=confidence, success_rate=START), 0
    while one.success_rate >= TRUSTED:
        one, uses = with_use(one, success=False), uses + 1
    assert uses <= 4


@given(st.floats(0.0, 1.0))
def test_even_one_that_another_tool_swore_by_is_unlearned_within_four_uses(rate: float) -> None:
    one = learning(success_rate=rate)
    for _ in range(4):
        one = with_use(one, success=False)
    assert one.success_rate < TRUSTED


@given(learnings(), st.booleans())
def test_a_credit_moves_the_rate_its_way_and_confidence_never_down(
    one: Learning,
    success: bool,  # noqa: FBT001
) -> None:
    after = with_use(one, success=success)
    assert 0 <= after.success_rate <= 1
    assert after.confidence >= one.confidence
    if not success:
        assert after.confidence == one.confidence
        assert after.success_rate <= success_rate(one.uses, one.successes, 1.0)


@each_row(
    ("before", "after"),
    [(0.6, 0.72), (0.7, 0.72), (0.72, 0.74), (0.9, 0.92), (0.94, 0.95), (0.95, 0.95), (0.99, 0.99)],
)
def test_what_is_proven_does_not_stay_invisible(before: float, after: float) -> None:
    assert promoted(learning(confidence=before)).confidence == pytest.approx(after)
    assert with_use(learning(confidence=before), success=True).confidence == pytest.approx(after)


@given(learnings())
def test_promotion_makes_knowledge_and_is_seen(one: Learning) -> None:
    after = promoted(one)
    assert after.standing == "proven"
    assert after.confidence >= max(0.72, one.confidence) - NEAR
    assert after.learning_id == one.learning_id


@each_row(
    ("fields", "why"),
    [
        ({"confidence": 0.6, "runs": 2}, "2 runs reported it."),
        (
            {"confidence": 0.6, "runs": 1, "uses": 2, "successes": 1},
            "It helped in 1 of 2 counted uses.",
        ),
        ({"confidence": 0.6, "runs": 1}, ""),
        ({"confidence": 0.6, "runs": 1, "uses": 3}, ""),
        ({"confidence": 0.59, "runs": 5, "uses": 3, "successes": 3}, ""),
    ],
)
def test_what_proves_a_learning(fields: dict[str, Any], why: str) -> None:
    assert proven(learning(**fields)) == why


def test_an_estimate_is_proven_by_three_runs_and_goes_on_being_joined() -> None:
    def learned_estimate(iterations: float) -> Learning:
        content = estimate(iterations, None, 1)
        return learning("", "estimate", content=content, confidence=content["confidence"])

    two = merged(learned_estimate(2), learned_estimate(4))
    assert (two.runs, proven(two)) == (2, "")  # 2/4 is not .6 yet
    three = merged(two, learned_estimate(6))
    assert proven(three) == "3 runs reported it."
    known = promoted(three)
    four = merged(known, learned_estimate(8))
    assert proven(four)
    assert four.content["estimatedIterations"] == 5
    assert four.text == "A task of this kind takes about 5 iterations, based on 4 runs."


def test_a_strategy_keeps_the_mean_iterations_of_the_runs_that_reported_it() -> None:
    def told(iterations: int) -> Learning:
        return learning("Run one test.", content=strategy("Run one test.", iterations=iterations))

    assert merged(merged(told(2), told(4)), told(9)).content["avgIterations"] == 5


def test_what_is_joined_worked_out() -> None:
    known = learning("a b c d", confidence=0.7, uses=4, successes=3, success_rate=0.75, runs=2)
    new = learning(
        "a b c e",
        confidence=0.9,
        uses=1,
        successes=0,
        content={"approach": "a b c e", "toolSequence": ["bash"]},
    )
    both = merged(known, new)
    assert (both.learning_id, both.text) == (known.learning_id, "a b c d")
    assert both.content == {"approach": "a b c d", "toolSequence": ["bash"]}
    assert both.confidence == pytest.approx(0.8)  # the mean, because it is more
    assert (both.runs, both.uses, both.successes) == (3, 5, 3)
    assert both.success_rate == pytest.approx(6 / 9)
    assert merged(new, known).confidence == pytest.approx(0.9)  # the old, because it is more


@given(learnings(), learnings())
def test_joining_loses_no_evidence_and_no_wish(known: Learning, new: Learning) -> None:
    both = merged(known, new)
    assert both.confidence >= known.confidence
    assert both.runs == known.runs + new.runs
    assert (both.pinned, both.muted) == (known.pinned, known.muted)
    assert both.standing == ("proven" if "proven" in (known.standing, new.standing) else "staged")
    assert 0 <= both.success_rate <= 1


@given(learnings(), learnings())
def test_only_like_joins_like(one: Learning, other: Learning) -> None:
    assert is_same(one, other) == is_same(other, one)
    assert is_same(one, one)
    if (one.type, one.task_type) != (other.type, other.task_type):
        assert not is_same(one, other)


def test_estimates_of_one_kind_of_task_are_one() -> None:
    one = learning("", "estimate", content=estimate(3, None, 1))
    assert is_same(one, learning("", "estimate", content=estimate(90, 400, 7)))
    assert not is_same(one, learning("", "estimate", "feature", content=estimate(3, None, 1)))
    assert not is_same(learning("run one test"), learning("write more docs"))
