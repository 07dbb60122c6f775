"""Output to a file that the user named."""

from pathlib import Path

from ralph_tui.adapters.records.files import write_text
from ralph_tui.base.errors import RalphError, UsageError, why


def write_output(path: Path, text: str, *, force: bool) -> None:
    """Write the text; an existing file is replaced only with `force`. Raises ``RalphError``."""
    if not force and (path.exists() or path.is_symlink()):
        raise UsageError(f"{path} already exists; choose another name or pass --force")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; choose a file name")
    if not path.parent.is_dir():
        raise UsageError(f"no folder {path.parent}; create it, or choose another file")
    try:
        write_text(path, text)
    except OSError as error:
        raise RalphError(f"cannot write {path}: {why(error, 'choose another file')}") from error
