"""Steps 3 and 8, and the validation in step 11: the approach of a session, and its problems.

A strategy is planned in step 12, from the measurement; here it is recorded.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events import StrategyPlanned, ValidationDone
from ralph_tui.events.intelligence import Blocker, ValidationIssue
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.inputs import notes_of
from ralph_tui.layers.intelligence import validation
from ralph_tui.layers.intelligence.strategy import Strategy
from ralph_tui.layers.sensor.tampering import deciding_files, named_files
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step, guards
from ralph_tui.state import RunState

RESTORED = (
    "The files were restored since then: work from their current state, and do not repeat the "
    "approach that was undone."
)
UNVALIDATED = "validation is skipped"


class Strategist(Step):
    """Records strategies and validation results, each once, even across a resume."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._governor = run.layers.governor
        self._enabled = run.settings.intelligence.enabled
        self._named_files = named_files(run.start.command or "")

    @guards("intelligence", instead="the approach stays as it is")
    def plan(self, k: int) -> None:
        """Record the approach for iteration k (step 3)."""
        if not self._enabled or k in self._state.intelligence.strategies:
            return
        strategy = self.guarded(
            "intelligence",
            lambda: next_strategy(self._governor, self._state),
            lambda: None,
            instead="the approach stays as it is",
        )
        if strategy is not None:
            self.record(planned_event(k, strategy))

    @guards("intelligence", instead=UNVALIDATED)
    def before(self, k: int) -> None:
        """Validate the plan for iteration k before its session (step 8)."""
        if not self._due(k, "before"):
            return
        conflicts = self._conflicts()
        self._validate(
            k,
            "before",
            lambda: validation.before(
                k,
                self._state.run.max_iterations,
                self._state.intelligence.strategies.get(k),
                [one.text for one in self._blockers()],
                conflicts,
            ),
        )

    @guards("intelligence", instead=UNVALIDATED)
    def after(self, k: int) -> None:
        """Validate the result of the session, once it is measured (step 11)."""
        if not self._due(k, "after"):
            return
        self._validate(
            k, "after", lambda: validation.after(self._state.gate.readings, self._session(k))
        )

    def _due(self, k: int, when: Literal["before", "after"]) -> bool:
        return self._enabled and (k, when) not in self._state.intelligence.validations

    def _validate(
        self, k: int, when: Literal["before", "after"], look: Callable[[], list[ValidationIssue]]
    ) -> None:
        nothing: list[ValidationIssue] = []
        issues = self.guarded(
            "intelligence",
            look,
            lambda: nothing,
            instead=f"nothing was validated {when} the session",
        )
        if issues:
            self.record(ValidationDone(iteration=k, when=when, issues=issues))

    def _blockers(self) -> list[Blocker]:
        made = self._state.intelligence.assessment
        return made.blockers if made is not None else []

    def _conflicts(self) -> Sequence[str]:
        """Return the last iteration's conflicts that still exist: you may have resolved them."""
        if not self._governor.memory.trail.conflicted:
            return ()
        try:
            return self._run.scheduler.run_job("conflicts", self._run.ports.workspace.conflicts)
        except WorkspaceError:  # step 12 tries again and reports the error
            return ()

    def _session(self, k: int) -> validation.Session:
        made = self._state.intelligence.assessment
        gate, files = self._state.gate.last, self._state.files
        changed = deciding_files((change.path for change in files.changes), self._named_files)
        return validation.Session(
            promised=self._state.agent.promised,
            command=self._run.start.command is not None,
            passed=gate is not None and gate.ok,
            tool_errors=self._state.run.iteration_tool_errors,
            config_files=changed.config,
            named_files=changed.named,
            patterns=made.patterns if made and made.iteration == k else (),
        )


def next_strategy(governor: Governor, state: RunState) -> Strategy | None:
    """Return the strategy planned with the last measurement; None if planning failed."""
    readings, course = state.gate.readings, governor.course
    if governor.evaluation is None:  # only the baseline has been measured
        course = governor.planned(state)
    if not readings or course.reading != readings[-1].iteration:
        return None
    strategy = course.strategy.without(course.strategy.learned - notes_of(state))
    if not state.oversight.stale:
        return strategy
    return replace(strategy, reasoning=f"{strategy.reasoning} {RESTORED}", priorities=())


def planned_event(k: int, strategy: Strategy) -> StrategyPlanned:
    """Return the event that records the strategy of iteration k."""
    return StrategyPlanned(
        iteration=k,
        approach=strategy.approach,
        focus=strategy.focus,
        reasoning=strategy.reasoning,
        priorities=list(strategy.priorities),
        confidence=strategy.confidence,
        since=strategy.since,
    )
