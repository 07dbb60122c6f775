"""What the question dialog says: what speaks for it, what is proposed, and how to answer. Pure.

Rule: it knows what an option takes along, and nothing of what the run does with the answer.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from ralph_tui.commands import MOST_ITERATIONS
from ralph_tui.events import QuestionAsked
from ralph_tui.events.waiting import Option, Rollback, Takes
from ralph_tui.state import RunState
from ralph_tui.text.format import count, percent
from ralph_tui.text.terms import BEST, ROLLED_BACK, WARNING, in_words
from ralph_tui.tui.draw.bars import Bar, bars
from ralph_tui.tui.draw.diff import rows_of
from ralph_tui.tui.draw.spans import Line, cells, clip, flat, wrap
from ralph_tui.tui.draw.words import bar, countdown

TITLES = {
    "redirect": "REDIRECT at iteration {}",
    "pause": "PAUSE after iteration {}",
    "criterion": "Is it done? The agent says so in iteration {}",
    "handoff": "Handoff of iteration {}",
    "silence": "Iteration {} needs a decision",
    "prompt": "The prompt of iteration {}",
}
"""By topic."""
WHOLE: Mapping[str, str] = {"prompt": "the prompt", "handoff": "the handoff"}
"""Topics that propose a whole text, and what it is."""
MOST_ROWS = 4000
"""Of one text: more than an answer may have, so that nothing is cut off unseen."""
MOST_USD = 1_000_000

EDITING: dict[Takes, tuple[str, str, str]] = {
    "instructions": ("instructions for the agent", "done", "back, the text is kept"),
    "words": ("words for the agent", "send", "back, the text is kept"),
    "more": ("how much more: 5 for iterations, $2.50 for dollars", "grant", "back"),
}
"""Above the editor, and what enter and esc do in it."""


def title(asked: QuestionAsked) -> str:
    """The dialog's heading."""
    about = f": {in_words(flat(asked.about))}" if asked.about else ""
    return TITLES.get(asked.topic, TITLES["silence"]).format(asked.iteration) + about


def told(
    asked: QuestionAsked,
    state: RunState,
    *,
    edited: str,
    width: int,
    height: int,
    proposes: bool,
) -> list[Line]:
    """All that speaks for it; where it `proposes`, `edited` stands for the proposal."""
    reason: list[Line] = [[(row, "strong")] for row in wrap(asked.text, width, MOST_ROWS)]
    readings = [(point.iteration, 100 * point.completion) for point in state.control.points]
    best = state.timeline.best_iteration if state.run.completions else None
    tall = 5 if height > 36 else 3 if height > 24 else 2
    parts = [
        [*reason, *_listed(asked.evidence, width)],
        [] if asked.topic == "handoff" else _readings(readings, best, width, tall),
        _proposal(asked, edited, width) if proposes else [],
        _labelled("controller", asked.gains, width),
        _rollback(asked.rollback, width) if asked.rollback is not None else [],
        _diff(asked.diff),
    ]
    rows: list[Line] = []
    for part in parts:
        if part:
            rows += [*([[]] if rows else []), *part]
    return rows


def _readings(readings: Sequence[Bar], best: int | None, width: int, bar_rows: int) -> list[Line]:
    if len(readings) < 2:
        return []
    head: Line = [("completion by iteration   ", "dim")]
    points = dict(readings)
    all_points = points.values()
    if best in points:
        where = f" after {best}" if best else " at the start"
        reached = percent(points[best], *all_points)
        head += [(f"{BEST.label} ", "good"), (reached, "good strong"), (where, "dim")]
    head += [("   now ", "output"), (percent(readings[-1][1], *all_points), "strong")]
    return [head, *bars(readings, best=best, width=width, height=bar_rows)]


def _listed(texts: Sequence[str], width: int) -> list[Line]:
    rows: list[Line] = []
    for text in texts:
        first, *more = wrap(text, max(1, width - 2), MOST_ROWS)
        rows.append([("· ", "dim"), (first, "text")])
        rows += [[("  ", ""), (row, "text")] for row in more]
    return rows


