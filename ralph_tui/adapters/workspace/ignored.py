"""Paths that Git ignores by the worktree's current rules. Reads only."""

from ralph_tui.adapters.workspace.private_repository import PrivateRepository, is_within
from ralph_tui.adapters.workspace.staging import OTHERS, nul_separated, split


def ignored_paths(private: PrivateRepository, paths: list[str], *options: str) -> set[str]:
    """Return the paths that Git ignores; tracked files count only with ``--no-index``.

    Paths behind a symbolic link are never included, because Git refuses to answer about them.
    """
    paths = [path for path in paths if is_within(private.repository.root, path)]
    if not paths:
        return set()
    # The dot keeps a name like ``:(top)x`` literal: this command has no literal pathspecs.
    result = private.git(
        *("check-ignore", "-z", "--stdin", *options),
        stdin=nul_separated([f"./{path}" for path in paths]),
        environment={"GIT_LITERAL_PATHSPECS": "0"},
        accept=(0, 1),
    )
    return {path.removeprefix("./") for path in split(result.out)}


def ignored_folders(private: PrivateRepository) -> set[str]:
    """Return the folders, ending in ``/``, in which Git ignores everything."""
    listing = (*OTHERS, "--ignored", "--directory")
    return {path for path in split(private.git(*listing).out) if path.endswith("/")}
