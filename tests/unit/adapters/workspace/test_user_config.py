"""The user's configuration is read as git reads it, and nothing in it can block."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph_tui.adapters.workspace.git_status import git_status
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.user_config import UserConfig
from ralph_tui.base.errors import WorkspaceError


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user without any configuration."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def values(repo: Path) -> dict[str, str]:
    git_dir = repo / ".git"
    return dict(UserConfig(git_dir).of_repository(git_dir))


def as_git_says(repo: Path) -> dict[str, str]:
    listed = subprocess.run(
        ["git", "config", "-z", "--list"], cwd=repo, capture_output=True, text=True, check=True
    )
    entries = [entry.partition("\n") for entry in listed.stdout.split("\0")[:-1]]
    return {name: value for name, _, value in entries}


def test_it_is_what_git_says(
    git_repo: Path, user: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    work, held = tmp_path / "work.inc", tmp_path / "held.inc"
    written(work, "[core]\n\texcludesFile = ~/work-ignore\n[user]\n\tname = At Work\n")
    written(held, "[user]\n\temail = never@example.com\n")
    written(user / "config/git/config", "[user]\n\tname = X\n\tEmail = x@example.com\n[a]\n\tb\n")
    conditions = {
        f"gitdir:{tmp_path}/": work,
        "gitdir:/elsewhere/": held,
        "gitdir:**/nowhere/**": held,
    }
    text = "".join(f'[includeIf "{c}"]\n\tpath = {path}\n' for c, path in conditions.items())
    written(
        user / ".gitconfig", f'[include]\n\tpath = more.inc\n{text}[url "A.B"]\n\tx = "q # r"\n'
    )
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "Safe.Directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "*")
    written(user / "more.inc", "[core]\n\tautocrlf = input\n")
    found, expected = values(git_repo), as_git_says(git_repo)
    assert found["user.name"] == "At Work"
    assert found.pop("a.b") == "true"  # git prints no value for it
    assert found == {name: value for name, value in expected.items() if name != "a.b"}
    assert ("safe.directory", "*") in UserConfig().protected()


def test_files_that_include_one_another_come_to_an_end(git_repo: Path, user: Path) -> None:
    written(user / ".gitconfig", "[include]\n\tpath = .gitconfig\n[user]\n\tname = X\n")
    assert values(git_repo)["user.name"] == "X"


def fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def include(home: Path) -> None:
    written(home / ".gitconfig", f"[include]\n\tpath = {fifo(home / 'pipe')}\n")


def include_if(home: Path) -> None:
    written(home / ".gitconfig", f'[includeIf "gitdir:/**"]\n\tpath = {fifo(home / "pipe")}\n')


def trace(home: Path) -> None:
    written(home / ".gitconfig", f"[trace2]\n\teventTarget = {fifo(home / 'pipe')}\n")


def excludes(home: Path) -> None:
    written(home / ".gitconfig", f"[core]\n\texcludesFile = {fifo(home / 'pipe')}\n")


def default_excludes(home: Path) -> None:
    (home / "config/git").mkdir(parents=True)
    fifo(home / "config/git/ignore")


def the_file_itself(home: Path) -> None:
    fifo(home / ".gitconfig")


def a_program(home: Path) -> None:
    program = written(home / "program", f"#!/bin/sh\ntouch {home}/ran\nexec sleep 1000\n")
    program.chmod(0o755)
    names = ("fsmonitor", "hooksPath", "sshCommand", "pager")
    written(home / ".gitconfig", "[core]\n" + "".join(f"\t{n} = {program}\n" for n in names))


TRAPS = [include, include_if, trace, the_file_itself, a_program]
NAMED = [excludes, default_excludes]


@pytest.mark.parametrize("trap", [*TRAPS, *NAMED])
def test_nothing_in_it_holds_a_git_of_ours(
    git_repo: Path, user: Path, trap: Callable[[Path], None]
) -> None:
    trap(user)
    if trap in NAMED:  # ignored files cannot be excluded, so nothing is listed
        with pytest.raises(WorkspaceError, match="which is a FIFO and never ends; delete it"):
            git_status(open_repository(git_repo))
    else:
        assert git_status(open_repository(git_repo)).branch == "main"
    assert not (user / "ran").exists()


def test_no_git_runs_at_import(tmp_path: Path) -> None:
    git = written(tmp_path / "bin/git", f"#!/bin/sh\ntouch {shlex.quote(str(tmp_path / 'ran'))}\n")
    git.chmod(0o755)
    program = "import ralph_tui.adapters.workspace.git"
    environ = os.environ | {"PATH": f"{git.parent}:{os.environ['PATH']}"}
    subprocess.run([sys.executable, "-c", program], env=environ, check=True)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("trap", [include, trace, the_file_itself])
def test_what_holds_the_users_own_git_is_named(
    git_repo: Path, user: Path, trap: Callable[[Path], None]
) -> None:
    trap(user)
    config = UserConfig(git_repo / ".git")
    config.of_repository(git_repo / ".git")
    assert [path.is_fifo() for path in config.blocked] == [True]


def test_a_repository_of_somebody_else_that_the_user_trusts(
    git_repo: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(Exception, match="does not trust"):
        open_repository(git_repo)
    written(user / ".gitconfig", f"[safe]\n\tdirectory = {git_repo}\n")
    assert open_repository(git_repo).root == git_repo
