"""Dialogs of the fleet's screen; their answers become commands to the fleet's source.

The dialogs change the fleet only through these commands.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType

from ralph_tui import commands
from ralph_tui.fleet.ports import ALL, FLEET, FleetSource
from ralph_tui.fleet.tui.keys import fleet_refusal
from ralph_tui.fleet.tui.view import FleetView, LoopRow
from ralph_tui.text.sanitize import plain
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.draw.spans import clip, flat
from ralph_tui.tui.modals.choice_dialog import Choice, ChoiceDialog, Confirm
from ralph_tui.tui.toggle import Toggle

if TYPE_CHECKING:
    from ralph_tui.tui.modals.guide import DraftResult

StopChoice = Literal["screen", "after_iteration", "now", "stay"]


class StopFleet(ChoiceDialog[StopChoice]):
    """Ask how to stop the fleet or leave its screen; None means that the fleet has ended."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "answer('after_iteration')", show=False),
        Binding("s", "answer('now')", show=False),
        Binding("escape,n", "answer('stay')", show=False),
    ]
    COMMON_KEYS = (("?", "help"),)

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        is_valid: Callable[[], bool] | None = None,
        *,
        leaving: bool,
    ) -> None:
        """`leaving` adds the option to leave the screen; `is_valid` is as in `ChoiceDialog`."""
        self._leaving = leaving
        asked = (
            "The fleet is still running. How do you want to leave?"
            if leaving
            else "Stop the fleet?"
        )
        super().__init__(asked, clock, is_valid)

    def choices(self) -> Sequence[Choice]:
        stop = (
            Choice("i", "stop after iterations", "nothing new starts"),
            Choice("s", "stop now", "ralph-tui fleet resume continues"),
        )
        stay = Choice("esc", "back")
        if self._leaving:
            return (Choice("enter", "leave this screen", "the fleet keeps running"), *stop, stay)
        return (*stop, stay)

    def hints(self) -> Sequence[str]:
        if self._leaving:
            return (
                "ralph-tui fleet attach brings the screen back; ctrl+c twice within 2 s leaves it",
            )
        return ("the loops' work so far is collected as branches",)

    def action_answer(self, way: StopChoice) -> None:
        self.dismiss(way)

    def accept_key(self, event: events.Key) -> bool:
        """Handle keys that do not stop the fleet: enter leaves the screen, q closes the dialog."""
        if event.key in ("enter", "q") and self._leaving:
            self.dismiss("screen" if event.key == "enter" else "stay")
            return True
        return False


TWICE_S = 2.0
"""Maximum number of seconds between two presses of ctrl+c for the second to leave."""
FRESH_S = 2.0
"""Seconds after which a pause or unpause is certainly in the fleet's record, or was refused."""
MAX_CHARACTERS = 100_000
"""Maximum length of one piece of guidance, in characters."""


