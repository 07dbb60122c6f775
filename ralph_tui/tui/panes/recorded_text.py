"""Reads a text file from a run's own folder, and draws it as it was sent."""

from pathlib import Path

from ralph_tui.base.errors import why
from ralph_tui.base.plain_files import NotPlainError, reading
from ralph_tui.text.sanitize import plain
from ralph_tui.tui.draw.spans import Line, wrap

MAX_BYTES = 400_000
"""Maximum number of bytes shown of a text."""
DELETED = "it may have been deleted"


def read_inside(
    folder: Path | None, name: str, what: str, missing: str = DELETED
) -> tuple[str, str]:
    """Return the text of a file inside the folder, or an empty text and the reason.

    `what` names the file in that sentence, and `missing` explains why it may be absent. Paths that
    leave the folder are refused.
    """
    if folder is None:
        return "", f"The {what} is not available: this record came without its folder."
    root = folder.resolve()
    try:
        path = root / name
        if ".." in path.parts or not path.is_relative_to(root):
            return "", f"The record names a {what} outside its own folder, so it is not opened."
        with reading(path, below=root) as file:
            return plain(file.read(MAX_BYTES).decode("utf-8", "replace")), ""
    except NotPlainError as error:
        return "", f"The {what}'s file cannot be read: {why(error, '')}."
    except (OSError, ValueError, RuntimeError):
        return "", f"The {what}'s file cannot be read; {missing}."


def text_rows(text: str, width: int) -> list[Line]:
    """Return the Markdown source as rows, with headings highlighted."""
    rows: list[Line] = []
    for line in text.split("\n"):
        style = "accent strong" if line.startswith("#") else "text"
        rows += [[(piece, style)] for piece in wrap(line, width, 200)]
    return rows
