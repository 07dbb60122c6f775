"""Merge conflicts between branches, found by real git merges that leave nothing behind."""

import os
import shutil
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ralph_tui.adapters.clones import conflicts
from ralph_tui.adapters.clones.conflicts import GONE, MAX_PAIRS, Conflicts, ConflictTable
from ralph_tui.adapters.workspace import git_calls
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.fleet.events import ConflictsFound, ResultCollected
from ralph_tui.fleet.state import FleetState
from ralph_tui.fleet.wording import conflict_sentences
from tests.fleet_events import SIX, started
from tests.hosted import git


@pytest.fixture
def base(root: Path) -> str:
    return git(root, "rev-parse", "HEAD")


def a_commit(root: Path, name: str, text: str, *, orphan: bool = False) -> str:
    """Commit on a new branch from the base, with this text in `checks.sh`."""
    how = ("--orphan", name) if orphan else ("-b", name, "main")
    git(root, "checkout", "-q", *how)
    (root / "checks.sh").write_text(text)
    git(root, "commit", "-q", "-am", name)
    git(root, "checkout", "-q", "main")
    return git(root, "rev-parse", name)


def forgotten(root: Path, branch: str) -> None:
    """Delete a branch, and let git clean up."""
    git(root, "branch", "-q", "-D", branch)
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")


def test_conflicts_are_told_and_nothing_is_written(
    root: Path, users: Repository, base: str
) -> None:
    one, two = a_commit(root, "one", "1"), a_commit(root, "two", "2")
    objects = sorted((root / ".git" / "objects").rglob("*"))
    found = ConflictTable(users).of(one, {"ralph/night/2": two, "main": base})
    assert found == Conflicts({"ralph/night/2": ("checks.sh",)})
    assert sorted((root / ".git" / "objects").rglob("*")) == objects


def test_one_without_common_history_is_a_conflict_and_hides_no_other(
    root: Path, users: Repository, base: str
) -> None:
    one, two = a_commit(root, "one", "1"), a_commit(root, "two", "2")
    orphans = {name: a_commit(root, name, name, orphan=True) for name in ("a", "b", "c")}
    table = ConflictTable(users)
    common = {"one": one, "two": two, "main": base}
    for name, commit in orphans.items():
        reported = table.of(commit, common | {"a": orphans["a"]} if name != "a" else common)
        assert reported.unknown == ""
        assert reported.others == dict.fromkeys(
            [*common, *(["a"] if name != "a" else [])], ("no common history",)
        )
    reported = table.of(one, {"two": two, "main": base} | orphans)
    assert reported.unknown == ""
    assert reported.others.pop("two") == ("checks.sh",)
    assert reported.others == dict.fromkeys(orphans, ("no common history",))

    state = FleetState().replay([started(SIX)])
    for event in (
        ResultCollected(loop="1", branch="ralph/F/1", commit=one),
        ConflictsFound(branch="ralph/F/1", others={"ralph/F/orphan": reported.others["a"]}),
    ):
        state.apply(event)
    said = list(conflict_sentences(state.loops["1"]))
    assert said == ["conflicts with ralph/F/orphan: no common history"]


def test_a_commit_that_is_gone_is_left_out_and_hides_no_other(
    root: Path, users: Repository, base: str
) -> None:
    one, two, three = (a_commit(root, name, name) for name in ("one", "two", "three"))
    table = ConflictTable(users)
    assert table.of(one, {"two": two}).others == {"two": ("checks.sh",)}
    forgotten(root, "three")
    others = {"three": three, "main": base, **{f"x{digit}": digit * 40 for digit in "0f8"}}
    assert table.of(one, others) == Conflicts(), "a missing file cannot conflict"
    forgotten(root, "one")
    assert table.of(one, {"two": two, "main": base}).unknown == "", "all of it is known"
    shown = table.of(one, {"two": two, "main": base, "new": a_commit(root, "new", "new")})
    assert shown == Conflicts({"two": ("checks.sh",)}, GONE), "known facts are still reported"
    assert not any(digit in GONE for digit in "0123456789")


