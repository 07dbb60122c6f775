"""Whole files, written atomically: a reader sees the old content or the new, never a mix."""

import json
from pathlib import Path
from typing import Any

from ralph_tui.base.plain_files import LARGEST, make_folder, read_bytes, write_whole
from ralph_tui.text.foreign_json import parse_json


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Write text to a temporary file and rename it; `durable` also syncs it to disk."""
    content = text.encode("utf-8", "replace")
    try:
        write_whole(path, content, durable=durable)
    except FileNotFoundError:
        make_folder(path.parent)
        write_whole(path, content, durable=durable)


def write_json(path: Path, value: Any, *, durable: bool = True) -> None:
    """Write a value as indented JSON; see `write_text`."""
    write_text(path, json_text(value), durable=durable)


def without_unknown(value: Any) -> Any:
    """Remove None fields from a JSON value; unknown values are left out, never null."""
    if isinstance(value, dict):
        return {name: without_unknown(part) for name, part in value.items() if part is not None}
    return [without_unknown(part) for part in value] if isinstance(value, list) else value


def json_text(value: Any) -> str:
    """Return indented JSON that ends with a newline."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def read_json(path: Path, *, most: int = LARGEST) -> dict[str, Any] | None:
    """Read a JSON object; return None if it is missing, unreadable, or longer than `most` bytes."""
    try:
        value = parse_json(read_bytes(path, most=most))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
