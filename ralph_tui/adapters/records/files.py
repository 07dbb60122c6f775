"""Whole files, written atomically: a reader sees the old one or the new one, never half of one."""

import json
import os
from pathlib import Path
from typing import Any


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Write through a temporary file beside it; `durable` also syncs it to disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with fresh.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def write_json(path: Path, value: Any, *, durable: bool = True) -> None:
    """As `write_text`, as indented JSON."""
    write_text(path, json_text(value), durable=durable)


def json_text(value: Any) -> str:
    """Indented JSON that ends with a line feed."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object from disk; None when it is missing or unreadable: it can be made again."""
    try:
        value = json.loads(path.read_text("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
