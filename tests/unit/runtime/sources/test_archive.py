"""The runs of a worktree, as a search from a screen sees them."""

from dataclasses import replace
from pathlib import Path

import pytest

from ralph_tui.adapters.search.related import related_tasks
from ralph_tui.base.errors import UsageError
from ralph_tui.ports.search import Found
from ralph_tui.runtime.sources.archive import ArchivedRuns, worktree_of
from ralph_tui.state import RunState
from tests.foreign import STATE, External, entry, spoke, unpacked, used
from tests.unit.adapters.search.journals import a_run, attempt, write


@pytest.fixture
def runs(tmp_path: Path) -> ArchivedRuns:
    write(attempt(tmp_path), a_run())
    return ArchivedRuns(lambda: worktree_of(attempt(tmp_path)))


def test_what_is_found_opens_at_its_event_and_holds(runs: ArchivedRuns) -> None:
    found = next(one for one in runs.search("oauth mock") if one.what == "outcome")
    source = runs.recorded(found)
    state = source.poll(RunState(), 0.0)
    assert state.seq == found.seq
    assert source.player is not None
    assert not source.player.playing
    assert not source.live
    assert state.run.started is not None
    assert state.run.started.objective == found.objective


@pytest.mark.parametrize("seq", [-5, 0, 10**9])
def test_an_event_that_is_not_there_is_the_nearest_that_is(runs: ArchivedRuns, seq: int) -> None:
    source = runs.recorded(Found(what="outcome", run="task-001/001", text="", seq=seq))
    state = source.poll(RunState(), 0.0)
    assert state.seq == (1 if seq < 1 else len(a_run()))


@pytest.mark.parametrize(
    "name", ["task-009/001", "../../etc", "/etc/passwd", ".", "", "task-001", "\0"]
)
def test_an_index_opens_no_path_but_that_of_a_run(runs: ArchivedRuns, name: str) -> None:
    with pytest.raises(UsageError):
        runs.recorded(Found(what="action", run=name, text=""))


def test_a_journal_elsewhere_is_not_opened_though_the_index_names_it(
    runs: ArchivedRuns, tmp_path: Path
) -> None:
    outside = write(attempt(tmp_path / "other"), a_run())
    found = Found(what="action", run=str(outside), text="")
    with pytest.raises(UsageError, match="no longer exists"):
        runs.recorded(found)
    with pytest.raises(UsageError, match="no longer exists"):
        runs.recorded(replace(found, run=str(attempt(tmp_path))))


def test_the_worktree_is_that_of_the_run_that_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(attempt(tmp_path / "there"), a_run())
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert worktree_of(attempt(tmp_path / "there")) == tmp_path / "there"
    assert worktree_of(None) == tmp_path / "here"
    assert worktree_of(tmp_path / "a" / "copied" / "journal" / "of" / "a" / "run") == (
        tmp_path / "here"
    )


def test_a_run_of_another_tool_is_found_by_its_name_and_opens_there(tmp_path: Path) -> None:
    root = unpacked("ref-stuck", tmp_path)
    runs = ArchivedRuns(lambda: root)
    found = runs.search("auth")
    assert {"objective", "action", "outcome"} <= {one.what for one in found}
    for one in found:
        assert one.run == "aiwg/aabdb08a"
        assert one.objective == "Implement user authentication"
        state = runs.recorded(one).poll(RunState(), 0.0)
        assert (state.seq, state.run.started and state.run.started.attempt) == (one.seq, "aabdb08a")
        assert state.run.iteration == one.iteration


def test_a_run_of_another_tool_is_read_again_when_it_changed_and_forgotten_when_it_went(
    tmp_path: Path,
) -> None:
    foreign = External(tmp_path)
    runs = ArchivedRuns(lambda: tmp_path)
    foreign.state(entry(1, 30), objective="Paint the zebra")
    assert [one.what for one in runs.search("zebra")] == ["objective"]
    foreign.state(entry(1, 30), entry(2, 60), objective="Paint the zebra")
    foreign.printed(2, spoke("The zebra has stripes"), used("t", command="ls"))
    assert [one.what for one in runs.search("zebra stripes")] == ["action", "objective"]
    foreign.state(entry(1, 30), entry(2, 60), objective="Paint the giraffe")
    assert [one.what for one in runs.search("giraffe")] == ["objective"]
    assert related_tasks(tmp_path, "Paint the giraffes") == []  # it is not one of our tasks
    assert runs.search("giraffe") != []
    (foreign.folder / STATE).unlink()
    assert runs.search("giraffe") == []


def test_a_loop_of_hooks_is_found(tmp_path: Path) -> None:
    write(tmp_path / ".aiwg" / "ralph" / "hooks" / "loop-1", a_run("Watch the okapi"))
    runs = ArchivedRuns(lambda: tmp_path)
    (found,) = runs.search("okapi")
    assert found.run == "hooks/loop-1"
    assert runs.recorded(found).poll(RunState(), 0.0).seq == 1
    assert related_tasks(tmp_path, "Watch the okapis") == []
