"""Difficult repositories, and agents that use git: snapshots save and restore everything."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ralph_tui.adapters.workspace.git import GitResult
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.base.errors import NoRoomError, WorkspaceError
from tests.paths import ROOT
from tests.small_disk import run_on_small_disk
from tests.workspaces import workspace_of

PRUNE = (
    "git for-each-ref --format='delete %(refname)' refs/ralph | git update-ref --stdin;"
    " git reflog expire --expire=now --all; git gc -q --prune=now"
)
IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.com")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *IDENTITY, *arguments], cwd=folder, check=True, capture_output=True
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def shell(folder: Path, command: str) -> None:
    subprocess.run(["sh", "-ec", command], cwd=folder, check=True, capture_output=True)


def held(workspace: GitWorkspace, tree: str) -> set[str]:
    output = git(workspace.root, "ls-tree", "-r", "-z", "--name-only", tree)
    return set(output.split("\0")) - {""}


def files_below(root: Path) -> dict[str, str]:
    """Each file and link with its executable bit and content, without git's own and folders."""
    found = {}
    for folder, folders, names in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in [*names, *(f for f in folders if (Path(folder) / f).is_symlink())]:
            path = Path(folder) / name
            if path.is_symlink():
                found[str(path.relative_to(root))] = f"-> {path.readlink()}"
            else:
                mode = "x" if os.access(path, os.X_OK) else "-"
                found[str(path.relative_to(root))] = mode + path.read_text("latin-1")
    return found


# -- the agent uses git ------------------------------------------------------------------------


DOES = {
    "rebases": "git add -A; git commit -qm x; git rebase -q --root --exec true",
    "stashes": "git stash -qu",
    "cleans": "git clean -ffdxq",
    "another branch": "git checkout -qf -b side; git rm -qf tracked.py; git commit -qm gone",
    "detached": "git checkout -q --detach; git commit -qam x",
    "an unborn branch": "git checkout -q --orphan fresh; git rm -rfq .",
    "prunes": "git add -A; git commit -qm x; git gc -q --prune=now",
    "locks": "touch .git/index.lock .git/HEAD.lock .git/packed-refs.lock",
    "deletes the index and empties the config": "rm -f .git/index; : > .git/config",
    "sparse": "mkdir -p in; touch in/x; git add in; git commit -qm x; git sparse-checkout set in",
}


@pytest.mark.parametrize("does", DOES.values(), ids=DOES.keys())
def test_an_agent_that_uses_git(git_repo: Path, does: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "agent")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "agent@example.com")
    (git_repo / "tracked.py").write_text("1\n")
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-qm", "second")
    (git_repo / "tracked.py").write_text("2\n")
    (git_repo / "untracked.py").write_text("1\n")
    workspace = workspace_of(git_repo)
    start, before = workspace.snapshot(0, "start"), files_below(git_repo)
    shell(git_repo, does)
    (git_repo / "new.py").write_text("1\n")
    live = workspace.changes(start.tree)
    end, after = workspace.snapshot(1, "end"), files_below(git_repo)
    assert workspace.changes(start.tree, end.tree) == live
    assert held(workspace, end.tree) == after.keys()
    users = git(git_repo, "ls-files", "--stage"), git(git_repo, "stash", "list")
    head = workspace.repository.branch(), workspace.repository.head()
    workspace.restore(start.tree)
    assert files_below(git_repo) == before
    workspace.restore(end.tree)
    assert files_below(git_repo) == after
    assert (git(git_repo, "ls-files", "--stage"), git(git_repo, "stash", "list")) == users
    assert (workspace.repository.branch(), workspace.repository.head()) == head


def test_snapshots_that_were_deleted_and_pruned(git_repo: Path) -> None:
    (git_repo / "a.py").write_text("1\n")
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    shell(git_repo, PRUNE)
    with pytest.raises(WorkspaceError, match=r"is no longer in .*") as raised:
        workspace.restore(first.tree)
    assert "\n" not in str(raised.value)
    second = workspace.snapshot(1, "nothing changed since")
    assert second.tree == first.tree
    assert git(git_repo, "show", f"{second.commit}:a.py") == "1"
    assert git(git_repo, "rev-parse", f"{second.commit}^") == workspace.repository.head()
    workspace.restore(first.tree)


