"""A loop's work is collected as a branch, and nothing else of the user's changes."""

import base64
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.clones.collecting import collect
from ralph_tui.adapters.clones.filling import put_copied, read_copied
from ralph_tui.adapters.clones.making import Origin, make_clone, make_worktree
from ralph_tui.adapters.clones.places import PlaceRecord, TreeFolder
from ralph_tui.adapters.clones.receiving import Received, receive
from ralph_tui.adapters.clones.sources import base_bundle, source_of
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.base.errors import UsageError, WorkspaceError
from ralph_tui.ports.clones import Collected, Earlier
from tests.hosted import FLEET, git, place_in

RUN_ID = "0e0e0e0e-1111-4222-8333-444444444444"


def made(root: Path, base: Path, loop: str = "1", **changes: Any) -> tuple[TreeFolder, PlaceRecord]:
    """A worktree in which a run could begin."""
    place = place_in(root, loop, **changes)
    folder = TreeFolder.of(base, FLEET, loop, 1)
    folder.create()
    make = make_worktree if place.isolation == "worktree" else make_clone
    branch = make(folder.tree, Origin(root, users=True), place.source, place.branch)
    put_copied(folder.tree, place.copied)
    worktree = place.isolation == "worktree"
    record = PlaceRecord(place=place, branch=branch, worktree=worktree, ready=True)
    return folder, folder.write(record)


def everything(root: Path) -> tuple[str, str, str, str, bytes]:
    """The user's state that must not change: HEAD, status, stash and the index."""
    index = (root / ".git" / "index").read_bytes()
    words = (("rev-parse", "HEAD"), ("branch", "--show-current"), ("status", "--porcelain"))
    return (*(git(root, *each) for each in words), git(root, "stash", "list"), index)  # type: ignore[return-value]


@pytest.mark.parametrize("isolation", ["clone", "worktree"])
def test_commits_and_what_is_left_come_home(
    root: Path, users: Repository, tmp_path: Path, isolation: str
) -> None:
    folder, record = made(root, tmp_path / "fleets", isolation=isolation)
    (folder.tree / "one.txt").write_text("1\n2\n")
    git(folder.tree, "add", ".")
    git(folder.tree, "commit", "-q", "-m", "by the agent")
    (folder.tree / "two.txt").write_text("3\n")
    (folder.tree / "README.md").unlink()
    before = everything(root)
    collected = collect(folder, record)
    received = receive(users, collected, record.place.source.commit, "")
    assert (received.branch, received.files, received.changed_lines) == ("ralph/night/1", 3, 4)
    assert everything(root) == before
    shown = git(root, "log", "--format=%an <%ae>%n%B", "-1", received.branch)
    assert shown == (
        "Owner <owner@example.com>\nMake the checks pass\n\nralph-tui fleet night, loop 1"
    )
    files = git(root, "ls-tree", "--name-only", received.branch).split()
    assert files == ["checks.sh", "one.txt", "two.txt"]
    assert git(folder.tree, "status", "--porcelain") == ""
    assert collect(folder, record).commit == collected.commit


