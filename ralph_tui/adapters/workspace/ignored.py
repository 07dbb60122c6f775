"""What git ignores, by the rules of the worktree as they are now. Reads only."""

from ralph_tui.adapters.workspace.private_repository import PrivateRepository, is_within
from ralph_tui.adapters.workspace.staging import OTHERS, nul_separated, split


def ignored_paths(private: PrivateRepository, paths: list[str], *options: str) -> set[str]:
    """Those of the paths that git ignores; without ``--no-index`` held files are not.

    None of them lies behind a link: git refuses to answer about such a path.
    """
    paths = [path for path in paths if is_within(private.repository.root, path)]
    if not paths:
        return set()
    # The dot keeps a name like ``:(top)x`` a name: this command knows no literal pathspecs.
    result = private.git(
        *("check-ignore", "-z", "--stdin", *options),
        stdin=nul_separated([f"./{path}" for path in paths]),
        environment={"GIT_LITERAL_PATHSPECS": "0"},
        accept=(0, 1),
    )
    return {path.removeprefix("./") for path in split(result.out)}


def ignored_folders(private: PrivateRepository) -> set[str]:
    """Folders, ending in ``/``, in which git ignores everything."""
    listing = (*OTHERS, "--ignored", "--directory")
    return {path for path in split(private.git(*listing).out) if path.endswith("/")}