def _proposal(asked: QuestionAsked, edited: str, width: int) -> list[Line]:
    if not asked.proposal and not edited:
        return []
    what, whole = proposed(asked), asked.topic in WHOLE
    head: Line = [(what if whole else f"{what}, in every prompt from here on", "dim")]
    if edited:
        how = f"as you edited {'it' if whole else 'them'}"
        head = [(f"{what}, ", "dim"), (how, "owner strong")]
    style = "owner" if edited else "accent"
    rows = wrap(edited or asked.proposal, max(1, width - 2), MOST_ROWS)
    return [head, *([("▎ ", style), (row, "text")] for row in rows)]


def _diff(text: str) -> list[Line]:
    if not text:
        return []
    return [[("what this iteration changed", "dim")], *_diff_rows(text)]


@lru_cache(maxsize=2)
def _diff_rows(text: str) -> tuple[Line, ...]:
    """Made once: a dialog is laid anew at every key."""
    return tuple(rows_of(text))


def proposed(asked: QuestionAsked) -> str:
    """What may be edited, in words."""
    return WHOLE.get(asked.topic, EDITING["instructions"][0])


def _labelled(label: str, text: str, width: int) -> list[Line]:
    rows = wrap(flat(text), max(1, width - len(label) - 2), 6) if text else []
    return [
        [(label if not index else " " * len(label), "dim"), (f"  {row}", "text")]
        for index, row in enumerate(rows)
    ]


def _rollback(to: Rollback, width: int) -> list[Line]:
    where = f"iteration {to.iteration}" if to.iteration else "the start"
    head: Line = [(f"{ROLLED_BACK.glyph} roll back to ", "owner"), (where, "owner strong")]
    if to.completion is not None:
        head.append((f", {percent(to.completion)}", "owner"))
    head.append((f" would change {count(to.files, 'file')} ", "dim"))
    head += [(f"+{to.added} ", "good"), (f"−{to.removed}", "bad")]
    head.append((f" · snapshot {to.snapshot}", "dim"))
    rows = [head]
    line: Line = [("  ", "")]
    for path in to.paths:
        name = clip(flat(path), max(1, width - 4))
        if cells(line) > 2 and cells(line) + cells([(name, "")]) > width:
            rows.append(line)
            line = [("  ", "")]
        line.append((f"{name}  ", "text"))
    if to.files > len(to.paths) > 0:
        line.append((f"and {to.files - len(to.paths)} more", "dim"))
    return [*rows, *([line] if len(line) > 1 else [])]


# how to answer ------------------------------------------------------------------------------------


def enforces(option: Option, asked: QuestionAsked) -> bool:
    """Whether an answer puts the instructions in force, as proposed or as edited."""
    takers = {other.answer for other in asked.options if other.takes == "instructions"}
    return option.answer in takers or (option.answer == "roll_back" and bool(takers))


def choices(asked: QuestionAsked, width: int, *, listed: bool, edited: bool) -> list[Line]:
    """The options, each on a row of its own, or in a row as far as they fit."""
    if listed:
        rows = [_choice(option, asked.default, width) for option in asked.options]
        defaults = [i for i, option in enumerate(asked.options) if option.answer == asked.default]
        if defaults and asked.default:
            rows[defaults[0]].append(("  default", "dim"))
        for row, option in zip(rows, asked.options, strict=True):
            if edited and option.takes == "nothing" and enforces(option, asked):
                row.append(("  as edited", "owner"))
        return rows
    rows, line = [], Line()
    for option in asked.options:
        spans: Line = [(flat(option.key, 12), "key"), (f" {flat(option.verb, 200)}", "text")]
        if line and cells(line) + 3 + cells(spans) > width:
            rows.append(line)
            line = Line()
        line += [*([("   ", "")] if line else []), *spans]
    return [*rows, line]


def _choice(option: Option, default: str, width: int) -> Line:
    key = clip(flat(option.key, 12), 12)
    return [
        (f"{key:>2}  ", "key"),
        (clip(flat(option.verb, 200), max(1, width - len(key) - 16)), "text"),
    ]


