"""``FOLDER GO ROOT COMMIT``: makes a worktree twice and removes it, when the file GO is there."""

# ruff: noqa: T201  it prints
import sys
from pathlib import Path

from ralph_tui.adapters.clones.making import Origin, make_worktree, remove_worktree
from ralph_tui.ports.clones import Source
from tests.waiting import until


def main(folder: str, go: str, root: str, commit: str) -> None:
    """Each time under the same name."""
    tree, users = Path(folder) / "tree", Path(root)
    print("ready", flush=True)
    until(Path(go).exists)
    tree.parent.mkdir()
    source = Source(commit=commit, path=root, machine="here")
    for _ in range(2):
        branch = make_worktree(tree, Origin(users, users=True), source, "ralph/night/same")
        assert (tree / "checks.sh").exists()
        remove_worktree(tree, users, branch, commit)


if __name__ == "__main__":
    main(*sys.argv[1:])
