"""Extract learnings from a run: from the agent's reports, and from the whole run at its end.

===========  =========================================  ==========================
strategy     completed at 90 points or more: the work   confidence .6
             of the iterations that gained most
antipattern  not completed: an issue in at least two    confidence .7
             iterations, and what went better
estimate     completed: iterations and minutes          runs / (runs + 2)
reported     a convention or strategy, by its words     confidence .6
opinion      the same, from a model's second opinion    confidence .6
===========  =========================================  ==========================

An interrupted run yields no learnings of its own yet, because it may continue.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ralph_tui.events import AgentReported, AssessmentRefined
from ralph_tui.events.intelligence import Focus
from ralph_tui.events.memory import Learning, LearningType
from ralph_tui.events.oversight import Subject
from ralph_tui.events.run import Outcome
from ralph_tui.layers.memory.content import (
    Content,
    antipattern,
    convention,
    estimate,
    gist,
    learning_id,
    sample_confidence,
    strategy,
    text_of,
)
from ralph_tui.layers.memory.issues import Issue, recurring_issues, without_details
from ralph_tui.layers.memory.similarity import words
from ralph_tui.layers.memory.steps import Step, gains_of, steps_of
from ralph_tui.layers.memory.task_types import task_type as type_of
from ralph_tui.layers.oversight import propose
from ralph_tui.layers.sensor.tampering import deciding_files, named_files
from ralph_tui.state import IterationSpan, RunState
from ralph_tui.text.format import count, percent
from ralph_tui.text.sanitize import clip
from ralph_tui.text.terms import outcome_word
from ralph_tui.text.words import same_words

__all__ = ["learn_from_opinion", "learn_from_report", "learn_from_run", "learning_id", "lost_tests"]

AGENT: Final = "the agent's report"
MODEL: Final = "a model's second opinion"
REPORTED: Final = 0.6
WORKED: Final = 0.6
WENT_WRONG: Final = 0.7
SUCCESS: Final = 90.0
"""Minimum completion, in points, for a completed run to yield a strategy."""
LONGEST: Final = 400
"""Maximum length of an agent's statement, in characters."""
GAINS: Final = 2
"""Maximum number of iterations whose work an approach describes."""
BLOCKERS: Final = 3
"""Maximum number of blockers in a strategy."""
ISSUES: Final = 2
"""Maximum number of antipatterns from one run."""

SPECIFIC: Final = 6
"""Minimum number of meaningful words in a summary."""
_PLACE: Final = re.compile(
    r"""`[^`\s][^`]*` | \b\w+\(\) | \b[\w-]+(?:[/.]\w+)+\b | \b\w*[a-z]_\w+\b | \b[a-z]+[A-Z]\w*
    | \b(?:pytest|ruff|mypy|npm|cargo|make|git|docker|grep|sed|jest|tox|gradle|go\ test)\b
    """,
    re.VERBOSE,
)
"""Matches a file, a test, a tool or a command."""
_COMMON: Final = """
a an the this that it its is are was were be and or of to in on at by for as with so then i we all
now done complete completed finished pass passes passed passing work works working everything
tests test fixed successfully
"""
_PLAIN: Final = frozenset(_COMMON.split())
_CONVENTION: Final = frozenset({"always", "never", "must", "convention", "conventions"})
_HERE: Final = "in this project"
_NOTHING: Final = frozenset({"", "none", "n/a", "na", "nothing", "nothing new", "no", "-"})
_REDIRECTS: Final[dict[Subject, str]] = {
    "stuck": "rethink the problem and make the smallest failing thing work first",
    "oscillating": "take small steps and keep each one that works",
    "regressing": "review the last changes and restore what worked first",
    "objective_deviation": "reread the objective word by word",
}
"""Summaries of the proposed instructions; instructions that the user edited are quoted."""
_PIVOTS: Final[dict[Focus, str]] = {
    "blocker_resolution": "remove the blocker first",
    "reframe": _REDIRECTS["stuck"],
    "stabilize": _REDIRECTS["oscillating"],
    "review": _REDIRECTS["regressing"],
}
"""Summaries of strategies that changed the approach, by their focus."""


def learn_from_report(report: AgentReported, task_type: str) -> list[Learning]:
    """Return the learnings in an agent's report, each once."""
    return _learn_from_texts(report.learnings, task_type, "")


def learn_from_opinion(opinion: AssessmentRefined, task_type: str) -> list[Learning]:
    """Return the learnings in a model's second opinion, each once, with the model as source."""
    return _learn_from_texts(opinion.learnings, task_type, MODEL)


def _learn_from_texts(texts: Sequence[str], task_type: str, source: str) -> list[Learning]:
    found: dict[str, Learning] = {}
    for reported in texts:
        text = clip(" ".join(reported.split()), LONGEST)
        if is_empty(text):
            continue
        learning = (
            _learning("convention", task_type, convention(text, source or AGENT), REPORTED)
            if _is_convention(text)
            else _learning("strategy", task_type, _strategy_of(text, source), REPORTED)
        )
        found.setdefault(learning.learning_id, learning)
    return list(found.values())


def _strategy_of(text: str, source: str) -> Content:
    return {**strategy(text), **({"source": source} if source else {})}


def is_empty(text: str) -> bool:
    """True if a reported learning has no content, such as "none" or "n/a"."""
    return same_words(text) in _NOTHING


