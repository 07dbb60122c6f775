"""The commit that the loops of a fleet start from, and how hosts get it."""

import os
import re
import socket
from pathlib import Path

from ralph_tui.adapters.clones.git import configured
from ralph_tui.adapters.workspace.git import run_git
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.base.errors import UsageError
from ralph_tui.ports.clones import Source
from ralph_tui.text.sanitize import one_line

_LOGIN = re.compile(r"^(https?://|ssh://[^/@:]*(?=:))[^/@]*(?:@|(?=@))")
_SCP_LIKE = re.compile(r"[\w.-]+@?[\w.-]*:(?!//)")


def source_of(repository: Repository, base: str) -> Source:
    """Resolve `base` (a branch, tag or commit) to its commit. Raises ``UsageError``."""
    found = repository.git(*_name_error(base), accept=None)
    if found.status:
        if base == "HEAD":
            raise UsageError(
                f"{one_line(str(repository.root))} has no commit to start loops from; create "
                "one with git commit"
            )
        raise UsageError(
            f"{one_line(base)} is not a commit in {one_line(str(repository.root))}; use a "
            "branch or commit as base"
        )
    config = configured(repository, "remote.origin.url", "user.name", "user.email")
    return Source(
        commit=found.line,
        path=str(repository.root),
        machine=socket.gethostname(),
        remote=_address(repository.root, config["remote.origin.url"]),
        user_name=config["user.name"],
        user_email=config["user.email"],
    )


def is_commit(root: Path, base: str) -> bool:
    """True if a branch, tag or commit of this name exists, or if Git cannot tell."""
    return run_git(root, *_name_error(base), accept=None).status != 1 or base == "HEAD"


def _name_error(base: str) -> tuple[str, ...]:
    return ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")


def base_bundle(repository: Repository, commit: str) -> bytes:
    """Return the commit and its history as a bundle, without making a ref."""
    pack = repository.git(
        *("pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"),
        stdin=f"{commit}\n".encode(),
    )
    version = (
        b"# v2 git bundle\n" if len(commit) == 40 else b"# v3 git bundle\n@object-format=sha256\n"
    )
    return version + f"{commit} refs/heads/base\n\n".encode() + pack.out


def _address(root: Path, remote: str) -> str:
    """Return the remote with absolute paths and without its credentials, which stay here."""
    if "://" in remote:
        return _LOGIN.sub(r"\1", remote)
    if not remote or "::" in remote or _SCP_LIKE.match(remote):
        return "" if "::" in remote else remote
    return os.path.normpath(root / Path(remote).expanduser())
