"""Random worktrees, and random changes between two snapshots; reproducible by seed.

They cover everything a user or an agent may do to files: real git, real files, any name.
"""

import os
import random
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

NAMES: tuple[bytes, ...] = (
    *(b"a", b"b", b"c", b"d.py", b"A", b"with space", b"trailing ", b"-x", b"--", b"run"),
    *(b"line\n", b"new\nline", b"\xff\xfe", b"\xe9", b'quote"', b"it's", b"back\\", b"tab\t"),
    *("café".encode(), "café".encode(), "日本".encode(), b":(top)m", b"*", b"[a]", b"#", b"!a"),
    *(b".hidden", b"build", b"out", b"own.log", b"own.log\n", b"keep.log", b"x\r", b"\x1b[31m"),
)
RULES = (b"*.log", b"!keep.log", b"build/", b"/out", b"b", b"**/c/d.py", b"A")
CONFIG = (
    *("core.fileMode=false", "core.symlinks=false", "core.ignoreCase=true", "core.autocrlf=true"),
    *("core.eol=crlf", "core.ignoreStat=true", "core.trustctime=false", "core.checkStat=minimal"),
    *("core.quotePath=false", "core.precomposeUnicode=true", "core.sharedRepository=0640"),
    *("core.bigFileThreshold=1", "core.sparseCheckout=true", "core.untrackedCache=true"),
    *("core.splitIndex=true", "core.protectNTFS=true", "core.protectHFS=true", "core.bare=false"),
    *("core.safecrlf=true", "core.preloadIndex=false", "core.whitespace=cr-at-eol"),
    *("status.showUntrackedFiles=no", "status.relativePaths=true", "status.renames=copies"),
    *("diff.renames=copies", "diff.ignoreSubmodules=all", "diff.noprefix=true", "diff.orderFile=x"),
    *("diff.external=false", "index.sparse=true", "index.version=2", "index.skipHash=true"),
    *("feature.manyFiles=true", "submodule.recurse=true", "checkout.workers=2", "color.ui=always"),
    *("core.attributesFile=attributes", "core.excludesFile=excludes", "log.showSignature=true"),
)
IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.com")

State = dict[str, tuple[str, bytes]]
"""Kind and content of everything but folders, by path; without git's own.

The kind of a regular file is its permission bits.
"""


def git(root: Path, *arguments: str, stdin: bytes = b"", check: bool = False) -> bytes:
    """Run git as a user would type it."""
    return subprocess.run(
        ["git", *IDENTITY, *arguments], cwd=root, check=check, capture_output=True, input=stdin
    ).stdout


def state_of(root: Path) -> State:
    found: State = {}
    for path in _below(root):
        name = str(path.relative_to(root))
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[name] = ("link", os.fsencode(path.readlink()))
        elif stat.S_ISREG(mode):
            found[name] = (oct(stat.S_IMODE(mode)), path.read_bytes())
        elif not stat.S_ISDIR(mode):
            found[name] = ("special", oct(stat.S_IFMT(mode)).encode())
    return found


def promised(root: Path) -> set[str]:
    """Files and links that git tracks, or does not ignore: those that every snapshot holds."""
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    exact = ("-c", "core.ignoreCase=false", "-c", "core.sparseCheckout=false")
    names = {os.fsdecode(name) for name in git(root, *exact, *listing).split(b"\0")}
    tracked = {os.fsdecode(name) for name in git(root, "ls-files", "-z").split(b"\0")}
    return {
        name
        for name, (kind, _) in state_of(root).items()
        if kind != "special" and name in names and (name in tracked or not _is_nested(root, name))
    }


def _is_nested(root: Path, name: str) -> bool:
    return any((root / parent / ".git").exists() for parent in Path(name).parents[:-1])


def _below(folder: Path) -> Iterator[Path]:
    """All in a folder but what is git's, and the records of a run."""
    for entry in sorted(folder.iterdir()):
        if entry.name in (".git", ".aiwg"):
            continue
        if not entry.is_dir() or entry.is_symlink():
            yield entry
        else:
            yield entry
            yield from _below(entry)


