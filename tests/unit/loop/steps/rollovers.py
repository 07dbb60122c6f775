"""Sessions with full windows for handoff tests."""

from collections.abc import Callable
from typing import Any

from ralph_tui import events as ev
from ralph_tui.config.settings import Settings
from ralph_tui.layers.settings import ContextSettings
from tests.world import FakeSession, World

WINDOW = 200_000
Act = Callable[[FakeSession], None]


def used(session: FakeSession, percent: float, window: int | None = WINDOW) -> None:
    """The session reports how full its window is."""
    tokens = int(WINDOW * percent / 100)
    k = session.iteration
    session.emit(ev.UsageReported(iteration=k, context_tokens=tokens, context_window=window))


def begins(session: FakeSession, *tools: str) -> None:
    for tool in tools:
        session.emit(ev.ToolStarted(iteration=session.iteration, tool_id=tool, tool="Edit"))


def ends(session: FakeSession, *tools: str) -> None:
    for tool in tools:
        session.emit(ev.ToolFinished(iteration=session.iteration, tool_id=tool, ok=True))


def fills(*percents: float) -> Act:
    """Act: fill the window message by message, each with a tool; then wait."""

    def act(session: FakeSession) -> None:
        for number, percent in enumerate(percents):
            used(session, percent)
            begins(session, f"t{number}")
            ends(session, f"t{number}")

    return act


def worlds(*acts: Act, passed: list[int] | None = None, **settings: Any) -> World:
    context = ContextSettings.model_validate(settings)
    world = World(passed or [3, 6, 10], settings=Settings(context=context))
    world.agent.acts.extend(acts)
    return world


def outcomes(world: World) -> list[str]:
    return [end.outcome for end in world.all(ev.SessionFinished)]


def notices(world: World, source: str = "context") -> list[str]:
    return [e.text for e in world.all(ev.Noticed) if e.source == source]
