"""The draft of the next run and the record of how the last one started, each a file per worktree.

Rule: keep the files in the user's own folder; in the worktree, an agent or a clone could replace
them.
"""

from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import cast, get_args

from platformdirs import user_state_path

from ralph_tui.adapters.records.files import json_text
from ralph_tui.base.plain_files import read_bytes, write_whole
from ralph_tui.ports.new_runs import By, Draft
from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.secrets import redact

MAX_BYTES = 1 << 20


def draft_file(root: Path) -> Path:
    """Return the path of a worktree's draft."""
    return _file("drafts", root)


def last_start_file(root: Path) -> Path:
    """Return the path of the file that records how a worktree's last run was started."""
    return _file("last-starts", root)


def _file(folder: str, root: Path) -> Path:
    name = sha256(str(root.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return user_state_path("ralph-tui", appauthor=False) / folder / f"{name}.json"


def read_draft(root: Path) -> Draft | None:
    """Return the saved draft, or None if it is missing or unreadable."""
    return _read(draft_file(root))


def read_last_start(root: Path) -> Draft | None:
    """Return how the last run was started, or None if unknown."""
    return _read(last_start_file(root))


def _read(path: Path) -> Draft | None:
    try:
        raw = parse_json(read_bytes(path, most=MAX_BYTES))
    except (OSError, ValueError):
        return None
    if not isinstance(raw, dict):
        return None
    texts = {name: _text(raw.get(name)) for name in ("objective", "command", "criterion")}
    settings = raw.get("settings")
    by = raw.get("by")
    return Draft(
        by=cast("By", by) if by in get_args(By) else "command",
        settings={name: _text(value) for name, value in settings.items()}
        if isinstance(settings, dict)
        else {},
        **texts,
    )


def save_draft(root: Path, draft: Draft) -> None:
    """Save the draft; a failed write is ignored."""
    _keep(draft_file(root), draft)


def save_last_start(root: Path, draft: Draft) -> None:
    """Record how a run was started, omitting anything that contains a secret."""

    def clean(text: str) -> str:
        return text if redact(text) == text else ""

    settings = {name: text for name, text in draft.settings.items() if clean(text)}
    command, criterion = clean(draft.command), clean(draft.criterion)
    _keep(last_start_file(root), Draft("", draft.by, command, criterion, settings))


def _keep(path: Path, draft: Draft) -> None:
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, json_text(vars(draft)).encode("utf-8", "replace"), mode=0o600)


def delete_draft(root: Path) -> None:
    """Delete the draft once its run has started."""
    with suppress(OSError):
        draft_file(root).unlink(missing_ok=True)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
