"""Steps 2, 15 and 16, the attempt's plan and its reflections: learning from runs.

Decisions are recorded before the knowledge files are updated. Those updates are idempotent, so a
resumed run adds only what is missing from its journal. If the files cannot be used, the log reports
it and the run continues without them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ralph_tui import events as ev
from ralph_tui.base.errors import RalphError
from ralph_tui.events.memory import Learning, Retrieved
from ralph_tui.events.run import Outcome
from ralph_tui.layers.inputs import budget_of
from ralph_tui.layers.intelligence.answers import ReflectionAnswer
from ralph_tui.layers.intelligence.questions import reflection_question
from ralph_tui.layers.memory.extraction import (
    learn_from_opinion,
    learn_from_report,
    learn_from_run,
    lost_tests,
)
from ralph_tui.layers.memory.feedback import counts, success
from ralph_tui.layers.memory.planning import plan
from ralph_tui.layers.memory.reflection import reflect
from ralph_tui.layers.memory.retrieval import Candidate, retrieve
from ralph_tui.layers.memory.similarity import is_same_text
from ralph_tui.layers.memory.steps import steps_of
from ralph_tui.layers.memory.task_types import task_type
from ralph_tui.layers.sensor.passing import needs_promise
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step, guards
from ralph_tui.loop.steps.model_help import ModelHelp
from ralph_tui.loop.waiting.ends import Late
from ralph_tui.loop.waiting.scheduler import JOB_S
from ralph_tui.ports.host import Job
from ralph_tui.ports.knowledge import Credit

T = TypeVar("T")
WITHOUT = "the run continues without it"
"""The consequence of a failure in the memory layer."""


class MemoryLayer(Step):
    """Looks up lessons from earlier runs, and stores new ones."""

    def __init__(self, run: Run, models: ModelHelp) -> None:
        super().__init__(run)
        self._models = models
        self._knowledge = run.ports.knowledge
        self._past = run.ports.past
        self._settings = run.settings.memory
        self._enabled = self._settings.enabled
        self._objective = run.start.objective
        self._task_type = task_type(self._objective)
        self._hanging: Job | None = None
        """A job that took too long; until it ends, the memory layer starts no other job."""
        self._warned: set[str] = set()
        """Log messages already reported."""

    @guards("memory", instead=WITHOUT)
    def plan(self) -> None:
        """Plan this attempt from the results of earlier ones, before iteration 1."""
        if not self._enabled or self._state.memory.plan is not None:
            return
        reflections = self._list("reflections", self._past.reflections)
        needed = self._list("earlier attempts", self._past.iterations)
        related = self._list("related tasks", self._past.related)
        candidates = self._candidates()
        learnings = [one.learning for one in candidates]
        until = _end_of(self._run)
        start = self._state.gate.last
        fields = (until, self._task_type, reflections, learnings, related, needed, start)
        self.record(*self._decide(lambda: [_check_type(ev.PlanMade, plan(*fields))]))

    @guards("memory", instead=WITHOUT)
    def read_windows(self) -> None:
        """Learn from earlier runs how much of a window plan items take, before iteration 1."""
        found = self._job("earlier windows", self._past.windows, ev.EarlierWindowsRead(runs=0))
        if _check_type(ev.EarlierWindowsRead, found).runs:
            self.record(found)

    @guards("memory", instead=WITHOUT)
    def retrieve(self, k: int) -> None:
        """Find learnings for this iteration (step 2); record them if any are or were found."""
        found: list[Retrieved] = []
        if self._enabled:
            candidates, again = (self._candidates()), self._state.memory.again
            kind, rules = self._task_type, self._settings
            found = self._decide(
                lambda: _retrieved(k, kind, retrieve(candidates, kind, again, rules)).learnings
            )
        # There is no wait between this and the prompt, so the prompt contains these learnings.
        if found or self._state.memory.current:
            self.record(_retrieved(k, self._task_type, found))

    @guards("memory", instead=WITHOUT)
    def extract(self, k: int) -> None:
        """Credit the learnings in the prompt and stage the agent's new ones (step 15)."""
        if not self._enabled:
            return
        self._credit(k)
        report = self._state.agent.report
        if report is not None and report.iteration == k:
            self._stage(k, lambda: self._new(k, learn_from_report(report, self._task_type)))
        opinion = self._state.intelligence.refined.get(k - 1)  # asked for before this session
        if opinion is not None:
            self._stage(k, lambda: self._new(k - 1, learn_from_opinion(opinion, self._task_type)))

    @guards("memory", instead=WITHOUT)
    def promote(self, k: int) -> None:
        """Promote learnings that two runs reported or one run used successfully (step 16)."""
        if not self._enabled:
            return
        promotions = self._list("promotion", self._knowledge.promote)
        for made in promotions:
            if made.staged_id not in self._state.memory.promoted:
                self.record(
                    ev.LearningPromoted(
                        iteration=k,
                        staged_id=made.staged_id,
                        learning=made.learning,
                        merged=made.merged,
                        because=made.because,
                    )
                )

    @guards("memory", instead=WITHOUT)
    def index(self) -> None:
        """Add new records to the search index (step 17)."""
        notices = self._list("search index", self._past.index)
        for text in notices:
            self._notice_once(text)

    @guards("memory", instead=WITHOUT)
    def conclude(self, outcome: Outcome) -> None:
        """Stage learnings and record reflections on the run as a whole, at its end."""
        k = self._state.run.iteration
        wait = self._state.needs.wait
        full = wait is not None and wait.cause == "disk_full"
        if not self._enabled or not k or full:  # the last events need the remaining room
            return
        readings = self._state.gate.readings
        if readings and readings[-1].iteration == k:
            self.extract(k)
        self._stage(k, lambda: self._without_sent(learn_from_run(self._state, outcome)))
        self.promote(k)
        looked_up = {name for name, one in self._state.memory.seen.items() if one.at}
        self._job("rests", lambda: self._knowledge.rest(looked_up), None)
        reflections = self._decide(
            lambda: [
                _check_type(ev.ReflectionWritten, one)
                for one in reflect(self._state, outcome, self._settings.reflect_on)
            ]
        )
        for reflection in reflections:
            if not self._state.memory.has_reflection(reflection):
                self.record(self._reword(reflection, outcome))

    def _reword(self, reflection: ev.ReflectionWritten, outcome: Outcome) -> ev.ReflectionWritten:
        """Let a model, if enabled, reword a reflection, except the one on how the work went."""
        asks = outcome in ("completed", "limit_reached") and reflection.reflection_type == (
            "success-pattern" if outcome == "completed" else "process-improvement"
        )
        if not asks or not self._models.is_enabled("reflection"):
            return reflection
        known = self._state.intelligence.assessments
        iterations = [
            f"iteration {step.span.number}, {step.points:+.1f} points: "
            f"{known[step.span.number].summary if step.span.number in known else 'not assessed'}"
            for step in steps_of(self._state)
        ]
        answer = self._models.ask(
            "reflection",
            self._state.run.iteration,
            lambda: reflection_question(self._objective, reflection, iterations),
            ReflectionAnswer,
        )
        if answer is None:
            return reflection
        words = answer.model_dump()
        return reflection.model_copy(update=words | {"model": self._models.model("reflection")})

    def _credit(self, k: int) -> None:
        history, budget = self._run.layers.governor.history, budget_of(self._state)
        helped = self.guarded(
            "memory", lambda: success(history, budget, k), lambda: None, instead=WITHOUT
        )
        carried = self._state.memory.carried(k)
        alarms = self._state.control.alarms.values()
        if helped is not None:
            for one in carried:
                if k not in one.credits and counts(one, alarms, success=helped):
                    self.record(
                        ev.LearningCredited(
                            iteration=k,
                            learning_id=one.learning.learning_id,
                            success=helped,
                            points=history.change,
                        )
                    )
        given = [
            Credit(one.learning.learning_id, k, one.credits[k].success)
            for one in carried
            if k in one.credits
        ]
        if given:
            self._job("credits", lambda: self._knowledge.credit(given), None)

    def _new(self, k: int, learnings: list[Learning]) -> list[Learning]:
        """Return the learnings that were not in the agent's prompt: an echo confirms nothing.

        If the agent lost tests, its strategies are dropped.
        """
        shown = [one.sent[k] for one in self._state.memory.carried(k)]
        lost = lost_tests(self._state)
        return [
            one
            for one in learnings
            if not _is_listed(one, shown) and not (lost and one.type == "strategy")
        ]

    def _without_sent(self, learnings: list[Learning]) -> list[Learning]:
        """Drop strategies that were in a prompt of this run: they get credit instead."""
        seen = self._state.memory.seen.values()
        shown = {text for one in seen for text in one.sent.values()}
        return [one for one in learnings if one.type != "strategy" or not _is_listed(one, shown)]

    def _stage(self, k: int, extract: Callable[[], list[Learning]]) -> None:
        learnings = self._decide(extract)
        for learning in learnings:
            if learning.learning_id not in self._state.memory.staged:
                self.record(ev.LearningStaged(iteration=k, learning=learning))
        if learnings:
            self._job("staging", lambda: self._knowledge.stage(learnings), None)

    def _candidates(self) -> Sequence[Candidate]:
        knowledge = self._knowledge
        return self._list(
            "knowledge", lambda: knowledge.candidates(self._objective, self._task_type)
        )

    def _decide(self, decide: Callable[[], list[T]]) -> list[T]:
        """Return the result of a rule; an empty list if it fails."""
        nothing: list[T] = []
        return self.guarded("memory", decide, lambda: nothing, instead=WITHOUT)

    def _list(self, name: str, work: Callable[[], Sequence[T]]) -> Sequence[T]:
        nothing: Sequence[T] = ()
        return self._job(name, work, nothing)

    def _job(self, name: str, work: Callable[[], T], otherwise: T) -> T:
        """Run `work` off the engine's thread; return `otherwise` if it fails."""
        scheduler = self._run.scheduler
        if self._hanging is not None and not self._hanging.done:
            return otherwise
        try:
            given = self.guarded(
                "memory",
                lambda: scheduler.run_job(name, work, JOB_S),
                lambda: otherwise,
                instead=WITHOUT,
            )
        except RalphError as error:
            given = otherwise
            self._hanging = error.job if isinstance(error, Late) else None
            self._notice_once(f"{error}; {WITHOUT}")
        for text in self._knowledge.take_notices():
            self._notice_once(text)
        return given

    def _notice_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self.record(ev.Noticed(level="warn", source="memory", text=text))


def _retrieved(k: int, task: str, learnings: Sequence[Retrieved]) -> ev.LearningsRetrieved:
    known = [_check_type(Retrieved, one) for one in learnings]
    return ev.LearningsRetrieved(iteration=k, task_type=task, learnings=known)


def _check_type(kind: type[T], given: T) -> T:
    """Return `given`; raise ``TypeError`` if a rule returned another type."""
    if not isinstance(given, kind):
        raise TypeError(f"expected a {kind.__name__}, not a {type(given).__name__}")
    return given


def _is_listed(learning: Learning, texts: Iterable[str]) -> bool:
    return any(is_same_text(learning.text, text) for text in texts)


def _end_of(run: Run) -> str:
    """Describe what ends the run."""
    goal = run.goal
    if goal.criterion:
        return "the criterion is met" + (" and the completion command passes" * bool(goal.command))
    by_promise = needs_promise(run.state)
    return (
        "the agent promises completion and " if by_promise else ""
    ) + "the completion command passes"
