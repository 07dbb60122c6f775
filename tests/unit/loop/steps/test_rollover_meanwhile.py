"""Events during or right after a handoff."""

from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.commands import Abort, Guide, Pause, RetryNow, RollOver, Stop, Unpause
from tests.unit.loop.steps.rollovers import begins, fills, outcomes, used, worlds
from tests.world import FakeSession, World

# -- what comes meanwhile --------------------------------------------------------------------------


def test_one_that_is_asked_for_comes_when_the_tool_has_ended() -> None:
    def act(session: FakeSession) -> None:
        used(session, 10)
        begins(session, "a")

    world = worlds(act)
    world.host.idle.extend([RollOver(by="ann"), None, None, None])
    world.host.idle.append(lambda: ev.ToolFinished(iteration=1, tool_id="a", ok=True))
    world.run()
    (began,) = world.all(ev.RolloverBegan)
    assert (began.cause, began.by, began.reason) == ("asked", "ann", "requested by ann")
    assert world.kinds("tool_finished", "session_finished")[:2] == [
        "tool_finished",
        "session_finished",
    ]


def test_while_a_limit_is_waited_for_it_is_refused() -> None:
    def limited(session: FakeSession) -> None:
        session.emit(ev.SessionFinished(
            iteration=1, outcome="limited", limit="overload", tokens=5, reason="Overloaded."
        ))  # fmt: skip

    world = worlds(limited)
    world.send(RollOver(by="ann"), RetryNow())
    world.run()
    assert world.only(ev.CommandRefused).reason == "no session is running"
    assert not world.all(ev.RolloverBegan)


@pytest.mark.parametrize("outcome", ["limited", "silent"])
def test_one_that_a_limit_came_before_is_made_up_for(outcome: str) -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)
        begins(session, "a")
        session.emit(ev.SessionFinished.model_validate(
            {"iteration": 1, "outcome": outcome, "tokens": 5, "limit": "overload"}
        ))  # fmt: skip

    world = worlds(act).run()
    assert len(world.all(ev.WaitStarted)) == (outcome == "limited")
    (began,) = world.all(ev.RolloverBegan)
    assert began.cause == "L2"
    assert "continue from here" in world.agent.prompts[1]


def test_a_budget_that_is_used_up_begins_no_fresh_session() -> None:
    world = World([3, 6, 10], budget_usd=1.0)

    def act(session: FakeSession) -> None:
        session.cost_usd = 2.0
        fills(40, 86)(session)

    world.agent.acts.append(act)
    world.run()
    assert outcomes(world) == ["rolled_over"]
    assert not world.all(ev.RolloverBegan)
    assert world.end.outcome == "limit_reached"
    assert world.only(ev.IterationFinished).status == "incomplete"


def test_a_budget_does_not_kill_a_session_that_is_handing_over() -> None:
    stops: list[str] = []

    class Slow(FakeSession):
        def stop(self, outcome: str = "stopped") -> None:
            stops.append(outcome)

    world = World([3, 6, 10], budget_usd=1.0)
    start = world.agent.start

    def begin(turn: Any, emit: Any) -> FakeSession:
        session = start(turn, emit)
        slow = Slow(session.iteration, emit)
        return slow if not stops else session

    world.agent.start = begin  # type: ignore[method-assign]

    def act(session: FakeSession) -> None:
        fills(40, 86)(session)
        session.emit(ev.UsageReported(iteration=1, cost_usd=2.0, tokens=1))

    world.agent.acts.append(act)
    world.host.idle.extend([None] * 5)
    world.host.idle.append(lambda: ev.SessionFinished(iteration=1, outcome="rolled_over"))
    world.run()
    assert stops == ["rolled_over"]


def test_guidance_reaches_the_session_that_takes_over() -> None:
    world = worlds(fills(40, 86))
    for event in world.steps():
        if event.kind == "rollover_began":
            world.host.inbox.append(Guide(text="mind the brackets"))
    assert "mind the brackets" in world.agent.prompts[1]
    assert "mind the brackets" not in world.agent.prompts[0]


def test_a_pause_and_a_stop_after_the_iteration_hold_behind_it() -> None:
    world = worlds(fills(40, 86), passed=[3, 5, 6, 10])
    for event in world.steps():
        if event.kind == "rollover_began":
            world.host.inbox.append(Pause())
        if event.kind == "paused":
            world.host.inbox.append(Unpause())
            world.host.inbox.append(Stop(mode="after_iteration"))
    order = world.kinds("session_started", "paused", "iteration_started", "run_finished")
    assert order == [
        "iteration_started",
        "session_started",
        "session_started",
        "paused",
        "iteration_started",
        "session_started",
        "run_finished",
    ]


@pytest.mark.parametrize("command", [Abort(), Stop(mode="now")])
def test_the_run_ends_in_the_middle_of_it(command: Abort | Stop) -> None:
    world = worlds(fills(40, 86))
    for event in world.steps():
        if event.kind == "rollover_began":
            world.host.inbox.append(command)
    assert len(world.agent.sessions) == 1
    assert world.end.outcome in ("aborted", "interrupted")
