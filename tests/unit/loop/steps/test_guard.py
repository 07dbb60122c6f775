"""A layer that fails costs its advice, and not the run."""

from typing import Literal

import pytest

from ralph_tui.events import (
    HealthChecked,
    Noticed,
    PromptPrepared,
    RunFinished,
    SignalComputed,
    StrategyPlanned,
)
from ralph_tui.layers.governor import Governor
from ralph_tui.loop.steps import prompting
from ralph_tui.state import RunState
from tests.world.world import World


def broken(*_: object) -> None:
    raise ZeroDivisionError("of a layer")


def failures(world: World) -> list[Noticed]:
    return [event for event in world.all(Noticed) if event.level == "error"]


def test_a_prompt_that_cannot_be_composed_is_replaced_by_a_basic_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prompting, "compose_prompt", broken)
    world = World([0, 2, 10]).run()
    assert [event.outcome for event in world.all(RunFinished)] == ["completed"]
    assert "Fix it" in world.agent.prompts[0]
    first = failures(world)[0]
    assert first.source == "intelligence"
    assert first.text == (
        "intelligence failed (ZeroDivisionError: of a layer); "
        "the prompt says nothing of what was measured"
    )
    assert "Traceback" in first.detail
    assert len(failures(world)) == 2
    assert [event.origin for event in world.all(PromptPrepared)] == ["fallback", "fallback"]


Part = Literal["weigh", "plan", "judge"]


def run_failing_at_two(part: Part, monkeypatch: pytest.MonkeyPatch) -> World:
    whole = getattr(Governor, part)

    def fail_at_two(governor: Governor, state: RunState) -> object:
        if state.gate.readings[-1].iteration == 2:
            raise ZeroDivisionError("of a layer")
        return whole(governor, state)

    monkeypatch.setattr(Governor, part, fail_at_two)
    world = World([0, 2, 4, 10]).run()
    assert [event.outcome for event in world.all(RunFinished)] == ["completed"]
    return world


def test_a_reading_that_the_law_fails_on_is_recorded_without_signal_and_oversight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = run_failing_at_two("weigh", monkeypatch)
    assert [event.iteration for event in world.all(SignalComputed)] == [1, 3]
    assert [event.iteration for event in world.all(HealthChecked)] == [1, 3]
    assert [event.iteration for event in world.all(StrategyPlanned)] == [1, 2]
    assert [event.source for event in failures(world)] == ["control"]


def test_rules_of_oversight_that_fail_cost_the_check_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = run_failing_at_two("judge", monkeypatch)
    assert [event.iteration for event in world.all(SignalComputed)] == [1, 2, 3]
    assert [event.iteration for event in world.all(HealthChecked)] == [1, 3]
    assert [event.iteration for event in world.all(StrategyPlanned)] == [1, 2, 3]
    assert [event.source for event in failures(world)] == ["oversight"]


def test_a_strategy_that_cannot_be_planned_costs_the_strategy_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = run_failing_at_two("plan", monkeypatch)
    assert [event.iteration for event in world.all(SignalComputed)] == [1, 2, 3]
    assert [event.iteration for event in world.all(HealthChecked)] == [1, 2, 3]
    assert [event.iteration for event in world.all(StrategyPlanned)] == [1, 2]
    assert [event.text for event in failures(world)] == [
        "intelligence failed (ZeroDivisionError: of a layer); the approach stays as it is"
    ]