def test_a_file_beside_a_folder_is_called_as_its_owner_calls_it_and_told_once(
    root: Path, users: Repository
) -> None:
    foreign = f"kept~{'a' * 40}"
    for name in ("thing", foreign):
        (root / name).write_text("base\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "thing")
    git(root, "checkout", "-q", "-b", "one")
    (root / "thing").write_text("one\n")
    (root / foreign).write_text("one\n")
    git(root, "commit", "-qam", "one")
    one = git(root, "rev-parse", "HEAD")
    git(root, "checkout", "-q", "-b", "two", "main")
    (root / foreign).write_text("two\n")
    (root / "thing").unlink()
    (root / "thing").mkdir()
    (root / "thing" / "part").write_text("two\n")
    taken = root / f"thing~{one}"  # the name that git would use
    taken.write_text("two\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "two")
    two = git(root, "rev-parse", "HEAD")

    words = ["git", "merge-tree", "--write-tree", "--name-only", "--no-messages", one, two]
    said = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False).stdout
    assert f"thing~{one}_0" in said, "git names it after the commit, and numbers it"
    assert ConflictTable(users).of(one, {"two": two}).others == {"two": (foreign, "thing")}


def test_what_was_told_before_a_git_had_to_be_ended_is_kept(
    root: Path, users: Repository, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = a_commit(root, "one", "1"), a_commit(root, "two", "2")
    tree = git(root, "rev-parse", f"{two}^{{tree}}")
    others = {
        f"b{number}": git(root, "commit-tree", tree, "-p", base, "-m", str(number))
        for number in range(MAX_PAIRS + 1)
    }
    begun = tmp_path / "begun"
    begun.mkdir()
    once = f"[ -e {begun}/1 ] && exec sleep 1000; : > {begun}/1; "
    table = ConflictTable(users)
    with monkeypatch.context() as changed:
        _other_git(tmp_path, changed, f'*" merge-tree "*) {once}exec {_GIT} "$@";; ')
        changed.setattr(git_calls, "LIMIT_S", 0.5)
        changed.setattr(git_calls, "FILES_PER_S", 10**9)
        reported = table.of(one, others)
        assert len(reported.others) == MAX_PAIRS
        assert "git merge-tree was still running after" in reported.unknown
        (begun / "1").unlink()
        again = table.of(one, others)
        assert again == reported, "the same message is repeated"
        assert not (begun / "1").exists(), "and no other git waits as long for each loop"
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + conflicts.REST_S)
    monkeypatch.setattr(conflicts, "time", later)
    assert table.of(one, others) == Conflicts(dict.fromkeys(others, ("checks.sh",)))


def test_each_pair_is_merged_once_whichever_of_them_is_asked_about(
    root: Path, users: Repository, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, third = a_commit(root, "other", "other"), a_commit(root, "third", "third")
    table = ConflictTable(users)
    assert table.of(other, {"third": third}).others == {"third": ("checks.sh",)}

    with monkeypatch.context() as changed:
        _old_git(tmp_path, changed)
        known = table.of(third, {"other": other, "base": base})
    assert known.others == {"other": ("checks.sh",)}
    assert "git version 2.34.1" in known.unknown, "the base is still unknown"
    assert table.of(third, {"base": base}) == Conflicts(), "an unsent message is retried"


def test_an_older_git_says_that_it_cannot_tell_conflicts(
    users: Repository, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _old_git(tmp_path, monkeypatch)
    reported = ConflictTable(users).of(base, {"other": base})
    assert (
        reported.unknown == "git version 2.34.1 cannot predict conflicts; install git 2.39 or newer"
    )
    state = FleetState().replay([started(SIX)])
    state.apply(ResultCollected(loop="1", branch="ralph/F/1", commit=base))
    state.apply(ConflictsFound(branch="ralph/F/1", unknown=reported.unknown))
    said = list(conflict_sentences(state.loops["1"]))
    assert said == [f"cannot check for conflicts: {reported.unknown}"]


_GIT = shutil.which("git")


def _old_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer like a git version that lacks this option."""
    answers = (
        '*" version "*) echo git version 2.34.1;; *" merge-tree "*) echo usage >&2; exit 129;; '
    )
    _other_git(tmp_path, monkeypatch, answers)


def _other_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: str) -> None:
    """Wrap the real git, except for `answers`: shell cases on its arguments."""
    other = tmp_path / "bin" / "git"
    other.parent.mkdir()
    other.write_text(f'#!/bin/sh\ncase " $* " in {answers}*) exec {_GIT} "$@";; esac\n')
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{other.parent}:{os.environ['PATH']}")
