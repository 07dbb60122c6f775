"""An agent that knows only its prompt finishes sooner with the layers on."""

from collections.abc import Callable
from functools import cache

import pytest

from bench.scripted_world import LIMIT, NO_INTELLIGENCE, ON, TASKS, Arm, Ran, Task, iterations_of

Runs = Callable[[Task, Arm], Ran]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Each run once."""
    return cache(lambda task, arm: iterations_of(task, 1, arm, tmp_path_factory.mktemp("run")))


@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_it_takes_fewer_iterations_with_the_layer_that_it_needs(task: Task, ran: Runs) -> None:
    on, off = ran(task, ON), ran(task, task.off)
    assert on.completed
    assert on.iterations < off.iterations
    if task.name == "pivot":
        assert not off.completed
        assert off.iterations == LIMIT


def test_the_agent_heeds_what_the_layer_says_and_nothing_else(ran: Runs) -> None:
    named, pivot, learned, planned = TASKS
    assert "- part_" in ran(named, ON).prompts[0]
    assert "part_" not in ran(named, NO_INTELLIGENCE).prompts[0]
    prompts = ran(pivot, ON).prompts
    turns = ["Change the approach." in text for text in prompts]
    assert turns.index(True) > 2, "only after the first approach made no progress"
    assert not any("# Redirect" in text for text in prompts)
    assert "tokenizer needs way" in ran(learned, ON).prompts[0]
    assert "lesson from task-001/001 #1" in ran(planned, ON).prompts[0]
