"""Write derived files, but only if the content is new, and without destroying bad files.

If a derived file cannot be read, it is renamed to ``name.<time>.bad`` before it is replaced.

Each JSON file of a task, and each line of its ``.jsonl`` files, names the version of its schema.
Readers accept records without one, which older versions wrote.
"""

import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ralph_tui.adapters.records.files import json_text, write_text
from ralph_tui.base.plain_files import NotPlainError, is_plain, read_text
from ralph_tui.text.foreign_json import parse_json

SCHEMA = "1.0.0"
"""Version of the schema of episodic memory that the records follow."""


def with_version(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as it is on disk, with the version of its schema."""
    return {"version": SCHEMA, **record}


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Replace a file, whatever it contains. Raises ``OSError``."""
    write_text(path, json_text(with_version(record)))


def lines_of(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the content of a ``.jsonl`` file, with one record per line."""
    lines = (json.dumps(with_version(record), ensure_ascii=False) for record in records)
    return "".join(f"{line}\n" for line in lines)


def write_all(folder: Path, contents: Mapping[str, Any]) -> list[Path]:
    """Call `put` for each content under its name in `folder`."""
    return [aside for name, content in contents.items() for aside in put(folder / name, content)]


def put(path: Path, content: Any) -> list[Path]:
    """Write text, or a record as JSON, if it is new; None removes the file.

    Returns the paths of bad files that were set aside. Raises ``OSError``.
    """
    if content is None:
        if os.path.lexists(path) and not is_plain(path):
            return [set_aside(path)]
        path.unlink(missing_ok=True)
        return []
    text = content if isinstance(content, str) else json_text(with_version(content))
    try:
        if is_plain(path) and read_text(path) == text:
            return []
        aside = [] if _readable(path) else [set_aside(path)]
    except (ValueError, NotPlainError, PermissionError):
        aside = [set_aside(path)]
    write_text(path, text)
    return aside


def set_aside(path: Path) -> Path:
    """Rename a bad file; return its new path."""
    other = path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.bad")
    path.rename(other)
    return other


def _readable(path: Path) -> bool:
    """True if the file can be overwritten: it is missing, or has the expected form."""
    if not is_plain(path):
        return not os.path.lexists(path)
    text = read_text(path)
    if path.suffix not in (".json", ".jsonl"):
        return True
    whole = (
        [text] if path.suffix == ".json" else text.removesuffix("\n").split("\n") if text else []
    )
    return all(isinstance(parse_json(part), dict) for part in whole)
