"""How the help of models is worded, in the log and in the lines."""

from ralph_tui.events import AssessmentRefined, CriterionJudged, Event, ModelAnswered
from ralph_tui.events.intelligence import Purpose
from ralph_tui.state.fold import on
from ralph_tui.state.wording import Row, Wording
from ralph_tui.text.format import duration, money

PURPOSES: dict[Purpose, str] = {
    "prompt": "a prompt",
    "assessment": "a second opinion",
    "reflection": "a reflection",
    "handoff": "the words of a handoff",
    "judge": "a verdict",
}


def _answered(e: ModelAnswered) -> Row | None:
    if e.error:  # what was done instead has a row of its own
        return None
    cost = "" if e.cost_usd is None else f", {money(e.cost_usd, exact=True)}"
    by = f" by {e.model}" if e.model else ""
    return Row("log", "MODEL", f"{PURPOSES[e.purpose]}{by} in {duration(e.seconds)}{cost}")


def _judged(e: CriterionJudged) -> Row:
    verdict = "the criterion is met" if e.met else "the criterion is not met"
    text = f"{verdict}, says {e.model or 'a model'}: {e.reason}"
    return Row("good" if e.met else "warn", "JUDGE", text)


def _refined(e: AssessmentRefined) -> Row:
    parts = [e.approach and f"approach: {e.approach}", *(f"learned: {one}" for one in e.learnings)]
    return Row("log", "OPINION", e.summary, "\n".join(part for part in parts if part))


MODEL_ROWS: dict[type[Event], Wording] = dict(
    [
        on(ModelAnswered, _answered),
        on(CriterionJudged, _judged),
        on(AssessmentRefined, _refined),
    ]
)
"""Rows of the log that are lines, too."""
