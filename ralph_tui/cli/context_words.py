"""Format the use of a context window: as a table, and as a row of ``status``.

The fields of a `ContextStatus` are sanitized here, because the agent can write them.
"""

from collections.abc import Sequence

from ralph_tui.adapters.records.run_status import (
    ContextStatus,
    HandoffStatus,
    ItemStatus,
    UseStatus,
)
from ralph_tui.layers.context.levels import LEVELS, Level, above, whole
from ralph_tui.layers.context.sizes import BUDGETS
from ralph_tui.layers.context.window import (
    FILLED_ONCE,
    FILLED_UP,
    FILLS,
    HAD_ROOM,
    NOT_KNOWN,
    forecast_words,
    order,
    recommendation,
)
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import CONTEXT_LEVELS

BASIS_WORDS = {"tag": "by its tag", "history": "from finished items", "default": "no tag"}
ROWS = 12
"""Maximum number of iterations in a table; the latest are shown."""
ITEM = 60
"""Maximum length of an item in a table, in characters."""


def context_row(context: ContextStatus | None) -> str:
    """Format a row such as ``86 % (handoff due), 28k tokens left, handed off twice; ...``."""
    if not context:
        return ""
    percent, level = context.get("percent"), _find_level(context)
    if percent is None or level is None:
        return ""
    left = f"{_tokens_text(context['tokens_left'] or 0)} tokens left"
    parts = [f"{whole(percent)} % ({CONTEXT_LEVELS[level].word})", left]
    if handoffs := context.get("rollovers"):
        parts.append(f"handed off {_times_word(handoffs)}")
    if compactions := context.get("compactions"):
        parts.append(f"compacted {_times_word(compactions)}")
    ahead = _forecast_text(context)
    return f"{', '.join(parts)}{'; ' if ahead else ''}{ahead}"


def context_mark(context: ContextStatus | None) -> str:
    """Return ``context 86 %`` for a status bar; empty while there is nothing to report."""
    if not context:
        return ""
    percent, level = context.get("percent"), _find_level(context)
    if percent is None or level in (None, "L0") or not context.get("session_running"):
        return ""
    return f"context {whole(percent)} %"


def context_table(context: ContextStatus, run: str, *, alive: bool, watched: bool = False) -> str:
    """Format the state, forecast and recommendation for a context window as a Markdown table.

    `watched`: hooks recorded the sessions, which ralph-tui did not start.
    """
    handoff = context["handoff"]
    rows = [
        ("Run", f"{run}{'' if alive else ' (over)'}"),
        ("Current Context" if alive else "Last Context", _current_text(context)),
        ("Level", _level_text(context)),
        ("Estimated Remaining", _remaining_text(context)),
        ("Forecast", _forecast_text(context) if alive else ""),
        *_item_rows(context.get("item")),
        ("Last Handoff", handoff["path"] if handoff else ""),
    ]
    parts = [
        "## Ralph Context Status",
        _format_table(("Metric", "Value"), [r for r in rows if r[1]]),
    ]
    if history := context.get("history"):
        parts.append(_peaks_table(history))
    if alive:
        parts.append(_order(context, watched=watched))
    parts.append(f"**Recommendation**: {_recommend(context, alive=alive, watched=watched)}")
    return "\n\n".join(part for part in parts if part)


def _find_level(context: ContextStatus) -> Level | None:
    return next((level for level in LEVELS if level == context.get("level")), None)


def _current_text(context: ContextStatus) -> str:
    percent, window = context.get("percent"), context.get("window")
    if percent is not None:
        return f"{whole(percent)} % of {_tokens_text(window or 0)} tokens"
    if tokens := context.get("tokens"):
        return (
            f"unknown: {_tokens_text(tokens)} tokens used; the agent does not report the "
            "size of its window"
        )
    when = "in this session" if context.get("history") else "yet"
    return f"unknown: the agent has reported no usage {when}"


def _level_text(context: ContextStatus) -> str:
    """Return the level, and any higher level reached before a compaction."""
    level, reached = _find_level(context), context.get("level_reached")
    if level is None:
        return "unknown"
    higher = next((one for one in LEVELS if one == reached and above(one, level)), "")
    reached_too = f'; "{CONTEXT_LEVELS[higher].word}" was reached' if higher else ""
    return f"{CONTEXT_LEVELS[level].word}{reached_too}"


def _remaining_text(context: ContextStatus) -> str:
    left = context.get("tokens_left")
    return "" if left is None else f"~{_tokens_text(left)} tokens"


def _forecast_text(context: ContextStatus) -> str:
    if not context.get("session_running"):
        return ""
    return forecast_words(context.get("checkpoint_percent") or 0.0, context.get("calls_left"))


