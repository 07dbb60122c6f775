"""Snapshots of real repositories restore everything and touch nothing of the user's."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.workspace import staging
from ralph_tui.adapters.workspace.git_status import CachedStatus
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.events.workspace import SnapshotTaken
from tests.workspaces import workspace_of

Git = Callable[..., str]

ODD_NAMES = (
    b"with space",
    b"trailing ",
    b"new\nline",
    "ünïcödé-日本".encode(),
    b"-leading-dash",
    b":(top)magic",
    b":!excluded",
    b"star*[a]?",
    b'quote"back\\slash',
    b"invalid-\xff\xfe",
    b"tab\there",
    b"git~1",
)


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True
    )
    return done.stdout.decode("utf-8", "surrogateescape")


def held(workspace: GitWorkspace, tree: str) -> set[str]:
    names = subprocess.run(
        ["git", "ls-tree", "-r", "-z", "--name-only", tree],
        cwd=workspace.root,
        check=True,
        capture_output=True,
    ).stdout
    return {os.fsdecode(name) for name in names.split(b"\0")[:-1]}


def at(root: Path, name: bytes) -> Path:
    """A path whose name need not be UTF-8."""
    return root / os.fsdecode(name)


def files_below(root: Path) -> dict[str, tuple[bool, bytes]]:
    """Every file and link with its executable bit and content, without git's own folder."""
    found = {}
    for path in root.rglob("*"):
        where = str(path.relative_to(root))
        if where.split("/", maxsplit=1)[0] == ".git":
            continue
        if path.is_symlink():
            found[where] = (False, b"-> " + os.fsencode(path.readlink()))
        elif path.is_file():
            found[where] = (os.access(path, os.X_OK), path.read_bytes())
    return found


def users_state(root: Path) -> tuple[object, ...]:
    repository = open_repository(root)
    reflog = repository.git_dir / "logs" / "HEAD"
    return (
        (repository.git_dir / "index").read_bytes(),
        (repository.git_dir / "HEAD").read_text(),
        (repository.common_dir / "config").read_bytes(),
        reflog.read_bytes() if reflog.exists() else None,
        git(root, "stash", "list"),
        git(root, "for-each-ref", "refs/heads", "refs/tags", "refs/stash"),
        subprocess.run(
            ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch"],
            cwd=root,
            check=True,
            capture_output=True,
        ).stdout,
    )


def test_nothing_of_the_users_is_touched(git_repo: Path) -> None:
    (git_repo / "README.md").write_text("stashed\n")
    git(git_repo, "stash")
    (git_repo / "staged.py").write_text("staged = 1\n")
    git(git_repo, "add", "staged.py")
    (git_repo / "staged.py").write_text("staged = 2\n")
    (git_repo / "untracked.py").write_text("new = 1\n")
    (git_repo / "README.md").write_text("changed\n")
    before = users_state(git_repo)
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    (git_repo / "README.md").write_text("changed again\n")
    workspace.changes(first.tree)
    second = workspace.snapshot(1, "second")
    workspace.changes(first.tree, second.tree)
    workspace.restore(first.tree)
    assert users_state(git_repo) == before


def test_hooks_of_the_user_do_not_run(git_repo: Path, tmp_path: Path) -> None:
    hooks = git_repo / ".git" / "hooks"
    for name in ("reference-transaction", "post-index-change", "pre-commit", "post-checkout"):
        hook = hooks / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\n")
        hook.chmod(0o755)
    workspace = workspace_of(git_repo)
    tree = workspace.snapshot(0, "first").tree
    (git_repo / "new.py").write_text("x\n")
    workspace.snapshot(1, "second")
    workspace.restore(tree)
    assert not list(tmp_path.glob("ran-*"))


def test_odd_names_come_back(git_repo: Path) -> None:
    try:
        for name in ODD_NAMES:
            at(git_repo, name).write_bytes(b"content of " + name)
    except OSError:
        pytest.skip("this file system refuses names that are not UTF-8")
    workspace = workspace_of(git_repo)
    before = files_below(git_repo)
    taken = workspace.snapshot(0, "odd")
    assert taken.missing_count == 0
    assert held(workspace, taken.tree) == set(before)
    for name in ODD_NAMES[::2]:
        at(git_repo, name).unlink()
    for name in ODD_NAMES[1::2]:
        at(git_repo, name).write_bytes(b"other")
    changes = workspace.changes(taken.tree)
    assert sorted(change.status for change in changes) == ["deleted"] * 6 + ["modified"] * 6
    workspace.snapshot(1, "before")
    workspace.restore(taken.tree)
    assert files_below(git_repo) == before


