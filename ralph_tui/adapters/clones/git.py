"""Git in folders made only by this host, where only their own configuration is read.

Once an agent has worked in a worktree, its configuration is foreign. From then on, Git is used
there only through `Repository`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ralph_tui.adapters.workspace.git import GitResult, run_git
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.adapters.workspace.user_config import UserConfig
from ralph_tui.base.git_config import SEALED, sealed_with
from ralph_tui.text.sanitize import one_line

WORKERS = ("-c", "checkout.workers=2")
"""Lets two processes write files, which saves a third of the time for 20,000 files."""


def clone_git(
    folder: Path, *arguments: str, source: Path | None = None, accept: Iterable[int] | None = (0,)
) -> GitResult:
    """Run Git in one of our folders; `source` is a repository on this machine that it may read.

    Raises ``WorkspaceError`` unless the exit status is in `accept`; None accepts any.
    """
    return run_git(folder, *arguments, environment=_sealed(source), accept=accept)


def configured(repository: Repository, *keys: str) -> dict[str, str]:
    """Return values from a repository's configuration; reading a foreign one runs nothing.

    Missing values are empty. `keys` are lowercase, as Git lists them.
    """
    given = dict(UserConfig(repository.git_dir).of_repository(repository.common_dir))
    return {key: one_line(given.get(key, "")) for key in keys}


def _sealed(source: Path | None) -> Mapping[str, str]:
    if source is None:
        return SEALED
    # The owner was checked against the user's configuration when the fleet opened the repository.
    return {**sealed_with(("safe.directory", "*")), "GIT_ALLOW_PROTOCOL": "file"}
