"""Ends of Codex's sessions that no turn tells: refused requests, and exits. Pure."""

from datetime import datetime

from ralph_tui.adapters.agents.codex.limits import REMEDIES, Windows
from ralph_tui.adapters.agents.failures import FailedCall, classify, ended_by, in_words
from ralph_tui.adapters.agents.rpc.messages import Failure
from ralph_tui.adapters.agents.session_end import LONGEST_REASON, SessionEnd
from ralph_tui.text.sanitize import clip, one_line


def refused(failure: Failure, windows: Windows, now: datetime) -> SessionEnd:
    """A request that the session needs was refused."""
    return windows.end(classify(text=failure.message), now)


def end_of_exit(exit_code: int | None, last_words: str, *, began: bool) -> SessionEnd:
    """The server ended before the turn did; `began`: after the handshake."""
    words = one_line(last_words[:2000]).strip()
    said = f": {clip(words, LONGEST_REASON)}" if words else ""
    if exit_code in (126, 127) and not began:
        return SessionEnd("missing", f"Codex cannot be run{said}.")
    if exit_code is None or exit_code > 128:
        signal = "" if exit_code is None else f" by signal {exit_code - 128}"
        return SessionEnd("crashed", f"Codex was ended{signal} in the middle of its work{said}.")
    if (known := in_words(last_words)) is not None:
        return ended_by(FailedCall(*known, said=last_words), REMEDIES)
    when = "in the middle of its work" if began else "before it began"
    code = f" with code {exit_code}" if exit_code else ""
    return SessionEnd("error", f"Codex ended{code} {when}{said}; run `codex` by hand to see why.")
