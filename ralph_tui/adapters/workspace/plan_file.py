"""The plan file from which progress may be read."""

from pathlib import Path

from ralph_tui.base.errors import UsageError
from ralph_tui.base.plain_files import reading
from ralph_tui.layers.sensor.plan import Progress, read_plan
from ralph_tui.text.secrets import redact

LARGEST_PLAN = 1 << 20
"""Maximum number of bytes read."""


def find_plan(root: Path, name: str | None) -> Path | None:
    """Return the plan file. Raises ``UsageError`` if it is missing or outside the repository."""
    if name is None:
        return None
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        raise UsageError(f"the plan {redact(name)} is outside the repository; choose one inside it")
    if not path.is_file():
        raise UsageError(f"no plan {redact(name)} in {root}; create it, or omit --plan")
    return path


def read_plan_file(root: Path, path: Path | None) -> Progress | None:
    """Read the progress from the plan that `find_plan` returned; None if it cannot be read."""
    if path is None:
        return None
    try:
        with reading(path, below=root.resolve()) as file:
            text = file.read(LARGEST_PLAN).decode("utf-8", "replace")
    except OSError:
        return None
    return read_plan(text, path.name)
