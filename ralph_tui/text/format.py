"""Quantities and times as people read them, on every screen and line. Standard library only."""

from datetime import datetime

from ralph_tui.text.terms import in_words


def duration(seconds: float) -> str:
    """``5s``, ``1m 30s``, ``41m``, ``1h 30m``; seconds are told below ten minutes."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 10 and rest:
        return f"{minutes}m {rest}s"
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes}m"
    return f"{hours}h {minutes}m" if minutes else f"{hours}h"


def clock(at: datetime, *, seconds: bool = False) -> str:
    """Local time of day."""
    return at.astimezone().strftime("%H:%M:%S" if seconds else "%H:%M")


def day_and_clock(at: datetime, now: datetime) -> str:
    """Local time of day, with its date when that is another."""
    there, here = at.astimezone(), now.astimezone()
    return clock(at) if there.date() == here.date() else there.strftime("%Y-%m-%d %H:%M")


def count(number: int, noun: str) -> str:
    """``1 file``, ``3 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def points_gained(points: float) -> str:
    """``+14 points``, ``−1 point``, ``+0 points``."""
    whole = round(points)
    return f"{whole:+d} point{'' if abs(whole) == 1 else 's'}".replace("-", "−")


def ending(outcome: str, reason: str) -> str:
    """``limit reached: …``, ``aborted by you``: the outcome, unless the reason says it itself."""
    word = in_words(outcome)
    if not reason or ending_reason(outcome, reason) != reason:
        return reason or word
    return f"{word}: {reason}"


def ending_reason(outcome: str, reason: str) -> str:
    """The reason where its outcome stands before it: ``by you`` of ``aborted by you``."""
    return reason.removeprefix(f"{in_words(outcome)} ")


def money(usd: float, *, known: bool = True, estimated: bool = False, exact: bool = False) -> str:
    """``$1.82``, ``~$1.82`` for an estimate, ``—`` while it is not known.

    `exact`: sums below ten cents keep four digits, ``$0.0031``.
    """
    if not known:
        return "—"
    digits = 4 if exact and 0 < usd < 0.1 else 2
    return f"{'~' if estimated else ''}${usd:.{digits}f}"
