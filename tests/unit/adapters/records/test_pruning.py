"""Pruning lists and deletes real files and refs, and leaves everything else alone."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from ralph_tui.adapters.records.lock import acquire
from ralph_tui.adapters.records.pruning import Listing, OldFile, known_run_ids, old_runs, remove
from ralph_tui.adapters.workspace.hidden_refs import delete_refs, hidden_refs, worktrees
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.base.errors import WorkspaceError
from tests.rows import each_row

NOW = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
LOGS = {
    "terminal.log",
    "results/iter-000/verification.log",
    "results/iter-001/transcript.jsonl",
    "results/iter-001/stderr.log",
    "results/iter-001/verification.log",
}
RECORDS = {
    *("status.json", "results/iter-001/prompt.md", "results/iter-001/verification.json"),
    *("results/notes/transcript.jsonl", "results/iter-001/deeper/transcript.jsonl"),
    *("transcript.jsonl", "results/transcript.jsonl"),
}
"""The last ones have the right name in a folder that is not ours."""


def run_id(number: int) -> str:
    return str(UUID(int=number))


def tasks(root: Path) -> Path:
    return root / ".aiwg/ralph/tasks/task-001/attempts"


def make_run(
    root: Path, number: int, *, days: float = 1, kind: str = "run_finished", **start: Any
) -> Path:
    """An attempt that ended this many days ago, with every kind of file."""
    folder = tasks(root) / f"{number:03}"
    for name in LOGS | RECORDS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name} of {number}\n")
    at = (NOW - timedelta(days=days)).isoformat()
    lines: list[dict[str, Any]] = [
        {"seq": 1, "at": at, "kind": "run_started", "run_id": run_id(number)} | start,
        {"seq": 2, "at": at, "kind": kind, "outcome": "completed"},
    ]
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def listed(root: Path, *, keep: int = 0, days: float = 0, dead: bool = False) -> Listing:
    return old_runs(root, keep=keep, age=timedelta(days=days), dead=dead, now=NOW)


def files(listing: Listing) -> list[OldFile]:
    return [file for run in listing.runs for file in run.files]


def names(listing: Listing) -> list[str]:
    return [run.run.name.removeprefix("task-001/") for run in listing.runs]


def tree(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


# -- files -----------------------------------------------------------------------------------------


def test_only_logs_in_their_places_are_listed_and_removed(tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1)
    before = tree(tmp_path)
    listing = listed(tmp_path)
    assert {file.path.relative_to(folder).as_posix() for file in files(listing)} == LOGS
    assert listing.runs[0].size == sum(len(f"{name} of 1\n") for name in LOGS)
    assert tree(tmp_path) == before, "to list is not to touch"
    assert all(remove(tmp_path, file) for file in files(listing))
    gone = {folder.relative_to(tmp_path).joinpath(name).as_posix() for name in LOGS}
    assert tree(tmp_path) == {path: text for path, text in before.items() if path not in gone}
    assert files(listed(tmp_path)) == []


def test_the_newest_by_their_ends_are_kept(tmp_path: Path) -> None:
    for number, days in enumerate((9, 1, 5, 3), 1):
        make_run(tmp_path, number, days=days)
    assert names(listed(tmp_path)) == ["001", "003", "004", "002"]
    assert names(listed(tmp_path, keep=2)) == ["001", "003"]
    assert names(listed(tmp_path, keep=9)) == []
    assert names(listed(tmp_path, days=4)) == ["001", "003"]
    assert names(listed(tmp_path, keep=3, days=4)) == ["001"]
    assert listed(tmp_path, keep=2).kept_ids == {run_id(2), run_id(4)}


def test_a_living_run_is_left_alone_and_named(tmp_path: Path) -> None:
    make_run(tmp_path, 1)
    make_run(tmp_path, 2, kind="step_entered")
    lock = acquire(tmp_path / ".aiwg/ralph/lock", "task-001/002", run_id(2), "now")
    try:
        listing = listed(tmp_path, dead=True)
    finally:
        lock.release()
    assert names(listing) == ["001"]
    assert listing.left == (f"task-001/002: it is running (process {os.getpid()})",)
    assert listing.kept_ids == {run_id(2)}


def test_a_run_without_an_end_is_left_alone_unless_asked_for(tmp_path: Path) -> None:
    make_run(tmp_path, 1, kind="step_entered")
    make_run(tmp_path, 2, kind="run_crashed")
    assert names(listed(tmp_path)) == ["002"]
    assert (
        "001: it has no recorded end; 'ralph-tui resume' continues it" in listed(tmp_path).left[0]
    )
    dead = listed(tmp_path, dead=True)
    assert [run.outcome for run in dead.runs] == ["died", "failed"]


def test_a_damaged_journal_is_left_alone_unless_asked_for(tmp_path: Path) -> None:
    """Data that a resume from before the bad line needs is not deleted."""
    journal = make_run(tmp_path, 1) / "events.jsonl"
    first, *rest = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([first, "garbage\n", *rest]))
    listing = listed(tmp_path)
    assert names(listing) == []
    assert "001: its journal has a bad line" in listing.left[0]
    assert listing.kept_ids == {run_id(1)}
    assert names(listed(tmp_path, dead=True)) == ["001"]
    without_end = make_run(tmp_path, 2, kind="step_entered") / "events.jsonl"
    without_end.write_text("garbage\n".join(without_end.read_text().splitlines(keepends=True)))
    assert "002: its journal has a bad line" in listed(tmp_path).left[1]


@each_row(
    "text",
    [
        "",
        "{}\n",
        "no journal\n",
        '{"kind": "run_started", "run_id": "../heads", "at": 3}\n',
        "[]\n",
    ],
)
def test_what_is_no_journal_is_left_alone(tmp_path: Path, text: str) -> None:
    (make_run(tmp_path, 1) / "events.jsonl").write_text(text)
    listing = listed(tmp_path)
    assert listing.runs == ()
    assert listing.left == ("task-001/001: its journal cannot be read",)


@each_row("foreign", ["../heads", "", "*", run_id(1).upper() + "x", 7])
def test_a_run_id_that_is_not_ours_is_no_run(tmp_path: Path, foreign: object) -> None:
    make_run(tmp_path, 1, run_id=foreign)
    assert listed(tmp_path).runs == ()


def test_a_torn_journal_of_an_ended_run_is_pruned_all_the_same(tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1)
    with (folder / "events.jsonl").open("a") as file:
        file.write('{"seq":3,"at":"20')
    assert names(listed(tmp_path)) == ["001"]


def test_a_late_word_behind_the_end_is_no_life_but_work_is(tmp_path: Path) -> None:
    for number, kind in ((1, "escalation_delivered"), (2, "step_entered")):
        late = {"seq": 3, "at": NOW.isoformat(), "kind": kind}
        with (make_run(tmp_path, number) / "events.jsonl").open("a") as file:
            file.write(json.dumps(late) + "\n")
    assert names(listed(tmp_path)) == ["001"]


@each_row("level", [".aiwg", ".aiwg/ralph", "", "results", "results/iter-001"])
def test_nothing_behind_a_symbolic_link_is_listed(tmp_path: Path, level: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    folder = make_run(root, 1)
    linked = root / level if level.startswith(".") else folder / level
    linked.rename(outside)
    linked.symlink_to(outside)
    before = tree(outside)
    assert not any(file.path.is_relative_to(linked) for file in files(listed(root)))
    assert tree(outside) == before


def test_a_link_in_the_place_of_a_log_is_not_listed(tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1)
    log = folder / "terminal.log"
    log.rename(tmp_path / "precious")
    log.symlink_to(tmp_path / "precious")
    assert log not in [file.path for file in files(listed(tmp_path))]


def test_what_was_put_there_since_stays(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "root", 1)
    found = files(listed(tmp_path / "root"))
    (folder / "terminal.log").unlink()
    (folder / "terminal.log").write_text("terminal.log of 2\n")  # equally long, but different
    outside = tmp_path / "outside"
    (folder / "results/iter-001").rename(outside)
    (folder / "results/iter-001").symlink_to(outside)
    (folder / "results/iter-000/verification.log").unlink()
    before = tree(outside)

    assert [file.path.name for file in found if remove(tmp_path / "root", file)] == []
    assert tree(outside) == before
    assert (folder / "terminal.log").read_text() == "terminal.log of 2\n"


# -- refs ------------------------------------------------------------------------------------------


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@contextmanager
def nothing_else_changes(root: Path) -> Iterator[None]:
    def present() -> list[str]:
        refs = git(root, "for-each-ref").splitlines()
        mine = [line for line in refs if run_id(1) not in line]
        return [*mine, git(root, "status", "--porcelain=v2"), git(root, "stash", "list")]

    before = present()
    yield
    assert present() == before


def add_ref(root: Path, name: str, target: str = "HEAD") -> None:
    git(root, "update-ref", name, target)


def test_refs_are_deleted_exactly_as_listed(git_repo: Path) -> None:
    for number in (1, 2):
        for snapshot in ("001", "002", "1000"):
            add_ref(git_repo, f"refs/ralph/{run_id(number)}/{snapshot}")
    strangers = ("mine", f"{run_id(1)}x/001", f"{run_id(3)}/001/deep", f"{run_id(3)}/note")
    for stranger in strangers:
        add_ref(git_repo, f"refs/ralph/{stranger}")
    link = f"refs/ralph/{run_id(4)}/001"
    git(git_repo, "symbolic-ref", link, "refs/heads/main")
    repository = open_repository(git_repo)
    found = hidden_refs(repository)
    assert {(ref.run_id, ref.name[-4:]) for ref in found} == {
        (run_id(number), tail) for number in (1, 2) for tail in ("/001", "/002", "1000")
    }
    first = [ref for ref in found if ref.run_id == run_id(1)]
    git(git_repo, "update-ref", "-d", f"refs/ralph/{run_id(1)}x/001")
    with nothing_else_changes(git_repo):
        assert delete_refs(repository, first) == 3
    assert [ref.run_id for ref in hidden_refs(repository)] == [run_id(2)] * 3
    assert git(git_repo, "rev-parse", link) == git(git_repo, "rev-parse", "main")


def test_a_ref_that_has_moved_or_gone_since_stays_as_it_is(git_repo: Path) -> None:
    refs = [f"refs/ralph/{run_id(1)}/{number:03}" for number in range(1, 5)]
    for ref in refs:
        add_ref(git_repo, ref)
    repository = open_repository(git_repo)
    found = hidden_refs(repository)
    moved = git(git_repo, "hash-object", "-w", "README.md")
    add_ref(git_repo, refs[1], moved)
    git(git_repo, "update-ref", "-d", refs[2])
    with nothing_else_changes(git_repo):
        assert delete_refs(repository, found) == 2
    assert git(git_repo, "for-each-ref", "--format=%(refname) %(objectname)", "refs/ralph") == (
        f"{refs[1]} {moved}"
    )


def test_packed_refs_are_deleted_and_hooks_hear_nothing(git_repo: Path) -> None:
    add_ref(git_repo, f"refs/ralph/{run_id(1)}/001")
    git(git_repo, "pack-refs", "--all")
    hook = git_repo / ".git/hooks/reference-transaction"
    hook.write_text("#!/bin/sh\ntouch heard\nexit 1\n")
    hook.chmod(0o755)
    repository = open_repository(git_repo)
    assert delete_refs(repository, hidden_refs(repository)) == 1
    assert hidden_refs(repository) == []
    assert not (git_repo / "heard").exists()


def test_what_git_cannot_delete_is_said(git_repo: Path) -> None:
    ref = f"refs/ralph/{run_id(1)}/001"
    add_ref(git_repo, ref)
    repository = open_repository(git_repo)
    (git_repo / f".git/{ref}.lock").touch()
    with pytest.raises(WorkspaceError, match="git update-ref failed"):
        delete_refs(repository, hidden_refs(repository))
    assert len(hidden_refs(repository)) == 1


def test_runs_of_other_worktrees_are_known(git_repo: Path, tmp_path: Path) -> None:
    make_run(git_repo, 1)
    git(git_repo, "worktree", "add", "-q", "--detach", str(tmp_path / "other"))
    make_run(tmp_path / "other", 2)
    repository = open_repository(git_repo)
    lock = acquire(tmp_path / "other/.aiwg/ralph/lock", "", run_id(3), "now")
    try:
        roots = worktrees(repository)
        assert set(roots) == {git_repo, tmp_path / "other"}
        assert known_run_ids(roots) == {run_id(1), run_id(2), run_id(3)}
    finally:
        lock.release()


def test_runs_of_a_fleets_loops_are_known(tmp_path: Path) -> None:
    make_run(tmp_path, 1)
    mirror = tmp_path / ".aiwg/ralph/fleets/fleet-001/loops/2/attempts/001"
    mirror.parent.mkdir(parents=True)
    make_run(tmp_path / "clone", 2).rename(mirror)
    assert known_run_ids([tmp_path]) == {run_id(1), run_id(2)}


def test_orphans_are_not_told_where_something_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="is missing, so its snapshots look like orphans"):
        known_run_ids([tmp_path / "gone"])
    (make_run(tmp_path, 1) / "events.jsonl").write_text("torn")
    with pytest.raises(WorkspaceError, match=r"events\.jsonl cannot be read, so its snapshots"):
        known_run_ids([tmp_path])
