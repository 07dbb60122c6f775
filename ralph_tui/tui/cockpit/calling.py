"""What the owner of a run is called for, and the call at its end."""

from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.format import ending
from ralph_tui.text.terms import BUG
from ralph_tui.tui.app import RalphApp


def call_text(state: RunState) -> str:
    """What the owner is called for."""
    run, question = state.run, state.needs.question
    if run.crash is not None:
        return BUG
    if run.finished is not None:
        return ending(run.finished.outcome, run.finished.reason)
    return question.text if question is not None else "the run needs you"


class EndCall:
    """Calls the owner once, when a run ends that was seen alive."""

    def __init__(self, app: RalphApp, source: Source) -> None:
        self._app = app
        self._source = source
        self._was_live = False
        self._called = False

    def follow(self, state: RunState) -> None:
        """Call when the end has come; called at every tick."""
        if self._was_live and not state.run.live and self._source.live:
            self._called = True
            self._app.call_owner(call_text(state), over=True)
        self._was_live = state.run.live

    def end(self) -> None:
        """The screen is gone, and with it the reason to call."""
        if self._called:
            self._app.end_call()
