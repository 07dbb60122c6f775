"""Ends a screen with a command that resumes its run or starts it again in the same terminal.

Rule: after one question, run exactly the command that the screen shows.
"""

import shlex
from collections.abc import Callable
from typing import Literal

from ralph_tui.analysis.next_steps import explain_refusal, next_steps
from ralph_tui.state.fleet_work import FleetWork
from ralph_tui.tui.cockpit.run_screen import RunScreen
from ralph_tui.tui.draw.spans import flat
from ralph_tui.tui.panes.end import is_elsewhere

ASKED = {
    "resume": ("Resume this run in this terminal?", "resume"),
    "again": ("Run it again as a new attempt in this terminal?", "run again"),
}
"""The question and the label of the y key, for each step."""
FLEET_LOOP = "a fleet manages this loop and its branch; see ralph-tui fleet status"
DEMO = ("Play the demo again in a new folder in this terminal?", "play it again")


class Continuation:
    """Ends the screen with a command."""

    def __init__(self, host: RunScreen) -> None:
        self._host = host
        self._app = host.ralph
        self._source = host.source

    @property
    def _is_gone(self) -> bool:
        """True if no process continues the run, though no end is recorded."""
        player = self._source.player
        at_end = player is not None and player.position >= player.length
        return bool(self._source.lost) or at_end

    @property
    def fleet(self) -> FleetWork | None:
        """The fleet's record of the run; None if the run is not a fleet's loop."""
        return self._source.record.fleet if self._source.record is not None else None

    def command(self, name: str) -> str:
        """Return the command line for a step, or an empty string if the step is not offered."""
        broken = self._source.broken
        steps = next_steps(self._host.state, gone=self._is_gone, broken=broken, fleet=self.fleet)
        return next((step.command for step in steps if step.name == name), "")

    def refusal(self, name: Literal["resume", "again"]) -> str | None:
        """Return why the step is not available; None if it is."""
        state = self._host.state
        why = explain_refusal(name, state, gone=self._is_gone)
        if why is not None:
            return why
        if self.fleet is not None:
            return FLEET_LOOP
        if self._source.overtaken:
            return self._source.overtaken
        again = name == "again" and state.run.started is not None and state.run.started.scenario
        return self.refused(self.command(name), anywhere=bool(again))

    def refused(self, command: str, *, anywhere: bool = False) -> str | None:
        """Return why this screen cannot end with `command`; `anywhere`: it needs no worktree."""
        record = self._source.record
        if self.fleet is not None:
            return FLEET_LOOP
        if not self._host.ALONE:
            return f"not while another run is open; use {command}"
        if not anywhere and (record is None or record.worktree is None):
            return f"use {command} in the run's own repository"
        return None

    def ask(self, name: Literal["resume", "again"]) -> None:
        """End the screen with this step, after one question."""
        started = self._host.state.run.started
        demo = started is not None and bool(started.scenario) and name == "again"
        asked = DEMO if demo else ASKED[name]
        is_valid = lambda: self.refusal(name) is None  # noqa: E731
        self.ask_to_end_with(self.command(name), *asked, anywhere=demo, is_valid=is_valid)

    def ask_to_end_with(
        self,
        words: str,
        question: str,
        verb: str,
        *,
        anywhere: bool = False,
        is_valid: Callable[[], bool] | None = None,
    ) -> None:
        """End the screen with a command, after a question that `verb` confirms.

        `is_valid` returns True while the question is still valid.
        """
        from ralph_tui.tui.modals.choice_dialog import Confirm  # noqa: PLC0415 - as in `dialogs`

        record = self._source.record
        place = None if record is None or anywhere else record.worktree
        where = f" in {flat(str(place))}" if place is not None and is_elsewhere(place) else ""

        def on_answer(yes: bool | None) -> None:  # noqa: FBT001
            if yes:
                self._app.continue_with(shlex.split(words)[1:], place)

        detail = f"this screen closes, then{where}: {words}"
        confirm = Confirm(question, detail, self._app.monotonic, is_valid, yes=verb)
        self._app.push_screen(confirm, on_answer)