def test_bytes_modes_and_links_come_back(git_repo: Path) -> None:
    (git_repo / ".gitattributes").write_text(
        "* text=auto eol=crlf\n*.bin filter=lfs diff=lfs merge=lfs -text\n"
        "*.id ident\n*.u16 working-tree-encoding=UTF-16\n"
    )
    git(git_repo, "config", "core.autocrlf", "true")
    git(git_repo, "config", "core.safecrlf", "true")
    git(git_repo, "config", "filter.lfs.clean", "no-such-program clean %f")
    git(git_repo, "config", "filter.lfs.smudge", "no-such-program smudge %f")
    git(git_repo, "config", "filter.lfs.required", "true")
    contents = {
        "crlf.txt": b"one\r\ntwo\r\n",
        "lf.txt": b"one\ntwo\n",
        "mixed.txt": b"one\r\ntwo\nthree\r",
        "large.bin": b"\x00\r\n\xff" * 500,
        "name.id": b"$Id$ and $Id: 1234 $\n",
        "wide.u16": "breit\n".encode("utf-16"),
        "empty": b"",
        "deep/er/file.py": b"x = 1",
    }
    for name, content in contents.items():
        (git_repo / name).parent.mkdir(parents=True, exist_ok=True)
        (git_repo / name).write_bytes(content)
    (git_repo / "run.sh").write_text("#!/bin/sh\n")
    (git_repo / "run.sh").chmod(0o755)
    (git_repo / "dangling").symlink_to("nowhere")
    (git_repo / "to-folder").symlink_to("deep")
    workspace = workspace_of(git_repo)
    before = files_below(git_repo)
    taken = workspace.snapshot(0, "bytes")
    assert taken.missing == ()
    for name in contents:
        (git_repo / name).write_bytes(b"spoilt\n")
    (git_repo / "run.sh").chmod(0o644)
    (git_repo / "lf.txt").chmod(0o755)
    (git_repo / "dangling").unlink()
    (git_repo / "dangling").write_text("a file now")
    (git_repo / "to-folder").unlink()
    (git_repo / "to-folder").mkdir()
    (git_repo / "to-folder" / "inside.py").write_text("y\n")
    workspace.snapshot(1, "spoilt")
    workspace.restore(taken.tree)
    assert files_below(git_repo) == before


def test_restore_deletes_what_came_later_and_the_folders_it_leaves_empty(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "start")
    (git_repo / "new" / "deep").mkdir(parents=True)
    (git_repo / "new" / "deep" / "a.py").write_text("a\n")
    (git_repo / "README.md").unlink()
    present = workspace.snapshot(1, "present")
    restored = workspace.restore(taken.tree)
    assert restored.changed == ("README.md", "new/deep/a.py")
    assert restored.kept == ()
    assert not (git_repo / "new").exists()
    assert (git_repo / "README.md").read_text() == "# sample\n"
    workspace.restore(present.ref)
    assert (git_repo / "new" / "deep" / "a.py").read_text() == "a\n"
    assert not (git_repo / "README.md").exists()


def test_ignored_files_survive_even_when_the_rules_were_taken_away(git_repo: Path) -> None:
    (git_repo / ".gitignore").write_text("secret.env\nbuild/\n")
    (git_repo / "secret.env").write_text("mine\n")
    (git_repo / "build").mkdir()
    (git_repo / "build" / "out").write_text("built\n")
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "ignored")
    assert held(workspace, taken.tree) == {".gitignore", "README.md"}
    (git_repo / ".gitignore").unlink()
    workspace.snapshot(1, "without rules")
    restored = workspace.restore(taken.tree)
    assert (git_repo / "secret.env").read_text() == "mine\n"
    assert (git_repo / "build" / "out").read_text() == "built\n"
    assert restored.changed == (".gitignore",)
    assert [one.path for one in restored.kept] == ["build/out", "secret.env"]


def test_tracked_files_are_held_although_ignored(git_repo: Path) -> None:
    (git_repo / ".gitignore").write_text("*.log\n")
    (git_repo / "kept.log").write_text("one\n")
    workspace = workspace_of(git_repo)
    assert "kept.log" not in held(workspace, workspace.snapshot(0, "before").tree)
    git(git_repo, "add", "-f", "kept.log")
    tree = workspace.snapshot(1, "after").tree
    assert "kept.log" in held(workspace, tree)
    (git_repo / "kept.log").write_text("two\n")
    workspace.restore(tree)
    assert (git_repo / "kept.log").read_text() == "one\n"


