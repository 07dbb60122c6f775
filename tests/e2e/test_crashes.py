"""Runs of the demo, really killed: nothing is lost, and each goes on to its end.

`make soak` does the same at 200 moments.
"""

from pathlib import Path
from random import Random

import pytest

from tests.soak.figures import Figures
from tests.soak.killing import Trial
from tests.soak.looking import Look
from tests.soak.place import differences, git, owned, prepare

MOMENTS = [
    # The restore takes the work back to its beginning: the run lasts long enough for what follows.
    ("steady", ["verification", "restore", "snapshot", "projection rename", "session begins"]),
    ("stuck", ["tool at work", "append", "question"]),
]


@pytest.mark.parametrize(("scenario", "moments"), MOMENTS, ids=[name for name, _ in MOMENTS])
def test_a_killed_run_comes_to_its_end(tmp_path: Path, scenario: str, moments: list[str]) -> None:
    figures, asks = Figures(), "question" in moments
    trial = Trial(tmp_path / "run", scenario, Random(8), figures, attended=float(asks))
    try:
        trial.play(0, moments)
    finally:
        trial.close()
    assert figures.problems == []
    assert [moment for moment, _ in figures.kills] == moments
    assert figures.outcomes.total() == figures.restores == 1
    assert (figures.events_lost, figures.files_lost) == (0, 0)
    assert figures.events_before > 0
    assert figures.asked_again == asks


def test_what_is_lost_is_noticed(tmp_path: Path) -> None:
    folder, figures = prepare(tmp_path / "project"), Figures()
    look = Look(folder, figures)
    look.compare(b"", b"1\n2\n3\n4")
    look.compare(b"1\n2\n3\n4\n", b"1\n2\n3\n4\n5")
    assert (figures.events_lost, figures.events_before) == (0, 4)
    look.compare(b"", b"1\n3\n")
    assert figures.events_lost == 2
    assert differences(folder, "HEAD") == ["README.md"]
    git(folder, "checkout", "--quiet", "HEAD", "README.md")
    assert differences(folder, "HEAD") == ["a file that the snapshot does not hold"]
    (folder / "tool.sh").chmod(0o644)
    changed = {name for name, was in look.mine.items() if owned(folder)[name] != was}
    assert changed == {"README.md", "tool.sh", "index"}
