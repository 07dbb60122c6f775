"""What the actions of the table are done on: the screen, and the dialogs that ask first."""

from typing import Literal, Protocol

from ralph_tui.ports.source import Source
from ralph_tui.tui.moves import Move


class Asking(Protocol):
    """The dialogs that actions open."""

    def toggle_pause(self) -> None:
        """Pause, or go on."""
        ...

    def guide(self) -> None:
        """Ask for words to the agent."""
        ...

    def abort(self) -> None:
        """Ask how to give the run up."""
        ...

    def roll_over(self) -> None:
        """Ask whether the session shall hand over to a fresh one."""
        ...

    def palette(self) -> None:
        """Offer all commands to search."""
        ...


class ActionTarget(Protocol):
    """The screen that actions are done on."""

    source: Source

    @property
    def dialogs(self) -> Asking:
        """What asks before it acts."""
        ...

    def move(self, move: Move) -> None:
        """Move in the time of a recorded run."""
        ...

    def step_iteration(self, by: int) -> None:
        """Look at another iteration: in a recorded run, move there."""
        ...

    def decide(self) -> None:
        """Open the question that waits."""
        ...

    def restore(self) -> None:
        """Ask whether the files shall go back to the selected point."""
        ...

    def report(self) -> None:
        """Show the report."""
        ...

    def go_on(self, name: Literal["resume", "again"]) -> None:
        """Ask whether to end this screen with that command."""
        ...

    def whole_diff(self) -> None:
        """Show what the whole run has changed."""
        ...

    def toggle_zoom(self) -> None:
        """Show one pane alone, or all."""
        ...

    def show_prompt(self) -> None:
        """Show the prompt alone."""
        ...

    def copy(self) -> None:
        """Put the text of the pane that is looked at on the clipboard."""
        ...

    def export(self) -> None:
        """Ask what shall be written into a file: screen, pane, report, events."""
        ...

    def search(self) -> None:
        """Look for something in all runs."""
        ...

    def next_theme(self) -> None:
        """Switch to the next theme, and say which."""
        ...

    def open_help(self) -> None:
        """Explain keys, lines and glyphs."""
        ...

    def leave(self) -> None:
        """Leave, or ask how."""
        ...
