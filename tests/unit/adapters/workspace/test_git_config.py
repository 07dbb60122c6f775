"""Our own git runs no program that the repository or any other configuration names."""

import os
import shutil
import subprocess
import uuid
from contextlib import closing
from pathlib import Path

import pytest

from ralph_tui.adapters.workspace.git_status import commits_between, git_status, list_test_files
from ralph_tui.adapters.workspace.hidden_refs import delete_refs, hidden_refs, worktrees
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from tests.workspaces import workspace_of

HOOKS = (
    *("post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout"),
    *("pre-auto-gc", "post-rewrite", "pre-commit", "post-commit", "proc-receive"),
)

CONFIG = """
[core]
    fsmonitor = {program} fsmonitor
    hooksPath = {hooks}
    pager = {program} pager
    editor = {program} editor
    sshCommand = {program} ssh
    askPass = {program} askpass
    alternateRefsCommand = {program} alternates
    attributesFile = {attributes}
    worktree = {elsewhere}
    bare = true
    fileMode = false
    symlinks = false
    ignoreCase = true
    autocrlf = true
[filter "{name}"]
    clean = {program} clean
    smudge = {program} smudge
    required = true
[filter "{name}-2"]
    process = {program} process
[diff]
    external = {program} external
[diff "{name}"]
    command = {program} diff
    textconv = {program} textconv
[merge "{name}"]
    driver = {program} merge
[alias]
    status = !{program} alias
    ls-files = !{program} alias
[pager]
    status = {program} pager
    log = {program} pager
[credential]
    helper = !{program} credential
[gpg]
    program = {program} gpg
[log]
    showSignature = true
[status]
    showUntrackedFiles = no
    submoduleSummary = true
[extensions]
    partialClone = origin
[remote "origin"]
    url = ext::{program} remote
    vcs = ext
    promisor = true
    uploadpack = {program} uploadpack
[protocol]
    allow = always
[uploadpack]
    packObjectsHook = {program} pack
"""


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


class Trap:
    """A configuration that names programs in every possible place; each records that it ran."""

    def __init__(self, root: Path, place: Path) -> None:
        self.root = root
        self.ran = place / "ran"
        program = place / "program"
        program.write_text(f'#!/bin/sh\necho "$@" >> {self.ran}\ncat > /dev/null\nexit 1\n')
        program.chmod(0o755)
        hooks = place / "hooks"
        hooks.mkdir()
        for name in HOOKS:
            (hooks / name).symlink_to(program)
        (place / "elsewhere").mkdir()
        self.attributes = place / "attributes"
        self.attributes.write_text("*.py filter=evil diff=evil merge=evil\n*.txt filter=evil-2\n")
        self.config = CONFIG.format(
            name="evil",
            program=program,
            hooks=hooks,
            attributes=self.attributes,
            elsewhere=place / "elsewhere",
        )
        self.included = place / "included"
        self.included.write_text(self.config)
        self.program = program

    def in_users_config(self) -> None:
        with (self.root / ".git" / "config").open("a") as file:
            file.write(self.config)

    def in_included_file(self) -> None:
        with (self.root / ".git" / "config").open("a") as file:
            file.write(f'[include]\n\tpath = {self.included}\n[includeIf "gitdir:**"]\n')
            file.write(f"\tpath = {self.included}\n")

    def in_worktree_config(self) -> None:
        with (self.root / ".git" / "config").open("a") as file:
            file.write("[extensions]\n\tworktreeConfig = true\n")
        (self.root / ".git" / "config.worktree").write_text(self.config)

    def in_global_config(self) -> None:
        Path("~/.gitconfig").expanduser().write_text(self.config)

    def in_private_folder(self) -> None:
        for name in (".", "view"):
            folder = self.root / ".git" / "ralph-tui" / name
            for linked in (folder / "info" / "attributes", folder / "config"):
                if not linked.parent.is_symlink():
                    linked.unlink(missing_ok=True)
            (folder / "config").write_text(self.config)
            if not (folder / "info").is_symlink():
                (folder / "info" / "attributes").write_text(self.attributes.read_text())
            (folder / "hooks").mkdir()
            for hook in HOOKS:
                (folder / "hooks" / hook).symlink_to(self.program)

    def in_users_attributes(self) -> None:
        (self.root / ".gitattributes").write_text(self.attributes.read_text())
        info = self.root / ".git" / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(self.attributes.read_text())
        for hook in HOOKS:
            target = self.root / ".git" / "hooks" / hook
            target.unlink(missing_ok=True)
            target.symlink_to(self.program)

    def wherever_git_reads(self) -> None:
        """The repository's configuration, an included file, the worktree's, and the user's."""
        self.in_users_config()
        self.in_included_file()
        self.in_worktree_config()
        self.in_global_config()


