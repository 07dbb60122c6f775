"""More iterations or money are offered only where they run out."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.events import QuestionAsked
from ralph_tui.events.waiting import Option
from ralph_tui.loop.steps.offers import is_nearly_used
from tests.world import FakeSession, World
from tests.world.owner import answer


def offered(
    passed: list[int],
    *,
    max_iterations: int,
    at: int = 1,
    cost: float | None = None,
    budget: float | None = None,
) -> list[Option]:
    """The offers of more at a PAUSE, where each iteration has this cost."""
    world = World(passed, mode="attended", max_iterations=max_iterations, budget_usd=budget)

    def spend(session: FakeSession) -> None:
        world.workspace.conflicting = ("a.py",) if session.iteration == at else ()
        session.finish("success", cost)

    world.agent.acts.extend([spend] * at)
    world.play(answer("abort"))
    asked = next(event for event in world.all(QuestionAsked) if event.topic == "pause")
    assert asked.iteration == at
    return [option for option in asked.options if option.answer == "extend"]


def test_early_in_a_run_nothing_is_offered() -> None:
    assert offered([0, 0, 0], max_iterations=10) == []
    assert offered([0, 0, 0], max_iterations=10, cost=0.5, budget=10.0) == []
    assert offered([0, 5, 5], max_iterations=10) == []


def test_iterations_are_offered_near_their_end_and_to_a_run_that_needs_more() -> None:
    (last,) = offered([0] * 4, max_iterations=4, at=3)
    assert (last.verb, last.takes) == ("continue with more iterations", "iterations")
    (slow,) = offered([0, 1, 1], max_iterations=6)  # at this pace 9 more
    assert (slow.verb, slow.takes) == ("continue with more iterations", "iterations")


def test_money_is_offered_only_where_the_agent_reports_cost() -> None:
    (spent,) = offered([0, 0, 0], max_iterations=10, cost=0.8, budget=1.0)
    assert (spent.verb, spent.takes) == ("continue with more money", "money")
    (dear,) = offered([0, 2, 2], max_iterations=10, cost=0.3, budget=1.0)  # 4 more of 0.30
    assert dear.takes == "money"
    assert offered([0, 0, 0], max_iterations=10, cost=None, budget=1.0) == []
    assert offered([0, 0, 0], max_iterations=10, cost=0.8) == []


def test_both_are_named_where_both_run_out() -> None:
    (both,) = offered([0] * 4, max_iterations=4, at=3, cost=0.3, budget=1.0)
    assert (both.verb, both.takes) == ("continue with more iterations or money", "more")


@given(
    limit=st.integers(1, 1000), used=st.integers(0, 1000), needed=st.none() | st.floats(0.1, 2000)
)
def test_what_runs_out(limit: int, used: int, needed: float | None) -> None:
    short = needed is not None and used + needed > limit
    assert is_nearly_used(used, limit, needed) == (short or used >= 0.7 * limit)
    assert is_nearly_used(limit, limit, needed)
    if is_nearly_used(used, limit, None):
        assert is_nearly_used(used + 1, limit, needed)
