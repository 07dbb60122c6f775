"""A learning as an entry in the list, and in full on its card. Pure.

Rule: a mark never appears alone; its word is on the same row or in the pane's frame.
"""

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from ralph_tui.events.memory import Learning
from ralph_tui.state import SeenLearning
from ralph_tui.text import terms
from ralph_tui.text.format import count, points_gained, signed
from ralph_tui.tui.draw.fitting import Field, fit, join
from ralph_tui.tui.draw.spans import Line, clip, flat, wrap
from ralph_tui.tui.draw.words import fraction

STYLES = {
    terms.HELPED: "good",
    terms.NO_HELP: "warn",
    terms.IN_PROMPT: "accent",
    terms.FITS: "dim",
    terms.EARLIER: "dim",
    terms.LEARNED: "owner",
}
LABEL = 14
"""Width in cells of a card's labels."""
MAX_ROWS = 60
"""Maximum number of rows for one field of a card."""
MAX_FIELDS = 40
RUNS_SHOWN = 24
"""Maximum number of iterations whose points are listed individually."""


def mark_of(seen: SeenLearning, iteration: int | None) -> terms.Term:
    """Return the learning's status in the latest iteration that looked up learnings."""
    judged = seen.credits.get(iteration or 0)
    if seen.in_prompt and judged is not None:
        return terms.HELPED if judged.success else terms.NO_HELP
    if seen.in_prompt:
        return terms.IN_PROMPT
    if seen.current:
        return terms.FITS
    return terms.LEARNED if seen.origin == "learned" else terms.EARLIER


def mark_words(seen: SeenLearning, iteration: int | None) -> str:
    """Return the mark in words, with the iteration's result once known."""
    mark, judged = mark_of(seen, iteration), seen.credits.get(iteration or 0)
    if judged is not None and mark in (terms.HELPED, terms.NO_HELP):
        return f"{mark.word}: {points_gained(judged.points)}"
    if mark is terms.LEARNED:
        return f"{mark.brief}, now proven" if seen.promoted else mark.word
    return mark.word


def brief_rows(seen: SeenLearning, iteration: int | None, width: int, limit: int) -> list[Line]:
    """Draw the text in at most `limit` rows, and a row of facts."""
    mark = mark_of(seen, iteration)
    silenced = seen.learning.muted or seen.gone
    body = "dim" if silenced or mark in (terms.FITS, terms.EARLIER) else "text"
    pieces = wrap(flat(seen.shown.saying, 2000), max(1, width - 2), limit)
    rows: list[Line] = [[(f"{mark.glyph} ", f"{STYLES[mark]} strong"), (pieces[0], body)]]
    rows += [[("  ", ""), (piece, body)] for piece in pieces[1:]]
    return [*rows, [("  ", ""), *_facts(seen, iteration, width - 2)]]


def _facts(seen: SeenLearning, iteration: int | None, width: int) -> Line:
    learning = seen.shown
    mark, confidence = mark_of(seen, iteration), fraction(learning.confidence)
    kind, rate = learning.type_word, rate_words(learning)
    words = mark_words(seen, iteration)
    fields = [
        Field([[(f"{kind:<10}", "dim")], [(kind, "dim")], []], 2),
        Field([[(f"confidence {confidence:>3}", "dim")], [(confidence, "dim")]], 5),
        Field([[(f"{rate:<19}", "text")], [(rate, "text")], [(shorten_rate(rate), "text")], []], 4),
        *_flags(seen),
        Field([[(words, STYLES[mark])], [(mark.brief, STYLES[mark])], []], 1),
    ]
    return join(fit(fields, width))


def _flags(seen: SeenLearning) -> list[Field]:
    """Return the user's flags and the unproven flag, each mark with its word."""
    learning, since = seen.learning, seen.since
    flags = [
        (terms.PINNED, "accent", learning.pinned),
        (terms.MUTED, "warn", learning.muted and terms.MUTED_SINCE not in since),
        *((term, "warn", True) for term in since),
        (terms.UNPROVEN, "dim", learning.standing == "staged"),
    ]
    return [
        Field([[(term.label, style)], [(term.short_label, style)]], 6)
        for term, style, holds in flags
        if holds and (not seen.gone or term in since)
    ]


def shorten_rate(rate: str) -> str:
    """Shorten ``helped 6 of 7 times`` to ``helped 6 of 7``."""
    return rate.removesuffix(" times").removesuffix(" time")