def test_a_repository_that_was_made_anew(git_repo: Path) -> None:
    (git_repo / ".gitignore").write_text("*.log\n")
    (git_repo / "kept.log").write_text("1\n")
    git(git_repo, "add", "-f", "kept.log")
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    (git_repo / "README.md").write_text("changed\n")
    shell(git_repo, "rm -rf .git; git init -q; git add -f kept.log")
    with pytest.raises(WorkspaceError):
        workspace.changes(first.tree)
    second = workspace.snapshot(1, "second")
    assert held(workspace, second.tree) == {".gitignore", "README.md", "kept.log"}
    assert git(git_repo, "rev-list", "--count", second.commit) == "1"
    assert workspace.changes(second.tree) == ()


def test_a_repository_that_is_gone(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    shutil.move(git_repo / ".git", git_repo.parent / "elsewhere")
    for attempt in (
        lambda: workspace.snapshot(1, "second"),
        lambda: workspace.changes(first.tree),
        lambda: workspace.restore(first.tree),
    ):
        with pytest.raises(WorkspaceError) as raised:
            attempt()
        assert "\n" not in str(raised.value)
    assert not (git_repo / ".git").exists()
    shutil.move(git_repo.parent / "elsewhere", git_repo / ".git")
    (git_repo / "new.py").write_text("1\n")
    assert "new.py" in held(workspace, workspace.snapshot(2, "back").tree)


def test_links_in_the_place_of_files_and_folders(git_repo: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "inside.py").write_text("theirs\n")
    (git_repo / "folder").mkdir()
    (git_repo / "folder" / "inside.py").write_text("ours\n")
    workspace = workspace_of(git_repo)
    first, before = workspace.snapshot(0, "first"), files_below(git_repo)
    shell(git_repo, f"rm -r folder README.md; ln -s {outside} folder; ln -s /etc/passwd README.md")
    second = workspace.snapshot(1, "links")
    assert held(workspace, second.tree) == {"README.md", "folder"}
    assert git(git_repo, "show", f"{second.tree}:README.md") == "/etc/passwd"
    workspace.restore(first.tree)
    assert files_below(git_repo) == before
    assert (outside / "inside.py").read_text() == "theirs\n"


def test_git_that_dies_of_a_file_that_shrinks_is_tried_again(
    git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third `write-tree` lives; the first ones die as Git does when a mapped file shrinks."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/sh
case "$*" in *write-tree)
    echo x >>'{tmp_path}/tries'
    [ "$(wc -l <'{tmp_path}/tries')" -gt 2 ] || kill -BUS $$
esac
exec '{shutil.which("git")}' "$@"
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    (git_repo / "new.py").write_text("1\n")
    workspace = workspace_of(git_repo)
    assert workspace.snapshot(0, "start").tree
    assert (tmp_path / "tries").read_text() == "x\n" * 3


def test_a_file_that_is_written_all_the_time(git_repo: Path) -> None:
    """It may be missing from a snapshot or saved in an older version; all else is saved."""
    busy = git_repo / "busy.log"
    busy.write_bytes(b"x" * 200_000)
    workspace = workspace_of(git_repo)
    stop = threading.Event()

    def write() -> None:
        size = 0
        while not stop.is_set():
            size = (size + 70_001) % 400_000
            busy.write_bytes(os.urandom(1) * size)  # also truncates it while git reads

    writer = threading.Thread(target=write)
    writer.start()
    try:
        tree = workspace.snapshot(0, "start").tree
        for number in range(1, 12):
            name = f"file{number}.py"
            (git_repo / name).write_text("1\n")
            assert name in {change.path for change in workspace.changes(tree)}
            taken = workspace.snapshot(number, "busy")
            assert name in held(workspace, taken.tree)
            assert set(taken.missing) <= {"busy.log"}
    finally:
        stop.set()
        writer.join()
    assert "busy.log" in held(workspace, workspace.snapshot(20, "quiet").tree)


# -- repositories of all kinds -------------------------------------------------------------------


def test_settings_of_another_machine(git_repo: Path) -> None:
    """Whatever the config says, the files on disk are saved and restored."""
    for setting in ("fileMode=false", "symlinks=false", "ignoreCase=true", "ignoreStat=true"):
        git(git_repo, "config", f"core.{setting.split('=')[0]}", setting.split("=")[1])
    for name in ("name.py", "other.py", "run.sh"):
        (git_repo / name).write_text(name)
    (git_repo / "link").symlink_to("name.py")
    workspace = workspace_of(git_repo)
    first, before = workspace.snapshot(0, "first"), files_below(git_repo)
    (git_repo / "NAME.py").write_text("a second file")
    (git_repo / "other.py").rename(git_repo / "Other.py")
    (git_repo / "run.sh").chmod(0o755)
    (git_repo / "link").unlink()
    (git_repo / "link").symlink_to("run.sh")
    changed = {change.path for change in workspace.changes(first.tree)}
    assert changed == {"NAME.py", "other.py", "Other.py", "run.sh", "link"}
    second, after = workspace.snapshot(1, "second"), files_below(git_repo)
    assert held(workspace, second.tree) == after.keys()
    workspace.restore(first.tree)
    assert files_below(git_repo) == before
    workspace.restore(second.tree)
    assert files_below(git_repo) == after


@pytest.mark.parametrize("how", ["--depth=1", "--filter=blob:none", "--shared", "--no-checkout"])
def test_clones_that_do_not_have_everything(git_repo: Path, tmp_path: Path, how: str) -> None:
    (git_repo / "README.md").write_text("# second\n")
    git(git_repo, "commit", "-qam", "second")
    git(git_repo, "config", "uploadpack.allowFilter", "true")
    source = f"file://{git_repo}" if how != "--shared" else str(git_repo)
    git(tmp_path, "clone", "-q", how, source, "clone")
    root = tmp_path / "clone"
    (root / "new.py").write_text("1\n")
    workspace = workspace_of(root)
    first, before = workspace.snapshot(0, "first"), files_below(root)
    (root / "new.py").write_text("2\n")
    (root / "README.md").unlink(missing_ok=True)
    workspace.snapshot(1, "second")
    workspace.restore(first.tree)
    assert files_below(root) == before
    git(root, "gc", "-q")
    git(root, "fsck", "--connectivity-only")


def test_a_git_dir_elsewhere(git_repo: Path, tmp_path: Path) -> None:
    """``core.worktree`` in a git dir that a file points to."""
    (git_repo / ".git").rename(tmp_path / "store.git")
    (git_repo / ".git").write_text(f"gitdir: {tmp_path}/store.git\n")
    git(tmp_path / "store.git", "config", "core.worktree", str(git_repo))
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    (git_repo / "README.md").write_text("changed\n")
    assert [change.path for change in workspace.changes(first.tree)] == ["README.md"]
    workspace.restore(first.tree)
    assert (git_repo / "README.md").read_text() == "# sample\n"
    assert (git_repo / ".git").is_file()


def test_a_submodule_with_dirty_content(git_repo: Path, tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    git(tmp_path / "library", "init", "-q")
    git(tmp_path / "library", "commit", "-q", "--allow-empty", "-m", "x")
    allow = ("-c", "protocol.file.allow=always")
    git(git_repo, *allow, "submodule", "--quiet", "add", str(tmp_path / "library"), "sub")
    (git_repo / "sub" / "dirty.py").write_text("1\n")
    workspace = workspace_of(git_repo)
    first = workspace.snapshot(0, "first")
    assert first.missing == ("sub/",)
    git(git_repo, "submodule", "--quiet", "deinit", "--force", "sub")
    assert workspace.snapshot(1, "without").missing == ()
    git(git_repo, *allow, "submodule", "--quiet", "update", "--init")
    (git_repo / "sub" / "dirty.py").write_text("2\n")
    (git_repo / "new.py").write_text("1\n")
    assert [change.path for change in workspace.changes(first.tree)] == ["new.py"]
    workspace.restore(first.tree)
    assert (git_repo / "sub" / "dirty.py").read_text() == "2\n"


def test_names_near_the_limit(git_repo: Path) -> None:
    """A path of almost 4 kB is saved; one too long for any program is reported."""
    here = os.open(git_repo, os.O_RDONLY)
    part = "d" * 200
    try:
        for depth in range(25):  # created step by step: it ends deeper than a path can express
            os.mkdir(part, dir_fd=here)
            inner = os.open(part, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
            if depth in (17, 24):
                os.close(os.open("file.py", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    finally:
        os.close(here)
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "deep")
    near = "/".join([part] * 18 + ["file.py"])
    assert held(workspace, taken.tree) == {"README.md", near}
    assert taken.missing_count == 1
    assert workspace.changes(taken.tree) == ()


# -- many files, large files -------------------------------------------------------------------


def test_four_thousand_files(git_repo: Path) -> None:
    for folder in range(40):
        (git_repo / f"{folder}").mkdir()
        for number in range(100):
            path = git_repo / f"{folder}/{number}.py"
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-qm", "many")
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "many")
    (git_repo / "7" / "7.py").write_text("1\n")
    (git_repo / "7" / "new.py").write_text("1\n")
    changed = [change.path for change in workspace.changes(taken.tree)]
    again = workspace.snapshot(1, "again")
    assert changed == ["7/7.py", "7/new.py"]
    assert (taken.missing_count, again.missing_count) == (0, 0)
    workspace.restore(taken.tree)
    assert not (git_repo / "7" / "new.py").exists()


def test_a_folder_of_two_gigabytes_is_neither_read_nor_held(git_repo: Path) -> None:
    folder = git_repo / "data"
    folder.mkdir()
    for number in range(4):
        with (folder / f"{number}.bin").open("wb") as file:
            file.truncate(512 << 20)
    before = {path: path.stat().st_atime_ns for path in folder.iterdir()}
    for path in before:  # older than a day, so that reading it would show even with relatime
        os.utime(path, ns=(0, path.stat().st_mtime_ns))
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "large")
    (git_repo / "new.py").write_text("1\n")
    assert [change.path for change in workspace.changes(taken.tree)] == ["new.py"]
    assert taken.missing == tuple(f"data/{number}.bin" for number in range(4))
    assert all(path.stat().st_atime_ns == 0 for path in before), "they are unread"
    store = sum(path.stat().st_size for path in (git_repo / ".git").rglob("*") if path.is_file())
    assert store < 1_000_000
    workspace.restore(taken.tree)
    assert all(path.stat().st_size == 512 << 20 for path in before)


# -- rights --------------------------------------------------------------------------------------


AS_NOBODY = """\
import os, sys, subprocess, uuid
from pathlib import Path
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
print("able")
def begin(name):
    global root
    root = top / name
    root.mkdir()
    os.chdir(root)
    subprocess.run(["git", "init", "-q"], check=True)
    return GitWorkspace(open_repository(root), str(uuid.uuid4()))
def write(name, text):
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(text)
top = Path.cwd()

# Read-only files and folders
workspace = begin("read-only")
write("file", "1"); write("folder/a", "1"); write("folder/b", "1"); write("free", "1")
(root / "file").chmod(0o444)
first = workspace.snapshot(0, "first")
assert first.missing == (), first
(root / "file").chmod(0o644); write("file", "2"); (root / "file").chmod(0o444)
write("folder/a", "2"); (root / "folder/b").unlink(); write("folder/c", "2"); write("free", "2")
(root / "folder").chmod(0o555)
second = workspace.snapshot(1, "second")
restored = workspace.restore(first.tree)
assert second.missing == (), second
assert [one.path for one in restored.kept] == ["folder/a", "folder/b", "folder/c"], restored
why = {"its folder cannot be written to", "it cannot be deleted: Permission denied"}
assert {one.why for one in restored.kept} == why, restored
assert restored.changed == ("file", "free"), restored
assert (root / "file").read_text() == (root / "free").read_text() == "1"
assert (root / "file").stat().st_mode & 0o777 == 0o444
(root / "folder").chmod(0o755)
workspace.restore(first.tree)
assert sorted(os.listdir("folder")) == ["a", "b"]
assert (root / "folder/a").read_text() == "1"

# What may not be read
workspace = begin("unreadable")
write("file", "1"); write("folder/a", "1"); write("open", "1")
(root / "file").chmod(0); (root / "folder").chmod(0)
first = workspace.snapshot(0, "first")
assert first.missing == ("file", "folder/"), first
assert workspace.changes(first.tree) == ()
write("open", "2")
assert workspace._staging.add(["file", "open"]) == ["file"]
assert [c.path for c in workspace.changes(first.tree)] == ["open"]
workspace.restore(first.tree)
assert (root / "open").read_text() == "1"
(root / "folder").chmod(0o755)
assert (root / "folder/a").read_text() == "1"

# A store that takes no objects: it is not the files' fault, and nothing may pass for held.
workspace = begin("store")
write("a", "1")
workspace.snapshot(0, "first")
for folder in (root / ".git/objects").rglob("*"):
    if folder.is_dir(): folder.chmod(0o555)
(root / ".git/objects").chmod(0o555)
write("b", "1")
try: workspace.snapshot(1, "second")
except WorkspaceError as error: assert "insufficient permission" in str(error), error
else: raise AssertionError("held")
"""


@contextmanager
def nobodys_folder() -> Iterator[Path]:
    """A folder that another user can reach: pytest's own are private."""
    with tempfile.TemporaryDirectory(prefix="ralph-rights-", ignore_cleanup_errors=True) as folder:
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
        yield Path(folder)


def test_files_folders_and_a_store_without_rights() -> None:
    """Run as a user to whom permissions apply."""
    program = [sys.executable, "-c", AS_NOBODY]
    if os.geteuid() == 0:
        program = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *program]
    with nobodys_folder() as root:
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(root)}
        try:
            done = subprocess.run(
                program, cwd=root, env=environ, check=False, capture_output=True, text=True
            )
        except FileNotFoundError:
            pytest.skip("there is no setpriv(1) to let go of root's rights with")
        if "able" not in done.stdout:
            pytest.skip("another user cannot run this checkout")
        assert done.returncode == 0, done.stderr


