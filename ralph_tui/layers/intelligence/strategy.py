"""Choose how the next iteration works: keep the approach, change it, or ask the user.

The first matching row decides. Foreign text about blockers, tests and next steps appears only in
`priorities`; the reasoning is in ralph-tui's own words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ralph_tui.events.control import AlarmName
from ralph_tui.events.intelligence import Approach, BlockerSource, Focus
from ralph_tui.layers.control.alarms import Alarm
from ralph_tui.layers.control.evaluation import Evaluation
from ralph_tui.layers.control.history import History, above
from ralph_tui.layers.control.law import Budget, Patience
from ralph_tui.text.format import count, percent, plain_points

PRIORITIES: Final = 3
IDLE: Final = 2
"""Iterations without anything new after which a repeated antipattern changes the approach."""
TESTS: Final = 2
"""Number of failing tests listed before the plan's next item and the agent's next step."""
NEAR: Final = 80.0
"""Points of completion above which the focus is on finishing the work."""


@dataclass(frozen=True)
class Grounds:
    """Facts and claims behind a strategy besides the measurements; none of them is trusted."""

    broken: str = ""
    """When the build broke, and its first error; empty if it is not broken."""
    silent: str = ""
    """Why nothing was measured after the last iteration; empty if something was."""
    standing: tuple[tuple[BlockerSource, str], ...] = ()
    """Blockers named in two consecutive reports or shown by evidence."""
    said: tuple[str, ...] = ()
    """Blockers that are not in `standing`."""
    failing: tuple[str, ...] = ()
    """Names of failing tests."""
    item: str = ""
    """The plan's next item."""
    next_step: str = ""
    """The agent's own next step."""
    proven: str = ""
    """A strategy that worked in earlier runs on this kind of task."""
    avoid: str = ""
    """An antipattern from earlier runs that the last iterations repeated."""


@dataclass(frozen=True)
class Strategy:
    """The strategy of an iteration, with the fields of ``StrategyPlanned``."""

    approach: Approach = "persist"
    focus: Focus = "continue"
    reasoning: str = ""
    priorities: tuple[str, ...] = ()
    confidence: float = 0.5
    since: int = 1
    """The iteration in which this approach began."""
    learned: frozenset[str] = frozenset()
    """Priorities based on earlier runs' learnings; valid only while the prompt contains those."""

    def without(self, gone: frozenset[str]) -> "Strategy":
        """Return the strategy without these priorities."""
        return replace(self, priorities=tuple(one for one in self.priorities if one not in gone))


@dataclass(frozen=True)
class Course:
    """The state of the planner between measurements."""

    strategy: Strategy = Strategy()
    """For the next iteration."""
    asked: bool = False
    """True if the user has already been consulted on the current pivot."""
    reading: int = 0
    """The last iteration measured when the strategy was planned."""


def plan(
    before: Course,
    history: History,
    evaluation: Evaluation | None,
    budget: Budget,
    patience: Patience,
    grounds: Grounds,
    *,
    may_ask: bool,
    escalate_at: int,
) -> Course:
    """Plan the strategy for the iteration after the latest measurement.

    `evaluation` is that of this measurement, None for the baseline. `may_ask`: the overseer lets
    the strategy ask. `escalate_at`: minimum iterations that a pivot gets before the user is asked;
    only a standing blocker leads to that.
    """
    row = _with_warning(_first_row(history, evaluation, grounds), grounds)
    was = before.strategy
    pivots = row.approach == "pivot"
    since = was.since if pivots is (was.approach != "persist") else history.iteration + 1
    asked = before.asked and pivots
    strategy = Strategy(
        row.approach,
        row.focus,
        row.reasoning,
        _priorities(row, grounds),
        row.confidence,
        since,
        frozenset(filter(None, (grounds.proven, grounds.avoid))),
    )
    lasted = min(history.iteration - since + 1, history.since_new)
    due = pivots and not asked and lasted >= max(escalate_at, 2 * patience.short)
    if due and may_ask and grounds.standing:
        asked = asks = history.iteration < budget.max_iterations and not history.complete
        if asks:
            tried = f"{count(lasted, 'iteration')} of this approach brought nothing new."
            reasoning = f"{row.reasoning} {tried}"
            strategy = replace(strategy, approach="escalate", reasoning=reasoning)
    return Course(strategy, asked, history.iteration)


class _Row(NamedTuple):
    approach: Approach
    focus: Focus
    confidence: float
    reasoning: str