def test_records_and_copied_files_are_no_work(
    root: Path, users: Repository, tmp_path: Path
) -> None:
    secret = base64.b64encode(b"KEY=1\n").decode()
    folder, record = made(root, tmp_path / "fleets", copied={".env": secret, "conf/a.ini": secret})
    assert (folder.tree / ".env").read_bytes() == b"KEY=1\n"
    for name in (".aiwg/ralph/x", ".aiwg/notes.md", "deep/ralph-state.json", ".claude/handoffs/h"):
        (folder.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (folder.tree / name).write_text("not work")
    nothing = collect(folder, record)
    assert (nothing.bundle, nothing.commit) == (b"", record.place.source.commit)
    assert receive(users, nothing, nothing.commit, "").branch == ""
    assert "KEY=1" not in (folder.folder / "place.json").read_text()
    assert secret not in (folder.folder / "place.json").read_text()
    (folder.tree / "work").write_text("work")
    received = receive(users, collect(folder, record), record.place.source.commit, "")
    changed = git(root, "diff", "--name-only", "HEAD", received.branch)
    assert changed == "work"


@pytest.mark.parametrize("isolation", ["clone", "worktree"])
def test_copied_files_that_git_ignores_or_holds_are_no_work(
    root: Path, users: Repository, tmp_path: Path, isolation: str
) -> None:
    """Most copied files are ignored by git, which reports such a path and fails."""
    (root / ".gitignore").write_text(".env\n/secret/\n.aiwg/\nnode_modules\n*.local\n")
    (root / "held.ini").write_text("as committed\n")
    (root / "held.local").write_text("as committed\n")
    git(root, "add", "-f", ".")
    git(root, "commit", "-q", "-m", "ignored")
    names = (".env", "secret/deep/a", "held.ini", "held.local", "plain", "odd[*]?\\ name", "[x]")
    content = base64.b64encode(b"KEY=1\n").decode()
    folder, record = made(
        root, tmp_path / "fleets", copied=dict.fromkeys(names, content), isolation=isolation
    )
    of_setup = ("node_modules/", "cache/")
    record = record.model_copy(update={"of_setup": of_setup})
    for name in (".aiwg/ralph/x", *(f"{each}x/y" for each in of_setup)):
        (folder.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (folder.tree / name).write_text("not work")
    assert collect(folder, record).commit == record.place.source.commit
    (folder.tree / "odd name").write_text("work")
    (folder.tree / "x").write_text("work")
    received = receive(users, collect(folder, record), record.place.source.commit, "")
    changed = git(root, "diff", "--name-only", "HEAD", received.branch)
    assert changed.splitlines() == ["odd name", "x"]


@pytest.mark.parametrize("isolation", ["clone", "worktree"])
def test_snapshots_of_a_run_that_ended_as_it_began_come_home(
    root: Path, users: Repository, tmp_path: Path, isolation: str
) -> None:
    """It may have been better in between, and its worktree is removed."""
    folder, record = made(root, tmp_path / "fleets", isolation=isolation)
    record = record.model_copy(update={"run_id": RUN_ID})
    (folder.tree / "work").write_text("the best")
    with closing(GitWorkspace(open_repository(folder.tree), RUN_ID)) as workspace:
        best = workspace.snapshot(1, "better")
        (folder.tree / "work").unlink()
        workspace.snapshot(2, "as before")
    collected, base = collect(folder, record), record.place.source.commit
    assert collected.commit == base
    before = everything(root)
    received = receive(users, collected, base, RUN_ID)
    assert received == Received("", base, snapshots=2)
    assert receive(users, collected, base, RUN_ID).snapshots == 2, "they are there already"
    assert everything(root) == before
    shutil.rmtree(folder.tree)
    assert git(root, "show", f"{best.ref}:work") == "the best"


def test_a_branch_that_is_there_is_never_overwritten(
    root: Path, users: Repository, tmp_path: Path
) -> None:
    folder, record = made(root, tmp_path / "fleets")
    (folder.tree / "work").write_text("work")
    collected = collect(folder, record)
    base = record.place.source.commit
    git(root, "branch", "ralph/night/1")
    assert receive(users, collected, base, "").branch == "ralph/night/1-2"
    assert receive(users, collected, base, "").branch == "ralph/night/1-2"
    assert git(root, "rev-parse", "ralph/night/1") == base


def test_a_host_is_not_believed(root: Path, users: Repository, tmp_path: Path) -> None:
    folder, record = made(root, tmp_path / "fleets")
    (folder.tree / "work").write_text("work")
    honest = collect(folder, record)
    base = record.place.source.commit
    refs = git(root, "for-each-ref")
    for changes in (
        {"commit": base},
        {"commit": "--upload-pack=x"},
        {"branch": "main"},
        {"branch": "ralph/../x"},
        {"bundle": honest.bundle[:-30]},
        {"bundle": b"# v2 git bundle\n\n"},
        {"bundle": b""},
    ):
        with pytest.raises(WorkspaceError):
            receive(users, honest.model_copy(update=changes), base, "")
    assert git(root, "for-each-ref") == refs
    assert Collected.model_validate_json(honest.model_dump_json()) == honest


def test_a_tree_whose_git_became_the_users_is_left_alone(
    root: Path, users: Repository, tmp_path: Path
) -> None:
    folder, record = made(root, tmp_path / "fleets")
    shutil.rmtree(folder.tree / ".git")
    (folder.tree / ".git").symlink_to(root / ".git")
    (folder.tree / "work").write_text("work")
    before = everything(root)
    with pytest.raises(WorkspaceError, match="not the original one"):
        collect(folder, record)
    assert everything(root) == before


@pytest.mark.parametrize(
    ("isolation", "damage", "what"),
    [
        ("clone", 'rm "$(git rev-parse --git-dir)/HEAD"', "was removed or damaged"),
        ("worktree", 'rm "$(git rev-parse --git-dir)/HEAD"', "was removed or damaged"),
        ("clone", "rm -r .git", "was removed or damaged"),
        ("clone", "git checkout -q --orphan new", "no longer has a commit"),
        ("clone", "rm -r .git; git init -q", "no longer has a commit"),
        ("worktree", "rm -r .git; git init -q", "is not the original one"),
    ],
)
def test_of_a_repository_that_an_agent_has_damaged_one_sentence_is_told(
    root: Path, tmp_path: Path, isolation: str, damage: str, what: str
) -> None:
    git(root, "init", "-q", str(tmp_path))  # no repository above it is used instead
    folder, record = made(root, tmp_path / "fleets", isolation=isolation)
    subprocess.run(damage, shell=True, cwd=folder.tree, check=True)
    with pytest.raises(WorkspaceError) as error:
        collect(folder, record)
    tree = folder.tree.resolve()
    assert str(error.value) == f"the git repository of {tree} {what}; copy its files by hand"
    assert (folder.tree / "checks.sh").exists()


def test_of_a_tree_that_is_gone_nothing_is_promised(root: Path, tmp_path: Path) -> None:
    folder, record = made(root, tmp_path / "fleets")
    shutil.rmtree(folder.tree)
    with pytest.raises(WorkspaceError, match="tree was deleted, and its work with it"):
        collect(folder, record)


def test_what_a_tree_configures_is_not_run(root: Path, users: Repository, tmp_path: Path) -> None:
    folder, record = made(root, tmp_path / "fleets")
    run = f"touch {tmp_path}/ran; cat"
    for name in ("filter.x.clean", "filter.x.smudge", "core.fsmonitor", "diff.x.textconv"):
        git(folder.tree, "config", name, run)
    (folder.tree / ".gitattributes").write_text("* filter=x diff=x\n")
    hook = folder.tree / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    received = receive(users, collect(folder, record), record.place.source.commit, "")
    assert received.files == 1
    assert not (tmp_path / "ran").exists()


def test_a_branch_without_its_history_is_refused(
    root: Path, users: Repository, tmp_path: Path
) -> None:
    """In a shallow clone, log, pack and fetch would fail in the user's repository."""
    folder, record = made(root, tmp_path / "fleets")
    for name in "ab":
        (folder.tree / name).touch()
        git(folder.tree, "add", name)
        git(folder.tree, "commit", "-qm", name)
    (folder.tree / ".git" / "shallow").write_text(git(folder.tree, "rev-parse", "HEAD") + "\n")
    collected = collect(folder, record)
    before = everything(root), git(root, "for-each-ref")
    with pytest.raises(WorkspaceError, match="lacks part of its history"):
        receive(users, collected, record.place.source.commit, "")
    assert (everything(root), git(root, "for-each-ref")) == before
    git(root, "fsck", "--connectivity-only")


def test_what_is_no_name_of_a_branch_is_refused(
    root: Path, users: Repository, tmp_path: Path
) -> None:
    folder, record = made(root, tmp_path / "fleets")
    (folder.tree / "one.txt").touch()
    collected, base = collect(folder, record), record.place.source.commit
    receive(users, collected, base, "")
    before = git(root, "for-each-ref")
    for more in ("^0", "^{commit}", "~0", "/../../x", " x", ".lock"):
        strange = collected.model_copy(update={"branch": collected.branch + more})
        with pytest.raises(WorkspaceError):
            receive(users, strange, base, "")
    assert git(root, "for-each-ref") == before


class Twice:
    """A loop that was collected, continued in its worktree, and is collected again."""

    def __init__(self, root: Path, users: Repository, base: Path) -> None:
        self.root, self.users = root, users
        self.folder, self.record = made(root, base)
        self.base = self.record.place.source.commit
        (self.folder.tree / "one.txt").write_text("1\n")
        self.first = receive(users, collect(self.folder, self.record), self.base, "")
        self.earlier = Earlier(self.first.branch, self.first.commit, 1, "far", 1)
        (self.folder.tree / "two.txt").write_text("2\n")

    def again(self) -> Received:
        work = collect(self.folder, self.record)
        return receive(self.users, work, self.base, "", self.earlier)

    def of(self, branch: str) -> str:
        return git(self.root, "rev-parse", f"refs/heads/{branch}")


@pytest.fixture
def twice(root: Path, users: Repository, tmp_path: Path) -> Twice:
    return Twice(root, users, tmp_path / "fleets")


def test_the_branch_of_a_loop_that_goes_on_goes_on(twice: Twice) -> None:
    second = twice.again()
    assert (second.branch, second.kept) == ("ralph/night/1", "")
    assert twice.of("ralph/night/1") == second.commit != twice.first.commit
    assert git(twice.root, "branch", "--list", "ralph/*").split() == ["ralph/night/1"]


def test_what_the_work_does_not_stand_on_is_kept_beside(twice: Twice) -> None:
    """The loop started over, or the agent rewrote history."""
    git(twice.folder.tree, "reset", "-q", "--soft", "HEAD^")
    second = twice.again()
    assert (second.branch, second.kept) == ("ralph/night/1", "ralph/night/1-attempt-1")
    assert twice.of("ralph/night/1") == second.commit
    assert twice.of("ralph/night/1-attempt-1") == twice.first.commit


def test_a_branch_that_its_owner_has_moved_or_works_on_stays(twice: Twice) -> None:
    git(twice.root, "checkout", "-q", "ralph/night/1")
    second = twice.again()
    assert (second.branch, second.kept) == ("ralph/night/1-2", "")
    assert twice.of("ralph/night/1") == twice.first.commit
    git(twice.root, "commit", "-q", "--allow-empty", "-m", "mine")
    git(twice.root, "checkout", "-q", "--detach")
    mine = twice.of("ralph/night/1")
    (twice.folder.tree / "three.txt").touch()
    assert twice.again().branch == "ralph/night/1-3"
    assert twice.of("ralph/night/1") == mine


def test_a_worktree_takes_another_name_where_the_branch_is_there(
    root: Path, tmp_path: Path
) -> None:
    git(root, "branch", "ralph/night/1")
    folder, record = made(root, tmp_path / "fleets", isolation="worktree")
    assert record.branch == "ralph/night/1-2"
    assert git(folder.tree, "branch", "--show-current") == "ralph/night/1-2"
    assert (folder.tree / "checks.sh").exists()


def test_what_loops_begin_with(root: Path, users: Repository, tmp_path: Path) -> None:
    git(root, "remote", "add", "origin", "https://me:secret@example.com/x.git")
    source = source_of(users, "main")
    assert source.commit == git(root, "rev-parse", "HEAD")
    assert source.remote == "https://example.com/x.git"
    assert (source.user_name, source.user_email) == ("Owner", "owner@example.com")
    with pytest.raises(UsageError, match="nowhere is not a commit"):
        source_of(users, "nowhere")
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    folder = TreeFolder.of(tmp_path / "fleets", FLEET, "9", 1)
    folder.create()
    make_clone(folder.tree, Origin(root, users=True), source, "ralph/night/9")
    assert git(folder.tree, "remote", "get-url", "origin") == source.remote
    assert git(folder.tree, "rev-parse", "origin/main") == source.commit
    bundle = base_bundle(users, source.commit)
    (tmp_path / "base.bundle").write_bytes(bundle)
    git(tmp_path, "clone", "-q", "-b", "base", "base.bundle", "from-bundle")
    assert git(tmp_path / "from-bundle", "rev-parse", "HEAD") == source.commit


def test_an_address_without_a_secret_stays(users: Repository) -> None:
    assert source_of(users, "HEAD").remote == ""
    git(users.root, "remote", "add", "origin", "x")
    for remote in ("ssh://git@host/x", "git@host:x.git", "/srv/x.git"):
        git(users.root, "remote", "set-url", "origin", remote)
        assert source_of(users, "HEAD").remote == remote


def test_copied_files_are_read_with_their_folders(root: Path) -> None:
    (root / "conf").mkdir()
    (root / "conf" / "a").write_bytes(b"\0\xff")
    (root / ".env").write_text("x")
    read = read_copied(root, (".env", "conf"))
    assert {name: base64.b64decode(text) for name, text in read.items()} == {
        ".env": b"x",
        "conf/a": b"\0\xff",
    }
    for name in ("../x", "missing"):
        with pytest.raises(UsageError, match="copy"):
            read_copied(root, (name,))


def test_nothing_is_copied_out_of_a_tree(tmp_path: Path) -> None:
    for name in ("../x", "/etc/x", ".git/config", "a/../../x"):
        with pytest.raises(WorkspaceError, match="cannot be copied into a clone"):
            put_copied(tmp_path, {name: ""})
