"""Layers 1 and 4, and the strategy between them, as one fold over readings: the same for a live
run, a resumed one and the lab.

`take` is the fold itself. `read` looks at a `RunState` right after a reading was taken, and so does
the same to a run's journal, event by event, that it did to the run.

Where a layer fails its fallback is taken, if there is a guard: default gains, the alarms and the
approach as they were, no finding. No fold is left half-way: the next reading finds it as it was.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ralph_tui.events import AgentReported, Event, ReadingTaken, RedirectDecided, SignalComputed
from ralph_tui.layers.control import (
    Budget,
    ControlSettings,
    Evaluation,
    History,
    Patience,
    Sample,
    Watched,
    compute,
    default_signal,
    evaluation_of,
    sound_signal,
    unwatched,
    watch,
)
from ralph_tui.layers.inputs import budget_of, evidence_of, grounds_of, sample_of
from ralph_tui.layers.intelligence.strategy import Course, Grounds, Strategy, plan
from ralph_tui.layers.oversight import Evidence, Finding, Oversight, OversightSettings, assess
from ralph_tui.state import RunState
from ralph_tui.text.words import same_words

T = TypeVar("T")


class Attempt(Protocol):
    """Takes a fallback where a layer fails; `instead` says in words what that means."""

    def __call__(
        self, layer: str, decide: Callable[[], T], fallback: Callable[[], T], /, *, instead: str
    ) -> T:
        """What `decide` gives, or `fallback`."""


def unguarded(
    _layer: str, decide: Callable[[], T], _fallback: Callable[[], T], /, *, instead: str
) -> T:
    """A layer that fails raises."""
    return decide()


@dataclass(frozen=True)
class Evaluated:
    """What controller, planner and overseer make of one reading."""

    evaluation: Evaluation
    finding: Finding | None
    """None with the overseer switched off, and where its rules failed."""
    course: Course
    """The strategy of the next iteration."""


class Governor:
    """Remembers what the layers need of the past."""

    def __init__(
        self,
        baseline: float = 0.0,
        control: ControlSettings | None = None,
        oversight: OversightSettings | None = None,
        *,
        plans: bool = True,
        attempt: Attempt = unguarded,
    ) -> None:
        """`baseline` in points; `plans`: whether strategies are planned."""
        self.control = control or ControlSettings()
        self.oversight = oversight or OversightSettings()
        self.plans = plans
        self._attempt = attempt
        self.history = History(baseline)
        self._untaken: list[Sample] = []  # readings that could not be taken in yet
        self.evaluation: Evaluation | None = None
        """Of the latest reading; None before the first."""
        self.course = Course()  # after the latest reading
        self.memory = Oversight()
        self._learned: set[str] = set()
        self.recalled: Evaluated | None = None
        """What was made of the latest reading of the past; None when the run was not resumed."""

    def begin(self, baseline: float) -> None:
        """The reading before iteration 1, points."""
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
        """Take in one reading; `issues`: new learnings and blockers."""
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
        """Each layer for itself: one that fails costs no other its advice."""
        attempt, before = self._attempt, self.evaluation
        last = before.signal if before else None
        self._untaken.append(sample)
        watched = attempt(
            "control",
            lambda: self._watch(budget),
            lambda: unwatched(before),
            instead="the alarms stay as they are",
        )
        signal = attempt(
            "control",
            lambda: sound_signal(self._compute(budget, watched, last, issues), sample),
            lambda: default_signal(sample, self.control, last, issues),
            instead="default gains answer this reading",
        )
        evaluation = self.evaluation = evaluation_of(signal, watched)
        if self.plans:
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
            instead="nobody watches over this reading",
        )
        return Evaluated(evaluation, finding, self.course)

    def _watch(self, budget: Budget) -> Watched:
        """A reading is taken in whole, or not at all and with the next one."""
        history = self.history.copy()
        for sample in self._untaken:
            history.add(sample)
        if history.count != self.history.count + len(self._untaken):
            raise LookupError("a reading is missing")
        self.history, self._untaken = history, []
        watched = watch(history, budget, self.control, self.evaluation)
        if not isinstance(watched, Watched):
            raise TypeError(f"alarms are no {type(watched).__name__}")
        return watched

    def _compute(
        self, budget: Budget, watched: Watched, last: SignalComputed | None, issues: int
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
        """With the latest reading."""
        if self._untaken:
            raise LookupError("the latest reading could not be taken in")
        return self.history

    def _planned(self, budget: Budget, grounds: Grounds) -> Course:
        course = plan(
            self.course,
            self._current,
            self.evaluation,
            budget,
            Patience.of(self.history, budget, self.control),
            grounds,
            may_ask=self.oversight.enabled and self.memory.episode is None,
        )
        if not isinstance(course.strategy, Strategy):  # it is remembered
            raise TypeError(f"a strategy is no {type(course.strategy).__name__}")
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
        )
        if not finding.state.sound:  # it is remembered
            raise TypeError("what oversight remembers is not sound")
        self.memory = finding.state
        return finding

    def answered(self, *, approved: bool) -> None:
        """The REDIRECT of the open episode was decided."""
        self.memory = self.memory.answered(approved=approved)

    @property
    def undecided(self) -> bool:
        """Whether an episode is open whose REDIRECT is not answered yet."""
        return self.memory.episode is not None and self.memory.episode.approved is None

    def recall(self, event: Event, state: RunState) -> Evaluated | None:
        """Take up one event of a journal; `state` is the fold of those before it.

        A reading is evaluated where the run did it: before ``signal_computed``.
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
        """Take in the reading that `state` was brought up to last."""
        return self._read(
            sample_of(state.gate.readings[-1], state),
            budget_of(state),
            self._issues(state.agent.report),
            lambda: grounds_of(state),
            lambda: evidence_of(state),
        )

    def planned(self, state: RunState) -> Course:
        """The strategy by the baseline, before iteration 1."""
        return self._planned(budget_of(state), grounds_of(state))

    def _issues(self, report: AgentReported | None) -> int:
        """Blockers, and learnings that were not said before in this run."""
        if report is None:
            return 0
        said = {same_words(learning) for learning in report.learnings}
        new = said - self._learned
        self._learned |= new
        return len(report.blockers) + len(new)
