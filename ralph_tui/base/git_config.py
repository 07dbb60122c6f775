"""The configuration that our git sees: our own, and nothing of what the repository configures.

A configuration names programs: filters, a file monitor, hooks, helpers, and files that name more of
them. So no git that works for a run opens the repository's, the user's or the system's. The few
values that are no programs, and that say how objects are stored and what is ignored, are read once,
when a repository is opened; what is written into its configuration afterwards does not matter.
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
    # Settings that were handed down in the environment would outrank a file's.
    "GIT_CONFIG_PARAMETERS": "",
    # They outrank also what is written into our own file between the look at it and git's.
    **{f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(_NO_PROGRAMS)},
    **{f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(_NO_PROGRAMS.values())},
    "GIT_CONFIG_COUNT": str(len(_NO_PROGRAMS)),
    "GIT_ATTR_NOSYSTEM": "1",
    # An object that a partial clone does not have is missing: asking for it starts programs.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
"""The environment in which git reads no configuration but that of its git dir."""

_WORD = r"[A-Za-z0-9]+"
_CARRIED = {
    "core.excludesfile": r".+",
    "core.sharedrepository": _WORD,
    "core.precomposeunicode": _WORD,
    "extensions.objectformat": r"sha1|sha256",
    "extensions.refstorage": r"files|reftable",
    "core.filemode": _WORD,
    "core.autocrlf": _WORD,
    "core.eol": _WORD,
}
"""Keys as git lists them, and what their values look like."""
_ONLY_VIEW = frozenset({"extensions.refstorage", "core.filemode", "core.autocrlf", "core.eol"})
"""How the user's git compares files and where the refs are: nothing to the private index."""

ASK = ("config", "-z", "--type=path", "--get-regexp", f"^({'|'.join(_CARRIED)})$")
"""What git is asked for these values; it runs nothing to answer that."""
COMMON = ("refs", "packed-refs", "reftable", "shallow", "info")
"""What our commands need of the common dir."""

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

# What is on the disk counts, whatever another machine once wrote into the user's config. A split
# index would be faster, but one that is cut off can be read, as that of fewer files.
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
    """`SEALED`, and these settings."""
    first = len(_NO_PROGRAMS)
    names = {f"GIT_CONFIG_KEY_{n}": key for n, (key, _) in enumerate(settings, first)}
    values = {f"GIT_CONFIG_VALUE_{n}": value for n, (_, value) in enumerate(settings, first)}
    return SEALED | names | values | {"GIT_CONFIG_COUNT": str(first + len(settings))}


def carried(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The values to keep; the last of several counts."""
    return {
        key: value
        for key, value in entries
        if key in _CARRIED and re.fullmatch(_CARRIED[key], value, re.DOTALL)
    }


def entries_of(listing: bytes) -> list[tuple[str, str]]:
    """Names and values as ``git config -z`` lists them."""
    entries = [entry.partition("\n") for entry in os.fsdecode(listing).split("\0")[:-1]]
    return [(name, value if equals else "true") for name, equals, value in entries]


def config_of_view(values: Mapping[str, str], *, ignore_case: bool) -> bytes:
    """For git on the user's index and refs."""
    return _config(values, "", ignore_case=ignore_case)


def config_of_private(values: Mapping[str, str], *, ignore_case: bool) -> bytes:
    """For git on the private index."""
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
    """A value of a configuration file, or a path as a line that git reads."""
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def own_folder(path: Path) -> None:
    """Have a folder here; a link or a file that was put in its place goes. Raises ``OSError``."""
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            return
        path.unlink()
    except FileNotFoundError:
        pass
    path.mkdir()


def keep(path: Path, content: bytes) -> None:
    """Have a regular file with this content, whatever was put in its place; ``OSError``."""
    if content_of(path) == content:
        return
    write_whole(path, content, durable=False)


def keep_link(path: Path, target: Path) -> None:
    """Have a symbolic link that leads to `target`; ``OSError``."""
    with suppress(OSError):
        if path.readlink() == target:
            return
    made = path.with_name(f"{path.name}.{os.getpid()}.{get_ident()}")
    made.symlink_to(target)
    made.replace(path)


def content_of(path: Path, *, follow: bool = False) -> bytes | None:
    """Bytes of a regular file, without waiting; None where there is none that can be read."""
    try:
        return read_bytes(path, follow=follow)
    except OSError:
        return None