def _item_rows(item: ItemStatus | None) -> list[tuple[str, str]]:
    if not item:
        return []
    row = BUDGETS.get(item["size"])
    basis = BASIS_WORDS.get(item["basis"], "")
    return [
        ("Current Item", f'"{clip(one_line(item["text"]), ITEM)}"'),
        ("Item Complexity", f"{item['size']} (est. {_range_text(item)} context; {basis})"),
        ("Per Iteration", row.per_iteration if row else ""),
        ("Plan", f"{item['done']} of {item['total']} done" if item["total"] else ""),
    ]


def _range_text(item: ItemStatus) -> str:
    """Format a range of percentages, such as ``20-40 %``."""
    low, high = f"{item['low']:.0f}", f"{item['high']:.0f}"
    return f"{low} %" if low == high else f"{low}-{high} %"


def _peaks_table(history: list[UseStatus]) -> str:
    rows = [
        (
            str(use["iteration"]),
            "unknown" if (peak := use.get("peak_percent")) is None else f"{whole(peak)} %",
            str(use["rollovers"] or "-"),
            str(use["compactions"] or "-"),
        )
        for use in history[-ROWS:]
    ]
    return _format_table(("Iteration", "Peak", "Handoffs", "Compactions"), rows)


def _keeps_session(context: ContextStatus, *, watched: bool) -> bool:
    """True if the session that stopped takes the next turn: hooks continue it unless it is full."""
    return watched and _find_level(context) in ("L0", "L1")


def _order(context: ContextStatus, *, watched: bool) -> str:
    """List the open items in the advised order, without an item already in progress."""
    item, percent = context.get("item"), context.get("percent")
    started = context.get("session_running") and context.get("calls")
    items = [*([] if started or not item else [item]), *(context.get("later") or [])]
    keeps = context.get("session_running") or _keeps_session(context, watched=watched)
    if percent is not None and not keeps:
        percent = 0.0  # the next session begins with an empty window
    left = None if percent is None else max(0.0, context["checkpoint_percent"] - percent)
    advised = order([one["high"] for one in items], left)
    if not advised.why:
        return ""
    if list(advised.places) == sorted(advised.places):
        return f"**Order**: as in the plan; {advised.why}."
    advice = f"**Order**: {advised.why}, unless one depends on another."
    rows = []
    for n, place in enumerate(advised.places[:ROWS], 1):
        one = items[place]
        estimate = "split it" if one["size"] == "very complex" else _range_text(one)
        rows.append((str(n), clip(one_line(one["text"]), ITEM), one["size"], estimate))
    more = len(items) - len(rows)
    rest = f" {count(more, 'more item')} after these." if more else ""
    return f"{_format_table(('Order', 'Item', 'Complexity', 'Context'), rows)}\n\n{advice}{rest}"


def _recommend(context: ContextStatus, *, alive: bool, watched: bool) -> str:
    """Return the advice for now or, after the run has ended, for the next one."""
    fills, level = context.get("windows_fill"), _find_level(context)
    if not alive:
        known = any(use.get("peak_percent") is not None for use in context.get("history") or [])
        if fills:
            return FILLED_UP
        full = context.get("checkpoint_percent") or 100.0
        if any((use.get("peak_percent") or 0.0) >= full for use in context.get("history") or []):
            return FILLED_ONCE
        return HAD_ROOM if known else NOT_KNOWN
    if level is None:
        how = (
            "set RALPH_CONTEXT_WINDOW (200k, 1m)"
            if watched
            else ("ralph-tui checkpoint --rollover requests one")
        )
        return f"No automatic handoff while the usage is unknown; {how}."
    if context.get("requested_by"):
        advice_text = "The session hands off when the running tool ends, as requested."
    elif context.get("session_running") or _keeps_session(context, watched=watched):
        hands_off = context.get("rollover") is not False
        advice_text = recommendation(level, context["checkpoint_percent"], hands_off=hands_off)
        if not context.get("session_running"):
            advice_text += " A fresh session starts with an empty window."
    else:
        advice_text = "No session is running; the next one starts with an empty window."
    return f"{advice_text} {FILLS}" if fills else advice_text


def _tokens_text(number: int) -> str:
    """Format a number of tokens, such as ``66k``."""
    return f"{number:,}" if number < 1000 else f"{round(number / 1000):,}k"


def _times_word(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _format_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    cells = [head, *([one_line(cell).replace("|", r"\|") for cell in row] for row in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    lines = [" | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
    lines.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" if n != 1 else f"|-{line}-|" for n, line in enumerate(lines))


def handoff_text(handoff: HandoffStatus) -> str:
    """Format a context handoff, from which the next session continues."""
    percent = handoff.get("percent")
    return "\n".join(
        (
            "## Ralph Checkpoint Created",
            "",
            f"**Iteration**: {handoff['iteration']}",
            f"**Context**: {'unknown' if percent is None else f'{whole(percent)} %'}",
            f"**Handoff**: {one_line(str(handoff['path']))}",
            "",
            "Next session resumes from this point.",
        )
    )
