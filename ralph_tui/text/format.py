"""Formats quantities and times for every screen and every printed line. Standard library only."""

from collections.abc import Sequence
from datetime import datetime
from math import floor, isfinite

from ralph_tui.text.terms import outcome_word

FILES_NAMED = 3
"""Maximum number of changed files named in a line."""


def duration(seconds: float) -> str:
    """Format as ``5s``, ``1m 30s``, ``41m``, ``1h 30m``; seconds appear only below ten minutes."""
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
    """Format the wait for an answer: ``2 min``, ``90s``; above an hour, like `duration`."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min" if 0 < minutes < 60 and not rest else duration(whole)


def clock(at: datetime, *, seconds: bool = False) -> str:
    """Format the local time of day."""
    return at.astimezone().strftime("%H:%M:%S" if seconds else "%H:%M")


def day_and_clock(at: datetime, now: datetime) -> str:
    """Format the local time of day, with the date if it is not today's."""
    there, here = at.astimezone(), now.astimezone()
    return clock(at) if there.date() == here.date() else there.strftime("%Y-%m-%d %H:%M")


def due(at: datetime, now: datetime) -> str:
    """Format like `day_and_clock`, with seconds if the time is less than 10 minutes away."""
    near = abs((at - now).total_seconds()) < 600
    return clock(at, seconds=True) if near else day_and_clock(at, now)


def place(iteration: int) -> str:
    """Return ``iteration 4``, or ``the start`` for 0."""
    return f"iteration {iteration}" if iteration else "the start"


def count(number: int, noun: str) -> str:
    """Return ``1 file``, ``3 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def lines_not_shown(number: int) -> str:
    """Return the line shown in place of this many lines of an agent's output."""
    return f"… {count(number, 'line')} not shown; all are in the transcript"


def are(number: int) -> str:
    """Return the verb for a number: "is" or "are"."""
    return "is" if number == 1 else "are"


def name_files(number: int, paths: Sequence[str], since: str = "in the iteration") -> str:
    """Return ``2 files changed in the iteration: a.py, b.py``, with at most three names."""
    files = f"{count(number, 'file')} changed {since}"
    if not paths:
        return files
    more = f" and {number - FILES_NAMED} more" if number > FILES_NAMED else ""
    return f"{files}: {', '.join(paths[:FILES_NAMED])}{more}"


def with_lines(what: str, added: int, removed: int) -> str:
    """Return ``src/a.py +12 −3``, or just the name if no lines are known to have changed."""
    return f"{what} +{added} −{removed}" if added or removed else what


def all_used(iterations: int) -> str:
    """Return ``all 8 iterations are used up``."""
    if iterations == 1:
        return "the only iteration is used up"
    return f"all {iterations} iterations are used up"


def memory_size(number: int) -> str:
    """Format bytes as ``12 MB``, ``1.4 GB``; never less than 1 MB."""
    mega = number / 2**20
    return f"{mega / 1024:.1f} GB" if mega >= 1000 else f"{max(1, round(mega))} MB"


def byte_size(size: int) -> str:
    """Format bytes as ``12.3 MB``."""
    amount = float(size)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def points(value: float, *beside: float) -> str:
    """Format completion: ``84``, or ``84.9`` where a whole number would mislead.

    A whole number misleads if it makes a different value of `beside`, the values shown next to it,
    look equal. It also misleads above 99.5: only 100 is shown as 100. The result is ``—`` for a
    value that is not finite, as in a damaged record.
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
    """Return ``84 %``, formatted by `points`."""
    return f"{points(value, *beside)} %"


def filled(value: float) -> str:
    """Format the use of a window, rounded down so that it never appears to reach a level early."""
    return f"{int(value)} %" if isfinite(value) else "— %"


def step(before: float, after: float, *beside: float) -> float:
    """Return the difference of two measurements as shown: 14 for 62.4 and 75.6, shown as 62 and 76.

    `beside` are other measurements shown with these two.
    """
    return float(points(after, before, *beside)) - float(points(before, after, *beside))


def signed(gained: float) -> str:
    """Return ``+14``, ``−1``, ``+0.5``, ``+0``; tenths appear only below one point."""
    size = abs(gained)
    text = f"{size:.1f}" if 0.05 <= size < 0.95 else str(floor(size + 0.5))
    return f"{'−' if gained < 0 and text != '0' else '+'}{text}"


def points_gained(gained: float) -> str:
    """Return ``+14 points``, ``−1 point``, ``+0.5 points``, ``+0 points``."""
    text = signed(gained)
    return f"{text} point{'' if text[1:] == '1' else 's'}"


def plain_points(value: float) -> str:
    """Return ``14 points`` or ``1 point``, for a sentence that already gives the sign."""
    text = points_gained(abs(value))
    return text.removeprefix("+")


def ending(outcome: str, reason: str) -> str:
    """Return ``limit reached: …`` or ``aborted by you``: outcome and reason, without repetition."""
    word = outcome_word(outcome)
    if ending_reason(outcome, reason) != reason:
        return reason
    if not reason:
        return word
    return f"{word}: {reason}"


def ending_reason(outcome: str, reason: str) -> str:
    """Return the reason without its leading outcome: ``by you`` for ``aborted by you``."""
    word = outcome_word(outcome)
    return "" if reason == word else reason.removeprefix(f"{word} ")


def money(usd: float, *, known: bool = True, estimated: bool = False, exact: bool = False) -> str:
    """Return ``$1.82``, ``~$1.82`` for an estimate, ``—`` if not known.

    With `exact`, sums below ten cents keep four digits, as in ``$0.0031``.
    """
    if not known:
        return "—"
    digits = 4 if exact and 0 < usd < 0.1 else 2
    return f"{'~' if estimated else ''}${usd:.{digits}f}"


def unreported_cost_words(budget_usd: float | None) -> str:
    """Explain that a dollar budget covers only reported costs; empty if there is no budget."""
    if budget_usd is None:
        return ""
    return f"; the budget of {money(budget_usd)} covers only reported costs"


def token_count(tokens: int, *, partial: bool = False) -> str:
    """Return ``16,853``, or ``at least 16,853`` if some calls were not counted."""
    return f"{'at least ' if partial else ''}{tokens:,}"


def help_words(calls: int, failed: int, seconds: float, cost_usd: float | None) -> str:
    """Return ``6 questions to models, 1 unanswered, 12s, $0.0123``; empty if no calls."""
    if not calls:
        return ""
    parts = [
        f"{count(calls, 'question')} to models",
        f"{failed} unanswered" if failed else "",
        duration(seconds),
        "" if cost_usd is None else money(cost_usd, exact=True),
    ]
    return ", ".join(part for part in parts if part)


def percent_of(tokens: int | None, window: int | None) -> float | None:
    """Return the percentage of the window in use, at most 100; None if unknown.

    Zero tokens or a zero window means unknown, because no message is empty. More tokens than the
    window holds means that it is full.
    """
    if not tokens or not window or tokens < 0 or window < 0:
        return None
    return min(100.0, 100 * tokens / window)
