"""Rows of the question dialog: the evidence, the proposal, and the answers. Pure.

Rule: it knows what input an option takes, but not what the run does with the answer.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from ralph_tui.events import QuestionAsked
from ralph_tui.events.waiting import Option, Takes
from ralph_tui.state import RunState
from ralph_tui.text.format import count, place
from ralph_tui.text.format import points as in_points
from ralph_tui.text.terms import BEST, OUTCOMES, WARNING, answer_word, silence_word, subject_words
from ralph_tui.tui.draw.spans import Line, cells, clip, clip_line, flat, wrap
from ralph_tui.tui.draw.words import bar, countdown
from ralph_tui.tui.modals.modal import press_on_click
from ralph_tui.tui.modals.question_evidence import MAX_ROWS, diff_rows, request_rows, rollback_rows
from ralph_tui.tui.modals.restore_effect import lines

TITLES = {
    "redirect": "REDIRECT at iteration {}",
    "pause": "PAUSE after iteration {}",
    "goal": "When is it done?",
    "criterion": "Is it done? Claimed in iteration {}",
    "removal": "Tests are missing after iteration {}",
    "handoff": "Handoff in iteration {}",
    "silence": "Iteration {} needs a decision",
    "prompt": "Prompt for iteration {}",
    "permission": "The agent asks for permission in iteration {}",
    "choice": "The agent has a question in iteration {}",
}
"""The dialog's titles by topic; ``{}`` becomes the iteration."""
WHOLE: Mapping[str, str] = {"prompt": "the prompt", "handoff": "the handoff"}
"""Topics that propose a whole text, and the name of that text."""

UNDONE = {"roll_back": ", and nothing is restored", "abort": ", and the run continues"}
"""Suffix for a countdown during a confirmation: the step not taken if time runs out."""
MORE: tuple[Takes, ...] = ("more", "iterations", "money")
TAKING: dict[Takes, str] = {
    "instructions": "edit",
    "words": "with text",
    **dict.fromkeys(MORE, "with more"),
}
"""Short names of answers that take input."""

INDENT = 4
"""Indent in cells of an answer's second row."""
EDITING: dict[Takes, tuple[str, str, str]] = {
    "instructions": ("instructions for the agent", "done", "back, keep the text"),
    "words": ("guidance for the agent", "send", "back, keep the text"),
    "choices": ("your answer", "choose", "back, keep the text"),
    "more": ("how much more: 5 for iterations, $2.50 for dollars", "grant", "back"),
    "iterations": ("how many more iterations", "grant", "back"),
    "money": ("how many more dollars", "grant", "back"),
}
"""The editor's title, and what enter and esc do in it."""
HEADINGS = {"goal": "the work is done when"}
"""The editor's title by topic, for texts that are not for the agent."""


def title(asked: QuestionAsked) -> str:
    """Return the dialog's title."""
    about = f": {subject_words(flat(asked.about))}" if asked.about else ""
    return TITLES.get(asked.topic, TITLES["silence"]).format(asked.iteration) + about


MAX_CHARACTERS = 100_000
"""Maximum length of an answer's text, in characters."""
MEASURED = ("redirect", "pause", "criterion", "removal")
"""Topics for which the measurements are evidence."""


def reason(asked: QuestionAsked, width: int, most: int) -> list[Line]:
    """Return the question's text in at most `most` rows, marking any cut."""
    return [[(row, "strong")] for row in wrap(asked.text, width, most)]


def readings(asked: QuestionAsked, state: RunState, width: int) -> list[Line]:
    """Return completion by iteration: ``48 56 64★ 64 64``; empty if it is not relevant."""
    points = [(point.iteration, 100 * point.completion) for point in state.control.points]
    if asked.topic not in MEASURED or len(points) < 2:
        return []
    values = [value for _, value in points]
    best = state.run.best_iteration if state.run.completions else None
    written: Line = []
    for index, value in points:
        style = "good strong" if index == best else "strong" if index == points[-1][0] else "text"
        glyph = BEST.glyph if index == best else ""
        written.append((f"{in_points(value, *values)}{glyph}", style))
    ends: tuple[Line, Line] = ([("completion", "dim")], [(" %", "dim")])
    shown, room = [written.pop()], width - cells(ends[0]) - cells(ends[1])
    while written and cells(shown) + len(shown) + cells(written[-1:]) + 3 <= room:
        shown.insert(0, written.pop())
    if written:
        shown.insert(0, ("…", "dim"))
    spaced = [span for one in shown for span in ((" ", ""), one)]
    return [clip_line([*ends[0], *spaced, *ends[1]], width)]


