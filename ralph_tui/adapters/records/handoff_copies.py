"""Copies of handoffs for people and other tools: ``.claude/handoffs/2026-01-07-1145.md``.

Files are named by local time; the second one in a minute ends in ``-2``. Links are not followed,
because the agent could have created one that points outside the worktree.
"""

import os
from datetime import datetime
from pathlib import Path

from ralph_tui.base.plain_files import make_folder, open_plain, write_whole
from ralph_tui.text.secrets import redact

FOLDER = Path(".claude") / "handoffs"
MOST = 100
"""Maximum number of handoffs per minute."""


def copy_handoff(root: Path, text: str, now: datetime, before: str = "") -> str:
    """Write a copy, or replace the copy `before`; return its path relative to `root`.

    Raises ``OSError``.
    """
    data = redact(text).encode("utf-8", "replace")
    make_folder(root / FOLDER, below=root)
    name = before or _free(root, f"{now.astimezone():%Y-%m-%d-%H%M}")
    write_whole(root / name, data, below=root, durable=False)
    return name


def _free(root: Path, base: str) -> str:
    """Create an empty file with an unused name; return the name."""
    for number in range(1, MOST + 1):
        name = (FOLDER / (f"{base}.md" if number == 1 else f"{base}-{number}.md")).as_posix()
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            os.close(open_plain(root / name, flags, below=root))
        except FileExistsError:
            continue
        return name
    raise FileExistsError(17, "too many handoffs in this minute", str(root / FOLDER))
