"""A session whose window fills hands over, and a fresh one of the same iteration goes on."""

from collections.abc import Callable

from ralph_tui.events import (
    ContextLevelReached,
    HandoffWritten,
    IterationFinished,
    RolloverBegan,
    SessionFinished,
    ToolFinished,
    ToolStarted,
    UsageReported,
)
from tests.world import FakeSession, World

WINDOW = 200_000


def fills(percent: float, *, running: bool = False) -> Callable[[FakeSession], None]:
    """An act: the window is so full; then the session waits to be ended."""

    def act(session: FakeSession) -> None:
        k = session.iteration
        if running:
            session.emit(ToolStarted(iteration=k, tool_id="t1", tool="Edit", summary="a.py"))
        used = int(WINDOW * percent / 100)
        session.emit(UsageReported(iteration=k, context_tokens=used, context_window=WINDOW))
        if running:
            session.emit(ToolFinished(iteration=k, tool_id="t1", ok=True))

    return act


def test_a_full_window_hands_over_within_the_iteration() -> None:
    world = World([50, 100])
    world.agent.acts.extend([fills(86)])
    world.run()
    levels = [(e.level, round(e.percent)) for e in world.all(ContextLevelReached)]
    assert levels == [("L1", 86), ("L2", 86)]
    assert [end.outcome for end in world.all(SessionFinished)][:2] == ["rolled_over", "success"]
    (began,) = world.all(RolloverBegan)
    assert (began.iteration, began.number, began.cause) == (1, 1, "L2")
    (left,) = world.all(HandoffWritten)
    assert left.path.endswith("results/iter-001/handoff-1.md")
    assert "go on from here" not in world.agent.prompts[0]
    assert left.read_at in world.agent.prompts[1]
    assert [e.iteration for e in world.all(IterationFinished)][:2] == [1, 2]


def test_the_running_tool_ends_first() -> None:
    world = World([50, 100])
    world.agent.acts.extend([fills(90, running=True)])
    world.run()
    kinds = world.kinds("tool_finished", "session_finished")
    assert kinds[:2] == ["tool_finished", "session_finished"]
