"""The user's Git configuration, read without blocking.

Before anything else, Git itself would open every included file and everything that `trace2.*`
names, and a FIFO there would block it forever. Therefore, ralph-tui opens the files itself, plain
ones only, and lets a sealed Git parse their text.
"""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ralph_tui.adapters.workspace.git import run_git
from ralph_tui.base.git_config import entries_of
from ralph_tui.base.plain_files import NotPlainError, read_bytes

LARGEST = 1 << 20
"""Maximum size of one file in bytes."""
DEEPEST = 10
"""Maximum depth of includes; Git's own limit."""
_LIST = ("config", "--file", "-", "--no-includes", "-z", "--list")
_NO_REPOSITORY = {"GIT_DIR": os.devnull}
_TRUE = ("true", "yes", "on", "1")


@dataclass
class UserConfig:
    """Entries from all files in Git's order: lowercase names and their values."""

    git_dir: Path | None = None
    """Decides which `includeIf` applies; with None, no such include applies."""
    blocked: list[Path] = field(default_factory=list)
    """Pipes and sockets named in the configuration, on which the user's own Git would block."""
    _parsed: dict[Path, list[tuple[str, str]]] = field(default_factory=dict)

    def protected(self) -> list[tuple[str, str]]:
        """Return entries from the system, the user and the environment, but from no repository."""
        return [*self._of_files(_user_files()), *_from_environment()]

    def of_repository(self, common_dir: Path) -> list[tuple[str, str]]:
        """Return the entries that apply in the repository of `git_dir`."""
        own = list(self._of_files([common_dir / "config"]))
        if self.git_dir is not None and dict(own).get("extensions.worktreeconfig") in _TRUE:
            own += self._of_files([self.git_dir / "config.worktree"])
        return [*self._of_files(_user_files()), *own, *_from_environment()]

    def _of_files(self, paths: list[Path]) -> Iterator[tuple[str, str]]:
        for path in paths:
            yield from self._entries(path, 0)

    def _entries(self, path: Path, depth: int) -> Iterator[tuple[str, str]]:
        """Yield the entries of a file, with each `include` replaced by the entries of its file."""
        if depth > DEEPEST:
            return
        if path not in self._parsed:
            self._parsed[path] = self._parse(path)
        for name, value in self._parsed[path]:
            yield name, value
            if name.startswith("trace2.") and Path(value).is_absolute():
                self._check(Path(value))
            condition = name.removeprefix("includeif.").removesuffix(".path")
            if name == "include.path" or (
                name == f"includeif.{condition}.path" and self._is_matching(condition, path)
            ):
                yield from self._entries(path.parent / expand_home(value), depth + 1)

    def _parse(self, path: Path) -> list[tuple[str, str]]:
        try:
            text = read_bytes(path, most=LARGEST, follow=True)
        except NotPlainError:
            self._check(path)
            return []
        except OSError:
            return []
        listing = run_git(Path("/"), *_LIST, stdin=text, environment=_NO_REPOSITORY, accept=None)
        return entries_of(listing.out)

    def _check(self, path: Path) -> None:
        if path not in self.blocked and (path.is_fifo() or path.is_socket()):
            self.blocked.append(path)

    def _is_matching(self, condition: str, path: Path) -> bool:
        """True if the Git directory matches `gitdir:`; other kinds of condition count as false."""
        kind, _, pattern = condition.partition(":")
        if self.git_dir is None or kind not in ("gitdir", "gitdir/i"):
            return False
        if pattern.startswith("./"):
            pattern = f"{path.parent}{pattern[1:]}"
        pattern = expand_home(pattern)
        pattern = pattern if pattern.startswith("/") else f"**/{pattern}"
        pattern = f"{pattern}**" if pattern.endswith("/") else pattern
        flags = re.IGNORECASE if kind == "gitdir/i" else 0
        return re.fullmatch(_expression(pattern), str(self.git_dir), flags) is not None


_WILD = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}


def _expression(pattern: str) -> str:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return "".join(_WILD.get(part, re.escape(part)) for part in parts)


def expand_home(path: str) -> str:
    """Expand ``~``; without a home folder, return the path unchanged."""
    return os.path.expanduser(path)  # noqa: PTH111 - a Path raises without a home folder


def default_excludes() -> Path:
    """Return Git's default excludes file."""
    return _xdg_folder() / "ignore"


def _xdg_folder() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or expand_home("~/.config")
    return Path(base) / "git"


def _user_files() -> list[Path]:
    """Return the files of the system and the user, in Git's order."""
    system, user = os.environ.get("GIT_CONFIG_SYSTEM"), os.environ.get("GIT_CONFIG_GLOBAL")
    found = [Path("/etc/gitconfig")]
    if program := shutil.which("git"):
        found.append(Path(program).resolve().parent.parent / "etc" / "gitconfig")
    if system is not None:
        found = [Path(system)]
    if os.environ.get("GIT_CONFIG_NOSYSTEM", "").lower() in _TRUE:
        found = []
    if user is not None:
        return [*found, Path(user)]
    return [*found, _xdg_folder() / "config", Path(expand_home("~/.gitconfig"))]


def _from_environment() -> Iterator[tuple[str, str]]:
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    for number in range(int(count) if count.isascii() and count.isdecimal() else 0):
        name = os.environ.get(f"GIT_CONFIG_KEY_{number}")
        if name is None:
            return
        section, _, key = name.rpartition(".")
        head, dot, subsection = section.partition(".")
        value = os.environ.get(f"GIT_CONFIG_VALUE_{number}", "")
        yield f"{head.lower()}{dot}{subsection}.{key.lower()}", value
