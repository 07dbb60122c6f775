"""The form for a new run; it returns the command line that starts the run, or None.

Rule: the form starts nothing itself. It saves the input as a draft within a second, so that neither
esc nor a closed terminal loses it; starting the run deletes the draft.

Textual passes a key to the focused field, which handles it later. Keys that change the focus are
therefore priority keys. Any other priority key takes effect only once all fields have handled the
keys typed before it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.timer import Timer

from ralph_tui.base.errors import RalphError
from ralph_tui.layers.sensor.gate import GateResult, read_words
from ralph_tui.ports.new_runs import Draft, NewRuns, Trial
from ralph_tui.text.format import count, duration, percent
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.terms import CRITICAL, PHASES, WARNING
from ralph_tui.tui import background
from ralph_tui.tui.draw.line_widget import LineWidget
from ralph_tui.tui.draw.spans import Line, clip, clip_line, flat
from ralph_tui.tui.home.form_line import DEMO_AGENT, NO_COMMAND, arguments, form_errors, shell_line
from ralph_tui.tui.home.form_page import Page
from ralph_tui.tui.modals.modal import Modal, Pair, key_name

Tone = Literal["plain", "warn", "bad", "dim"]
MARKS: Mapping[Tone, str] = {
    "plain": "",
    "warn": f"{WARNING.glyph} ",
    "bad": f"{CRITICAL.glyph} ",
    "dim": "",
}
"""Sign of each tone, because colour alone is never enough; an expected failure has none."""
PASSES = "it already passes, so it cannot show when the work is done; add a criterion below"
SHORT_S = 10
"""Seconds; shorter durations are shown with tenths of a second."""
LINES = 3
"""Number of lines shown from the end of the output."""


def outcome(result: GateResult) -> tuple[Tone, str]:
    """Return a tone and a sentence for the result of trying the completion command."""
    seconds = result.duration_s
    took = f"{seconds:.1f}s" if seconds < SHORT_S else duration(seconds)
    if result.error:
        return "bad", result.error
    if result.cancelled:
        return "dim", f"stopped after {took}; no result"
    if result.timed_out:
        return (
            "bad",
            f"stopped after {took}, the limit of `gate.timeout_s`; "
            "a run would count this as a failure",
        )
    ended = f"exit {result.exit_code} after {took}"
    if result.counts is None:
        return _without_counts(result, ended)
    counts = result.counts
    if not counts.total:
        return "warn", f"{read_words(result)}, {ended}"
    says = f"{read_words(result)}, {ended}"
    if result.ok:
        return "warn", f"{says}; {PASSES}"
    if not counts.failed + counts.errors:
        return "warn", f"{says}, but the command fails; what else does it check?"
    begins = percent(100 * counts.passed / counts.total)
    return "plain", f"ready: {says}; a run would start at {begins}"


def _without_counts(result: GateResult, ended: str) -> tuple[Tone, str]:
    if result.ok:
        return "warn", f"{ended}; {PASSES}"
    return (
        "plain",
        f"{ended}; {read_words(result)}; only its exit code shows when the work is done",
    )


def last_lines(result: GateResult) -> list[str]:
    """Return the end of the output; empty if test counts suffice or the user stopped the trial."""
    counted = result.counts is not None and result.counts.total
    lines = [] if counted or result.cancelled else result.tail.splitlines()
    return [flat(line) for line in lines if line.strip()][-LINES:]


LOOK_S = 0.25
"""Seconds between updates while the command is being tried."""
KEEP_S = 1.0
"""Seconds after an edit before the draft is saved."""
ONE_MOMENT = "one moment: still checking your set-up"
LAST_LINE = 200
"""Maximum length shown, in characters, of the last line that a tried command has printed."""
TRY, STOP = "try it", "stop  "
STYLES = {"plain": "$foreground", "warn": "$warning", "bad": "$error", "dim": "$style-dim"}


class CommandLine(LineWidget):
    """The command line that would start the run; a click copies it."""

    class Clicked(Message):
        """The user clicked the command line."""

    def __init__(self) -> None:
        super().__init__(id="typed")
        self.command = ""

    def update(self, command: str) -> None:
        self.command = command
        self.repaint()

    def line(self, y: int, width: int) -> Line:
        shown = self.command.replace("\n", "⏎")
        return clip_line([(" types: ", "dim"), (flat(shown, 4 * width), "accent")], width)

    def on_click(self) -> None:
        self.post_message(self.Clicked())


class NewRun(Modal[list[str] | None]):
    """The form: fields above, the command line below, keys in the last row."""

    AUTO_FOCUS = "Objective"
    COMMON_KEYS = ()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
        Binding("ctrl+enter,ctrl+s", "start", show=False, priority=True),
        Binding("ctrl+t", "try", show=False, priority=True),
        Binding("ctrl+y", "copy", show=False, priority=True),
        Binding("escape", "leave", show=False, priority=True),
        Binding("pageup", "roll(-1)", show=False),
        Binding("pagedown", "roll(1)", show=False),
    ]
    STYLES: ClassVar[Sequence[str]] = (*Modal.STYLES, "new_run.tcss")

    def __init__(
        self, new_runs: Callable[[], NewRuns], clock: Callable[[], float] = monotonic
    ) -> None:
        """`new_runs` is slow to load, so the form calls it in a thread."""
        # Accept keys at once: early text belongs to the form, where letters are not commands.
        super().__init__(clock, guarded=False)
        self._new_runs = new_runs
        self._here: NewRuns | None = None
        """None until the environment has been checked."""
        self._ahead = ""
        """Text typed before the field was mounted."""
        self._trial: Trial | None = None
        self._began = 0.0
        self._save_timer: Timer | None = None
        self.page = Page()
        self.typed_line = CommandLine()

    def parts(self) -> ComposeResult:
        yield self.page
        yield self.typed_line

    def pairs(self) -> Sequence[Pair]:
        if self._trial is not None:
            return (("esc", "stop the command"), ("tab", "next field"))
        keys = (("ctrl+s", "start"), ("ctrl+t", "try command"), ("esc", "close, keep draft"))
        return (*keys, ("tab", "next"), ("ctrl+y", "copy"))

    def on_mount(self) -> None:
        """Check the environment in the background."""
        super().on_mount()
        self.page.objective.insert(self._ahead)
        background.run(self, self._load)

    def on_unmount(self) -> None:
        """Save the draft, however the form is closed."""
        self._save_draft()

    async def _load(self) -> None:
        try:
            here = await asyncio.to_thread(self._new_runs)
            place = await asyncio.to_thread(here.look)
            draft = await asyncio.to_thread(here.draft)
        except RalphError as error:
            self.report(str(error))
            return
        self.page.fill(place, None if draft == Draft() else draft)
        self._here = here
        self._show_command()
        with suppress(RalphError):
            self.page.ask_agents(tuple(await asyncio.to_thread(here.agents)))

    # typing -----------------------------------------------------------------------------------

    def on_page_edited(self) -> None:
        """Update the command line, and save the draft soon."""
        self._show_command()
        if self._save_timer is None and self._here is not None:
            self._save_timer = self.set_timer(KEEP_S, self._save_draft)

    def _show_command(self) -> None:
        if self._here is not None:
            self.typed_line.update(shell_line(arguments(self.page.draft, self.page.place)))

    def _save_draft(self) -> None:
        if self._save_timer is not None and self._here is not None:
            self._save_timer.stop()
            self._save_timer = None
            draft = self.page.draft
            # An unchanged proposal is not a draft: next time, propose the last started run.
            self._here.keep(Draft() if draft == self.page.place.last else draft)

    # trying -----------------------------------------------------------------------------------

    def action_try(self) -> None:
        """Run the completion command once, or stop it."""
        self.page.after_typing(self._try_or_stop)

    def _try_or_stop(self) -> None:
        page, here, command = self.page, self._here, self.page.command.value.strip()
        if self._trial is not None:
            self._stop_trial()
        elif page.by.value == "criterion":
            self.report("no command to try: the run asks you instead")
        elif not command:
            page.mark({"command": NO_COMMAND})
        elif here is None:
            self.report(ONE_MOMENT)
        else:
            background.run(self, partial(self._try, here, command))

    def _stop_trial(self) -> None:
        if self._trial is not None:
            self._trial.cancel()
            self.report("stopping the command")

    async def _try(self, here: NewRuns, command: str) -> None:
        self._began = monotonic()
        self.page.fields["command"].refuse("")
        self.page.try_it.rename(STOP)
        trial = self._trial = here.trial(command)
        self._tick()
        ticking = self.set_interval(LOOK_S, self._tick)
        self.show_keys()
        try:
            result = await asyncio.to_thread(trial.run)
        except RalphError as error:
            result = GateResult(ok=False, exit_code=None, error=one_line(str(error)))
        finally:
            trial.cancel()  # stop the command even if the form has been closed in the meantime
            self._trial = None
            ticking.stop()
        if self.is_mounted:
            self.page.try_it.rename(TRY)
            self._show_outcome(result)
            self.show_keys()

    def _tick(self) -> None:
        if self._trial is not None:
            runs = f"{PHASES['verifying'].glyph} running for {duration(monotonic() - self._began)}"
            said = clip(flat(self._trial.last_line(), LAST_LINE), LAST_LINE)
            hint = Content(f"{runs}; esc stops it")
            if said:
                hint = hint + Content.styled(f"\n│ {said}", STYLES["dim"])
            self.page.fields["command"].hint(hint)

    def _show_outcome(self, result: GateResult) -> None:
        tone, sentence = outcome(result)
        if result.ok and self.page.by.value == "command":
            self.page.offer_criterion()
        said = Content.styled(f"{MARKS[tone]}{flat(sentence, 1000)}", STYLES[tone])
        for line in last_lines(result):
            said = said + Content.styled(f"\n│ {line}", STYLES["dim"])
        self.page.fields["command"].hint(said)

    # leaving ----------------------------------------------------------------------------------

    def action_start(self) -> None:
        """Return the command line, or mark every error."""
        self.page.after_typing(self._start)

    def _start(self) -> None:
        here, draft, place = self._here, self.page.draft, self.page.place
        if here is None:
            self.report(ONE_MOMENT)
            return
        wrong = form_errors(draft, place, here.problem)
        self.page.mark(wrong)
        if wrong:
            self.report(f"cannot start yet: {count(len(wrong), 'error')} marked above")
        elif place.obstacles and self.page.agent.value != DEMO_AGENT:
            self.page.scroll_home(animate=False)
            self.report(f"cannot start here: {flat(place.obstacles[0].says)}")
        elif self._trial is not None:
            self.report("the command is still running; wait, or press esc to stop it")
        else:
            self.dismiss(arguments(draft, place))

    def action_leave(self) -> None:
        """Stop a running command first; otherwise close the form."""
        if self._trial is not None:
            self._stop_trial()
        else:
            self.page.after_typing(lambda: self.dismiss(None))

    def on_command_line_clicked(self) -> None:
        self.action_copy()

    def action_copy(self) -> None:
        self.page.after_typing(self._copy)

    def _copy(self) -> None:
        self.app.copy_to_clipboard(self.typed_line.command)
        self.report("copied the command line")

    def action_roll(self, by: int) -> None:
        self.page.roll(by)

    def accept_key(self, event: events.Key) -> bool:
        """Insert text that was typed before the field had the focus."""
        if self.focused is None and event.is_printable and event.character:
            if self.page.objective.is_mounted:
                self.page.objective.insert(event.character)
            else:
                self._ahead += event.character
            return True
        if event.is_printable and event.key != "question_mark":  # no text field has the focus
            self.report(f"{key_name(event)} does nothing here; tab goes to the next field")
            return True
        return False
