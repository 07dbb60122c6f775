"""Where in a project the hooks are kept: below it, whatever links there are on the way."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.errors import RalphError, UsageError, why
from ralph_tui.text.sanitize import one_line


def project_root(folder: Path) -> Path:
    """The project's folder, without links.

    Raises ``UsageError`` where there is none, and for a home: its settings are those of every
    project.
    """
    try:
        root = folder.resolve(strict=True)
        home = Path.home().resolve()
    except (OSError, RuntimeError) as error:
        raise UsageError(
            f"there is no folder {one_line(str(folder))}: name the project with --folder"
        ) from error
    if not root.is_dir():
        raise UsageError(f"{one_line(str(folder))} is no folder: name the project with --folder")
    if root == home:
        raise UsageError(
            "this is your home, and its .claude/settings.json counts for every project: go to a "
            "project, or name one with --folder"
        )
    return root


def within(root: Path, name: str) -> Path:
    """A path below the project, without links; ``RalphError`` where a link leads out of it."""
    try:
        path = (root / name).resolve()
    except (OSError, RuntimeError) as error:
        raise RalphError(
            f"{name} is a link that leads nowhere: nothing was changed; "
            "correct the link, or remove it"
        ) from error
    if not path.is_relative_to(root):
        raise RalphError(
            f"{name} leads out of the project, to {one_line(str(path))}: nothing was changed; "
            "put a file of the project's own there"
        )
    return path


def beside(path: Path, now: datetime) -> Path:
    """The name under which what a file held is kept."""
    return path.with_name(f"{path.name}.{now.astimezone(UTC):%Y%m%dT%H%M%S%fZ}.bak")


@contextmanager
def told(name: str, doing: str) -> Iterator[None]:
    """A refusal of the system as a sentence with the name that its user knows."""
    try:
        yield
    except OSError as error:
        raise RalphError(
            f"cannot {doing} {name}: {why(error, 'see who may write there')}"
        ) from error