def learn_from_run(state: RunState, outcome: Outcome) -> list[Learning]:
    """Return the learnings from the whole run when it ends with `outcome`."""
    started, steps = state.run.started, steps_of(state)
    if started is None or outcome == "interrupted":
        return []
    kind = type_of(started.objective)
    if outcome != "completed":
        issues = recurring_issues(state.timeline.spans)[:ISSUES]
        return [_antipattern(issue, state, steps, outcome, kind) for issue in issues]
    found = []
    if (
        (state.run.completion or 0.0) >= SUCCESS
        and not _is_tampered(state)
        and (approach := _approach(state, steps))
    ):
        tools = next((s.span.tools for s in gains_of(steps)[:GAINS] if s.span.tools), [])
        blockers, resolution = _overcome(state.timeline.spans)
        content = strategy(
            approach, tools, blockers=blockers, resolution=resolution, iterations=len(steps)
        )
        found.append(_learning("strategy", kind, content, WORKED))
    if steps:
        minutes = state.run.worked_s(state.at) / 60
        content = estimate(len(steps), minutes, 1)
        found.append(_learning("estimate", kind, content, sample_confidence(1)))
    return found


def lost_tests(state: RunState) -> bool:
    """True if fewer tests were counted than before, even if the user accepted that."""
    gates = [span.gate for span in state.timeline.spans if span.gate is not None]
    totals = [gate.total for gate in gates if not (gate.broken or gate.timed_out)]
    counted = [total for total in totals if total is not None]
    return any(now < before for before, now in pairwise(counted))


def _is_tampered(state: RunState) -> bool:
    """True if tests went missing or the files that measure the work changed."""
    command = state.run.started.command if state.run.started else ""
    files = [span.files.changes for span in state.timeline.spans if span.number and span.files]
    changed = dict.fromkeys(change.path for changes in files for change in changes)
    config, _, named = deciding_files(changed, named_files(command or ""))
    return bool(config or named) or lost_tests(state)


def _learning(type_: LearningType, kind: str, content: Content, confidence: float) -> Learning:
    return Learning(
        learning_id=learning_id(type_, kind, gist(type_, content)),
        type=type_,
        task_type=kind,
        text=text_of(type_, content),
        content=content,
        confidence=confidence,
        standing="staged",
    )


def _is_convention(text: str) -> bool:
    return bool(words(text) & _CONVENTION) or _HERE in same_words(text)


def _approach(state: RunState, steps: Sequence[Step]) -> str:
    """Describe the work of the iterations that gained most, in chronological order."""
    best = sorted(gains_of(steps)[:GAINS], key=lambda step: step.span.number)
    summaries = [_agent_summary(step.span) for step in best]
    summaries = [
        text for i, text in enumerate(summaries) if names_place(text) and text not in summaries[:i]
    ]
    redirects = list(dict.fromkeys(_requested(state, step.span.number) for step in best))
    asked = [text for text in redirects if text]
    return " ".join(
        [*(f"Asked to {text}." for text in asked), *(_sentence(text) for text in summaries)]
    )


def _overcome(spans: Sequence[IterationSpan]) -> tuple[list[str], str]:
    """Return the blockers that the agent stopped reporting, and its summary of that iteration."""
    reported = [span for span in spans if span.reports]
    last = {
        clip(without_details(text), LONGEST): place
        for place, span in enumerate(reported)
        for report in span.reports
        for text in report.blockers
        if text.strip()
    }
    gone = {text: place for text, place in last.items() if place + 1 < len(reported)}
    if not gone:
        return [], ""
    newest = max(gone.values())
    return list(gone)[:BLOCKERS], _agent_summary(reported[newest + 1])


def names_place(text: str) -> bool:
    """True if a summary says what was done and where, not just the outcome."""
    return _PLACE.search(text) is not None and len(words(text) - _PLAIN) >= SPECIFIC


def _agent_summary(span: IterationSpan) -> str:
    """Return the agent's summary from the last session that has one."""
    said = (" ".join(report.summary.split()) for report in reversed(span.reports))
    return clip(next((text for text in said if text), ""), LONGEST)


def _requested(state: RunState, iteration: int) -> str:
    """Return the change that a REDIRECT, or else the strategy, asked for."""
    if redirect := _redirect(state, iteration):
        return redirect
    strategy = state.intelligence.strategies.get(iteration)
    if strategy is None or strategy.approach == "persist":
        return ""
    return _PIVOTS.get(strategy.focus, "")


def _redirect(state: RunState, iteration: int) -> str:
    """Return the change that the REDIRECT in effect asked for; empty if there is none."""
    ends = [check.iteration for check in state.oversight.checks if check.ended is not None]
    for made in reversed(state.oversight.interventions):
        if made.level != "REDIRECT" or made.iteration >= iteration:
            continue
        ended = any(made.iteration < end < iteration for end in ends)
        if ended or not made.instructions:
            return ""
        if made.instructions.endswith(propose(made.about)) and made.about in _REDIRECTS:
            return _REDIRECTS[made.about]
        return f"do this: {clip(' '.join(made.instructions.split()), LONGEST).rstrip('.')}"
    return ""


def _antipattern(
    issue: Issue, state: RunState, steps: Sequence[Step], outcome: Outcome, kind: str
) -> Learning:
    numbers = [k for k in issue.iterations if k]
    first = "at the start and " if len(numbers) < len(issue.iterations) else ""
    consequence = (
        f"It occurred {first}in {count(len(numbers), 'iteration')}, and the run ended at "
        f"{percent(state.run.completion or 0.0)}: {outcome_word(outcome)}."
    )
    after = [
        step
        for step in steps
        if step.span.number > issue.iterations[0] and step.span.number not in issue.iterations
    ]
    better = next((text for step in gains_of(after) if (text := _agent_summary(step.span))), "")
    text = clip(issue.text, LONGEST)
    content = antipattern(text, consequence, better, issue.iterations)
    return _learning("antipattern", kind, content, WENT_WRONG)


def _sentence(text: str) -> str:
    text = f"{text[:1].upper()}{text[1:]}"
    return text if text[-1:] in ".!?…" else f"{text}."