# -- a full disk -----------------------------------------------------------------------------------


FULL = """
import os, subprocess, sys
from ralph_tui.adapters.workspace.git import GitResult
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.base.errors import NoRoomError
from tests.unit.adapters.workspace.test_difficult import files_below, git, held
from tests.workspaces import close_workspaces, workspace_of

def added(root): (root / "new.bin").write_bytes(os.urandom(20_000))
def removed(root): (root / "0.py").unlink()
for change in (added, removed):
    root = Path(change.__name__).absolute()
    root.mkdir()
    git(root, "init", "-q")
    (root / ".gitignore").write_text("*.log\\n")
    for number in range(300):  # an index of more than 10 kB
        (root / f"{number}.py").write_text(f"{number}\\n")
    workspace = workspace_of(root)
    workspace.snapshot(0, "first")
    change(root)
    (root / "kept.log").write_text("1\\n")
    git(root, "add", "-f", "kept.log")
    fill()
    for _ in range(2):
        try: workspace.snapshot(1, "full")
        except NoRoomError as error: assert "\\n" not in str(error)
        else: raise AssertionError("held")
    pieces = list((root / ".git" / "objects").rglob("tmp_obj*"))
    assert len(pieces) <= 1, "it is not tried again while there is no room"
    make_room()
    taken = workspace.snapshot(1, "again")
    assert taken.missing == ()
    assert held(workspace, taken.tree) == files_below(root).keys()
    close_workspaces()

# A full disk that git does not name
repository = open_repository(root)
silent = GitResult(128, b"", "fatal: Unable to write new index file")
assert not isinstance(repository.error_of(silent, ("update-index",)), NoRoomError)
fill()
assert isinstance(repository.error_of(silent, ("update-index",)), NoRoomError)
other = GitResult(128, b"", "fatal: bad object")
assert not isinstance(repository.error_of(other, ("diff-tree",)), NoRoomError)
"""


def test_a_full_disk_is_told_apart_and_nothing_is_lost(tmp_path: Path) -> None:
    run_on_small_disk(FULL, tmp_path, size="12m")


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Limit the file size for this process and the git it starts."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_limit_on_file_sizes_is_no_full_disk(git_repo: Path) -> None:
    workspace = workspace_of(git_repo)
    workspace.snapshot(0, "first")
    (git_repo / "new.bin").write_bytes(os.urandom(20_000))
    with no_file_larger_than(4096), pytest.raises(WorkspaceError) as raised:
        workspace.snapshot(1, "limited")
    assert not isinstance(raised.value, NoRoomError)
    assert "size limit of the shell; raise it with 'ulimit -f" in str(raised.value)
    assert workspace.snapshot(1, "again").missing == ()


@pytest.mark.parametrize(
    "error", ["error: file write error: No space left on device", "fatal: x: Disk quota exceeded"]
)
def test_a_full_disk_that_git_names(git_repo: Path, error: str) -> None:
    refused = open_repository(git_repo).error_of(
        GitResult(128, b"", error), ("-c", "a=b", "write-tree")
    )
    assert isinstance(refused, NoRoomError)
    assert str(refused).startswith("git write-tree failed in ")