def test_own_folders_are_never_held(git_repo: Path) -> None:
    own = (".aiwg/ralph/run.json", ".aiwg/knowledge/k.json", ".claude/handoffs/2026-01-07-1145.md")
    for name in (*own, ".aiwg/notes.md"):
        (git_repo / name).parent.mkdir(parents=True, exist_ok=True)
        (git_repo / name).write_text("1\n")
    git(git_repo, "add", "-A")
    (git_repo / ".gitignore").write_text("!.aiwg/ralph/\n")
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "own")
    assert held(workspace, taken.tree) == {".aiwg/notes.md", ".gitignore", "README.md"}
    assert taken.missing == ()


def test_users_own_excludes_count(git_repo: Path, home: Path, tmp_path: Path) -> None:
    (git_repo / ".git" / "info" / "exclude").write_text("private.txt\n")
    (tmp_path / "ignores").write_text("*.swp\n")
    git(git_repo, "config", "core.excludesFile", str(tmp_path / "ignores"))
    (git_repo / "private.txt").write_text("x\n")
    (git_repo / "a.swp").write_text("x\n")
    workspace = workspace_of(git_repo)
    assert held(workspace, workspace.snapshot(0, "x").tree) == {"README.md"}
    (git_repo / ".git" / "info" / "exclude").write_text("")
    assert "private.txt" in held(workspace, workspace.snapshot(1, "x").tree)


def test_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "first.py").write_text("1\n")
    workspace = workspace_of(tmp_path)
    first = workspace.snapshot(0, "unborn")
    assert held(workspace, first.tree) == {"first.py"}
    assert git(tmp_path, "rev-list", "--count", first.commit).strip() == "1"
    (tmp_path / "first.py").write_text("2\n")
    second = workspace.snapshot(1, "next")
    assert git(tmp_path, "rev-parse", f"{second.commit}^").strip() == first.commit
    assert workspace.repository.head() is None


def test_an_empty_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    workspace = workspace_of(tmp_path)
    taken = workspace.snapshot(0, "nothing")
    (tmp_path / "a").write_text("1\n")
    assert [change.path for change in workspace.changes(taken.tree)] == ["a"]


def test_two_linked_worktrees_at_once(git_repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(git_repo, "worktree", "add", "-q", str(other), "-b", "side")
    (git_repo / "here.py").write_text("here\n")
    (other / "there.py").write_text("there\n")
    one, two = workspace_of(git_repo), workspace_of(other)
    first, second = one.snapshot(0, "one"), two.snapshot(0, "two")
    assert held(one, first.tree) == {"README.md", "here.py"}
    assert held(two, second.tree) == {"README.md", "there.py"}
    assert two.repository.branch() == "side"
    assert first.ref != second.ref
    (other / "there.py").write_text("changed\n")
    two.restore(second.tree)
    assert (other / "there.py").read_text() == "there\n"
    assert one.changes(first.tree) == ()


def test_nested_repositories_and_submodules_stay_out(git_repo: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q")
    git(library, "commit", "-q", "--allow-empty", "-m", "x")
    git(git_repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "sub")
    (git_repo / "sub" / "inside.py").write_text("x\n")
    (git_repo / "nested").mkdir()
    git(git_repo / "nested", "init", "-q")
    (git_repo / "nested" / "inside.py").write_text("x\n")
    (git_repo / "with-commit").mkdir()
    git(git_repo / "with-commit", "init", "-q")
    git(git_repo / "with-commit", "commit", "-q", "--allow-empty", "-m", "x")
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "nested")
    assert held(workspace, taken.tree) == {".gitmodules", "README.md"}
    assert taken.missing == ("nested/", "sub/", "with-commit/")
    workspace.restore(git(git_repo, "rev-parse", "HEAD^{tree}").strip())
    assert (git_repo / "nested" / "inside.py").exists()
    assert (git_repo / "sub" / "inside.py").exists()


def test_limits_leave_out_the_largest_and_say_so(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "MAX_FILE", 1000)
    monkeypatch.setattr(staging, "MAX_FILES", 4)
    monkeypatch.setattr(staging, "MAX_BYTES", 2400)
    (git_repo / "tracked.dat").write_bytes(b"t" * 5000)
    git(git_repo, "add", "tracked.dat")
    (git_repo / "huge.dat").write_bytes(b"h" * 1001)
    for number, size in enumerate((900, 800, 700, 10)):
        (git_repo / f"file{number}").write_bytes(b"x" * size)
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "limits")
    assert taken.missing == ("file0", "huge.dat")
    assert taken.missing_count == 2
    assert held(workspace, taken.tree) == {"README.md", "tracked.dat", "file1", "file2", "file3"}
    (git_repo / "file3").write_bytes(b"x" * 1001)
    (git_repo / "a-new-one").write_bytes(b"")
    (git_repo / "b-new-one").write_bytes(b"")
    grown = workspace.snapshot(1, "grown")
    assert grown.missing == ("file0", "file3", "huge.dat")
    assert {"a-new-one", "b-new-one"} < held(workspace, grown.tree)
    (git_repo / "c-new-one").write_bytes(b"")
    assert "c-new-one" in workspace.snapshot(2, "too many").missing


