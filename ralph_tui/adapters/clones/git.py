"""Git in folders that only this host has made: no configuration but their own is read.

Once an agent has worked in a tree its configuration is foreign: from then on git sees it through
`Repository` alone.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ralph_tui.adapters.workspace.git import GitResult, run_git
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.adapters.workspace.user_config import UserConfig
from ralph_tui.base.git_config import SEALED, sealed_with
from ralph_tui.text.sanitize import one_line

WORKERS = ("-c", "checkout.workers=2")
"""Files are written by two processes: a third less time for 20,000 of them."""


def own_git(
    folder: Path, *arguments: str, source: Path | None = None, accept: Iterable[int] | None = (0,)
) -> GitResult:
    """Run git in a folder of ours; `source` is a repository on this machine that it may read.

    Raises ``WorkspaceError`` unless its status is in `accept`; None takes any.
    """
    return run_git(folder, *arguments, environment=_sealed(source), accept=accept)


def configured(repository: Repository, *keys: str) -> dict[str, str]:
    """Values of a repository's configuration, foreign as it may be: to read it runs nothing.

    Empty where there is none. The names of `keys` are as git lists them, in small letters.
    """
    given = dict(UserConfig(repository.git_dir).of_repository(repository.common_dir))
    return {key: one_line(given.get(key, "")) for key in keys}


def _sealed(source: Path | None) -> Mapping[str, str]:
    if source is None:
        return SEALED
    # Whose it is was asked when the fleet opened it, by the user's own configuration.
    return {**sealed_with(("safe.directory", "*")), "GIT_ALLOW_PROTOCOL": "file"}
