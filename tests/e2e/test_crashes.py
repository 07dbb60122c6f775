"""A run of the demo that is really killed loses nothing and continues to its end.

`make soak` does the same at 200 moments. `make soak ARGS="--rollovers --kills 30"` kills runs while
one session hands over to the next.
"""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from ralph_tui.events import Event, IterationFinished, IterationStarted, Noticed, SnapshotTaken
from tests.soak import killing
from tests.soak.blows import Target
from tests.soak.checks import NOT_TAKEN, RunChecker, locks_of, missing_snapshots
from tests.soak.figures import Figures
from tests.soak.killing import Trial
from tests.soak.moments import patience
from tests.soak.place import differences, git, prepare, protected_files

BLOWS: list[tuple[str, Target]] = [
    ("git begins", "git"),
    ("restore", "ralph-tui"),
    ("session begins", "keeper stop"),
    ("tool at work", "both"),
]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for each moment: on a busy machine, no blow comes at a random moment instead."""
    monkeypatch.setattr(killing, "patience", lambda rng, name: 30 + patience(rng, name))


def test_a_run_goes_on_whole_after_kills_and_stops_of_its_processes(tmp_path: Path) -> None:
    moments, targets = [moment for moment, _ in BLOWS], [target for _, target in BLOWS]
    figures = Figures()
    trial = Trial(tmp_path / "run", "steady", Random(3), figures, attended=0, iterations=8)
    try:
        trial.play(0, moments, targets)
    finally:
        trial.close()
    assert figures.problems == []
    assert [moment for moment, _ in figures.kills] == moments
    # If its git ended before the signal came, ralph-tui was killed instead.
    assert [
        target if (hit, target) == ("ralph-tui", "git") else hit
        for (_, hit), target in zip(figures.kills, targets, strict=True)
    ] == targets
    assert figures.outcomes.total() == figures.restores == 1
    assert (figures.events_lost, figures.files_lost) == (0, 0)
    assert figures.events_before > 0
    assert figures.gits >= 1
    assert figures.stops >= 1


def test_what_is_lost_is_noticed(tmp_path: Path) -> None:
    folder, figures = prepare(tmp_path / "project"), Figures()
    checker = RunChecker(folder, figures)
    checker.compare(b"", b"1\n2\n3\n4")
    checker.compare(b"1\n2\n3\n4\n", b"1\n2\n3\n4\n5")
    assert (figures.events_lost, figures.events_before) == (0, 4)
    checker.compare(b"", b"1\n3\n")
    assert figures.events_lost == 2
    assert differences(folder, "HEAD") == ["README.md"]
    git(folder, "checkout", "--quiet", "HEAD", "README.md")
    assert differences(folder, "HEAD") == ["a file that the snapshot does not hold"]
    (folder / "tool.sh").chmod(0o644)
    changed = {name for name, was in checker.mine.items() if protected_files(folder)[name] != was}
    assert changed == {"README.md", "tool.sh", "index"}


def test_silence_about_a_snapshot_and_locks_are_noticed(tmp_path: Path) -> None:
    def fact(kind: type[Event], **fields: Any) -> Event:
        return kind.model_construct(None, **fields)

    begins, ends = fact(IterationStarted, iteration=1), fact(IterationFinished, iteration=1)
    taken = fact(SnapshotTaken)
    reported = fact(Noticed, level="error", text=f"{NOT_TAKEN}: git was ended")
    assert missing_snapshots([begins, ends]) == [1]
    assert missing_snapshots([taken, begins, ends]) == [1]
    assert missing_snapshots([begins, taken, ends]) == []
    assert missing_snapshots([begins, reported, ends]) == []
    for name in ("ralph-tui/index.lock", "refs/ralph/run/001.lock", "refs/heads/main.lock"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert locks_of(tmp_path) == ["refs/heads/main.lock"]
