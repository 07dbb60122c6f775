"""Steps 3, 8 and the validation of step 11: how a session goes about it, and what does not fit.

A strategy is planned with the reading that it follows from (step 12); here it is recorded.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events import StrategyPlanned, ValidationDone
from ralph_tui.events.intelligence import Blocker, ValidationIssue
from ralph_tui.layers.governor import Governor
from ralph_tui.layers.intelligence import validation
from ralph_tui.layers.intelligence.strategy import Strategy
from ralph_tui.layers.sensor.tampering import deciding, named_files
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step, guards
from ralph_tui.state import RunState

RESTORED = (
    "The files were restored since: what is to be done follows from what they are now, and the "
    "way that was undone is not taken again."
)
UNVALIDATED = "nothing is validated"


class Strategist(Step):
    """Records strategies and what validation finds, each once, whatever process comes to it."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._governor = run.layers.governor
        self._enabled = run.settings.intelligence.enabled
        self._named = named_files(run.start.command or "")

    @guards("intelligence", instead="the approach stays as it is")
    def plan(self, k: int) -> None:
        """Step 3: how iteration k goes about it."""
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
        """Step 8: what does not fit before the session of iteration k."""
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
        """Step 11: what does not fit after it; the reading is taken."""
        if not self._due(k, "after"):
            return
        self._validate(
            k, "after", lambda: validation.after(self._state.gate.readings, self._session())
        )

    def _due(self, k: int, when: Literal["before", "after"]) -> bool:
        return self._enabled and (k, when) not in self._state.intelligence.validations

    def _validate(
        self, k: int, when: Literal["before", "after"], look: Callable[[], list[ValidationIssue]]
    ) -> None:
        nothing: list[ValidationIssue] = []
        issues = self.guarded(
            "intelligence", look, lambda: nothing, instead=f"nothing was validated {when} it"
        )
        if issues:
            self.record(ValidationDone(iteration=k, when=when, issues=issues))

    def _blockers(self) -> list[Blocker]:
        made = self._state.intelligence.assessment
        return made.blockers if made is not None else []

    def _conflicts(self) -> Sequence[str]:
        """Those of the last iteration that are there still: you may have resolved them."""
        if not self._governor.memory.trail.conflicted:
            return ()
        try:
            return self._run.scheduler.run_job("conflicts", self._run.ports.workspace.conflicts)
        except WorkspaceError:  # step 12 looks again, and says why it cannot
            return ()

    def _session(self) -> validation.Session:
        gate, files = self._state.gate.last, self._state.files
        changed = deciding((change.path for change in files.changes), self._named)
        return validation.Session(
            promised=self._state.agent.promised,
            command=self._run.start.command is not None,
            passed=gate is not None and gate.ok,
            tool_errors=self._state.run.iteration_tool_errors,
            config_files=changed.config,
            named_files=changed.named,
        )


def next_strategy(governor: Governor, state: RunState) -> Strategy | None:
    """As planned with the last reading; None where that could not be done."""
    readings, course = state.gate.readings, governor.course
    if governor.evaluation is None:  # nothing but the baseline was read yet
        course = governor.planned(state)
    if not readings or course.reading != readings[-1].iteration:
        return None
    strategy = course.strategy
    if not state.oversight.stale:
        return strategy
    return replace(strategy, reasoning=f"{strategy.reasoning} {RESTORED}", priorities=())


def planned_event(k: int, strategy: Strategy) -> StrategyPlanned:
    """What is recorded of the strategy of iteration k."""
    return StrategyPlanned(
        iteration=k,
        approach=strategy.approach,
        focus=strategy.focus,
        reasoning=strategy.reasoning,
        priorities=list(strategy.priorities),
        confidence=strategy.confidence,
        since=strategy.since,
    )
