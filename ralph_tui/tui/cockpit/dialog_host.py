"""The cockpit as its dialogs, its question and its palette see it."""

from typing import Protocol

from ralph_tui.commands import SetPermissions
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.tui.actions import Action
from ralph_tui.tui.app import RalphApp


class DialogHost(Protocol):
    """The screen below the dialogs."""

    source: Source
    state: RunState
    """As of the last tick."""

    @property
    def ralph(self) -> RalphApp:
        """The app, which shows dialogs and tells the time."""
        ...

    @property
    def in_front(self) -> bool:
        """No dialog and no other screen is open above it."""
        ...

    def say(self, text: str) -> None:
        """Show a sentence for a few seconds."""
        ...

    @property
    def alone(self) -> bool:
        """This screen is the first: when it ends, nothing goes on behind it."""
        ...

    def refusal(self, action: Action) -> str | None:
        """Why an action of the table cannot be done here and now; None: it can."""
        ...

    def action_do(self, name: str) -> None:
        """Do what the table of actions calls by this name, or say why not."""
        ...

    def set_permissions(self, wish: SetPermissions) -> None:
        """Change what the agent may do; asks first where that is everything."""
        ...