def silence(
    asked: QuestionAsked, now: datetime, width: int, *, held: bool, sure: Option | None = None
) -> Line:
    """What happens when nobody answers, and when; `held`: it was asked to stop counting down.

    `sure`: the answer that waits for its yes, and silence is none.
    """
    left = countdown(asked.deadline, now)
    if not left or asked.deadline is None:
        it = "The countdown is stopped: it" if asked.default else "It"
        return [(f"{it} waits until you answer.", "dim")]
    whole = max(1.0, (asked.deadline - asked.at).total_seconds())
    share = (asked.deadline - now).total_seconds() / whole
    gauge: Line = [(f"{bar(share, 8)} ", "warn")] if width >= 62 else []
    return [
        *gauge,
        ("Unless you say yes: " if sure else "Without an answer: ", "dim"),
        (_default(asked, whole=sure is not None), "strong"),
        (" in ", "dim"),
        (left, "strong"),
        (".", "dim"),
        *([] if held or sure else [("  space", "key"), (" stops it", "dim")]),
    ]


def _default(asked: QuestionAsked, *, whole: bool) -> str:
    """What silence does: the answer's word, or the `whole` of what its option says."""
    option = next((option for option in asked.options if option.answer == asked.default), None)
    return in_words(flat(option.verb if whole and option else asked.default, 40))


def text_for(option: Option, asked: QuestionAsked, texts: Mapping[Takes, str]) -> str:
    """What of the words that were written goes along with this answer."""
    if option.takes == "words":
        return texts.get("words", "")
    return texts.get("instructions", "") if enforces(option, asked) else ""


def certain(option: Option, asked: QuestionAsked) -> str | None:
    """What to ask before this answer is sent; None for nothing."""
    if option.answer == "abort":
        return "Give the run up? The work stays as it is."
    if option.answer == "roll_back" and asked.rollback is not None:
        to = asked.rollback
        where = f"iteration {to.iteration}" if to.iteration else "the start"
        changed = count(to.files, "file")
        return f"Bring {changed} back to {where}? A snapshot holds the present."
    return None


def confirmation(option: Option, asked: QuestionAsked, would: str = "") -> list[Line]:
    """What is asked before an answer that cannot be taken back; `would`: what it changes."""
    told: list[Line] = [[(would, "text")]] if would else []
    sure: Line = [(certain(option, asked) or "", "warn strong")]
    return [sure, *told, _keys(("y", "yes"), ("n", "no"))]


def wrong(text: str) -> list[Line]:
    """Why what was entered cannot be sent; nothing where it can."""
    return [[(f"{WARNING.glyph} ", "warn"), (text, "text")]] if text else []


def settled(how: str) -> list[Line]:
    """What an editor says that is still open when its question is not."""
    return [
        [("the question is settled: ", "warn"), (how, "text")],
        [("enter", "strong"), (" or ", "dim"), ("esc", "strong"), (" closes; ", "dim"),
         ("g", "strong"), (" then has what you wrote", "dim")],
    ]  # fmt: skip


def editor_keys(takes: Takes) -> Line:
    """What enter and esc do in the editor."""
    _, enter, escape = EDITING[takes]
    lines = [] if takes == "more" else [("ctrl+j", "new line")]
    return _keys(("enter", enter), *lines, ("esc", escape))


def _keys(*pairs: tuple[str, str]) -> Line:
    line: Line = []
    for key, does in pairs:
        line += [*([("   ", "")] if line else []), (key, "key"), (f" {does}", "dim")]
    return line


def granted(text: str) -> tuple[int, float]:
    """``5`` as iterations, ``$2.50`` as dollars; ValueError says what is wrong with it."""
    text = text.strip().removeprefix("+").strip()
    if match := re.fullmatch(r"\$\s*(\d{1,7}(?:\.\d{1,6})?|\.\d{1,6})", text, re.ASCII):
        dollars = float(match[1])
        if not 0 < dollars <= MOST_USD:
            raise ValueError(f"dollars go from more than 0 up to {MOST_USD}")
        return 0, dollars
    if re.fullmatch(r"\d{1,9}", text, re.ASCII):
        if not 1 <= int(text) <= MOST_ITERATIONS:
            raise ValueError(f"iterations go from 1 up to {MOST_ITERATIONS}")
        return int(text), 0.0
    what = "nothing is written" if not text else f"“{clip(flat(text), 20)}” is neither"
    raise ValueError(f"{what}: write 5 for iterations, $2.50 for dollars")
