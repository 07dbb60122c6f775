"""Workspaces of tests: ended with the test that opened them."""

import uuid
from pathlib import Path

from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace

_open: list[GitWorkspace] = []


def workspace_of(
    root: Path, run_id: str | None = None, kind: type[GitWorkspace] = GitWorkspace
) -> GitWorkspace:
    """A workspace of the repository around `root`, of a run of its own unless it is named."""
    workspace = kind(open_repository(root), run_id or str(uuid.uuid4()))
    _open.append(workspace)
    return workspace


def close_workspaces() -> None:
    """End what they keep open."""
    while _open:
        _open.pop().close()
