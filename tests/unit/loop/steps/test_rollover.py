"""A session with a full window hands over to a fresh one of the same iteration."""

from collections.abc import Callable
from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.commands import RollOver, Stop
from ralph_tui.events.agent import BackgroundTask, SessionOutcome
from tests.unit.loop.steps.rollovers import (
    WINDOW,
    begins,
    ends,
    fills,
    notices,
    outcomes,
    used,
    worlds,
)
from tests.world import FakeSession, World, wait


def test_a_full_window_hands_over_within_the_iteration() -> None:
    world = worlds(fills(40, 71, 86)).run()
    levels = [(e.level, round(e.percent)) for e in world.all(ev.ContextLevelReached)]
    assert levels == [("L1", 71), ("L2", 86)]
    assert outcomes(world)[:2] == ["rolled_over", "success"]
    (began,) = world.all(ev.RolloverBegan)
    assert (began.iteration, began.number, began.cause) == (1, 1, "L2")
    (left,) = world.all(ev.HandoffWritten)
    assert left.path.endswith("results/iter-001/handoff-1.md")
    assert "continue from here" not in world.agent.prompts[0]
    assert left.read_at in world.agent.prompts[1]
    assert [e.iteration for e in world.all(ev.IterationFinished)][:2] == [1, 2]


def test_a_level_that_is_leapt_over_is_not_told() -> None:
    world = worlds(fills(40, 96)).run()
    assert [e.level for e in world.all(ev.ContextLevelReached)] == ["L3"]


# -- what runs ends first --------------------------------------------------------------------------


def test_the_tools_that_run_end_first() -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)  # with the first words of the message; its tools follow
        begins(session, "a", "b")

    world = worlds(act)
    for tool in ("a", "b"):
        world.host.idle.append(None)
        world.host.idle.append(
            lambda tool=tool: ev.ToolFinished(iteration=1, tool_id=tool, ok=True)
        )
    asked: list[tuple[str, bool]] = []
    for event in world.steps():
        if isinstance(event, ev.ToolFinished):
            asked.append((event.tool_id, world.agent.sessions[0].stopped))
        if event.kind == "rollover_began":
            break
    assert asked == [("a", False), ("b", False)]
    assert world.host.clock.seconds == 4


def test_a_tool_of_a_subagent_is_none_that_runs() -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)
        begins(session, "a")
        inner = ev.ToolStarted(iteration=1, tool_id="i", tool="Read", parent="a")
        session.emit(inner)
        ends(session, "a")

    world = worlds(act)
    for event in world.steps():
        if event.kind == "rollover_began":
            break
    assert world.host.clock.seconds == 0


def test_a_tool_that_goes_on_is_waited_for_as_long_as_it_may_take() -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)
        begins(session, "a")

    for seconds in (60.0, 5.0):
        world = worlds(act, tool_wait_s=seconds)
        steps = world.steps()
        for event in steps:
            if event.kind == "context_level_reached":
                break
        reached = world.host.clock.seconds
        for event in steps:
            if event.kind == "session_finished":
                break
        assert seconds <= world.host.clock.seconds - reached <= seconds + 2
        assert outcomes(world) == ["rolled_over"]


def test_at_l3_nothing_is_waited_for() -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)
        begins(session, "a")
        used(session, 96)

    world = worlds(act)
    for event in world.steps():
        if event.kind == "rollover_began":
            break
    assert world.host.clock.seconds == 0
    assert world.all(ev.RolloverBegan)[0].cause == "L3"
    assert not world.all(ev.ToolFinished)


def test_what_comes_before_a_session_is_told_of_is_not_about_it() -> None:
    world = worlds(fills(40, 97), wait)
    world.host.idle.extend([None] * 3)
    world.host.idle.append(lambda: ev.SessionFinished(iteration=1, outcome="success"))
    start = world.agent.start

    def begin(turn: Any, emit: Any) -> FakeSession:
        emit(ev.Noticed(source="workspace", text="a file has changed"))
        return start(turn, emit)

    world.agent.start = begin  # type: ignore[method-assign]
    world.run()
    assert outcomes(world)[:2] == ["rolled_over", "success"]
    assert len(world.all(ev.RolloverBegan)) == 1


def test_an_agent_that_ends_by_itself_has_ended() -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)
        session.emit(ev.PromiseMade(iteration=session.iteration))
        session.finish()

    world = worlds(act).run()
    assert outcomes(world)[0] == "success"
    assert not world.all(ev.RolloverBegan)
    assert [e.level for e in world.all(ev.ContextLevelReached)] == ["L2"]


