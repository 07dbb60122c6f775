"""Which snapshot of a run is selected, how it is listed, and what a failed restore leaves."""

import os
import re
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.adapters.records.journal import Journal, read_journal
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.base.errors import UsageError, WorkspaceError
from ralph_tui.ports.worktree import Restored
from ralph_tui.runtime.restoring import (
    describe_missing,
    find_snapshot,
    list_snapshots,
    restore_worktree,
)
from ralph_tui.state import RunState
from tests.rows import each_row
from tests.workspaces import workspace_of
from tests.world import FakeClock

RUN = "1d3a0c0e-0000-4000-8000-000000000001"
START = ev.RunStarted(
    program_version="0",
    run_id=RUN,
    task="task-001",
    attempt="001",
    root="/nowhere",
    objective="Work",
    command="true",
    agent="command",
    max_iterations=5,
    session_timeout_s=60,
)


def taken(number: int, iteration: int = 0, **more: object) -> ev.SnapshotTaken:
    fields = {"ref": f"refs/ralph/{RUN}/{number:03d}", "commit": "c" * 40, "tree": "d" * 40}
    return ev.SnapshotTaken.model_validate(
        {"number": number, "iteration": iteration, **fields, **more}
    )


def reading(iteration: int, completion: float) -> ev.ReadingTaken:
    return ev.ReadingTaken(iteration=iteration, completion=completion, source="tests", step=0.0)


def iteration(k: int, snapshot: int, completion: float, *, held: bool = True) -> list[ev.Event]:
    """One iteration; not `held`: its snapshot failed, and the previous boundary remains."""
    return [
        ev.IterationStarted(iteration=k, max_iterations=5),
        ev.CheckpointCaptured(iteration=k, number=1, trigger="start", snapshot=snapshot - 1),
        *([taken(snapshot, k)] if held else []),
        ev.CheckpointCaptured(iteration=k, number=2, trigger="end", snapshot=snapshot - (not held)),
        reading(k, completion),
    ]


def folded(*events: ev.Event) -> RunState:
    stamped = (event.model_copy(update={"seq": n}) for n, event in enumerate(events, 1))
    return RunState().apply_all(stamped)


BASELINE = (
    START,
    taken(1),
    ev.CheckpointCaptured(iteration=0, number=1, trigger="start", snapshot=1),
    reading(0, 10.0),
)


def test_the_points_of_a_run() -> None:
    back = ev.WorktreeRestored(iteration=2, snapshot=2, present=4, tree="d" * 40)
    later = (taken(4, 2), back, taken(5, 2))
    state = folded(*BASELINE, *iteration(1, 2, 60.0), *iteration(2, 3, 40.0), *later)
    known = list_snapshots(state, frozenset({1, 2, 4}))
    assert [point.taken.number for point in known] == [1, 2, 3, 4, 5]
    assert [point.completion for point in known] == [10.0, 60.0, 40.0, None, None]
    assert [point.taken.number for point in known if point.best] == [2]
    assert [point.taken.number for point in known if point.undo] == [4]
    assert [point.taken.number for point in known if not point.held] == [3, 5]
    assert find_snapshot(state, "best").number == 2
    assert [find_snapshot(state, f"iter-{k}").number for k in range(3)] == [1, 2, 3]
    assert find_snapshot(state, "004").number == 4


def test_a_restore_that_was_begun_holds_what_was_there() -> None:
    began = ev.RestoreBegan(iteration=1, snapshot=1, present=3)
    state = folded(*BASELINE, *iteration(1, 2, 60.0), taken(3, 1), began)
    assert [point.taken.number for point in list_snapshots(state, frozenset()) if point.undo] == [3]


def test_an_iteration_without_a_snapshot_left_nothing_behind() -> None:
    state = folded(*BASELINE, *iteration(1, 2, 60.0, held=False))
    with pytest.raises(UsageError, match="no snapshot at the end of iteration 1"):
        find_snapshot(state, "iter-1")
    assert [point.completion for point in list_snapshots(state, frozenset())] == [10.0]


def test_nothing_was_measured() -> None:
    with pytest.raises(UsageError, match="no best snapshot"):
        find_snapshot(folded(START), "best")
    assert list_snapshots(folded(START), frozenset()) == []


