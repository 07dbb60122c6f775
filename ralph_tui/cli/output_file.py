"""Output to a file that the user named."""

from pathlib import Path

from ralph_tui.adapters.records.files import write_text
from ralph_tui.base.errors import RalphError, UsageError, why


def write_output(path: Path, text: str, *, force: bool) -> None:
    """Write the text; an existing file is replaced only with `force`. Raises ``RalphError``."""
    if not force and (path.exists() or path.is_symlink()):
        raise UsageError(f"{path} is there already: name another file, or say --force")
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}: make it, or name another file")
    try:
        write_text(path, text)
    except OSError as error:
        raise RalphError(f"cannot write {path}: {why(error, 'name another file')}") from error
