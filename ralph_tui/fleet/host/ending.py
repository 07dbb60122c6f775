"""How a loop's run ended, in the words of `Over`."""

from contextlib import suppress
from pathlib import Path

from ralph_tui.adapters.processes.child import Exit
from ralph_tui.fleet.host.following import Follower
from ralph_tui.fleet.ports import Over
from ralph_tui.plain_files import read_bytes
from ralph_tui.text.sanitize import one_line, shorten

MOST_SAID = 1 << 20
"""Bytes of what a run has said on stderr that are looked at."""
MOST_WORDS = 500
BY_KEEPER = "stopped by SIGINT"
"""What a run records that its keeper has stopped: nobody can press ctrl+c where it runs."""
HOST_GONE = "the process that ran it was gone"
SILENT = "its host stood still for longer than its lease"


def over_of(key: tuple[str, int], follower: Follower | None) -> Over:
    """Of a run of which nothing is alive: what its journal says."""
    loop, attempt = key
    known = {"loop": loop, "attempt": attempt}
    if follower is None or not follower.seq:
        reason = "its run was ended before its first event"
        return Over(**known, outcome="interrupted", reason=reason, never_began=True)
    outcome, reason = follower.outcome, follower.reason
    if outcome is None:
        outcome, reason = "interrupted", "its process was killed before it recorded an end"
    return Over(**known, outcome=outcome, reason=reason, seq=follower.seq)


def over_found(key: tuple[str, int], follower: Follower | None) -> Over:
    """The same of a run whose host was another process, which is gone: then its keeper ended it."""
    over = over_of(key, follower)
    if over.outcome == "interrupted" and over.reason == BY_KEEPER:
        return over.model_copy(update={"reason": HOST_GONE})
    return over


def over_after(
    key: tuple[str, int], follower: Follower | None, exit_: Exit, said: Path, ended: str
) -> Over:
    """The same of one that was followed to its end; `ended` is why this host has ended it."""
    over = over_of(key, follower)
    if ended and over.outcome == "interrupted":
        return over.model_copy(update={"reason": ended})
    if exit_.stopped and not exit_.lost and over.outcome == "interrupted":
        return over.model_copy(update={"reason": SILENT})
    if follower is not None and follower.outcome is not None:
        return over
    if over.never_began:
        # It refused what was asked of it, and has said why.
        reason = last_words(said) or f"its run ended with {exit_.code} before its first event"
        update = {"outcome": "failed", "reason": reason, "elsewhere": True}
        return over.model_copy(update=update)
    if exit_.lost:
        return over.model_copy(update={"reason": f"its keeper {exit_.lost}"})
    if exit_.signal is not None:
        return over.model_copy(update={"reason": f"its process was ended by signal {exit_.signal}"})
    reason = last_words(said) or f"its process ended with {exit_.code}"
    return over.model_copy(update={"outcome": "failed", "reason": reason})


def last_words(said: Path) -> str:
    """The first line of the last sentence on stderr; empty where nothing was said."""
    with suppress(OSError):
        text = read_bytes(said, most=MOST_SAID).decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if line.startswith(_SAYS)]
        lines = lines or [line for line in text.splitlines() if line.strip()]
        if lines:
            return shorten(one_line(lines[-1].removeprefix(_SAYS).strip()), MOST_WORDS)
    return ""


_SAYS = "ralph-tui:"