@each_row(
    "word",
    ["", "iter-", "worst", "1.5", "iter-iter-1", "²", "iter-\x1b]0;x\x07", "+1", "-1", "9" * 99],
)
def test_words_that_mean_nothing(word: str) -> None:
    with pytest.raises(UsageError, match="use a number, best, or iter-N") as error:
        find_snapshot(folded(*BASELINE), word)
    assert str(error.value).isprintable()


@given(st.text() | st.from_regex(r"(iter-)?[0-9]{1,12}", fullmatch=True))
def test_only_the_words_for_it_mean_a_point(word: str) -> None:
    if re.fullmatch(r"0{0,8}1|iter-0{1,9}|best", word):
        assert find_snapshot(folded(*BASELINE), word).number == 1
    else:
        with pytest.raises(UsageError):
            find_snapshot(folded(*BASELINE), word)


def test_what_a_snapshot_lacks() -> None:
    assert describe_missing(taken(1)) == ""
    one = taken(1, missing=["a.bin"], missing_count=1)
    assert describe_missing(one) == "1 path that it does not contain stays unchanged: a.bin"
    many = taken(1, missing=["a", "b", "c", "d"], missing_count=30)
    assert (
        describe_missing(many)
        == "30 paths that it does not contain stay unchanged: a, b, c and 27 more"
    )


class Breaking(GitWorkspace):
    """Fails after it has touched a file."""

    def restore(self, tree: str) -> Restored:
        (self.root / "README.md").write_text("half\n")
        raise WorkspaceError("the disk is gone")


class Interrupted(GitWorkspace):
    """Simulates ctrl+c in the middle."""

    def restore(self, tree: str) -> Restored:
        os.kill(os.getpid(), signal.SIGINT)
        return super().restore(tree)


@pytest.fixture
def journal(git_repo: Path, tmp_path: Path) -> Path:
    """The journal of a run whose snapshot 1 equals the repository."""
    workspace = workspace_of(git_repo, RUN)
    first = workspace.snapshot(1, "first")
    record = Journal(tmp_path / "events.jsonl", FakeClock())
    record.append(START)
    record.append(taken(1, ref=first.ref, commit=first.commit, tree=first.tree))
    record.close()
    (git_repo / "README.md").write_text("changed\nby me\n")
    (git_repo / "new.txt").write_text("new\n")
    return record.path


def after(journal: Path) -> list[ev.Event]:
    return read_journal(journal).events[2:]


def test_one_that_fails_half_way_says_how_to_get_back(git_repo: Path, journal: Path) -> None:
    recording = read_journal(journal)
    state = RunState().apply_all(recording.events)
    breaking = workspace_of(git_repo, RUN, Breaking)
    with pytest.raises(WorkspaceError, match="restore snapshot 2, which"):
        restore_worktree(recording, state, breaking, find_snapshot(state, "1"), "me")
    kinds = [event.kind for event in after(journal)]
    assert kinds == ["snapshot_taken", "restore_began", "noticed"]
    recording = read_journal(journal)
    state = RunState().apply_all(recording.events)
    workspace = workspace_of(git_repo, RUN)
    restored, held = restore_worktree(recording, state, workspace, find_snapshot(state, "2"), "me")
    assert (restored.present, restored.paths, held) == (3, ["README.md"], True)
    assert (git_repo / "README.md").read_text() == "changed\nby me\n"


def test_ctrl_c_comes_too_late(git_repo: Path, journal: Path) -> None:
    recording = read_journal(journal)
    state = RunState().apply_all(recording.events)
    workspace = workspace_of(git_repo, RUN, Interrupted)
    handler = signal.getsignal(signal.SIGINT)
    restore_worktree(recording, state, workspace, find_snapshot(state, "1"), "me")
    assert signal.getsignal(signal.SIGINT) is handler
    assert (git_repo / "README.md").read_text() == "# sample\n"
    assert [event.kind for event in after(journal)][-1] == "snapshot_taken"


def test_what_would_change_is_told_as_the_restore_does_it(git_repo: Path, journal: Path) -> None:
    state = RunState().apply_all(read_journal(journal).events)
    workspace = workspace_of(git_repo, RUN)
    changes = [change for change, _ in workspace.preview_restore(find_snapshot(state, "1").tree)]
    assert [(c.path, c.status, c.added, c.removed) for c in changes] == [
        ("README.md", "modified", 1, 2),
        ("new.txt", "deleted", 0, 1),
    ]