def test_what_works_in_the_background_is_not_ended_for_the_context() -> None:
    def act(session: FakeSession) -> None:
        used(session, 86)
        k = session.iteration
        task = BackgroundTask(what="make test")
        session.emit(ev.BackgroundAwaited(iteration=k, tasks=[task]))

    world = worlds(act)
    world.host.idle.extend([None] * 200)
    world.host.idle.append(lambda: ev.SessionFinished(iteration=1, outcome="success"))
    world.run()
    assert outcomes(world)[0] == "success"
    assert not world.all(ev.RolloverBegan)


# -- how often -------------------------------------------------------------------------------------


def test_a_fourth_session_runs_to_its_own_end() -> None:
    def last(session: FakeSession) -> None:
        fills(40, 86, 90)(session)
        session.finish()

    world = worlds(*[fills(86)] * 3, last).run()
    assert outcomes(world)[:4] == ["rolled_over"] * 3 + ["success"]
    assert [e.number for e in world.all(ev.RolloverBegan)] == [1, 2, 3]
    assert notices(world) == [
        "iteration 1 has had 3 handoffs: its session now runs until it ends, or until its context "
        "is 95 % full"
    ]


def test_l3_ends_a_fourth_session_and_the_iteration() -> None:
    world = worlds(*[fills(86)] * 3, fills(86, 97), passed=[3, 6, 6, 10]).run()
    assert outcomes(world)[:4] == ["rolled_over"] * 3 + ["context_full"]
    assert len(world.all(ev.RolloverBegan)) == 3
    first, second = world.all(ev.IterationFinished)[:2]
    assert (first.iteration, first.status) == (1, "incomplete")
    assert second.iteration == 2


def test_what_the_last_session_of_an_iteration_was_at_is_left_to_the_next_one() -> None:
    world = worlds(*[fills(86)] * 3, fills(86, 97), passed=[3, 6, 6, 10]).run()
    left = world.all(ev.HandoffWritten)
    assert [(e.iteration, e.number, e.cause) for e in left] == [
        (1, 1, "L2"), (1, 2, "L2"), (1, 3, "L2"), (1, 4, "L3"),
    ]  # fmt: skip
    assert left[-1].snapshot is not None
    prompt = world.agent.prompts[4]
    assert "Context checkpoint" in prompt
    assert left[-1].read_at in prompt
    assert "were taken before that work" not in prompt, "it was measured after it"
    assert "were taken before that work" in world.agent.prompts[3]
    assert "Context checkpoint" not in world.agent.prompts[5]


def test_nothing_is_left_where_no_session_is_ended_for_its_context() -> None:
    def act(session: FakeSession) -> None:
        begins(session, "a")
        ends(session, "a")
        session.finish("context_full")

    world = worlds(act, rollover=False).run()
    assert not world.all(ev.HandoffWritten)


def test_a_window_that_overflows_counts_as_l3() -> None:
    def overflows(session: FakeSession) -> None:
        begins(session, "a")
        ends(session, "a")
        session.finish("context_full")

    world = worlds(*[overflows] * 5).run()
    assert outcomes(world)[:5] == ["context_full"] * 4 + ["context_full"]
    mine = [e for e in world.all(ev.RolloverBegan) if e.iteration == 1]
    assert [(e.cause, e.number) for e in mine] == [("L3", 1), ("L3", 2), ("L3", 3)]
    assert [e.level for e in world.all(ev.ContextLevelReached)][:4] == ["L3"] * 4


def test_a_prompt_that_overflows_by_itself_is_not_sent_again() -> None:
    world = worlds(lambda session: session.finish("context_full")).run()
    assert not world.all(ev.RolloverBegan)
    assert [e.iteration for e in world.all(ev.IterationFinished)][:2] == [1, 2]


@pytest.mark.parametrize("percents", [(86,), (97,)])
def test_no_session_is_ended_where_that_is_set(percents: tuple[float, ...]) -> None:
    def act(session: FakeSession) -> None:
        fills(*percents)(session)
        session.finish()

    world = worlds(act, rollover=False).run()
    assert not world.all(ev.RolloverBegan)
    assert outcomes(world)[0] == "success"
    assert world.all(ev.ContextLevelReached)


# -- numbers ---------------------------------------------------------------------------------------


def test_odd_numbers_are_safe() -> None:
    def act(session: FakeSession) -> None:
        k = session.iteration
        used(session, 50)
        session.emit(ev.UsageReported(iteration=k, context_tokens=0, context_window=WINDOW))
        session.emit(ev.UsageReported(iteration=k, context_tokens=-5, context_window=WINDOW))
        session.emit(ev.UsageReported(iteration=k, context_tokens=None, context_window=None))
        session.emit(ev.UsageReported(iteration=k, context_tokens=5, context_window=0))
        session.emit(ev.UsageReported(iteration=k, context_tokens=5, context_window=-1))
        used(session, 72)
        used(session, 30)  # backwards, without a compaction
        used(session, 73)
        session.finish()

    world = worlds(act).run()
    assert [(e.level, e.percent) for e in world.all(ev.ContextLevelReached)] == [("L1", 72.0)]
    assert world.state.context.history[0].peak_percent == 73.0