def content(
    asked: QuestionAsked, state: RunState, width: int, most: int, *, edited: str, proposes: bool
) -> tuple[list[Line], list[Line]]:
    """Return the reason with its measurements, and all further evidence.

    `most` is the maximum number of rows for the reason.
    """
    why = reason(asked, width, most + 1)
    whole: list[Line] = []
    if len(why) > most:  # the beginning stays in view
        why, whole = why[:most], reason(asked, width, MAX_ROWS)
    why += readings(asked, state, width)
    return why, [*whole, *evidence_rows(asked, edited=edited, width=width, proposes=proposes)]


def evidence_rows(asked: QuestionAsked, *, edited: str, width: int, proposes: bool) -> list[Line]:
    """Return all further evidence, the proposal first; it may need scrolling.

    `proposes` includes the proposal, or `edited` if the user has edited it.
    """
    parts = [
        _proposal(asked, edited, width) if proposes else [],
        request_rows(asked.request, width, asked.text) if asked.request is not None else [],
        _listed(asked.evidence, width),
        _labelled("severity", asked.severity, width),
        _labelled("controller", asked.gains, width),
        rollback_rows(asked.rollback, width) if asked.rollback is not None else [],
        diff_rows(asked.diff),
    ]
    rows: list[Line] = []
    for part in parts:
        if part:
            rows += [*([[]] if rows else []), *part]
    return rows


def _listed(texts: Sequence[str], width: int) -> list[Line]:
    rows: list[Line] = []
    for text in texts:
        first, *more = wrap(text, max(1, width - 2), MAX_ROWS)
        rows.append([("· ", "dim"), (first, "text")])
        rows += [[("  ", ""), (row, "text")] for row in more]
    return rows


def _proposal(asked: QuestionAsked, edited: str, width: int) -> list[Line]:
    if not asked.proposal and not edited:
        return []
    what, whole = proposed(asked), asked.topic in WHOLE
    head: Line = [(what if whole else f"{what}, in every prompt until completion improves", "dim")]
    if edited:
        how = "edited by you"
        head = [(f"{what}, ", "dim"), (how, "owner strong")]
    style = "owner" if edited else "accent"
    rows = wrap(edited or asked.proposal, max(1, width - 2), MAX_ROWS)
    return [head, *([("▎ ", style), (row, "text")] for row in rows)]


def proposed(asked: QuestionAsked) -> str:
    """Return a name for the text that may be edited."""
    return HEADINGS.get(asked.topic) or WHOLE.get(asked.topic, EDITING["instructions"][0])


def _labelled(label: str, text: str, width: int) -> list[Line]:
    rows = wrap(flat(text), max(1, width - len(label) - 2), 6) if text else []
    return [
        [(label if not index else " " * len(label), "dim"), (f"  {row}", "text")]
        for index, row in enumerate(rows)
    ]


# answers ------------------------------------------------------------------------------------------


def enforces(option: Option, asked: QuestionAsked) -> bool:
    """Return True if the answer makes the agent follow the proposed or edited instructions."""
    takers = {other.answer for other in asked.options if other.takes == "instructions"}
    return option.answer in takers or (option.answer == "roll_back" and bool(takers))


def stops(asked: QuestionAsked, state: RunState) -> str:
    """Return a note that the run stops whatever the answer; empty if it does not.

    The note also says when instructions are sent.
    """
    if state.run.stopping != "after_iteration":
        return ""
    enforced = any(enforces(option, asked) for option in asked.options)
    sent = "; instructions are sent on resume" if enforced else ""
    return f"the run stops after this iteration, as requested{sent}"


def stop_rows(text: str, width: int) -> list[Line]:
    """Return that note as rows."""
    glyph = OUTCOMES["interrupted"].glyph
    rows = wrap(text, max(1, width - 2), 2) if text else []
    return [[("  " if index else f"{glyph} ", "owner"), (row, "owner")]
            for index, row in enumerate(rows)]  # fmt: skip


def choices(asked: QuestionAsked, width: int, *, edited: bool) -> list[Line]:
    """Return the answers, each on its own row with its effect."""
    rows: list[Line] = []
    for option in asked.options:
        key = clip(flat(option.key, 12), 12)
        verb = flat(option.verb, 200)
        if edited and option.takes == "nothing" and enforces(option, asked):
            # The text above says how long the instructions are in force.
            action = verb if option.answer == "roll_back" else verb.partition(":")[0]
            verb = f"{action}, as edited"
        first, *more = wrap(verb, max(1, width - INDENT), 2)
        row: Line = [(f"{key:>2}", "key"), ("  ", ""), (first, "text")]
        last = row if not more else [(" " * INDENT, ""), (more[0], "text")]
        if option.answer == "roll_back" and asked.rollback is not None:
            sizes = lines(asked.rollback.added, asked.rollback.removed)
            last.append((f"  {sizes}" if cells(last) + len(sizes) + 2 <= width else "", "dim"))
        rows += [press_on_click(part, key) for part in (row, *([last] if more else []))]
    return rows


