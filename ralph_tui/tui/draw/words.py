"""Numbers, times and states as the cockpit displays them. Pure functions."""

from collections.abc import Sequence
from datetime import datetime
from math import floor
from typing import TYPE_CHECKING

from ralph_tui.text.format import duration, money
from ralph_tui.text.terms import LEVEL_TONES, LEVELS, RowLevel
from ralph_tui.tui.draw.scale import seen, within
from ralph_tui.tui.draw.spans import Line

if TYPE_CHECKING:
    from ralph_tui.state import RunState

SPARKS = "▁▂▃▄▅▆▇█"


def level_mark(level: RowLevel) -> tuple[str, str]:
    """Return the glyph and style of a level."""
    return LEVELS[level].glyph, LEVEL_TONES[level]


def short_duration(seconds: float) -> str:
    """Return a duration in its largest unit: ``5s``, ``41m``, ``2h``, ``3d``."""
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def since(then: datetime | None, now: datetime) -> str:
    """Return the time elapsed since `then`, in one unit; ``—`` if it never happened."""
    return "—" if then is None else short_duration((now - then).total_seconds())


def countdown(moment: datetime | None, now: datetime) -> str:
    """Return the time left; ``0s`` if it has passed, empty if the moment is unknown."""
    return "" if moment is None else duration((moment - now).total_seconds())


def tokens(count: int, *, partial: bool = False) -> str:
    """Return ``950``, ``12k``, ``1.2M``; ``≥12k`` if some calls were not counted."""
    least = "≥" if partial else ""
    if count < 1000:
        return f"{least}{count}"
    if count < 999_500:
        return f"{least}{count / 1000:.0f}k"
    return f"{least}{count / 1_000_000:.1f}M"


def fraction(value: float) -> str:
    """Format a fraction with two digits and no leading zero: ``.26``, ``1.0``, ``-.12``."""
    text = f"{value:.2f}"
    if text in ("1.00", "-1.00"):
        return text[:-1]
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def spark(values: Sequence[float], width: int) -> str:
    """Draw the last `width` values, in points, as blocks scaled to the range of all values."""
    if width <= 0 or not values:
        return ""
    scale, top = seen(values), len(SPARKS) - 1
    return "".join(SPARKS[floor(scale.share(v) * top + 0.5)] for v in map(within, values[-width:]))


def bar(part: float, width: int) -> str:
    """Return a bar filled to a fraction from 0 to 1: ``▰▰▰▱▱``."""
    filled = round(min(1.0, max(0.0, part)) * width)
    return "▰" * filled + "▱" * (width - filled)


def cost(state: "RunState") -> str:
    """Format the cost of the run so far."""
    run = state.run
    return money(run.cost_usd, known=run.cost_known, estimated=run.cost_estimated)


def elapsed(state: "RunState", now: datetime) -> float:
    """Return the seconds that the run has taken, up to its end."""
    return state.run.worked_s(now)


def lines_changed(added: int, removed: int) -> Line:
    """Return ``+12 −3``, each in its colour; no spans if both are 0."""
    spans: Line = [(f"+{added}", "good")] if added else []
    if removed:
        spans.append((f"{' ' if added else ''}−{removed}", "bad"))
    return spans
