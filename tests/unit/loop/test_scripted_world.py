"""An agent that knows nothing but its prompt is done sooner with the layers on."""

from pathlib import Path

import pytest

from bench.scripted_world import LIMIT, NO_INTELLIGENCE, ON, TASKS, Arm, Ran, Task, iterations_of

SEEDS = (1, 2)


def ran(task: Task, seed: int, arm: Arm, place: Path) -> Ran:
    place = place / f"{task.name} {seed} {arm.name}"
    place.mkdir()
    return iterations_of(task, seed, arm, place)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_it_takes_fewer_iterations_with_the_layer_that_it_needs(
    task: Task, seed: int, tmp_path: Path
) -> None:
    on, off = (ran(task, seed, arm, tmp_path) for arm in (ON, task.off))
    assert on.completed
    assert on.iterations < off.iterations
    if task.name == "pivot":
        assert not off.completed
        assert off.iterations == LIMIT


def test_the_agent_heeds_what_the_layer_says_and_nothing_else(tmp_path: Path) -> None:
    named, pivot, learned, planned = TASKS
    assert "- part_" in ran(named, 1, ON, tmp_path).prompts[0]
    assert "part_" not in ran(named, 1, NO_INTELLIGENCE, tmp_path).prompts[0]
    prompts = ran(pivot, 1, ON, tmp_path).prompts
    turns = ["Change the approach." in text for text in prompts]
    assert turns.index(True) > 2, "only after the first way had stood still"
    assert not any("# Redirect" in text for text in prompts)
    assert "tokenizer needs way" in ran(learned, 1, ON, tmp_path).prompts[0]
    assert "lesson of task-001/001 #1" in ran(planned, 1, ON, tmp_path).prompts[0]