def packed(asked: QuestionAsked, width: int) -> list[Line]:
    """Return the short names of the answers, as many in a row as fit."""
    rows, line = [], Line()
    for option in asked.options:
        word = TAKING.get(option.takes) or answer_word(flat(option.answer, 40))
        key = clip(flat(option.key, 12), 12)
        spans: Line = [(key, "key"), (f" {clip(word, width - 4)}", "text")]
        if line and cells(line) + 3 + cells(spans) > width:
            rows.append(line)
            line = Line()
        line += [*([("   ", "")] if line else []), *press_on_click(spans, option.key)]
    return [*rows, line]


def silence(
    asked: QuestionAsked, now: datetime, width: int, *, held: bool, sure: Option | None = None
) -> Line:
    """Return what happens without an answer, and when; `held` if the user stopped the countdown.

    `sure` is the answer that is waiting for confirmation; a timeout does not confirm it.
    """
    left = countdown(asked.deadline, now)
    if not left or asked.deadline is None:
        stopped = "countdown stopped; " if asked.default else ""
        return [(f"{stopped}waiting for your answer", "dim")]
    whole = max(1.0, (asked.deadline - asked.at).total_seconds())
    share = (asked.deadline - now).total_seconds() / whole
    gauge: Line = [(f"{bar(share, 8)} ", "warn")]
    undone = UNDONE.get(sure.answer, "") if sure and sure.answer != asked.default else ""
    does: Line = [(silence_word(flat(asked.default, 40)), "strong"), (" in ", "dim")]
    does += [(left, "strong"), (undone, "strong")]
    unless: Line = [(" unless you press a key", "dim")]
    stops: Line = [
        ("   ", ""),
        *press_on_click([("space", "key"), (" stops this", "dim")], "space"),
    ]
    if held or sure:
        unless = stops = []
    tries = ([*gauge, *does, *unless, *stops], [*does, *unless, *stops], [*does, *stops])
    return next((line for line in tries if cells(line) <= width), tries[-1])


def text_for(option: Option, asked: QuestionAsked, texts: Mapping[Takes, str]) -> str:
    """Return the part of the user's text that belongs to this answer."""
    if option.takes == "words":
        return texts.get("words", "")
    return texts.get("instructions", "") if enforces(option, asked) else ""


def confirm_text(option: Option, asked: QuestionAsked) -> str | None:
    """Return what to ask before sending this answer; None if it needs no confirmation."""
    if option.answer == "abort":
        return "Abort the run? The agent stops; the files stay as they are."
    if option.answer == "roll_back" and asked.rollback is not None:
        changed = count(asked.rollback.files, "file")
        then = " and sends the instructions" if enforces(option, asked) else ""
        return f"Restore {place(asked.rollback.iteration)}? This changes {changed}{then}."
    return None


def confirmation(option: Option, asked: QuestionAsked, width: int, effect: str = "") -> list[Line]:
    """Return the confirmation for an irreversible answer; `effect` is what it changes."""
    sure = wrap(confirm_text(option, asked) or "", width, 2)
    restores = option.answer == "roll_back"
    does = "restore; current files are saved first" if restores else "abort"
    return [
        *([(row, "warn strong")] for row in sure),
        *([[(clip(effect, width), "text")]] if effect else []),
        press_on_click([(" y", "key"), (f"  {does}", "text")], "y"),
        press_on_click([(" n", "key"), ("  back to the question", "text")], "n"),
    ]


def wrong(text: str) -> list[Line]:
    """Return an error as rows; empty if there is no error."""
    return [[(f"{WARNING.glyph} ", "warn"), (text, "text")]] if text else []


def settled(how: str) -> list[Line]:
    """Return the message for an editor that is still open after its question was settled."""
    return [
        [("question closed: ", "warn"), (how, "text")],
        [("enter", "strong"), (" or ", "dim"), ("esc", "strong"),
         (" closes; your text is kept", "dim")],
    ]  # fmt: skip


def editor_keys(takes: Takes) -> list[tuple[str, str]]:
    """Return what the keys do in the editor."""
    _, enter, escape = EDITING[takes]
    lines = [] if takes in MORE else [("ctrl+j", "new line")]
    return [("enter", enter), *lines, ("esc", escape)]