class RandomTree:
    """A repository that changes at random."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.random = random.Random(seed)
        self.did: list[str] = []
        git(root, "init", "-q", check=True)
        self._do(self._rules, self.random.randint(0, 2))
        self._do(self._write, self.random.randint(2, 14))
        if self.random.random() < 0.6:
            git(root, "add", "-A")
        self._do(self._force, self.random.randint(0, 4))
        if self.random.random() < 0.6:
            git(root, "commit", "-qm", "first")
        self._do(self._write, self.random.randint(0, 3))

    def change(self, times: int) -> None:
        """Apply a random selection of changes."""
        often: list[Callable[[], None]] = [self._write, self._edit, self._delete, self._rename]
        kinds = [self._folder_for_file, self._file_for_folder, self._link, self._mode]
        rare = [self._special, self._empty, self._rules, self._configure, self._nested, self._force]
        users = [self._forget, self._commit, self._move_back]
        for _ in range(times):
            self._do(self.random.choice([*often, *often, *kinds, *kinds, *rare, *users]))

    def _do(self, does: Callable[[], None], times: int = 1) -> None:
        for _ in range(times):
            try:
                does()
            except OSError as error:  # what was drawn cannot be done here
                self.did.append(f"  ({error.strerror})")

    # What is drawn.

    def _path(self) -> Path:
        parts = [self.random.choice(NAMES) for _ in range(self.random.choice((1, 1, 2, 2, 3)))]
        return self.root / os.fsdecode(b"/".join(parts))

    def _some(self, what: str) -> Path:
        """Something that is there: a file (or link), a folder, or either."""
        there = list(_below(self.root))
        folders = [path for path in there if path.is_dir() and not path.is_symlink()]
        files = [path for path in there if path not in folders]
        found = {"file": files, "folder": folders, "any": there}[what]
        return self.random.choice(found) if found else self._path()

    def _content(self) -> bytes:
        return self.random.choice((b"", b"one\n", b"a\r\nb\n", b"\0\xff", b"$Id$\n")) + (
            b"%d\n" % self.random.randint(0, 9) * self.random.randint(0, 3)
        )

    def _say(self, *words: object) -> None:
        self.did.append(" ".join(str(word).replace(f"{self.root}/", "") for word in words))

    # What happens.

    def _write(self) -> None:
        path = self._path()
        if self.random.random() < 0.3:
            path = self._some("folder") / path.name
        self._say("write", repr(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._content())
        path.chmod(self.random.choice((0o644, 0o644, 0o755)))

    def _edit(self) -> None:
        path = self._some("file")
        self._say("edit", repr(path))
        if path.is_file() and not path.is_symlink():
            path.write_bytes(self._content())

    def _delete(self) -> None:
        path = self._some("any")
        self._say("delete", repr(path))
        _remove(path)

    def _rename(self) -> None:
        path, to = self._some("any"), self._some("folder") / self._path().name
        if self.random.random() < 0.3:
            to = self._path()
        self._say("rename", repr(path), repr(to))
        to.parent.mkdir(parents=True, exist_ok=True)
        path.rename(to)
        self._moved = (path, to)

    _moved: tuple[Path, Path] | None = None

    def _move_back(self) -> None:
        if self._moved is not None:
            self._say("move back", *map(repr, self._moved))
            self._moved[1].rename(self._moved[0])

    def _folder_for_file(self) -> None:
        path = self._some("file")
        self._say("folder for file", repr(path))
        _remove(path)
        for _ in range(self.random.randint(0, 3)):
            inner = path / self._path().name
            self._say("  with", repr(inner))
            inner.parent.mkdir(parents=True, exist_ok=True)
            inner.write_bytes(self._content())

    def _file_for_folder(self) -> None:
        path = self._some("folder")
        self._say("file for folder", repr(path))
        _remove(path)
        path.write_bytes(self._content())

    def _link(self) -> None:
        path = self._some("any") if self.random.random() < 0.6 else self._path()
        target = self.random.choice(
            (b"a", b"../b", b"/etc/passwd", b".", b"\xff", b"line\n", b"b/")
        )
        self._say("link", repr(path), target)
        _remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(os.fsdecode(target))

    def _mode(self) -> None:
        path = self._some("file")
        self._say("mode", repr(path))
        if path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode ^ 0o111)

    def _special(self) -> None:
        path = self._some("any") if self.random.random() < 0.5 else self._path()
        if path.name == ".gitignore":  # git would block forever on reading it
            return
        _remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.random.random() < 0.5:
            self._say("fifo", repr(path))
            os.mkfifo(path)
            return
        self._say("socket", repr(path))
        folder = os.open(path.parent, os.O_RDONLY)
        here = os.open(".", os.O_RDONLY)
        try:  # a socket's whole path may be too long for its address
            os.fchdir(folder)
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(os.fsencode(path.name))
        finally:
            os.fchdir(here)
            os.close(here)
            os.close(folder)

    def _empty(self) -> None:
        path = self._path()
        self._say("empty folder", repr(path))
        path.mkdir(parents=True)

    def _rules(self) -> None:
        path = self.root / ".gitignore"
        if self.random.random() < 0.3:
            path = self._some("folder") / ".gitignore"
        rules = self.random.sample(RULES, self.random.randint(0, 4))
        self._say("rules", repr(path), rules)
        path.write_bytes(b"".join(rule + b"\n" for rule in rules))

    def _configure(self) -> None:
        key, value = self.random.choice(CONFIG).split("=")
        self._say("configure", key, value)
        git(self.root, "config", key, value)

    def _nested(self) -> None:
        path = self._path()
        self._say("nested", repr(path))
        path.mkdir(parents=True, exist_ok=True)
        git(path, "init", "-q")
        (path / "inside").write_bytes(self._content())

    def _force(self) -> None:
        path = self._some("file")
        self._say("force", repr(path))
        git(self.root, "--literal-pathspecs", "add", "-f", "--", str(path))

    def _forget(self) -> None:
        path = self._some("file")
        self._say("forget", repr(path))
        git(self.root, "--literal-pathspecs", "rm", "-q", "--cached", "--", str(path))

    def _commit(self) -> None:
        self._say("commit")
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", "more")


def _remove(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path)
