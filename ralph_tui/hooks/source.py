"""A loop of sessions that ralph-tui did not start: what their hooks record, as it grows.

Rule: it is looked at alone. Nobody takes a command, and no process tells whether it goes on.
"""

from ralph_tui.adapters.records.lock import Owner
from ralph_tui.adapters.records.runs import HEARD_S
from ralph_tui.adapters.records.status import unheard
from ralph_tui.base.errors import RalphError
from ralph_tui.commands import WATCHED
from ralph_tui.runtime.sources.attached import Attached
from ralph_tui.state import RunState


class Watched(Attached):
    """A `Source` of a journal that hooks write."""

    def _look_after(self, state: RunState, now: float) -> None:
        silent = (self._wall_clock() - state.at).total_seconds()
        self.lost = state.run.live and silent >= HEARD_S
        self.note = unheard(silent) if self.lost else self._journal.problem

    def _owner(self) -> Owner:
        raise RalphError(WATCHED)