PLACES = {
    "wherever git reads": Trap.wherever_git_reads,
    "the private git dir's": Trap.in_private_folder,
}


@pytest.fixture
def trap(git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    place, home = tmp_path / "place", tmp_path / "home"
    place.mkdir()
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("a.py", "b.txt", "sub/c.py"):
        (git_repo / name).parent.mkdir(exist_ok=True)
        (git_repo / name).write_text("1\n")
    git(git_repo, "add", ".")
    git(git_repo, "commit", "-qm", "second")
    return Trap(git_repo, place)


def change_all(root: Path, text: str) -> None:
    """Change every file, so that git must read it."""
    for path in root.rglob("*.*"):
        if path.is_file() and ".git" not in path.parts and not path.name.startswith("."):
            path.write_text(text)
            os.utime(path, (int(text), int(text)))  # no file looks as new as an index


def do_everything(workspace: GitWorkspace, commit: str) -> None:
    """Run all git operations of a run, a restore or a check."""
    root, repository = workspace.root, workspace.repository
    change_all(root, "2\n")
    first = workspace.snapshot(1, "first")
    (root / "new.py").write_text("new\n")
    change_all(root, "3\n")
    assert "new.py" in {change.path for change in workspace.changes(first.tree)}
    second = workspace.snapshot(2, "second")
    assert "a.py" in {change.path for change in workspace.changes(first.tree, second.tree)}
    assert "+3" in workspace.diff(first.tree, second.tree, "a.py")
    workspace.restore(first.tree)
    assert not (root / "new.py").exists()
    assert (root / "a.py").read_text() == "2\n"
    workspace.ignored(["a.py", "new.py"])
    workspace.conflicts()
    workspace.newest()
    status = git_status(repository)
    assert "a.py" in status.unstaged
    assert status.branch == repository.branch() == "main"
    assert status.commit == repository.head() == commit
    (root / "test_new.py").write_text("1\n")
    assert "test_new.py" in git_status(repository).untracked
    assert len(list_test_files(repository)) == 1
    (root / "test_new.py").unlink()
    assert len(commits_between(repository, "", commit)) == 2
    assert worktrees(repository) == [root]


@pytest.mark.parametrize("set_in", PLACES.values(), ids=PLACES.keys())
@pytest.mark.parametrize("when", ["before it is opened", "while it is open"])
def test_nothing_that_is_configured_runs(trap: Trap, when: str, set_in: object) -> None:
    commit = git(trap.root, "rev-parse", "HEAD")
    prepared = workspace_of(trap.root)
    prepared.snapshot(0, "makes the private git dir")
    prepared.close()
    workspace = workspace_of(trap.root)
    trap.in_users_attributes()
    assert callable(set_in)
    set_in(trap)
    if when == "before it is opened":
        workspace.close()
        workspace = workspace_of(trap.root)
    do_everything(workspace, commit)
    repository = workspace.repository
    assert delete_refs(repository, hidden_refs(repository)) >= 3
    assert not trap.ran.exists(), trap.ran.read_text()


def test_settings_in_the_environment_name_no_programs(
    trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither pairs nor a file in git's environment variables."""
    commit = git(trap.root, "rev-parse", "HEAD")
    trap.in_users_attributes()
    pairs = {"core.fsmonitor": trap.program, "filter.evil.clean": trap.program}
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(pairs)))
    for number, (key, program) in enumerate(pairs.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", str(program))
    for name in ("GLOBAL", "SYSTEM"):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", str(trap.included))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "0")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap.program))
    do_everything(workspace_of(trap.root), commit)
    assert not trap.ran.exists(), trap.ran.read_text()


def test_a_configuration_that_comes_later_is_not_opened(trap: Trap) -> None:
    """A pipe instead of the file would block every reader."""
    commit = git(trap.root, "rev-parse", "HEAD")
    workspace = workspace_of(trap.root)
    for name in ("config", "config.worktree"):
        (trap.root / ".git" / name).unlink(missing_ok=True)
        os.mkfifo(trap.root / ".git" / name)
    do_everything(workspace, commit)


def test_the_private_git_dir_is_a_folder_of_its_own(git_repo: Path, tmp_path: Path) -> None:
    """A link instead of the folder would overwrite other files."""
    others = tmp_path / "others"
    others.mkdir()
    (others / "config").write_text("theirs\n")
    (git_repo / ".git" / "ralph-tui").symlink_to(others)
    workspace_of(git_repo).snapshot(0, "first")
    assert (others / "config").read_text() == "theirs\n"
    assert [path.name for path in others.iterdir()] == ["config"]


def test_a_worktree_set_elsewhere_does_not_matter(git_repo: Path, tmp_path: Path) -> None:
    """Nor a missing one: the files are those beside the git dir."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "README.md").write_text("theirs\n")
    (git_repo / "sub").mkdir()
    for value in (str(elsewhere), "/not/there", "../../not/there"):
        git_config = ("git", "config", "--file", str(git_repo / ".git" / "config"))
        subprocess.run([*git_config, "core.worktree", value], cwd=tmp_path, check=True)
        with closing(GitWorkspace(open_repository(git_repo / "sub"), str(uuid.uuid4()))) as opened:
            assert opened.root == git_repo
            (git_repo / "README.md").write_text("ours\n")
            taken = opened.snapshot(0, "first")
            (git_repo / "README.md").write_text("changed\n")
            assert git_status(opened.repository).unstaged == ["README.md"]
            opened.restore(taken.tree)
        assert (git_repo / "README.md").read_text() == "ours\n"
    assert (elsewhere / "README.md").read_text() == "theirs\n"


def test_what_is_ignored_and_shared_is_carried(git_repo: Path, tmp_path: Path) -> None:
    """Values that are not programs stay in force, from any file."""
    (tmp_path / "excludes").write_text("*.scratch\n")
    included = tmp_path / "included"
    included.write_text(f"[core]\n\texcludesFile = {tmp_path}/excludes\n")
    git(git_repo, "config", "include.path", str(included))
    git(git_repo, "config", "core.sharedRepository", "group")
    for name in ("a.scratch", "a.py"):
        (git_repo / name).write_text("1\n")
    objects = git_repo / ".git" / "objects"
    before = set(objects.iterdir())
    workspace = workspace_of(git_repo)
    taken = workspace.snapshot(0, "first")
    assert set(git(git_repo, "ls-tree", "--name-only", taken.tree).split()) == {"README.md", "a.py"}
    assert git_status(workspace.repository).untracked == ["a.py"]
    made = objects / taken.commit[:2] / taken.commit[2:]
    assert made.stat().st_mode & 0o060 == 0o040
    folders = set(objects.iterdir()) - before
    assert folders
    assert all(folder.stat().st_mode & 0o020 for folder in folders)


def test_a_repository_of_another_object_format(tmp_path: Path) -> None:
    """Also when its configuration is removed later."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "--object-format=sha256")
    (root / "a.py").write_text("1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    commit = git(root, "rev-parse", "HEAD")
    workspace = workspace_of(root)
    (root / ".git" / "config").unlink()
    taken = workspace.snapshot(0, "first")
    assert len(taken.tree) == 64
    assert git_status(workspace.repository).commit == commit


def test_what_is_written_after_the_look_and_before_git(
    git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fast agent names programs in the file that git is about to read."""
    trap = Trap(git_repo, tmp_path)
    real, program = shutil.which("git"), tmp_path / "bin" / "git"
    named = f"[core]\nfsmonitor = {trap.program}\nhooksPath = {tmp_path / 'hooks'}\n"
    (tmp_path / "named").write_text(named)
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nfor folder in "$GIT_DIR" "$GIT_COMMON_DIR"; do case $folder in *ralph-tui*)\n'
        f'cat {tmp_path / "named"} >> "$folder/config";; esac; done\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with closing(workspace_of(git_repo)) as workspace:
        taken = workspace.snapshot(0, "first")
        (git_repo / "new.py").write_text("new\n")
        workspace.snapshot(1, "second")
        workspace.restore(taken.tree)
        git_status(workspace.repository)
    assert "fsmonitor" in (git_repo / ".git" / "ralph-tui" / "config").read_text()
    assert not trap.ran.exists(), trap.ran.read_text()
