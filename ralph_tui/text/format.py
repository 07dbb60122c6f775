"""Quantities and times as people read them, on every screen and line. Standard library only."""

from datetime import datetime
from math import floor, isfinite

from ralph_tui.text.terms import outcome_word


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


def wait_time(seconds: float) -> str:
    """How long an answer was waited for: ``2 min``, ``90s``; as `duration` beyond an hour."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min" if 0 < minutes < 60 and not rest else duration(whole)


def clock(at: datetime, *, seconds: bool = False) -> str:
    """Local time of day."""
    return at.astimezone().strftime("%H:%M:%S" if seconds else "%H:%M")


def day_and_clock(at: datetime, now: datetime) -> str:
    """Local time of day, with its date when that is another."""
    there, here = at.astimezone(), now.astimezone()
    return clock(at) if there.date() == here.date() else there.strftime("%Y-%m-%d %H:%M")


def due(at: datetime, now: datetime) -> str:
    """As `day_and_clock`, with seconds if it is less than 10 minutes ahead."""
    near = abs((at - now).total_seconds()) < 600
    return clock(at, seconds=True) if near else day_and_clock(at, now)


def place(iteration: int) -> str:
    """``iteration 4``; 0 is ``the start``."""
    return f"iteration {iteration}" if iteration else "the start"


def count(number: int, noun: str) -> str:
    """``1 file``, ``3 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def with_lines(what: str, added: int, removed: int) -> str:
    """``src/a.py +12 −3``; what has no lines added or removed, or has not told of them, alone."""
    return f"{what} +{added} −{removed}" if added or removed else what


def all_used(iterations: int) -> str:
    """``all 8 iterations are used up``."""
    if iterations == 1:
        return "the one iteration is used up"
    return f"all {iterations} iterations are used up"


def memory_size(number: int) -> str:
    """Bytes as ``12 MB``, ``1.4 GB``; never less than 1 MB."""
    mega = number / 2**20
    return f"{mega / 1024:.1f} GB" if mega >= 1000 else f"{max(1, round(mega))} MB"


def byte_size(size: int) -> str:
    """``12.3 MB``."""
    amount = float(size)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def points(value: float, *beside: float) -> str:
    """Completion as it is written everywhere: ``84``; ``84.9`` where whole points would mislead.

    ``—`` for what is no number: a record can be damaged. Whole points mislead where another of
    `beside`, the values it is read together with, would look equal, and above 99.5: only 100
    reads 100.
    """
    if not isfinite(value):
        return "—"
    whole = floor(value + 0.5)
    alike = any(
        isfinite(other) and floor(other + 0.5) == whole and other != value for other in beside
    )
    if whole >= 100:
        return "100" if value >= 100 else f"{min(value, 99.9):.1f}"
    return f"{value:.1f}" if alike else str(whole)


def percent(value: float, *beside: float) -> str:
    """``84 %``, as `points` writes it."""
    return f"{points(value, *beside)} %"


def filled(value: float) -> str:
    """``84 %`` of a window, rounded down: none seems to have reached a level that it has not."""
    return f"{int(value)} %" if isfinite(value) else "— %"


def step(before: float, after: float, *beside: float) -> float:
    """Points between two readings as they are written: 62.4 and 75.6 are 62 and 76, and 14 apart.

    `beside`: other readings that are written with these two.
    """
    return float(points(after, before, *beside)) - float(points(before, after, *beside))


def signed(gained: float) -> str:
    """``+14``, ``−1``, ``+0.5``, ``+0``: tenths only below one point."""
    size = abs(gained)
    text = f"{size:.1f}" if 0.05 <= size < 0.95 else str(floor(size + 0.5))
    return f"{'−' if gained < 0 and text != '0' else '+'}{text}"


def points_gained(gained: float) -> str:
    """``+14 points``, ``−1 point``, ``+0.5 points``, ``+0 points``."""
    text = signed(gained)
    return f"{text} point{'' if text[1:] == '1' else 's'}"


def plain_points(value: float) -> str:
    """``14 points``, ``1 point``: of a size whose sign the sentence says."""
    text = points_gained(abs(value))
    return text.removeprefix("+")


def ending(outcome: str, reason: str) -> str:
    """``limit reached: …``, ``aborted by you``: the outcome, unless the reason says it itself."""
    word = outcome_word(outcome)
    if ending_reason(outcome, reason) != reason:
        return reason
    if not reason:
        return word
    return f"{word}: {reason}"


def ending_reason(outcome: str, reason: str) -> str:
    """The reason where its outcome stands before it: ``by you`` of ``aborted by you``."""
    word = outcome_word(outcome)
    return "" if reason == word else reason.removeprefix(f"{word} ")


def money(usd: float, *, known: bool = True, estimated: bool = False, exact: bool = False) -> str:
    """``$1.82``, ``~$1.82`` for an estimate, ``—`` while it is not known.

    `exact`: sums below ten cents keep four digits, ``$0.0031``.
    """
    if not known:
        return "—"
    digits = 4 if exact and 0 < usd < 0.1 else 2
    return f"{'~' if estimated else ''}${usd:.{digits}f}"


def unheld_words(budget_usd: float | None) -> str:
    """What a budget in dollars is worth while no cost is told; empty without a budget."""
    if budget_usd is None:
        return ""
    return f"; the budget of {money(budget_usd)} holds only what is told"


def token_count(tokens: int, *, partial: bool = False) -> str:
    """``16,853``, or ``at least 16,853`` where some calls were not counted."""
    return f"{'at least ' if partial else ''}{tokens:,}"


def help_words(calls: int, failed: int, seconds: float, cost_usd: float | None) -> str:
    """``6 questions to models, 1 without an answer, 12s, $0.0123``; empty where none was asked."""
    if not calls:
        return ""
    parts = [
        f"{count(calls, 'question')} to models",
        f"{failed} without an answer" if failed else "",
        duration(seconds),
        "" if cost_usd is None else money(cost_usd, exact=True),
    ]
    return ", ".join(part for part in parts if part)


def percent_of(tokens: int | None, window: int | None) -> float | None:
    """Percent of the window that is used, at most 100; None where that is not known.

    No message uses zero tokens and no window is that small: such numbers tell nothing. More tokens
    than the window holds mean that it is full.
    """
    if not tokens or not window or tokens < 0 or window < 0:
        return None
    return min(100.0, 100 * tokens / window)
