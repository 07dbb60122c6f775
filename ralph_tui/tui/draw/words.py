"""How the cockpit says numbers, times and states. Rule: pure functions of their arguments."""

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
    """Glyph and style of a level."""
    return LEVELS[level].glyph, LEVEL_TONES[level]


def short_duration(seconds: float) -> str:
    """The largest unit alone: ``5s``, ``41m``, ``2h``, ``3d``."""
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def since(then: datetime | None, now: datetime) -> str:
    """How long ago, in one unit; ``—`` for never."""
    return "—" if then is None else short_duration((now - then).total_seconds())


def countdown(moment: datetime | None, now: datetime) -> str:
    """How long until then, ``0s`` when it has come; empty when the moment is not known."""
    return "" if moment is None else duration((moment - now).total_seconds())


def tokens(count: int, *, partial: bool = False) -> str:
    """``950``, ``12k``, ``1.2M``; ``≥12k`` where some calls were not counted."""
    least = "≥" if partial else ""
    if count < 1000:
        return f"{least}{count}"
    if count < 999_500:
        return f"{least}{count / 1000:.0f}k"
    return f"{least}{count / 1_000_000:.1f}M"


def fraction(value: float) -> str:
    """A fraction with two digits and no leading zero: ``.26``, ``1.0``, ``-.12``."""
    text = f"{value:.2f}"
    if text in ("1.00", "-1.00"):
        return text[:-1]
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def spark(values: Sequence[float], width: int) -> str:
    """The last `width` readings, in points, as a row of blocks over the range of all of them."""
    if width <= 0 or not values:
        return ""
    scale, top = seen(values), len(SPARKS) - 1
    return "".join(SPARKS[floor(scale.share(v) * top + 0.5)] for v in map(within, values[-width:]))


def bar(part: float, width: int) -> str:
    """A filled bar for a fraction 0-1: ``▰▰▰▱▱``."""
    filled = round(min(1.0, max(0.0, part)) * width)
    return "▰" * filled + "▱" * (width - filled)


def cost(state: "RunState") -> str:
    """Dollars of the run so far."""
    run = state.run
    return money(run.cost_usd, known=run.cost_known, estimated=run.cost_estimated)


def elapsed(state: "RunState", now: datetime) -> float:
    """Seconds the run has taken, up to its end."""
    return state.run.worked_s(now)


def lines_changed(added: int, removed: int) -> Line:
    """``+12 −3``, each in its colour; nothing for none."""
    spans: Line = [(f"+{added}", "good")] if added else []
    if removed:
        spans.append((f"{' ' if added else ''}−{removed}", "bad"))
    return spans