def test_what_a_snapshot_could_not_hold_is_never_touched(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "MAX_FILE", 1000)
    (git_repo / "data.db").write_bytes(b"d" * 2000)
    (git_repo / "small.db").write_bytes(b"s" * 10)
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "large")
    (git_repo / "data.db").write_bytes(b"d" * 20)  # saved now, but not in the snapshot
    (git_repo / "small.db").write_bytes(b"s" * 2000)  # in the snapshot, but no longer saved
    workspace.snapshot(1, "present")
    restored = workspace.restore(taken.tree)
    assert (git_repo / "data.db").read_bytes() == b"d" * 20
    assert (git_repo / "small.db").read_bytes() == b"s" * 2000
    assert [one.path for one in restored.kept] == ["data.db", "small.db"]


def test_special_files_do_not_hang(git_repo: Path) -> None:
    os.mkfifo(git_repo / "pipe")
    (git_repo / "was-a-file").write_text("x\n")
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "pipe")
    assert held(workspace, first.tree) == {"README.md", "was-a-file"}
    (git_repo / "was-a-file").unlink()
    os.mkfifo(git_repo / "was-a-file")
    (git_repo / "other.py").write_text("1\n2\n")
    changed = {change.path: change for change in workspace.changes(first.tree)}
    assert changed["other.py"].added == 2
    second = workspace.snapshot(1, "pipe in a file's place")
    assert second.missing == ("was-a-file",)
    workspace.restore(first.tree)
    assert (git_repo / "was-a-file").read_text() == "x\n"
    assert (git_repo / "pipe").is_fifo()


def test_a_refused_file_does_not_spoil_the_others(git_repo: Path, tmp_path: Path) -> None:
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "start")
    (git_repo / "link").symlink_to(tmp_path)
    (tmp_path / "outside").write_text("x\n")
    names = [f"file{number}" for number in range(20)]
    for name in names:
        (git_repo / name).write_text(name)
    refused = workspace._staging.add([*names[:7], "link/outside", *names[7:]])
    assert refused == ["link/outside"]
    assert set(names) <= workspace._staging._indexed()


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_an_unreadable_file_is_missing(git_repo: Path) -> None:
    (git_repo / "locked").write_text("x\n")
    (git_repo / "locked").chmod(0)
    (git_repo / "open").write_text("x\n")
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "locked")
    assert taken.missing == ("locked",)
    assert held(workspace, taken.tree) == {"README.md", "open"}


def test_names_git_can_hold_nowhere_are_missing(git_repo: Path) -> None:
    (git_repo / "a").mkdir()
    (git_repo / "a" / ".GIT").write_text("x\n")
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "names")
    assert taken.missing == ("a/.GIT",)
    assert held(workspace, taken.tree) == {"README.md"}