def test_more_than_the_window_holds_is_full() -> None:
    world = worlds(fills(40, 500)).run()
    (level,) = world.all(ev.ContextLevelReached)
    assert (level.level, level.percent, level.tokens) == ("L3", 100.0, 1_000_000)
    assert world.all(ev.RolloverBegan)[0].percent == 100.0


def test_a_window_that_is_not_told_is_not_that_of_another_model() -> None:
    def act(session: FakeSession) -> None:
        used(session, 60)
        used(session, 90, window=0)  # another model answers
        session.finish()

    world = worlds(act).run()
    assert not world.all(ev.ContextLevelReached)


def test_after_a_compaction_the_context_falls_and_the_levels_stay() -> None:
    def act(session: FakeSession) -> None:
        used(session, 75)
        k = session.iteration
        session.emit(ev.ContextCompacted(iteration=k, before=150_000, after=20_000, window=WINDOW))
        used(session, 75)
        session.finish()

    world = World([3, 6, 10])
    world.agent.acts.append(act)
    percents = []
    for event in world.steps():
        if event.kind == "context_compacted":
            percents.append(world.state.context.percent)
    assert percents == [10.0]
    assert [e.level for e in world.all(ev.ContextLevelReached)] == ["L1"]


def levels(world: World) -> list[str]:
    return [e.level for e in world.all(ev.Noticed) if e.source == "context"]


def test_how_full_it_is_is_not_known_once_in_a_run() -> None:
    def silent(session: FakeSession) -> None:
        session.emit(ev.SessionStarted(
            iteration=session.iteration, session_id="s", agent="command", tells_context=False
        ))  # fmt: skip

    world = worlds(silent, silent)
    world.send(RollOver(by="ann"))
    world.run()
    assert notices(world) == [
        "this agent does not report how full its context window is: each session runs until it "
        "ends, or until you request a fresh one"
    ]
    assert levels(world) == ["log"], "that is how it is: nothing is wrong"
    assert outcomes(world)[0] == "rolled_over", "asked for, it hands over"
    assert world.all(ev.RolloverBegan)[0].percent is None


def reports(
    percent: float | None, outcome: SessionOutcome = "success"
) -> Callable[[FakeSession], None]:
    """Act: a turn of some tool calls, which may report its usage only at its end."""

    def act(session: FakeSession) -> None:
        if percent is not None:
            used(session, percent)
        session.emit(ev.SessionFinished(iteration=session.iteration, outcome=outcome, turns=1))

    return act


def test_an_agent_that_has_worked_and_told_nothing_is_told_of_once() -> None:
    world = worlds(reports(None), reports(None)).run()
    assert levels(world) == ["warn"], "the agent can report it"


def test_one_that_has_not_answered_yet_is_not_said_to_tell_nothing() -> None:
    world = worlds(wait)
    world.host.idle.extend([None] * 90)
    world.host.idle.append(Stop(mode="now"))
    world.run()
    assert levels(world) == []
    assert levels(worlds(reports(None, "error"), reports(40)).run()) == []


# -- the forecast ----------------------------------------------------------------------------------


def test_a_session_hands_off_before_the_call_that_would_fill_its_window() -> None:
    world = worlds(fills(20, 42, 60, 78)).run()
    (began,) = world.all(ev.RolloverBegan)
    assert (began.cause, began.level, round(began.percent or 0)) == ("forecast", "L1", 78)
    assert began.reason.endswith("the next tool call is expected to take it past 95 %")
    assert [e.level for e in world.all(ev.ContextLevelReached)] == ["L1"]
    assert "(filling up), because its next tool calls" in world.agent.prompts[1]
    slow = worlds(fills(66, 70, 74, 78, 82)).run()
    assert slow.all(ev.RolloverBegan) == []
    off = worlds(fills(20, 42, 60, 78), rollover=False).run()
    assert off.all(ev.RolloverBegan) == []


def test_a_tool_that_is_reported_before_its_messages_usage_ends_first() -> None:
    """Claude Code reports the call, then the usage of the message that made it."""

    def act(session: FakeSession) -> None:
        for number, percent in enumerate((20, 42, 60, 78)):
            begins(session, f"t{number}")
            used(session, percent)
            ends(session, f"t{number}")

    world = worlds(act).run()
    (began,) = world.all(ev.RolloverBegan)
    assert began.cause == "forecast"
    finished = [e.seq for e in world.all(ev.ToolFinished)]
    assert len(finished) == 4
    assert finished[-1] < began.seq


def test_no_forecast_ends_a_session_where_handoffs_are_off() -> None:
    world = worlds(fills(20, 42, 60, 78), rollover=False).run()
    assert world.all(ev.RolloverBegan) == []
