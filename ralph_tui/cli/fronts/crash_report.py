"""Report a crash of the screen: save the traceback to a file, and name the file."""

import os
import traceback
from datetime import UTC, datetime

from ralph_tui.base.errors import why
from ralph_tui.text.sanitize import clip, one_line


def report_crash(error: Exception) -> str:
    """Save the traceback in the user's state folder and return a sentence for the terminal."""
    # Imported only after a crash.
    from platformdirs import user_state_path  # noqa: PLC0415

    from ralph_tui.base.plain_files import make_folder, write_whole  # noqa: PLC0415
    from ralph_tui.text.secrets import redact  # noqa: PLC0415

    trace = redact("".join(traceback.format_exception(error)))
    folder = user_state_path("ralph-tui", appauthor=False) / "screen-errors"
    path = folder / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}.txt"
    crash = f"the screen crashed ({type(error).__name__}: {clip(one_line(str(error)), 200)})"
    try:
        make_folder(folder)
        write_whole(path, trace.encode("utf-8", "replace"), mode=0o600)
    except OSError as refused:
        return f"{crash}; its traceback cannot be saved: {why(refused, 'free some space')}"
    return f"{crash}; its traceback is in {path}"
