"""Worktrees are added and removed, many at once; unused ones leave nothing behind."""

import os
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from ralph_tui.adapters.clones import worktrees
from ralph_tui.adapters.clones.collecting import collect
from ralph_tui.adapters.clones.making import (
    Origin,
    has_commit,
    make_worktree,
    remove_tree,
    remove_worktree,
)
from ralph_tui.adapters.clones.places import PlaceRecord, TreeFolder
from ralph_tui.adapters.clones.receiving import receive
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.base.file_lock import locked
from ralph_tui.fleet.host.worker_host import WorkerHost
from ralph_tui.fleet.ports import Stage
from tests.fleet_programs import program
from tests.forks import RALPH, Started
from tests.hosted import FLEET, Seen, committed, git, place_in, source_in
from tests.waiting import PATIENCE_S, until

BRANCH = "ralph/night/1"


@pytest.fixture
def root(git_repo: Path) -> Path:
    return committed(git_repo)


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> TreeFolder:
    """A worktree of the repository in which a run could begin."""
    place = place_in(root, isolation="worktree")
    folder = TreeFolder.of(tmp_path / "fleets", FLEET, "1", 1)
    folder.create()
    branch = make_worktree(folder.tree, Origin(root, users=True), place.source, place.branch)
    folder.write(PlaceRecord(place=place, branch=branch, worktree=True, ready=True))
    return folder


def branches(root: Path) -> list[str]:
    return git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads/").split()


def known(root: Path) -> list[str]:
    """The worktrees that git knows."""
    return git(root, "worktree", "list").splitlines()


def test_four_processes_add_and_remove_worktrees_at_once(root: Path, tmp_path: Path) -> None:
    words = (str(tmp_path / "go"), str(root), source_in(root).commit)
    making = replace(RALPH, module="tests.doubles.worktree_maker")
    with ExitStack() as held:
        programs = [
            held.enter_context(
                Started(making, (str(tmp_path / f"{number}"), *words), tmp_path, dict(os.environ))
            )
            for number in range(4)
        ]
        assert [program.stdout.readline() for program in programs] == ["ready\n"] * 4
        (tmp_path / "go").touch()
        said = [program.communicate(PATIENCE_S)[1] for program in programs]
    assert said == [""] * 4
    assert (branches(root), len(known(root))) == (["main"], 1)


def test_threads_of_one_host_take_different_names(root: Path, tmp_path: Path) -> None:
    source, origin = source_in(root), Origin(root, users=True)
    trees = [tmp_path / f"{number}" / "tree" for number in range(8)]
    for each in trees:
        each.parent.mkdir()
    with ThreadPoolExecutor(8) as threads:
        made = [threads.submit(make_worktree, each, origin, source, BRANCH) for each in trees]
        names = [one.result() for one in made]
    assert sorted(names) == sorted({BRANCH, *(f"{BRANCH}-{number}" for number in range(2, 9))})
    assert len(known(root)) == 9


def test_who_holds_the_worktrees_too_long_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worktrees, "WAIT_S", 0.1)
    lock = root / ".git" / "ralph-tui" / worktrees.LOCK
    said = f"process {os.getpid()} has been changing the worktrees of {root}"
    with locked(lock), pytest.raises(WorkspaceError, match=said):
        make_worktree(tmp_path / "tree", Origin(root, users=True), source_in(root), BRANCH)
    assert (branches(root), len(known(root))) == (["main"], 1)


@pytest.mark.parametrize("left", ["checkout -q -b other", "checkout -q --detach"])
def test_a_branch_that_the_loop_left_goes_with_its_worktree(
    root: Path, tree: TreeFolder, left: str
) -> None:
    git(tree.tree, *left.split())
    (tree.tree / "work").write_text("work")
    record = tree.read()
    assert record is not None
    collected = collect(tree, record)
    received = receive(open_repository(root), collected, record.place.source.commit, "")
    assert received.branch == f"{BRANCH}-2"
    agents = ["other"] if "other" in left else []
    assert branches(root) == sorted(["main", BRANCH, f"{BRANCH}-2", *agents])
    remove_tree(tree)
    assert branches(root) == sorted(["main", f"{BRANCH}-2", *agents])
    assert len(known(root)) == 1
    assert not tree.folder.exists()