class FleetDialogs:
    """Opens dialogs, sends the resulting commands, and keeps text that was not sent."""

    def __init__(
        self, app: RalphApp, source: FleetSource, view: FleetView, answer: Callable[[str], None]
    ) -> None:
        """`answer` displays the effect of a key."""
        self._app, self._source, self._view, self._answer = app, source, view, answer
        self._drafts: dict[str, str] = {}
        """Unsent guidance by loop id, or by `ALL`."""
        self._interrupted = float("-inf")
        self._pausing: dict[str, Toggle] = defaultdict(partial(Toggle, FRESH_S))
        """Keys that pause, by loop id or `ALL`."""

    def report_presence(self) -> None:
        """Report that the user is here, so that the loops' questions wait."""
        if self._source.live:
            self._source.send(FLEET, commands.Present(by=self._source.name))

    def toggle_pause(self, row: LoopRow) -> None:
        """Pause or unpause a loop, or withdraw a pause that is still pending."""
        pauses = self._toggle(row.id, paused=row.loop.pauses)
        words = "pauses after this iteration" if pauses else "continues"
        self._answer(f"pause: sent; loop {row.id} {words}")

    def toggle_pause_all(self) -> None:
        """Pause all running loops, or unpause them if all are paused."""
        pauses = self._toggle(ALL, paused=self._view.all_paused)
        words = "each loop pauses after its iteration" if pauses else "all loops continue"
        self._answer(f"pause all: sent; {words}")

    def _toggle(self, whom: str, *, paused: bool) -> bool:
        """Pause or unpause; return True if it pauses. `paused` is the recorded state."""
        pauses = self._pausing[whom].press(self._app.monotonic(), recorded=paused)
        self._source.send(whom, commands.Pause() if pauses else commands.Unpause())
        return pauses

    def guide(self, row: LoopRow | None) -> None:
        """Ask for guidance for a loop's agent; None for all agents."""
        # Textual's editor takes long to import; the first paint must not wait for it.
        from ralph_tui.tui.modals.guide import TextDraft  # noqa: PLC0415

        whom = ALL if row is None else row.id
        about = f"loop {whom}: {clip(flat(row.loop.spec.objective), 44)}" if row else "all loops"
        title, draft = f"Guidance for {about}", self._drafts.get(whom, "")

        def on_written(answer: "DraftResult | None") -> None:
            if answer is not None:
                self._send_guidance(whom, answer)

        self._app.push_screen(TextDraft(title, draft, self._app.monotonic), on_written)

    def _send_guidance(self, whom: str, answer: "DraftResult") -> None:
        text = plain(answer.text)
        send = answer.send and len(text) <= MAX_CHARACTERS
        if answer.send and not send:
            self._answer(f"guidance is limited to {MAX_CHARACTERS} characters; it is kept")
        self._drafts[whom] = "" if send else text
        if send and text.strip():
            self._source.send(whom, commands.Guide(text=text))
            named = "all loops" if whom == ALL else f"loop {whom}"
            self._answer(f"guide: sent to {named}")

    def keep_refused(self, loop: str, text: str) -> str:
        """Keep refused guidance as a draft, and return how to see it.

        An ended loop takes none, so its text is kept for all loops.
        """
        known = self._view.state.loops.get(loop)
        whom, key = (ALL, "fleet_guide_all") if known and known.over else (loop, "fleet_guide")
        self._drafts[whom] = self._drafts.get(whom) or text
        return f"press {self._app.keys.shown(key)} to get back the text you wrote"

    def abort(self, row: LoopRow) -> None:
        """Abort a loop after a confirmation."""
        begun = bool(row.loop.attempt)
        detail = (
            "its agent is stopped; its work so far is collected" if begun else "it never starts"
        )
        question = f"Abort loop {row.id}, {clip(flat(row.loop.spec.objective), 60)}?"

        def on_answered(yes: bool | None) -> None:  # noqa: FBT001
            if yes:
                self._source.send(row.id, commands.Abort())
                self._answer(f"abort: sent to loop {row.id}")

        def is_valid() -> bool:
            loop = self._view.state.loops.get(row.id)
            return loop is not None and not loop.over and self._view.live

        dialog = Confirm(question, detail, self._app.monotonic, is_valid=is_valid, yes="abort it")
        self._app.push_screen(dialog, on_answered)

    def abort_all(self) -> None:
        """Abort the whole fleet after a confirmation."""

        def on_answered(yes: bool | None) -> None:  # noqa: FBT001
            if yes:
                self._source.send(FLEET, commands.Abort())
                self._answer("abort all: sent")

        dialog = Confirm(
            "Abort all loops of this fleet?",
            "agents stop, queued loops never start; work so far is collected",
            self._app.monotonic,
            is_valid=lambda: self._view.live,
            yes="abort all",
        )
        self._app.push_screen(dialog, on_answered)

    def stop(self) -> None:
        self._ask_how(leaving=False)

    def ask_to_leave(self) -> None:
        """Leave the screen; if the fleet is live, ask how first."""
        if not self._view.live:
            self._app.exit()
        elif not isinstance(self._app.screen, StopFleet):
            self._ask_how(leaving=True)

    def _ask_how(self, *, leaving: bool) -> None:
        dialog = StopFleet(self._app.monotonic, lambda: self._view.live, leaving=leaving)
        self._app.push_screen(dialog, self._send_stop)

    def interrupt(self) -> None:
        """Handle ctrl+c: open the leave dialog; a second one soon after leaves without stopping."""
        now = self._app.monotonic()
        again, self._interrupted = now - self._interrupted <= TWICE_S, now
        if again and isinstance(self._app.screen, StopFleet):
            self._app.screen.dismiss("screen")
        else:
            self.ask_to_leave()

    def _send_stop(self, way: StopChoice | None) -> None:
        if way is None:
            leave = self._app.keys.shown("leave")
            self._answer(f"{fleet_refusal(self._view)}; {leave} leaves this screen")
        elif way == "screen":
            self._app.exit("screen")
        elif way in ("after_iteration", "now"):
            self._source.send(FLEET, commands.Stop(mode=way))
            when = "now" if way == "now" else "after the running iterations"
            self._answer(f"stop: sent; the fleet will stop {when}")
