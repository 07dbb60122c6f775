"""The played runs of the scripted world are those of real processes."""

from pathlib import Path

from bench.scripted_world import NO_INTELLIGENCE, ON, TASKS, copied, iterations_of, repository, run


def test_a_real_run_takes_as_many_iterations_as_the_played_one(tmp_path: Path) -> None:
    task = TASKS[0]
    origin = repository(task, 1, tmp_path / "origin")
    for arm in (ON, NO_INTELLIGENCE):
        (tmp_path / f"played {arm.name}").mkdir()
        played = iterations_of(task, 1, arm, tmp_path / f"played {arm.name}")
        really = run(task, 1, arm, copied(origin, tmp_path / arm.name))
        assert (really.iterations, really.completed) == (played.iterations, played.completed)
