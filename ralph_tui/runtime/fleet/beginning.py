"""What the owner of a fleet should know at its start."""

from collections.abc import Iterator
from pathlib import Path

from ralph_tui.adapters.workspace.git_status import git_status
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.errors import UsageError
from ralph_tui.fleet.events import FleetEvent, FleetNoticed
from ralph_tui.fleet.plan import Plan
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line


def remarks(repository: Repository, plan: Plan, commit: str) -> Iterator[FleetEvent]:
    """What is not in the commit although its owner may expect it."""
    status = git_status(repository)
    paths = {*status.staged, *status.unstaged, *status.untracked}
    changed = len(paths) + sum(status.omitted.values())
    if changed:
        yield FleetNoticed(
            level="warn",
            text=f"{count(changed, 'file')} of {repository.root} "
            f"{'is' if changed == 1 else 'are'} not committed: all loops begin with "
            f"{plan.base}, {commit[:10]}, without what is not committed",
        )


def folder_of(start_root: str) -> Path:
    """The repository that a fleet was started in; raises ``UsageError`` where it is gone."""
    root = Path(start_root)
    if not root.is_dir():
        shown = one_line(start_root)
        raise UsageError(f"{shown} is gone, where the fleet was started: put it back")
    return root
