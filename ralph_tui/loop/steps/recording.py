"""Step 17: the record of an iteration, and the run's files for other programs."""

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events import IterationFinished, Noticed
from ralph_tui.events.run import IterationStatus
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step, guards

SESSION_STATUS: dict[str, IterationStatus] = {
    "success": "incomplete",
    "max_turns": "incomplete",
    "budget": "incomplete",
    "timeout": "incomplete",
    "context_full": "incomplete",
    "rolled_over": "incomplete",
    "stopped": "interrupted",
    "interrupted": "interrupted",
}
"""Iteration status by outcome of its session; any other outcome is an error."""


class IterationRecorder(Step):
    """Records how an iteration ended, and updates the projections."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._records = run.ports.records

    def finished(self, k: int) -> IterationFinished:
        """Return the final record of iteration k, from the state."""
        state, run = self._state, self._state.run
        gate, span, ended = state.gate.last, state.timeline.current, state.agent.ended
        files = span.files if span else None
        worked = self._scheduler.stopwatch.worked_s
        read = bool(state.gate.readings) and state.gate.readings[-1].iteration == k
        status = SESSION_STATUS.get(ended.outcome, "error") if ended and read else "interrupted"
        totals = files.totals if files and not files.live else []
        return IterationFinished(
            iteration=k,
            status="completed" if read and (run.completion or 0) >= 100 else status,
            completion=run.completion or 0.0,
            gate_ok=read and gate is not None and gate.ok,
            duration_s=max(0.0, worked - run.worked_s(run.iteration_started_at or state.at)),
            worked_s=worked,
            cost_usd=run.iteration_cost_usd if run.iteration_cost_known else None,
            tokens=run.iteration_tokens,
            tool_calls=run.iteration_tool_calls,
            tool_errors=run.iteration_tool_errors,
            files=sum(total.files for total in totals),
            added=sum(total.added for total in totals),
            removed=sum(total.removed for total in totals),
        )

    @guards("records", instead="the files for other tools are not updated")
    def write_projections(self) -> None:
        """Update the files for other programs; the journal does not depend on them."""
        records, projected = self._records, self._records.project(self._state)
        try:
            self._scheduler.run_job("projections", lambda: records.write_projections(projected))
        except WorkspaceError as error:
            self.record(Noticed(level="warn", source="records", text=str(error)))
