"""Configuration for ralph-tui's git commands, independent of the repository's own.

A configuration can name programs to run: filters, a file monitor, hooks, helpers, and files that
name more programs. Therefore no git command of a run reads the configuration of the repository, the
user or the system.

A few values name no program: how objects are stored, and which files are ignored. They are read
once, when a repository is opened; later changes to its configuration have no effect.
"""

import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import get_ident

from ralph_tui.base.plain_files import read_bytes, write_whole

_NO_PROGRAMS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
}
SEALED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    # Settings inherited through the environment would override those in a file.
    "GIT_CONFIG_PARAMETERS": "",
    # These also override anything written to our own file between our check and git's read.
    **{f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(_NO_PROGRAMS)},
    **{f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(_NO_PROGRAMS.values())},
    "GIT_CONFIG_COUNT": str(len(_NO_PROGRAMS)),
    "GIT_ATTR_NOSYSTEM": "1",
    # Do not fetch objects that a partial clone lacks: fetching would start programs.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
"""Environment variables that make git read only the configuration in its git dir."""

_WORD = r"[A-Za-z0-9]+"
_KEPT_KEYS = {
    "core.excludesfile": r".+",
    "core.sharedrepository": _WORD,
    "core.precomposeunicode": _WORD,
    "extensions.objectformat": r"sha1|sha256",
    "extensions.refstorage": r"files|reftable",
    "core.filemode": _WORD,
    "core.autocrlf": _WORD,
    "core.eol": _WORD,
}
"""Patterns of valid values, by key as git lists it."""
_ONLY_VIEW = frozenset({"extensions.refstorage", "core.filemode", "core.autocrlf", "core.eol"})
"""Keys for the user's index and refs; the private index does not need them."""

_FOR_COMMITS = ("user.name", "user.email", "core.attributesfile")
ASK = (
    "config",
    "-z",
    "--type=path",
    "--get-regexp",
    f"^({'|'.join((*_KEPT_KEYS, *_FOR_COMMITS))})$",
)
"""Arguments that make git list these values, and those for commits, without starting a program."""
COMMON = ("refs", "packed-refs", "reftable", "shallow", "info")
"""Parts of the common dir that our commands need."""

IN_PROGRESS = {
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick",
    "BISECT_LOG": "a bisect",
}
"""Git's files that reveal an unfinished operation by the user."""

_CORE = """\
[core]
\trepositoryFormatVersion = {version}
\tbare = false
\tfileMode = true
\tsymlinks = true
\tignoreCase = {ignore_case}
\tattributesFile = /dev/null
\thooksPath = /dev/null
\tfsmonitor = false
\tuntrackedCache = false
\tlogAllRefUpdates = false
"""

# Compare the files on disk, even if the user's configuration comes from another machine. A split
# index would be faster, but git may read a truncated one as an index with fewer files.
_PRIVATE = """\
\tignoreStat = false
\ttrustCTime = true
\tcheckStat = default
\tautocrlf = false
\tsafecrlf = false
\tsplitIndex = false
\tsparseCheckout = false
\tprotectNTFS = false
\tprotectHFS = false
[index]
\tskipHash = false
\tsparse = false
\tversion = 4
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""


def sealed_with(*settings: tuple[str, str]) -> Mapping[str, str]:
    """Return `SEALED` with these settings added."""
    first = len(_NO_PROGRAMS)
    names = {f"GIT_CONFIG_KEY_{n}": key for n, (key, _) in enumerate(settings, first)}
    values = {f"GIT_CONFIG_VALUE_{n}": value for n, (_, value) in enumerate(settings, first)}
    return SEALED | names | values | {"GIT_CONFIG_COUNT": str(first + len(settings))}


def kept_settings(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the values to keep; if a key has several, the last one wins."""
    return {
        key: value
        for key, value in entries
        if key in _KEPT_KEYS and re.fullmatch(_KEPT_KEYS[key], value, re.DOTALL)
    }


def entries_of(listing: bytes) -> list[tuple[str, str]]:
    """Return names and values from the output of ``git config -z``."""
    entries = [entry.partition("\n") for entry in os.fsdecode(listing).split("\0")[:-1]]
    return [(name, value if equals else "true") for name, equals, value in entries]


def config_of_view(values: Mapping[str, str], *, ignore_case: bool) -> bytes:
    """Return the configuration for git on the user's index and refs."""
    return _config(values, "", ignore_case=ignore_case)


def config_of_private(values: Mapping[str, str], *, ignore_case: bool) -> bytes:
    """Return the configuration for git on the private index."""
    kept = {key: value for key, value in values.items() if key not in _ONLY_VIEW}
    return _config(kept, _PRIVATE, ignore_case=ignore_case)


def _config(values: Mapping[str, str], more: str, *, ignore_case: bool) -> bytes:
    extended = any(key.startswith("extensions.") for key in values)
    text = _CORE.format(version=int(extended), ignore_case=str(ignore_case).lower()) + more
    for key, value in sorted(values.items()):
        section, name = key.split(".")
        text += f"[{section}]\n\t{name} = {quoted(value)}\n"
    return os.fsencode(text)


def quoted(value: str | Path) -> str:
    """Quote a value or path for a git configuration file."""
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def ensure_folder(path: Path) -> None:
    """Make this path a folder, deleting any link or file there. Raises ``OSError``."""
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            return
        path.unlink()
    except FileNotFoundError:
        pass
    path.mkdir()


def ensure_file(path: Path, content: bytes) -> None:
    """Make this path a regular file with this content, whatever was there. Raises ``OSError``."""
    if content_of(path) == content:
        return
    write_whole(path, content, durable=False)


def ensure_link(path: Path, target: Path) -> None:
    """Make this path a symbolic link to `target`. Raises ``OSError``."""
    with suppress(OSError):
        if path.readlink() == target:
            return
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{get_ident()}")
    temporary.symlink_to(target)
    temporary.replace(path)


def content_of(path: Path, *, follow: bool = False) -> bytes | None:
    """Return the bytes of a regular file, without blocking; None if it cannot be read."""
    try:
        return read_bytes(path, follow=follow)
    except OSError:
        return None