def test_file_folder_and_link_change_places(git_repo: Path, tmp_path: Path) -> None:
    (git_repo / "one").write_text("file\n")
    (git_repo / "two").mkdir()
    (git_repo / "two" / "x").write_text("x\n")
    (git_repo / "three").mkdir()
    (git_repo / "three" / "y").write_text("y\n")
    workspace = workspace_of(git_repo)
    before = files_below(git_repo)
    first = workspace.snapshot(0, "first")
    (git_repo / "one").unlink()
    (git_repo / "one").mkdir()
    (git_repo / "one" / "z").write_text("z\n")
    (git_repo / "two" / "x").unlink()
    (git_repo / "two").rmdir()
    (git_repo / "two").write_text("file\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "y").write_text("not yours\n")
    (git_repo / "three" / "y").unlink()
    (git_repo / "three").rmdir()
    (git_repo / "three").symlink_to(outside)
    after = files_below(git_repo)
    second = workspace.snapshot(1, "second")
    assert held(workspace, second.tree) == {"README.md", "one/z", "two", "three"}
    assert second.missing == ()
    workspace.restore(first.tree)
    assert files_below(git_repo) == before
    workspace.restore(second.tree)
    assert files_below(git_repo) == after
    assert (outside / "y").read_text() == "not yours\n"


def test_restore_does_not_write_through_a_link(git_repo: Path, tmp_path: Path) -> None:
    (git_repo / "folder").mkdir()
    (git_repo / "folder" / "x").write_text("x\n")
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    outside = tmp_path / "outside"
    outside.mkdir()
    (git_repo / "folder" / "x").unlink()
    (git_repo / "folder").rmdir()
    (git_repo / "folder").symlink_to(outside)
    (git_repo / ".git" / "info" / "exclude").write_text(
        "folder\n"
    )  # so no process has the link open
    restored = workspace.restore(first.tree)
    assert list(outside.iterdir()) == []
    assert (git_repo / "folder").is_symlink()
    assert [one.path for one in restored.kept] == ["folder/x"]


def test_a_private_file_stays_private(git_repo: Path) -> None:
    (git_repo / "key").write_text("one\n")
    (git_repo / "key").chmod(0o600)
    workspace = workspace_of(git_repo)
    tree = workspace.snapshot(0, "first").tree
    (git_repo / "key").write_text("two\n")
    workspace.restore(tree)
    assert (git_repo / "key").read_text() == "one\n"
    assert (git_repo / "key").stat().st_mode & 0o777 == 0o600


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "stale lock": lambda private: (private / "index.lock").write_bytes(b""),
    "corrupt index": lambda private: (private / "index").write_bytes(b"DIRC nonsense"),
    "empty index": lambda private: (private / "index").write_bytes(b""),
    "no index": lambda private: (private / "index").unlink(),
    "half an index": lambda private: cut_in_half(private / "index"),
    "no HEAD": lambda private: (private / "HEAD").unlink(),
    "bad config": lambda private: (private / "config").write_text("[not a config"),
}


