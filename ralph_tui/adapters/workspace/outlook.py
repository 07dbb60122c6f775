"""What a restore would do to each file, and what it will leave alone, as far as can be seen before.

Reads only. What a restore did in the end is told by what is there afterwards: see `restore`.
"""

from pathlib import PurePosixPath

from ralph_tui.adapters.workspace.changes import file_change, live_by_path, way_back
from ralph_tui.adapters.workspace.ignored import ignored_paths
from ralph_tui.adapters.workspace.obstacles import covered, obstacle, why_unheld
from ralph_tui.adapters.workspace.private_repository import PrivateRepository
from ralph_tui.adapters.workspace.restore import standing
from ralph_tui.adapters.workspace.staging import MAX_FILE, OTHERS, untracked_paths
from ralph_tui.events.workspace import FileChange


def outlook(
    private: PrivateRepository, tree: str, missing: frozenset[str], not_in_tree: frozenset[str]
) -> tuple[tuple[FileChange, str], ...]:
    """Each file with why it will be left alone, if it will.

    `missing` are paths that no snapshot holds now, `not_in_tree` those that the tree could not
    hold; folders end in ``/``.
    """
    root = private.repository.root
    changes = live_by_path(private, tree, missing, unheld=True)
    doomed = {path for path, change in changes.items() if change.status == "added"}
    ignored = ignored_paths(private, sorted(changes.keys() - doomed))
    rows: dict[str, tuple[FileChange, str]] = {}
    for path, change in changes.items():
        why = ""
        if path in missing and change.status == "modified":
            why = why_unheld(root, path)
        elif path not in doomed:
            held = change.status == "modified" and path not in ignored
            why = obstacle(root, path, held=held, doomed=doomed)
        for back in way_back((change,)):
            rows[path] = back, why
    others = untracked_paths(private.git(*OTHERS))
    large = {path for path in others if not path.endswith("/") and _size(private, path) > MAX_FILE}
    written = rows.keys() - doomed
    gives_way = {str(parent) for path in written for parent in PurePosixPath(path).parents}
    for path in large.union(standing(private, others)) - rows.keys() - gives_way:
        if not covered(path, not_in_tree):
            rows[path] = (file_change(path, "deleted", 0, 0), why_unheld(root, path))
    return tuple(rows[path] for path in sorted(rows))


def _size(private: PrivateRepository, path: str) -> int:
    try:
        return (private.repository.root / path).lstat().st_size
    except OSError:
        return 0