def test_a_branch_with_work_or_at_work_stays(root: Path, tree: TreeFolder, tmp_path: Path) -> None:
    base = source_in(root).commit
    git(tree.tree, "checkout", "-q", "--detach")
    git(root, "worktree", "add", "-q", str(tmp_path / "beside"), BRANCH)
    remove_tree(tree)
    assert git(root, "rev-parse", BRANCH) == base, "its owner has checked it out"
    git(tmp_path / "beside", "commit", "-q", "--allow-empty", "-m", "work")
    remove_worktree(tmp_path / "beside", root, BRANCH, base)
    assert git(root, "rev-parse", f"{BRANCH}^") == base
    assert len(known(root)) == 1


def test_what_the_agent_did_to_its_worktree_is_in_no_way(
    root: Path, tree: TreeFolder, tmp_path: Path
) -> None:
    gone = tmp_path / "unplugged"
    git(root, "worktree", "add", "-q", str(gone), "-b", "mine")
    gone.rename(tmp_path / "elsewhere")
    git(root, "worktree", "lock", str(tree.tree))
    (tree.tree / ".git").unlink()
    aside = tmp_path / "aside"
    tree.tree.rename(aside)
    tree.tree.symlink_to(aside)
    aside.chmod(0o755)
    remove_tree(tree)
    assert [line.split()[0] for line in known(root)] == [str(root), str(gone)], "one is the user's"
    assert (aside / "checks.sh").exists(), "a link is not followed"
    assert aside.stat().st_mode & 0o777 == 0o755
    assert branches(root) == ["main", "mine"]


@pytest.fixture
def killed(root: Path, tmp_path: Path) -> TreeFolder:
    """Leave the state of a host that was killed while git wrote a worktree."""
    real, begun = shutil.which("git"), tmp_path / "begun"
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(
        f'#!/bin/sh\ncase " $* " in *" read-tree "*) echo $$ > {begun}; exec sleep 1000;; '
        f'*) exec {real} "$@";; esac\n'
    )
    slow.chmod(0o755)
    place = place_in(root, isolation="worktree").model_dump_json()
    words = ("tests.doubles.fleet_loops", str(tmp_path / "fleets"), place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
        with program(*words):
            until(lambda: begun.exists() and begun.read_text().strip())
    with suppress(ProcessLookupError):  # it is not guarded yet
        os.kill(int(begun.read_text()), signal.SIGKILL)
    assert (branches(root), len(known(root))) == (["main", BRANCH], 2)
    return TreeFolder.of(tmp_path / "fleets", FLEET, "1", 1)


def test_of_a_worktree_that_was_not_made_to_its_end_nothing_is_left(
    root: Path, killed: TreeFolder
) -> None:
    remove_tree(killed)
    assert (branches(root), len(known(root))) == (["main"], 1)
    assert not killed.folder.exists()


def test_a_worktree_that_was_not_made_to_its_end_is_made_anew(
    root: Path, killed: TreeFolder, tmp_path: Path
) -> None:
    seen = Seen()
    with closing(WorkerHost("here", 1, tmp_path / "fleets", seen)) as host:
        host.on_fleet_found(FLEET)
        host.obey(place_in(root, isolation="worktree", setup="exit 3"))
        seen.wait(Stage, stage="setup")
        seen.over()
    assert (killed.tree / "checks.sh").exists()
    assert (branches(root), len(known(root))) == (["main", BRANCH], 2)


def test_a_path_that_no_process_here_can_name_is_no_repository_here(root: Path) -> None:
    """A fleet on another machine or locale may send such a path."""
    commit = git(root, "rev-parse", "HEAD").strip()
    assert has_commit(root, commit)
    for path in ("/no/\ud800", "/no/\0", "/nowhere"):
        assert not has_commit(Path(path), commit)