def test_damage_to_the_private_folder_is_mended(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    for number, (name, damage) in enumerate(DAMAGE.items()):
        first = workspace.snapshot(2 * number, "first")
        damage(git_repo / ".git" / "ralph-tui")
        (git_repo / "new.py").write_text(f"{number}\n")
        second = workspace.snapshot(2 * number + 1, "second")
        assert held(workspace, second.tree) == {"README.md", "new.py"}, name
        changed = [change.path for change in workspace.changes(first.tree, second.tree)]
        assert changed == ["new.py"], name
        (git_repo / "new.py").unlink()


def test_snapshots_chain_and_outlive_clean_and_gc(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    head = git(git_repo, "rev-parse", "HEAD").strip()
    (git_repo / "work.py").write_text("held\n")
    first = workspace.snapshot(0, "first")
    (git_repo / "work.py").write_text("later\n")
    second = workspace.snapshot(1, "second")
    git(git_repo, "clean", "-fdxq")
    git(git_repo, "gc", "-q", "--prune=now")
    again = workspace_of(git_repo, first.ref.split("/")[2])  # after a resume
    third = again.snapshot(2, "third")
    parents = git(git_repo, "rev-list", "--first-parent", third.commit).split()
    assert parents == [third.commit, second.commit, first.commit, head]
    assert first.ref.endswith("/000")
    again.restore(first.ref)
    assert (git_repo / "work.py").read_text() == "held\n"


def test_objects_that_were_pruned_are_written_again(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "first")
    (git_repo / "lost.py").write_text("staged, then the run was killed\n")
    workspace._staging.add(["lost.py"])
    git(git_repo, "gc", "-q", "--prune=now")
    taken = workspace_of(git_repo).snapshot(0, "next")
    assert git(git_repo, "show", f"{taken.commit}:lost.py").startswith("staged")


def test_the_commit_has_its_own_identity(git_repo: Path) -> None:
    taken = workspace_of(git_repo).snapshot(0, "iteration 1\0\x1b[31m start")
    shown = git(git_repo, "log", "-1", "--format=%an <%ae>|%cn <%ce>|%B", taken.commit)
    who = "ralph-tui <ralph-tui@localhost>"
    assert shown.strip() == f"{who}|{who}|iteration 1 start"


def test_the_missing_fit_an_event(git_repo: Path) -> None:
    for number in range(25):
        nested = at(git_repo, b"n\xff%02d" % number)
        nested.mkdir()
        git(nested, "init", "-q")
    taken = workspace_of(git_repo).snapshot(0, "missing")
    assert len(taken.missing) == 20
    assert taken.missing_count == 25
    event = SnapshotTaken(
        iteration=1,
        number=0,
        ref=taken.ref,
        commit=taken.commit,
        tree=taken.tree,
        missing=list(taken.missing),
        missing_count=taken.missing_count,
    )
    assert event.missing[0] == "n\\xff00/"


def test_a_run_started_from_a_hook(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoy = git_repo.parent / "decoy"
    decoy.mkdir()
    git(decoy, "init", "-q")
    index = decoy / ".git" / "hook-index"
    for name, value in {
        "GIT_DIR": str(decoy / ".git"),
        "GIT_WORK_TREE": str(decoy),
        "GIT_INDEX_FILE": str(index),
        "GIT_OBJECT_DIRECTORY": str(decoy / ".git" / "objects"),
        "GIT_GLOB_PATHSPECS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "hook")
    monkeypatch.undo()
    assert workspace.root == git_repo
    assert held(workspace, taken.tree) == {"README.md"}
    assert not index.exists()


def test_a_sha256_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    (tmp_path / "a.py").write_text("1\n")
    workspace = workspace_of(tmp_path)
    taken = workspace.snapshot(0, "sha256")
    assert len(taken.tree) == 64
    (tmp_path / "a.py").write_text("2\n")
    workspace.restore(taken.tree)
    assert (tmp_path / "a.py").read_text() == "1\n"


def test_a_sparse_checkout_holds_what_is_there(git_repo: Path) -> None:
    (git_repo / "in").mkdir()
    (git_repo / "in" / "a.py").write_text("a\n")
    (git_repo / "out").mkdir()
    (git_repo / "out" / "b.py").write_text("b\n")
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-q", "-m", "both")
    git(git_repo, "sparse-checkout", "set", "--cone", "in")
    (git_repo / "elsewhere").mkdir()
    (git_repo / "elsewhere" / "c.py").write_text("c\n")
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "sparse")
    assert held(workspace, taken.tree) == {"README.md", "in/a.py", "elsewhere/c.py"}
    (git_repo / "in" / "a.py").write_text("changed\n")
    workspace.restore(taken.tree)
    assert (git_repo / "in" / "a.py").read_text() == "a\n"
    assert not (git_repo / "out").exists()


def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments of each git call from now on."""
    words, ask = [], Repository.git

    def git_of(repository: Repository, *arguments: str, **more: Any) -> Any:
        words.append(" ".join(arguments))
        return ask(repository, *arguments, **more)

    monkeypatch.setattr(Repository, "git", git_of)
    return words


def test_conflicts_are_asked_for_again_once_the_index_is_another(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (git_repo / "a.txt").write_text("one\n")
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-qm", "one")
    workspace, gits = workspace_of(git_repo), asked(monkeypatch)
    assert workspace.conflicts() == workspace.conflicts() == ()
    assert len(gits) == 1
    git(git_repo, "checkout", "-qb", "other", "HEAD~1")
    (git_repo / "a.txt").write_text("two\n")
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-qm", "two")
    with pytest.raises(subprocess.CalledProcessError):
        git(git_repo, "merge", "-q", "@{-1}")
    assert workspace.conflicts() == ("a.txt",)
    git(git_repo, "checkout", "-q", "--ours", "a.txt")
    git(git_repo, "add", "a.txt")
    assert workspace.conflicts() == ()


def test_test_files_are_listed_again_once_the_status_is_another(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, gits = CachedStatus(open_repository(git_repo)), asked(monkeypatch)
    counts: list[int] = []
    for change in ("", "test_a.py", "test_a.py", ".gitignore"):
        if change:
            (git_repo / change).write_text(f"test_*.py\n{len(counts)}\n")
        looks.status()
        counts.append(len(looks.test_files()))
    assert counts == [0, 1, 1, 0]
    assert sum(words.startswith("ls-files") for words in gits) == 3
