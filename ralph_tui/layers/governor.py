"""Run control, strategy and oversight as one fold over measurements.

Live runs, resumed runs and the lab share this code. `take` is the fold itself. `read` evaluates a
`RunState` right after a measurement, so replaying a journal event by event repeats the run's
decisions.

If a layer fails under a guard, its fallback applies: default gains, unchanged alarms and approach,
or no finding. The failed layer's state stays as it was, and the next measurement starts from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ralph_tui.events import AgentReported, Event, ReadingTaken, RedirectDecided, SignalComputed
from ralph_tui.layers.control.evaluation import (
    AlarmUpdate,
    Evaluation,
    check_signal,
    compute,
    default_signal,
    evaluation_of,
    keep_alarms,
    watch,
)
from ralph_tui.layers.control.history import History, Sample
from ralph_tui.layers.control.law import Budget, Patience
from ralph_tui.layers.inputs import budget_of, evidence_of, grounds_of, sample_of
from ralph_tui.layers.intelligence.strategy import Course, Grounds, Strategy, plan
from ralph_tui.layers.oversight import Evidence, Finding, Oversight, OversightSettings, assess
from ralph_tui.layers.settings import ControlSettings, IntelligenceSettings
from ralph_tui.state import RunState
from ralph_tui.text.words import same_words

T = TypeVar("T")


class Attempt(Protocol):
    """A guard that runs one layer; `instead` describes the effect of the fallback."""

    def __call__(
        self, layer: str, decide: Callable[[], T], fallback: Callable[[], T], /, *, instead: str
    ) -> T:
        """Return the result of `decide`, or that of `fallback` if it fails."""


def unguarded(
    _layer: str, decide: Callable[[], T], _fallback: Callable[[], T], /, *, instead: str
) -> T:
    """Run `decide` without a fallback; its exceptions propagate."""
    return decide()


@dataclass(frozen=True)
class Evaluated:
    """Results of controller, planner and overseer for one measurement."""

    evaluation: Evaluation
    finding: Finding | None
    """None if the overseer is disabled or its rules failed."""
    course: Course
    """The strategy for the next iteration."""


class Governor:
    """The layers of one run, and their state between measurements."""

    def __init__(
        self,
        baseline: float = 0.0,
        control: ControlSettings | None = None,
        oversight: OversightSettings | None = None,
        intelligence: IntelligenceSettings | None = None,
        *,
        attempt: Attempt = unguarded,
    ) -> None:
        """Start at `baseline`, in points."""
        self.control = control or ControlSettings()
        self.oversight = oversight or OversightSettings()
        self.intelligence = intelligence or IntelligenceSettings()
        self._attempt = attempt
        self.history = History(baseline)
        self._pending: list[Sample] = []  # measurements not yet added to the history
        self.evaluation: Evaluation | None = None
        """For the latest measurement; None before the first."""
        self.course = Course()  # after the latest measurement
        self.memory = Oversight()
        self._known: set[str] = set()
        self.recalled: Evaluated | None = None
        """Results for the last measurement before the run was resumed; None if it never was."""

    def begin(self, baseline: float) -> None:
        """Set the measurement before iteration 1, in points."""
        self.history = History(baseline)

    def take(
        self,
        sample: Sample,
        budget: Budget,
        evidence: Evidence | None = None,
        *,
        issues: int = 0,
        grounds: Grounds | None = None,
    ) -> Evaluated:
        """Evaluate one measurement; `issues` counts new learnings and blockers."""
        return self._read(
            sample, budget, issues, lambda: grounds or Grounds(), lambda: evidence or Evidence()
        )

    def _read(
        self,
        sample: Sample,
        budget: Budget,
        issues: int,
        grounds: Callable[[], Grounds],
        evidence: Callable[[], Evidence],
    ) -> Evaluated:
        """Run each layer separately, so that one failing layer does not affect the others."""
        attempt, before = self._attempt, self.evaluation
        last = before.signal if before else None
        self._pending.append(sample)
        watched = attempt(
            "control",
            lambda: self._watch(budget),
            lambda: keep_alarms(before),
            instead="the alarms stay as they are",
        )
        signal = attempt(
            "control",
            lambda: check_signal(self._compute(budget, watched, last, issues), sample),
            lambda: default_signal(sample, self.control, last, issues),
            instead="default gains apply to this measurement",
        )
        evaluation = self.evaluation = evaluation_of(signal, watched)
        if self.intelligence.enabled:
            self.course = attempt(
                "intelligence",
                lambda: self._planned(budget, grounds()),
                lambda: self.course,
                instead="the approach stays as it is",
            )
        finding = attempt(
            "oversight",
            lambda: self._judge(evaluation, budget, evidence()),
            lambda: None,
            instead="this measurement is not checked",
        )
        return Evaluated(evaluation, finding, self.course)

    def _watch(self, budget: Budget) -> AlarmUpdate:
        """Add all pending measurements or none; after a failure the next call retries them."""
        history = self.history.copy()
        for sample in self._pending:
            history.add(sample)
        if history.count != self.history.count + len(self._pending):
            raise LookupError("a measurement is missing")
        self.history, self._pending = history, []
        watched = watch(history, budget, self.control, self.evaluation)
        if not isinstance(watched, AlarmUpdate):
            raise TypeError(f"expected alarms, not a {type(watched).__name__}")
        return watched

    def _compute(
        self, budget: Budget, watched: AlarmUpdate, last: SignalComputed | None, issues: int
    ) -> SignalComputed:
        return compute(
            self._current,
            budget,
            self.control,
            watched,
            last,
            damped=self.memory.damps(self.history),
            issues=issues,
        )

    @property
    def _current(self) -> History:
        """The history including the latest measurement. Raises ``LookupError`` if it is missing."""
        if self._pending:
            raise LookupError("the latest measurement could not be added")
        return self.history

    def _planned(self, budget: Budget, grounds: Grounds) -> Course:
        patience = Patience.of(self.history, budget, self.control)
        course = plan(
            self.course,
            self._current,
            self.evaluation,
            budget,
            patience,
            grounds,
            may_ask=self.oversight.enabled
            and self.memory.lets_ask(self.history, self.evaluation, budget, patience),
            escalate_at=self.intelligence.escalate_at,
        )
        if not isinstance(course.strategy, Strategy):  # the course is kept
            raise TypeError(f"expected a strategy, not a {type(course.strategy).__name__}")
        return course

    def _judge(self, evaluation: Evaluation, budget: Budget, evidence: Evidence) -> Finding | None:
        if not self.oversight.enabled:
            return None
        planned = self.course.strategy
        asks = self.course.reading == self.history.iteration and planned.approach == "escalate"
        finding = assess(
            self.memory,
            self._current,
            evaluation,
            budget,
            self.control,
            evidence,
            strategy=planned.reasoning if asks else "",
            pause_on_critical=self.oversight.pause_on_critical,
            strict=self.intelligence.strict_validation,
        )
        if not finding.state.sound:  # the state is kept
            raise TypeError("the state of the oversight layer is invalid")
        self.memory = finding.state
        return finding if self.oversight.act else finding.as_warning()

    def answered(self, *, approved: bool) -> None:
        """Record the decision about the open episode's REDIRECT."""
        self.memory = self.memory.answered(approved=approved)

    @property
    def undecided(self) -> bool:
        """True if the open episode's REDIRECT has not been decided yet."""
        return self.memory.episode is not None and self.memory.episode.approved is None

    def recall(self, event: Event, state: RunState) -> Evaluated | None:
        """Process one journal event; `state` is the fold of the events before it.

        A measurement is evaluated at the same point as in the run: before ``signal_computed``.
        """
        evaluated = None
        if isinstance(event, SignalComputed) and state.gate.readings:
            evaluated = self.recalled = self.read(state)
        elif isinstance(event, ReadingTaken) and not event.iteration:
            self.begin(event.completion)
        elif isinstance(event, RedirectDecided) and self.undecided:
            self.answered(approved=event.approved)
        return evaluated

    def read(self, state: RunState) -> Evaluated:
        """Evaluate the latest measurement in `state`."""
        return self._read(
            sample_of(state.gate.readings[-1], state),
            budget_of(state),
            self._issues(state.agent.report),
            lambda: grounds_of(state),
            lambda: evidence_of(state),
        )

    def planned(self, state: RunState) -> Course:
        """Return the strategy before iteration 1, based on the baseline."""
        return self._planned(budget_of(state), grounds_of(state))

    def _issues(self, report: AgentReported | None) -> int:
        """Count the report's blockers and its learnings that are new in this run."""
        if report is None:
            return 0
        reported = {same_words(learning) for learning in report.learnings}
        new = reported - self._known
        self._known |= new
        return len(report.blockers) + len(new)