def rate_words(learning: Learning) -> str:
    """Return ``helped 6 of 7 times``; for an unused estimate, the number of runs it is based on."""
    if learning.type == "estimate" and not learning.uses:
        return f"from {count(learning.runs, 'run')}"
    return learning.helped


def whole_rows(seen: SeenLearning, iteration: int | None, width: int) -> list[Line]:
    """Draw the zoomed form, with the reason for its choice and its results in this run."""
    rows = brief_rows(seen, iteration, width, 6)
    fields: list[tuple[str, str]] = []
    if seen.why:
        fields.append(("why", seen.why))
    if seen.credits:
        fields.append(("this run", credit_words(seen)))
    for label, text in fields:
        pieces = wrap(flat(text, 1000), max(1, width - 12), 3)
        rows += [
            [(f"  {label if not n else '':<10}", "dim"), (piece, "text")]
            for n, piece in enumerate(pieces)
        ]
    return rows


def credit_words(seen: SeenLearning) -> str:
    """Return ``helped in 1 of 2 uses: 1 +24, 2 −1 points``."""
    judged = sorted(seen.credits.items())
    helped = sum(credit.success for _, credit in judged)
    head = f"{terms.HELPED.word} in {helped} of {count(len(judged), 'use')}"
    effects = [f"{k} {signed(credit.points)}" for k, credit in judged[-RUNS_SHOWN:]]
    dots = ["…"] if len(judged) > RUNS_SHOWN else []
    return f"{head}: {', '.join([*dots, *effects])} points"


# the card -----------------------------------------------------------------------------------------


def card_rows(seen: SeenLearning, iteration: int | None, width: int) -> list[Line]:
    """Draw everything known about the learning."""
    learning = seen.learning
    rows: list[Line] = [
        [(piece, "strong")]
        for line in (learning.text.strip() or "(empty)").split("\n")[:MAX_ROWS]
        for piece in wrap(line, width, MAX_ROWS)
    ]
    rows.append([])
    mark = mark_of(seen, iteration)
    now: Line = [(f"{mark.glyph} {mark_words(seen, iteration)}", STYLES[mark])]
    for flags in _flags(seen):
        now += [("   ", ""), *flags.forms[0]]
    rows += _field("now", [now], width)
    rate = f"success rate {fraction(learning.success_rate)}" if learning.uses else ""
    facts = [
        ("learned in", f"{learning.task_type} tasks; {learning.proof}"),
        ("confidence", fraction(learning.confidence)),
        ("so far", ", ".join(part for part in (rate_words(learning), rate) if part)),
        ("chosen", seen.why),
        ("in prompts of", iterations(seen.prompts)),
        ("wording then", _prompt_text(seen)),
        ("this run", credit_words(seen) if seen.credits else ""),
        ("proven", seen.promoted.because if seen.promoted else ""),
        *_content(learning.content, learning.text),
        ("id", learning.learning_id),
    ]
    for label, text in facts:
        if text:
            pieces = wrap(text, max(1, width - LABEL), MAX_ROWS)
            rows += _field(label, [[(piece, "text")] for piece in pieces], width)
    return rows


def _prompt_text(seen: SeenLearning) -> str:
    """Return the text as it was in the prompt; empty unless the learning has since been edited."""
    return seen.shown.text if seen.in_prompt and terms.EDITED_SINCE in seen.since else ""


def _field(label: str, lines: Iterable[Line], width: int) -> list[Line]:
    # Imported names may have any length.
    name = clip(flat(label, 60), LABEL - 1)
    heads = [f"{name:<{LABEL}}"]
    return [
        [(heads[n] if n < len(heads) else " " * LABEL, "dim"), *line]
        for n, line in enumerate(lines)
    ]


def iterations(numbers: Sequence[int]) -> str:
    """Return ``iterations 1-3, 5``; empty if there are no numbers."""
    if not numbers:
        return ""
    spans = []
    for _, group in groupby(enumerate(sorted(set(numbers))), key=lambda pair: pair[1] - pair[0]):
        members = [number for _, number in group]
        spans.append(str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}")
    return f"iteration{'s' if len(set(numbers)) > 1 else ''} {', '.join(spans)}"


def _content(content: dict[str, Any], text: str) -> list[tuple[str, str]]:
    """Return the fields as stored in the file, except the one that equals the text."""
    fields = []
    for name, value in list(content.items())[:MAX_FIELDS]:
        shown = _value(value)
        if shown and shown != text:
            fields.append((re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name[:60]).lower(), shown))
    return fields


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)
