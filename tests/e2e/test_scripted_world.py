"""Runs of the simulated world match those of real processes."""

from pathlib import Path

from bench.scripted_world import ON, TASKS, copied, iterations_of, repository, run


def test_a_real_run_takes_as_many_iterations_as_the_played_one(tmp_path: Path) -> None:
    task = TASKS[0]
    origin = repository(task, 1, tmp_path / "origin")
    played = iterations_of(task, 1, ON, tmp_path)
    really = run(task, 1, ON, copied(origin, tmp_path / "real"))
    assert (really.iterations, really.completed) == (played.iterations, played.completed)
