"""A screen that shows a run and obeys the table of actions, as its dialogs see it.

Rule: an answer stands within the paint that follows its key: done, sent, or why not. What is only
sent is followed until the run has recorded what came of it, unless another key is pressed first.
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

FOLLOWED_S = 30.0
"""So long is it waited for what comes of a key."""


class RunScreen(BaseScreen):
    """What its actions do, and what more is known of why not, is told by the class below."""

    ALONE: ClassVar[bool] = True
    """This screen is the first: when it ends, nothing goes on behind it."""
    effects: Mapping[str, Callable[[], object]]
    """What an action does that sends no command."""
    refusals: Mapping[str, Callable[[], str | None]]
    """Why an action cannot be done, where more is known of that than the state tells."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source
        self.state = RunState()
        """As of the last tick."""
        self.footer = Footer(source, self.ralph.monotonic, self.refusal, self.ralph.keys)
        self.label = ""
        """The key that was pressed last, and its action."""
        self._outcome: Outcome | None = None
        self._said = ""
        self._until = 0.0

    @property
    def in_front(self) -> bool:
        """No dialog and no other screen is open above it."""
        return self.app.screen is self

    def say(self, text: str) -> None:
        """Say it for a few seconds; in a dialog, too: which is seen shows when that closes."""
        front = self.app.screen
        if isinstance(front, Modal):
            front.tell(text)
        self.footer.say(text)

    def action_do(self, name: str) -> None:
        """Do what the table calls by this name, or say why not.

        Of two actions on one key the one that can be done now is meant.
        """
        action = BY_NAME[name]
        refused = self.refusal(action)
        keys = self.ralph.keys
        if refused is not None:
            mine = set(keys.of(name))
            alike = [a for a in ACTIONS if mine & {*keys.of(a.name)} and self.refusal(a) is None]
            action, refused = (alike[0], None) if alike else (action, refused)
        verb = verb_of(action, self.state, self.source.player)
        self.label = f"{keys.shown(action.name)} {verb}"
        if refused is not None:
            self.say(f"{self.label}: {refused}")
            return
        if action.said:
            self.say(f"{self.label}: {action.said}")
        if action.outcome is not None:
            self._outcome, self._said = action.outcome(self.state), ""
            self._until = self.ralph.monotonic() + FOLLOWED_S
        if action.sends is not None:
            self.source.send(action.sends)
        else:
            self.effects[action.name]()

    def refusal(self, action: Action) -> str | None:
        """Why it cannot be done here and now; None: it can."""
        why = self._refusal(action)
        return None if why is None else self.ralph.keys.told(why)

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
        """Say what has come of the last key, once that is recorded."""
        if self._outcome is None:
            return
        said = self._outcome(self.state)
        if said is not None and said != self._said:
            self._said = said
            self.say(f"{self.label}: {said}")
        elif self.ralph.monotonic() > self._until:
            self._outcome = None

    def hush_key(self) -> None:
        """Another key is pressed: what comes of the last one is no news any more."""
        self._outcome = None
