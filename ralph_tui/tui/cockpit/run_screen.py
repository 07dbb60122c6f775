"""Base of the screens that show a run, with actions from the table; dialogs know only this base.

Rule: the next paint shows the result of each key: done, sent, or refused with a reason. A sent
command is followed until the run has recorded its result, or until the next key.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar

from ralph_tui.analysis.verdict import gone
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.tui.actions import ACTIONS, BY_NAME, Action, Outcome
from ralph_tui.tui.app import BaseScreen
from ralph_tui.tui.cockpit.footer import Footer
from ralph_tui.tui.cockpit.footer import verb as verb_of
from ralph_tui.tui.modals.modal import Modal

FOLLOW_S = 30.0
"""Maximum seconds to wait for a key's effect."""


class RunScreen(BaseScreen):
    """Base of the run screens; subclasses supply the effects of actions and extra refusals."""

    ALONE: ClassVar[bool] = True
    """True if the app ends with this screen."""
    effects: Mapping[str, Callable[[], object]]
    """Callbacks for the actions that send no command, by action name."""
    refusals: Mapping[str, Callable[[], str | None]]
    """Refusal checks by action name, for actions that depend on more than the state."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source
        self.state = RunState()
        """State at the last tick."""
        self.footer = Footer(source, self.ralph.monotonic, self.refusal, self.ralph.keys)
        self.label = ""
        """The last key and its action's verb, for notices."""
        self._outcome: Outcome | None = None
        self._reported = ""
        self._until = 0.0

    @property
    def in_front(self) -> bool:
        """True if no dialog or other screen is open above this one."""
        return self.app.screen is self

    def report(self, text: str) -> None:
        """Show a notice for a few seconds, in an open dialog as well as in the footer."""
        front = self.app.screen
        if isinstance(front, Modal):
            front.report(text)
        self.footer.report(text)

    def action_do(self, name: str) -> None:
        """Perform the action of this name, or report why it is refused.

        If two actions share a key, the available one wins.
        """
        action = BY_NAME[name]
        refused = self.refusal(action)
        keys = self.ralph.keys
        if refused is not None:
            mine = set(keys.of(name))
            available = [
                a for a in ACTIONS if mine & {*keys.of(a.name)} and self.refusal(a) is None
            ]
            action, refused = (available[0], None) if available else (action, refused)
        verb = verb_of(action, self.state, self.source.player)
        self.label = f"{keys.shown(action.name)} {verb}"
        if refused is not None:
            self.report(f"{self.label}: {refused}")
            return
        if action.feedback:
            self.report(f"{self.label}: {action.feedback}")
        if action.outcome is not None:
            self._outcome, self._reported = action.outcome(self.state), ""
            self._until = self.ralph.monotonic() + FOLLOW_S
        if action.sends is not None:
            self.source.send(action.sends)
        else:
            self.effects[action.name]()

    def refusal(self, action: Action) -> str | None:
        """Return why the action is unavailable now; None if it is available."""
        why = self._refusal(action)
        return None if why is None else self.ralph.keys.expand(why)

    def _refusal(self, action: Action) -> str | None:
        if action.name in self.refusals:
            return self.refusals[action.name]()
        if self.source.lost:
            if action.name == "report" or (action.name == "diff" and not self.state.foreign.tool):
                return None
            if action.where == "live":
                says = gone(self.state, self.source.lost)
                return says.text.removeprefix(f"{says.word}: ")
        return action.refusal(self.state)

    def follow_key(self) -> None:
        """Report the effect of the last key once it is recorded."""
        if self._outcome is None:
            return
        feedback = self._outcome(self.state)
        if feedback is not None and feedback != self._reported:
            self._reported = feedback
            self.report(f"{self.label}: {feedback}")
        elif self.ralph.monotonic() > self._until:
            self._outcome = None

    def forget_key(self) -> None:
        """Stop following the last key, because another one was pressed."""
        self._outcome = None
