"""Dialogs of the cockpit: what they ask, and the command that each answer sends.

Rule: nothing here knows a pane; only commands to the source change a run. Dialogs are imported
where they open: together, they would delay the cockpit by 7 ms. `preloading` imports them later.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ralph_tui import commands
from ralph_tui.analysis.context import handoff_request_words
from ralph_tui.base.errors import RalphError
from ralph_tui.state import RunState
from ralph_tui.state.guidance import delivery_words
from ralph_tui.text.format import percent
from ralph_tui.text.sanitize import plain
from ralph_tui.text.secrets import redact
from ralph_tui.tui.actions import ACTIONS, is_in_footer
from ralph_tui.tui.cockpit.learning_view import LearningView
from ralph_tui.tui.cockpit.run_screen import RunScreen
from ralph_tui.tui.draw.spans import clip, flat, flat_name
from ralph_tui.tui.modals.restore_effect import missing_paths, preview
from ralph_tui.tui.panes.prompt import edit_words
from ralph_tui.tui.toggle import Toggle

if TYPE_CHECKING:
    from ralph_tui.tui.modals.abort import Way
    from ralph_tui.tui.modals.guide import DraftResult
    from ralph_tui.tui.modals.leave import Activity, Leaving
    from ralph_tui.tui.modals.palette import Offer

LEAVE_S = 8.0
"""Seconds for which a stopping run may keep the screen open."""
TWICE_S = 2.0
"""Seconds within which a second ctrl+c stops the run now."""
FRESH_S = 1.0
"""Seconds for which a pause request may stay unrecorded."""
MAX_CHARACTERS = 100_000
"""Maximum length of one piece of guidance, in characters."""
SENT_SHOWN = 2
"""Number of earlier pieces of guidance shown with their status."""
UNSENT = "unsent.txt"
"""File for text that an ended run can no longer take."""
MAX_STANDING = 10_000
"""Maximum length of the instruction that every prompt carries, in characters."""


def guidance_rows(state: RunState) -> list[str]:
    """Return the latest guidance with its status, newest first."""
    over = not state.run.live
    return [
        f"{delivery_words(item, over=over)}: “{clip(flat(item.text), 44)}”"
        for item in list(state.guidance.items.values())[: -SENT_SHOWN - 1 : -1]
    ]


class Dialogs:
    """Asks the user and sends the answers; remembers a draft and a request to leave."""

    def __init__(self, host: RunScreen) -> None:
        self._host = host
        self._app = host.ralph
        self._source = host.source
        self.learnings = LearningView(host)
        self._draft = ""
        self._leaving: float | None = None
        self._interrupted = float("-inf")
        self._pausing = Toggle(FRESH_S)

    @property
    def _clock(self) -> Callable[[], float]:
        return self._app.monotonic

    def toggle_pause(self) -> None:
        """Pause or continue; a second press need not wait until the first has been recorded."""
        run, needs = self._host.state.run, self._host.state.needs
        pauses = self._pausing.press(self._clock(), recorded=run.paused or run.pause_requested)
        self._source.send(commands.Pause() if pauses else commands.Unpause())
        first = "it pauses after the wait" if needs.wait else "this iteration ends first"
        words = f"pause: sent; {first}" if pauses else "unpause: sent"
        self._host.report(f"{self._app.keys.shown('pause')} {words}")

    def guide(self) -> None:
        """Ask for guidance for the agent."""
        from ralph_tui.tui.modals.guide import Guide  # noqa: PLC0415 - see the top

        dialog = Guide(
            self._draft,
            into_session=lambda: self._host.state.run.takes_guidance,
            over=lambda: self._is_over,
            standing=self._host.state.intelligence.standing_instruction,
            before=guidance_rows(self._host.state),
            clock=self._clock,
        )
        self._app.push_screen(dialog, self._send_guidance)

    def _send_guidance(self, answer: "DraftResult | None") -> None:
        send, text, always = answer or (False, "", False)
        text = plain(text)
        most = MAX_STANDING if always else MAX_CHARACTERS
        if send and len(text) > most:
            send = False
            what = "the instruction for every prompt" if always else "guidance"
            self._host.report(f"{what} is limited to {most} characters; your text is kept")
        self._draft = "" if send else text
        if send and always:
            self._source.send(commands.Instruct(text=text))
        elif send and text.strip():
            self._source.send(commands.Guide(text=text))

    def edit_prompt(self) -> None:
        """Request one edit of the next prompt, or cancel that request; report the result."""
        state = self._host.state
        wish = commands.EditPrompt(wanted=not state.intelligence.edit_requested)
        reason = commands.refusal(wish, state) if self._source.live else "only in a live run"
        if self._source.lost:
            reason = "the run's process is gone"
        if reason is None:
            self._source.send(wish)
            cancelled = "cancelled; the next prompt is sent as it is"
            reason = edit_words(state) if wish.wanted else cancelled
        self._host.report(f"e edit: {reason}")

    @property
    def _is_over(self) -> bool:
        """True if no process takes guidance any more."""
        return bool(self._source.lost) or not self._host.state.run.live

    def keep_text(self, text: str) -> str:
        """Add unsent text to the draft of guidance, and return how to see it.

        A run that has ended, or whose process is gone, takes no guidance, so the text is written to
        a file beside its record.
        """
        record = self._source.record
        if self._is_over and record is not None:
            try:
                return f"your text is in {flat_name(str(record.write(UNSENT, redact(text))))}"
            except RalphError as error:
                return f"your text is not kept: {flat(str(error))}"
        if text not in self._draft:
            self._draft = f"{self._draft.rstrip()}\n\n{text}".strip()
        return f"press {self._app.keys.shown('guide')} to get back the text you wrote"

    def abort(self) -> None:
        """Abort the run after one question: keep the work as it is, or restore its best state."""
        from ralph_tui.tui.modals.abort import AbortDialog  # noqa: PLC0415 - see the top

        best, snapshot, where = self._host.state.best_span, None, ""
        look, lacks = None, ""
        if best is not None and best.boundary is not None and best.completion is not None:
            snapshot = best.boundary.number
            point = f"iteration {best.number}" if best.number else "the start"
            where = f"{point}, {percent(best.completion)}"
            lacks = missing_paths(best.boundary)
            if self._source.files is not None:
                look = preview(self._source.files, best.boundary.tree, named=0)

        def on_answer(way: "Way | None") -> None:
            if way in ("keep", "roll_back"):
                back = snapshot if way == "roll_back" else None
                self._source.send(commands.Abort(roll_back_to=back))

        def is_valid() -> bool:
            return commands.refusal(commands.Abort(), self._host.state) is None

        self._app.push_screen(AbortDialog(where, self._clock, look, lacks, is_valid), on_answer)

    def roll_over(self) -> None:
        """Hand off to a fresh session after one question."""
        from ralph_tui.tui.modals.choice_dialog import Confirm  # noqa: PLC0415 - see the top

        wish, state = commands.RollOver(), self._host.state
        session_began = state.agent.began
        question = f"Hand off to a fresh session in iteration {state.run.iteration}?"

        def refused() -> str | None:
            """Return a reason if this session has since ended, or if the run refuses."""
            if self._host.state.agent.began != session_began:
                return "that session has already ended"
            return commands.refusal(wish, self._host.state)

        def on_answer(yes: bool | None) -> None:  # noqa: FBT001
            if yes is False:
                return
            why = refused()
            if why is None and yes:
                self._source.send(wish)
            key, sent = self._app.keys.shown("roll_over"), "sent; a running tool may end first"
            self._host.report(f"{key} hand off: {why or sent}")

        dialog = Confirm(
            question,
            handoff_request_words(state),
            self._clock,
            is_valid=lambda: refused() is None,
            yes="hand off",
        )
        self._app.push_screen(dialog, on_answer)

    def permissions(self, wish: commands.SetPermissions) -> None:
        """Change the agent's permissions from its next session on; ask before "skip"."""
        from ralph_tui.tui.modals.choice_dialog import Confirm  # noqa: PLC0415 - see the top

        if wish.mode == "skip":
            question = "Allow everything without asking?"
            detail = "From the agent's next session: any command, any file, the network."
            live = partial(commands.refusal, wish)
            dialog = Confirm(
                question, detail, self._clock, lambda: live(self._host.state) is None, yes="allow"
            )
            self._app.push_screen(dialog, lambda yes: self._send_permissions(wish, yes))
        else:
            self._send_permissions(wish, yes=True)

    def _send_permissions(self, wish: commands.SetPermissions, yes: bool | None) -> None:  # noqa: FBT001
        if yes:
            self._source.send(wish)
            self._host.report("permissions: the change applies from the agent's next session")

    def help(self) -> None:
        from ralph_tui.tui.cockpit.help import blocks  # noqa: PLC0415 - see the top
        from ralph_tui.tui.modals.help import Help  # noqa: PLC0415 - see the top

        live, asked = self._source.live, self._host.state.needs.question is not None
        now = [a for a in ACTIONS if is_in_footer(a, live=live) and self._host.refusal(a) is None]
        sections = blocks(self._app.keys, live=live, now=now, asked=asked)
        self._app.push_screen(Help(sections, clock=self._clock))

    def offers(self) -> "list[Offer]":
        """Return all commands of the palette."""
        from ralph_tui.tui.cockpit.palette import offers  # noqa: PLC0415 - see the top

        return list(offers(self._host, self.permissions))

    def palette(self) -> None:
        """Open the palette of all commands."""
        from ralph_tui.tui.modals.palette import choose  # noqa: PLC0415 - see the top

        choose(self._app, self.offers(), self._clock)

    def detail(self, title: str, body: str) -> None:
        """Show the evidence of a log entry."""
        from ralph_tui.tui.modals.text_dialog import Detail  # noqa: PLC0415 - see the top

        self._app.push_screen(Detail(title, body, self._clock))

    # leaving ----------------------------------------------------------------------------------

    def leave(self) -> None:
        """Handle q: leave, but ask how if the run belongs to this process."""
        if self._source.elsewhere:
            self._app.exit()
        else:
            self.ask_to_leave()

    def ask_to_leave(self) -> None:
        """Handle ctrl+q: like q, but ask even if leaving stops nothing."""
        from ralph_tui.tui.modals.leave import Leave  # noqa: PLC0415 - see the top

        run = self._host.state.run
        watched = run.started is not None and run.started.watched  # cannot be stopped from here
        if not self._source.live or self._source.lost or run.finished or run.crash or watched:
            self._app.exit()
        elif not isinstance(self._app.screen, Leave):
            needs = self._host.state.needs
            pauses: Activity = "pausing" if run.pause_requested else "going"
            activity: Activity = "asking" if needs.question else "paused" if run.paused else pauses
            dialog = Leave(
                self._clock,
                elsewhere=self._source.elsewhere,
                activity=activity,
                stopping=run.stopping == "after_iteration",
            )
            self._app.push_screen(dialog, self._leave_by)

    def interrupt(self) -> None:
        """Handle ctrl+c: open the same dialog; a second press soon after stops now.

        In an attached run, the second press only leaves, so a reflex never stops another process's
        run.
        """
        from ralph_tui.tui.modals.leave import Leave  # noqa: PLC0415 - see the top

        now = self._clock()
        again, self._interrupted = now - self._interrupted <= TWICE_S, now
        if again and isinstance(self._app.screen, Leave):
            self._app.screen.dismiss("screen" if self._source.elsewhere else "now")
        else:
            self.ask_to_leave()

    def _leave_by(self, way: "Leaving | None") -> None:
        if way == "screen":
            self._app.exit("screen")
        elif way == "now":
            self.stop_now("you")
        elif way in ("after_iteration", "taken_back"):
            self._source.send(commands.Stop(mode=way))
            asked = self._host.state.needs.question is not None
            when = "once the question is answered" if asked else "when this iteration ends"
            words = (
                "withdrawn; the run continues"
                if way == "taken_back"
                else f"sent; the run stops {when}"
            )
            self._host.report(f"i stop: {words}")

    def hang_up(self, by: str) -> None:
        """Handle a signal: stop a run of this process, then leave within `LEAVE_S`."""
        if self._source.live and not self._source.elsewhere:
            self.stop_now(by)
        else:
            self._app.exit()

    def stop_now(self, by: str) -> None:
        """Stop the run; the screen closes once `can_leave` returns True."""
        if self._leaving is None:
            self._leaving = self._clock()
            self._source.send(commands.Stop(mode="now", by=by))

    def can_leave(self) -> bool:
        """True if it is time to leave: the end has been recorded, or `LEAVE_S` has passed."""
        if self._leaving is None:
            return False
        run = self._host.state.run
        over = run.finished is not None or run.crash is not None
        return over or self._clock() - self._leaving > LEAVE_S

    # presence and refusals --------------------------------------------------------------------

    def report_presence(self) -> None:
        """Report that the user is present, so that the run's questions wait for an answer."""
        if self._source.live and self._host.state.run.live:
            self._source.send(commands.Present(by=self._source.name))

    def refused(self, command: commands.Command, reason: str) -> None:
        """Report why the run refused a command; a refused stop cancels leaving."""
        if isinstance(command, commands.ChangeLearning):
            self.learnings.refused(command, reason)
            return
        if isinstance(command, commands.Present):
            return
        if isinstance(command, commands.Stop):
            self._leaving = None
        text = command.text if isinstance(command, commands.Guide | commands.Instruct) else ""
        self._host.report(f"{reason}; {self.keep_text(text)}" if text else reason)
