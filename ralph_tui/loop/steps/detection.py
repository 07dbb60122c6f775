"""Step 12: evaluate the measurement with the control law, the strategy and the oversight rules.

The rules are pure and live in `layers`; steps 13 and 14 carry out the result.
"""

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.events import AlarmCleared, ConflictsFound, Noticed
from ralph_tui.layers.oversight import Finding
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step

SHOWN = 20
"""Maximum number of paths named in an event."""


class Detector(Step):
    """Evaluates each measurement once."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._governor = run.layers.governor
        self._guard = run.layers.guard

    def detect(self, k: int) -> Finding | None:
        """Evaluate the latest measurement and record the signal, alarms and cleared alarms.

        Returns the overseer's finding; None if the overseer is off or its rules fail.
        """
        evaluated, self._governor.recalled = self._governor.recalled, None
        if evaluated is None or evaluated.evaluation.signal.iteration != k:
            self._check_conflicts(k)
            evaluated = self._governor.read(self._state)
        self.record(*self._guard.take())
        known = self._state.control
        if known.latest is None or known.latest.iteration != k:
            self.record(evaluated.evaluation.signal)
        up = {alarm.alarm for alarm in evaluated.evaluation.alarms}
        over = sorted(name for name in known.alarms if name not in up)
        self.record(*(AlarmCleared(iteration=k, alarm=name) for name in over))
        self.record(*(e for e in evaluated.evaluation.raised if e.alarm not in known.alarms))
        finding = evaluated.finding
        return finding.unattended(k) if finding and self._run.headless else finding

    def _check_conflicts(self, k: int) -> None:
        try:
            conflicts = self._scheduler.run_job("conflicts", self._run.ports.workspace.conflicts)
        except WorkspaceError as error:
            self.record(
                Noticed(
                    level="warn",
                    source="workspace",
                    text=f"cannot check for git conflicts: {error}",
                )
            )
            return
        if conflicts:
            self.record(ConflictsFound(iteration=k, paths=list(conflicts[:SHOWN])))
