"""Runs of the demo, really killed: nothing is lost, and each goes on to its end.

`make soak` does the same at 200 moments.
"""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from ralph_tui.events import Event, IterationFinished, IterationStarted, Noticed, SnapshotTaken
from tests.soak import killing
from tests.soak.blows import Target
from tests.soak.figures import Figures
from tests.soak.killing import Trial
from tests.soak.looking import NOT_TAKEN, Look, locks_of, untold
from tests.soak.moments import patience
from tests.soak.place import differences, git, owned, prepare

MOMENTS = [
    # The restore takes the work back to its beginning: the run lasts long enough for what follows.
    ("steady", ["verification", "session begins", "restore", "snapshot", "projection rename"]),
    ("stuck", ["tool at work", "append", "question"]),
]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each moment is waited for: on a busy machine none is given up for one at random."""
    monkeypatch.setattr(killing, "patience", lambda rng, name: 30 + patience(rng, name))


@pytest.mark.parametrize(("scenario", "moments"), MOMENTS, ids=[name for name, _ in MOMENTS])
@pytest.mark.usefixtures("patient")
def test_a_killed_run_comes_to_its_end(tmp_path: Path, scenario: str, moments: list[str]) -> None:
    figures, asks = Figures(), "question" in moments
    trial = Trial(tmp_path / "run", scenario, Random(8), figures, attended=float(asks))
    try:
        trial.play(0, moments, ["both", "ralph-tui", "ralph-tui", "ralph-tui", "both"])
    finally:
        trial.close()
    assert figures.problems == []
    assert [moment for moment, _ in figures.kills] == moments
    assert figures.outcomes.total() == figures.restores == 1
    assert (figures.events_lost, figures.files_lost) == (0, 0)
    assert figures.events_before > 0
    assert figures.asked_again == asks


@pytest.mark.usefixtures("patient")
def test_a_run_that_is_killed_while_a_session_hands_over_goes_on_whole(tmp_path: Path) -> None:
    """`make soak ARGS="--rollovers --kills 30"` does the same more often."""
    moments = ["rollover begins", "handoff", "taken over"]
    figures = Figures()
    trial = Trial(tmp_path / "run", "context", Random(5), figures, attended=0, rollovers=True)
    try:
        trial.play(0, moments, ["ralph-tui", "both", "ralph-tui"])
    finally:
        trial.close()
    assert figures.problems == []
    assert [moment for moment, _ in figures.kills] == moments
    assert figures.outcomes == {"completed": 1}
    assert (figures.events_lost, figures.files_lost) == (0, 0)


@pytest.mark.usefixtures("patient")
def test_a_run_goes_on_after_stops_and_kills_of_git(tmp_path: Path) -> None:
    moments = ["git begins", "verification", "tool at work", "git begins", "snapshot"]
    targets: list[Target] = ["git", "stopped", "keeper stop", "git, both", "stop, kill"]
    figures = Figures()
    # A run that does not end before all of them have come.
    trial = Trial(tmp_path / "run", "stuck", Random(3), figures, attended=0)
    try:
        trial.play(0, moments, targets)
    finally:
        trial.close()
    assert figures.problems == []
    # A git that had ended before the signal came leaves its blow to ralph-tui.
    hits = [hit for _, hit in figures.kills]
    assert [
        t if hit == "ralph-tui" and t.startswith("git") else hit
        for t, hit in zip(targets, hits, strict=True)
    ] == targets
    assert figures.gits > 0
    assert (figures.events_lost, figures.files_lost) == (0, 0)
    assert figures.outcomes.total() == figures.restores == 1
    assert figures.gits >= 2
    assert figures.stops >= 3


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


def test_silence_about_a_snapshot_and_locks_are_noticed(tmp_path: Path) -> None:
    def fact(kind: type[Event], **fields: Any) -> Event:
        return kind.model_construct(None, **fields)

    begins, ends = fact(IterationStarted, iteration=1), fact(IterationFinished, iteration=1)
    taken = fact(SnapshotTaken)
    told = fact(Noticed, level="error", text=f"{NOT_TAKEN}: git was ended")
    assert untold([begins, ends]) == [1]
    assert untold([taken, begins, ends]) == [1]
    assert untold([begins, taken, ends]) == []
    assert untold([begins, told, ends]) == []
    for name in ("ralph-tui/index.lock", "refs/ralph/run/001.lock", "refs/heads/main.lock"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert locks_of(tmp_path) == ["refs/heads/main.lock"]
