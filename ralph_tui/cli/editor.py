"""Edit a text in the user's editor, as git does for a commit message."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ralph_tui.base.errors import RalphError, UsageError, why
from ralph_tui.base.plain_files import read_bytes, write_whole
from ralph_tui.text.sanitize import one_line

CUT = "# ------------------------ >8 ------------------------"
"""This line and everything below it are not part of the text."""
MAX_BYTES = 1 << 20
"""Maximum size of the edited text in bytes."""


def edit_text(text: str, notes: Sequence[str], *, otherwise: str) -> str:
    """Let the user edit `text`, with `notes` shown below it, and return the result.

    `otherwise` says what to do instead if no editor can run. Raises ``RalphError`` if the editor
    fails.
    """
    editor = _find_editor(otherwise)
    with tempfile.TemporaryDirectory(prefix="ralph-tui-") as folder:
        path = Path(folder) / "LEARNING"
        comments = [CUT, *(f"# {note}" for note in notes)]
        try:
            write_whole(path, "\n".join([text, "", *comments, ""]).encode(), durable=False)
            _run(editor, path)
            edited = read_bytes(path, most=MAX_BYTES).decode("utf-8", "replace")
        except OSError as error:
            raise RalphError(f"cannot read the edited text: {why(error, 'try again')}") from error
    lines = edited.splitlines()
    end = lines.index(CUT) if CUT in lines else len(lines)
    return "\n".join(lines[:end]).strip()


def _find_editor(otherwise: str) -> str:
    for name in ("VISUAL", "EDITOR"):
        if editor := os.environ.get(name, "").strip():
            return editor
    if not sys.stdin.isatty():
        raise UsageError(f"an editor needs a terminal; {otherwise}")
    return "vi"


def _run(editor: str, path: Path) -> None:
    # Leave ctrl+c to the editor. Not with SIG_IGN, which the editor would inherit.
    previous = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.run(
            ["/bin/sh", "-c", f'{editor} "$@"', editor, str(path)], check=False
        ).returncode
    finally:
        signal.signal(signal.SIGINT, previous)
    if code:
        raise RalphError(
            f"the editor '{one_line(editor)}' exited with code {code}; nothing was "
            "changed; set VISUAL or EDITOR to a working editor"
        )