_BLOCKED: Final[dict[BlockerSource, str]] = {
    "report": "Two reports in a row name the same blocker: first find out which failing tests it "
    "really affects, and make the others pass.",
    "gate": "The completion command does not work: fix that first.",
    "tool": "The same tool keeps failing in the same way: do without it, or find out why.",
    "text": "The agent mentions the same blocker again: first find out what it really affects.",
}
_FOCUSES: Final[dict[AlarmName, tuple[Focus, float, str]]] = {
    "STUCK": (
        "reframe",
        0.85,
        "The current approach is not working: rethink the problem and try another way.",
    ),
    "OSCILLATING": (
        "stabilize",
        0.7,
        "Each change breaks what the previous one fixed: take small steps, and keep what works.",
    ),
    "REGRESSING": (
        "review",
        0.75,
        "Something that worked is broken: review or undo the last changes before you write "
        "anything new.",
    ),
}


_REPEATED: Final = (
    f"The last {IDLE} iterations brought nothing new and repeated what earlier runs have learned "
    "to avoid: try another way."
)
_WARNING: Final = "The last iterations did what earlier runs have learned to avoid."


def _with_warning(row: _Row, grounds: Grounds) -> _Row:
    """Name a repeated antipattern as another reason to change the approach."""
    if row.approach == "persist" or not grounds.avoid or row.reasoning == _REPEATED:
        return row
    return row._replace(reasoning=f"{row.reasoning} {_WARNING}")


def _first_row(history: History, evaluation: Evaluation | None, grounds: Grounds) -> _Row:
    progress = _progress(evaluation)
    if grounds.broken:
        reasoning = "The build is broken, so no test result counts: fix it first."
        return _Row("pivot" if progress else "persist", "review", 0.9, reasoning)
    if grounds.silent:
        reasoning = "Nothing could be measured after the last iteration: find out why first."
        return _Row("persist", "review", 0.9, reasoning)
    if grounds.standing:
        return _Row("pivot", "blocker_resolution", 0.9, _BLOCKED[grounds.standing[0][0]])
    if grounds.said and progress:
        needs = "first find out what it really affects."
        reasoning = f"{progress[0].work} A blocker was also reported: {needs}"
        return _Row("pivot", "blocker_resolution", 0.9, reasoning)
    for alarm in progress:
        focus, confidence, words = _FOCUSES[alarm.alarm]
        return _Row("pivot", focus, confidence, f"{alarm.work} {words}")
    if grounds.avoid and history.since_new >= IDLE:
        return _Row("pivot", "reframe", 0.7, _REPEATED)
    fell = 0.0 if history.excused or history.estimated else max(0.0, -history.change)
    lost = f"{plain_points(fell)} in the last iteration" if above(fell, 0) else ""
    if above(history.reading, NEAR):
        fallen = f", after a loss of {lost}: repair the damage, then" if lost else ":"
        reasoning = f"Completion is at {percent(history.reading)}{fallen} finish what is left."
        return _Row("persist", "finish", 0.9, reasoning)
    confidence = 0.5
    if evaluation is not None and evaluation.signal.trend == "improving":
        confidence = 0.8
    return _Row("persist", "continue", confidence, _continue_reason(lost, history, evaluation))


def _continue_reason(lost: str, history: History, evaluation: Evaluation | None) -> str:
    """Explain why the approach is kept; `lost` describes the loss of the last iteration."""
    if lost:
        return f"Completion fell by {lost}: repair the damage before you start anything new."
    improves = evaluation is not None and evaluation.signal.trend == "improving"
    if evaluation is None or not improves:
        if evaluation is not None and evaluation.signal.urgency in ("high", "critical"):
            return "Most of the work is still open: start with the step that gains the most."
        return "There is no reason to change the approach: continue."
    if not above(history.gained, 0):
        return "The trend is upward, but the last iteration gained nothing: take smaller steps."
    if not evaluation.signal.fits:
        return "Completion is rising, but too slowly: take the step that gains the most."
    return "Completion is rising: continue in the same way."


def _progress(evaluation: Evaluation | None) -> Sequence[Alarm]:
    """Return the conditions about progress, in the order of `_FOCUSES`."""
    found = {one.alarm: one for one in evaluation.conditions} if evaluation else {}
    return [found[name] for name in _FOCUSES if name in found]


def _priorities(row: _Row, grounds: Grounds) -> tuple[str, ...]:
    blockers = [text for _, text in grounds.standing] or list(grounds.said[:1])
    rest = [grounds.item]
    if row.approach == "persist":  # on a pivot, the agent's next step belongs to the old approach
        rest.append(grounds.next_step)
    learned = ["", ""] if row.approach == "persist" else [grounds.proven, grounds.avoid]
    found = [
        grounds.broken or grounds.silent,
        *learned,
        *blockers,
        *grounds.failing[:TESTS],
        *rest,
        *grounds.failing[TESTS:],
    ]
    return tuple(dict.fromkeys(text for text in found if text.strip()))[:PRIORITIES]
