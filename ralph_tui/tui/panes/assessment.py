"""Assessment of an iteration, strategy for the next one, and validation issues. Pure."""

from collections.abc import Iterable

from ralph_tui import events as ev
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import count, duration, money
from ralph_tui.text.terms import APPROACHES, GOOD, SEVERITIES, WARNING, in_words
from ralph_tui.tui.draw.spans import Line, flat, wrap
from ralph_tui.tui.draw.words import level_mark

ROWS = 6
"""Maximum number of rows for one statement."""
GUESSED = "inferred from text"


def assessment_rows(
    state: RunState, span: IterationSpan | None, width: int, *, chosen: bool
) -> list[Line]:
    """Draw the assessment of an iteration; `chosen` if the user has selected an earlier one."""
    known = state.intelligence
    foreign = _foreign(state, span.number, width) if span is not None else []
    if foreign:
        return foreign
    if span is None or not (known.assessments or known.strategies):
        return [[(_empty_text(state), "dim")]]
    k = span.number
    rows: list[Line] = []
    if strategy := known.strategies.get(k):
        rows += _strategy(strategy, width)
    rows += _issues(known.validations.get((k, "before")), width)
    assessed = k if k in known.assessments or chosen else k - 1
    if assessment := known.assessments.get(assessed):
        rows += [[]] if rows else []
        # Beside a measurement, an estimate would be a second figure for the same thing.
        rows += _assessment(assessment, width, estimated=state.run.source == "estimate")
        rows += _second_opinion(known.refined.get(assessed), width)
        rows += _verdict(known.judged, assessed, width)
        rows += _issues(known.validations.get((assessed, "after")), width)
    return rows or [[("no assessment in this iteration", "dim")]]


def _empty_text(state: RunState) -> str:
    started = state.run.started
    if tool := state.foreign.tool:
        return f"not recorded by {tool} for this iteration"
    off = started is not None and started.config.get("intelligence.enabled") is False
    return "off: intelligence.enabled is false" if off else "no assessment yet"


def model_help(state: RunState) -> Line:
    """Draw the cost of help from models so far; empty if no model was asked."""
    known = state.intelligence
    if known.asked is not None:
        return [(f"asking a model: {in_words(known.asked.purpose)}", "accent")]
    if not known.help_calls:
        return []
    cost = "" if known.help_cost_usd is None else f", {money(known.help_cost_usd, exact=True)}"
    failed = f", {known.help_failed} unanswered" if known.help_failed else ""
    asked = count(known.help_calls, "question")
    return [(f"model help: {asked}{failed}, {duration(known.help_seconds)}{cost}", "dim")]


def _foreign(state: RunState, iteration: int, width: int) -> list[Line]:
    """Draw the statements of the recording tool's layers about an iteration."""
    rows: list[Line] = []
    for said in state.foreign.verdicts.get(iteration, []):
        if not rows:
            rows.append([(f"iteration {iteration}, as recorded by {said.tool}", "strong")])
        words = said.act if said.layer == "oversight" else in_words(said.act)
        head = " ".join(part for part in (said.layer, words) if part)
        mark, style = level_mark(SEVERITIES[said.level])
        rows += _item(f"{mark} ", style, f"{head}: {flat(said.text)}", width)
    return rows


def _place(iteration: int) -> str:
    return f"iteration {iteration}" if iteration else "the start"


def _strategy(strategy: ev.StrategyPlanned, width: int) -> list[Line]:
    persists = strategy.approach == "persist"
    style = "accent strong" if persists else "warn strong"
    focus = "" if strategy.focus == "continue" else f", {in_words(strategy.focus)}"
    since = f" since iteration {strategy.since}" if 0 < strategy.since < strategy.iteration else ""
    rows: list[Line] = [
        [
            (f"{_place(strategy.iteration)}: ", "dim"),
            (f"{APPROACHES[strategy.approach]}{focus}", style),
            (since, "dim"),
        ],
        *_texts(strategy.reasoning, width),
    ]
    for number, priority in enumerate(strategy.priorities, 1):
        rows += _item(f"{number} ", "accent", priority, width)
    return rows


def _assessment(made: ev.AssessmentMade, width: int, *, estimated: bool) -> list[Line]:
    head = f"{_place(made.iteration)}:" if made.iteration else "before iteration 1:"
    guess = f" · about {made.progress:.0f} % by activity" if estimated else ""
    rows: list[Line] = [
        [(head, "strong"), (f" {made.phase}{guess}", "dim")],
        *_texts(made.summary, width),
    ]
    for done in made.accomplishments:
        guess = f" ({GUESSED})" if done.source == "text" else ""
        rows += _item(f"{GOOD.glyph} ", "good", f"{flat(done.text)}{guess}", width)
    for blocker in made.blockers:
        source = {"report": "reported by the agent", "text": GUESSED}.get(
            blocker.source, "measured"
        )
        still_open = ", still open" if blocker.standing else ""
        words = f"blocker: {flat(blocker.text)} ({source}{still_open})"
        rows += _item(f"{WARNING.glyph} ", "warn", words, width)
    for label, words in (("last", made.last_action), ("next", made.next_step)):
        if words:
            rows += _item(f"{label} ", "dim", words, width)
    rows += _listed("open", made.pending, width)
    rows += _listed("learned", made.learnings, width)
    if made.missing:
        rows += _item("unknown ", "dim", ", ".join(made.missing), width)
    return rows


def _second_opinion(refined: ev.AssessmentRefined | None, width: int) -> list[Line]:
    if refined is None:
        return []
    guess = f"  {refined.estimate}" if refined.estimate else ""
    rows: list[Line] = [[("a model's second opinion", "strong"), (guess, "dim")]]
    rows += _texts(refined.summary, width)
    if refined.approach:
        rows += _item("next ", "dim", refined.approach, width)
    return [*rows, *_listed("learned", refined.learnings, width)]


def _verdict(judged: ev.CriterionJudged | None, iteration: int, width: int) -> list[Line]:
    """Draw a model's judgement of the criterion after this iteration."""
    if judged is None or judged.iteration != iteration:
        return []
    mark, style, met = (GOOD, "good", "met") if judged.met else (WARNING, "warn", "not met")
    words = f"a model judges the criterion {met}: {flat(judged.reason)}"
    return _item(f"{mark.glyph} ", style, words, width)


def _issues(found: ev.ValidationDone | None, width: int) -> list[Line]:
    rows: list[Line] = []
    for issue in found.issues if found is not None else ():
        mark, style = level_mark(SEVERITIES[issue.label])
        words = flat(issue.text) if issue.is_note else f"{issue.severity}: {flat(issue.text)}"
        rows += _item(f"{mark} ", style, words, width)
    return rows


def _texts(text: str, width: int) -> list[Line]:
    return [[(piece, "text")] for piece in wrap(text, width, ROWS)]


def _listed(label: str, items: Iterable[str], width: int) -> list[Line]:
    rows: list[Line] = []
    for item in items:
        rows += _item(f"{label} ", "dim", item, width)
    return rows


def _item(mark: str, style: str, text: str, width: int) -> list[Line]:
    """Draw a statement after its mark, indenting further rows."""
    indent = len(mark)
    pieces = wrap(flat(text), max(1, width - indent), ROWS)
    first: Line = [(mark, style), (pieces[0], "text")]
    return [first, *([(" " * indent, ""), (piece, "text")] for piece in pieces[1:])]
