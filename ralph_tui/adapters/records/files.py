"""Whole files, written atomically: a reader sees the old one or the new one, never half of one."""

import json
from pathlib import Path
from typing import Any

from ralph_tui.base.plain_files import LARGEST, make_folder, read_bytes, write_whole
from ralph_tui.text.foreign_json import parse_json


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Write through a temporary file beside it; `durable` also syncs it to disk."""
    content = text.encode("utf-8", "replace")
    try:
        write_whole(path, content, durable=durable)
    except FileNotFoundError:
        make_folder(path.parent)
        write_whole(path, content, durable=durable)


def write_json(path: Path, value: Any, *, durable: bool = True) -> None:
    """As `write_text`, as indented JSON."""
    write_text(path, json_text(value), durable=durable)


def without_unknown(value: Any) -> Any:
    """JSON values without the fields that are None: what is not known is left out, never null."""
    if isinstance(value, dict):
        return {name: without_unknown(part) for name, part in value.items() if part is not None}
    return [without_unknown(part) for part in value] if isinstance(value, list) else value


def json_text(value: Any) -> str:
    """Indented JSON that ends with a line feed."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def read_json(path: Path, *, most: int = LARGEST) -> dict[str, Any] | None:
    """A JSON object from disk; None when it is missing or unreadable: it can be made again.

    One of more than `most` bytes is none of ours.
    """
    try:
        value = parse_json(read_bytes(path, most=most))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
