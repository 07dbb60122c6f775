"""The cockpit's screen: places the panes, refreshes them at the pace of `rhythm`, and handles keys.

Rule: the only run state here is the `RunState` that the source updates. The table of actions
decides whether a key may act, and if not, why.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType

from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.format import count
from ralph_tui.tui.actions import BY_NAME, ignored_text
from ralph_tui.tui.cockpit import key_bindings, layout, preloading
from ralph_tui.tui.cockpit.body import Body
from ralph_tui.tui.cockpit.continuation import Continuation
from ralph_tui.tui.cockpit.dialogs import Dialogs
from ralph_tui.tui.cockpit.export_view import ExportView
from ralph_tui.tui.cockpit.footer import Note
from ralph_tui.tui.cockpit.history_view import HistoryView
from ralph_tui.tui.cockpit.navigator import MOVES, Navigator
from ralph_tui.tui.cockpit.question_presenter import EndAlert, QuestionPresenter
from ralph_tui.tui.cockpit.rhythm import Rhythm
from ralph_tui.tui.cockpit.run_screen import RunScreen
from ralph_tui.tui.cockpit.scrubber import Scrubber
from ralph_tui.tui.cockpit.view_log import ViewLog
from ralph_tui.tui.modals.modal import key_name
from ralph_tui.tui.panes.end import EndPane
from ralph_tui.tui.panes.header import HEADS
from ralph_tui.tui.panes.learnings import LearningsPane
from ralph_tui.tui.panes.pane import Pane


class EndSummary:
    """Shows the end summary when the run ends; the user can close and reopen it."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._over = False

    def follow(self, state: RunState, *, lost: bool | str) -> bool:
        """Return True if this state opens or closes the summary, as the run has ended or continues.

        `lost` is true if the run's process is gone, though no end was recorded.
        """
        over = state.run.started is not None and (bool(lost) or not state.run.live)
        if over == self._over:
            return False
        self._over = self._body.ended = over
        return True

    def toggle(self) -> bool:
        """Close or reopen the summary; return False if the run is still going."""
        if self._over:
            self._body.ended = not self._body.ended
        return self._over

    def uncover(self, name: str) -> None:
        """Close the summary if it covers this pane; it never covers a zoomed one."""
        if self._body.zoomed is None and name in self._body.covered:
            self._body.ended = False


class CockpitScreen(RunScreen):
    """The cockpit of a live or recorded run; only the source knows which."""

    HORIZONTAL_BREAKPOINTS = layout.HORIZONTAL
    VERTICAL_BREAKPOINTS = layout.VERTICAL

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.PLACES]

    RECORDS_VIEWS = False
    """True to record what the user viewed even if the run is not live."""

    def __init__(self, source: Source, *, notified: bool = False) -> None:
        super().__init__(source)
        self._stamp: object = None
        self.rhythm = Rhythm(notified=notified)  # `notified`: each new event calls `speed_up`
        keys = self.ralph.keys
        self.body = Body(source, keys, lambda name: self.refusal(BY_NAME[name]))
        self.heads = tuple(
            kind(keys, recorded=not source.live, replay=source.player is not None) for kind in HEADS
        )
        self.note = Note(source.note)
        self.dialogs = Dialogs(self)
        self.on_activity = self.dialogs.report_presence
        self.questions = QuestionPresenter(self, self.dialogs.keep_text)
        self.continuation = Continuation(self)
        self.history = HistoryView(self, self.body.timeline, self.continuation)
        self.exports = ExportView(self)
        self.view_log = ViewLog(self, enabled=self.RECORDS_VIEWS or source.live)
        self.navigator = Navigator(self, self.body, self.tick)
        self.end_summary = EndSummary(self.body)
        self.effects = self._effects()
        self.refusals = {
            "resume": lambda: self.continuation.refusal("resume"),
            "again": lambda: self.continuation.refusal("again"),
            "restore": self.history.refusal,
        }
        self.end_alert = EndAlert(self.ralph, source)
        self.scrubber = Scrubber(source.player) if source.player is not None else None
        for bound, does, moves in key_bindings.of_actions(keys, live=source.live):
            self._bindings.bind(bound, does, show=False, priority=moves)
        # Before the first styling: each later change would restyle the whole screen.
        self.update_classes(self.body.style_classes(), update=False)

    def _effects(self) -> Mapping[str, Callable[[], object]]:
        dialogs, navigator = self.dialogs, self.navigator
        return {
            **{name: partial(navigator.move, name) for name in MOVES},
            "back_iteration": partial(navigator.step_iteration, -1),
            "forward_iteration": partial(navigator.step_iteration, 1),
            "decide": self.questions.reopen,
            "diff": self.history.whole,
            "report": self.exports.read,
            "resume": lambda: self.continuation.ask("resume"),
            "again": lambda: self.continuation.ask("again"),
            "pause": dialogs.toggle_pause,
            "guide": dialogs.guide,
            "abort": dialogs.abort,
            "roll_over": dialogs.roll_over,
            "restore": self._restore,
            "copy_text": self._copy,
            "export": self._export,
            "zoom": self.toggle_zoom,
            "prompt": lambda: self.show_pane(self.body.prompt_or_back()),
            "search": self._search,
            "palette": dialogs.palette,
            "theme": lambda: self.report(self.ralph.next_theme()),
            "help": self.open_help,
            "leave": self.leave,
        }

    def before_key(self) -> None:
        """Clear the feedback for the previous key."""
        self.footer.clear_notice()
        self.forget_key()
        if self.scrubber is not None:
            self.scrubber.end_pointing()
        self.view_log.key()
        self.rhythm.speed_up()

    def interrupt(self) -> None:
        self.dialogs.interrupt()

    def ask_to_leave(self) -> None:
        self.dialogs.ask_to_leave()

    def hang_up(self, by: str) -> None:
        self.view_log.disable()
        self.dialogs.hang_up(by)

    def compose(self) -> ComposeResult:
        yield from (*self.heads, self.note, self.body)
        if self.scrubber is not None:
            yield self.scrubber
        yield self.footer

    def on_mount(self) -> None:
        self.source.start()
        self._arrange()
        self.set_focus(self.scrubber or self.body.panes["agent"])
        self.tick()
        self.rhythm.begin(self, self.tick)
        preloading.begin(self)

    def on_unmount(self) -> None:
        self.questions.end()
        self.end_alert.end()
        self.view_log.end()
        self.source.stop()

    def tick(self) -> None:
        """Bring the screen up to date; draw nothing if nothing changed."""
        player = self.source.player
        if player is not None:
            player.resting = not self.in_front  # a user who has opened something wants to read it
        self.state = self.source.poll(self.state, self.ralph.monotonic())
        self.on_state()
        self.view_log.shown()
        clock = self.source.clock(self.state)
        moved = (player.position, player.playing, player.speed, player.length) if player else None
        # The display changes with an event, a seek or a new second; most ticks bring none.
        front = self.in_front
        fingerprint = (
            id(self.state),
            self.state.seq,
            moved,
            self.source.note,
            self.source.lost,
            front,
        )
        self.rhythm.polled(fingerprint)
        stamp = (fingerprint, int(clock.timestamp()))
        if stamp != self._stamp and (front or self.rhythm.draws_behind):
            self._sync()
            self._stamp = stamp
        else:
            self.footer.expire()
        self.questions.follow()
        self.follow_key()
        self.dialogs.learnings.follow()
        while self.source.refused:
            self.dialogs.refused(*self.source.refused.popleft())
        if self.dialogs.can_leave():
            self.app.exit()
        else:
            self.end_alert.follow(self.state)

    def on_state(self) -> None:
        """React to a new state before it is drawn and before any question opens."""

    def _sync(self) -> None:
        self._stamp, state, clock = None, self.state, self.source.clock(self.state)
        for head in self.heads:
            head.sync(state, clock, lost=self.source.lost, keys=self.in_front)
        self.note.report(self.source.note)
        if self.end_summary.follow(state, lost=self.source.lost):
            self._place_end()
        self.body.sync(state, clock)
        self.history.follow()
        self.footer.sync(state)
        if self.scrubber is not None:
            self.scrubber.sync(state, clock)

    # places -----------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Make the focused pane the one viewed last."""
        pane = event.widget
        others = self.body.panes.keys() - self.body.recent[:1]
        if isinstance(pane, Pane) and pane.key in others:
            self._show_pane(pane.key)

    def _show_pane(self, name: str) -> None:
        self.body.bring_forward(name)
        self._arrange()

    def _arrange(self) -> None:
        self.body.place_panes()
        self._sync()

    def _place_end(self) -> None:
        """Show or hide the end summary; the focus never stays on a pane that it hides."""
        self.body.place_panes()
        focused, end = self.focused, self.body.end
        if focused is not None and not focused.display:
            before = self.body.panes[(self.body.recent or ["agent"])[0]]
            self.set_focus(end if end.display else before)

    def action_pane(self, name: str) -> None:
        """Show and focus a pane, closing an end summary that covers it."""
        self.end_summary.uncover(name)
        self.show_pane(name)

    def show_pane(self, name: str) -> None:
        """Show and focus a pane; if the end summary covers it, focus the summary."""
        self._show_pane(name)
        pane = self.body.panes[name]
        # Focus at once: the next key may already be queued, and it belongs to this pane.
        self.set_focus(pane if pane.display else self.body.end)

    def action_next(self, by: int) -> None:
        """Focus the next pane, tabs included; the scrubber comes before the first."""
        stops = [*(["scrubber"] if self.scrubber else []), *layout.ORDER]
        here = (
            self.focused.id if self.focused is not None and self.focused.id in stops else stops[0]
        )
        name = stops[(stops.index(str(here)) + by) % len(stops)]
        if name == "scrubber" and self.scrubber is not None:
            self.set_focus(self.scrubber)
        else:
            self.action_pane(name)

    def action_unzoom(self) -> None:
        """Return to the latest iteration, else to all panes, else toggle the end summary."""
        if self.navigator.end():
            self.footer.report("showing the latest iteration")
        elif self.body.zoomed is not None:
            self.show_pane(self.body.unzoom())
        elif self.end_summary.toggle():
            self._place_end()
            self._sync()
        else:
            self.footer.report("esc: all panes are already shown")

    # actions ----------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Report why a key is ignored."""
        if event.key in self.active_bindings or not self.in_front:
            return
        why = ignored_text(event.key, self.ralph.keys, live=self.source.live)
        self.footer.report(f"{key_name(event)} {why}")

    def _restore(self) -> None:
        if not self.history.restore():
            self.action_pane("iterations")

    @property
    def _current_pane(self) -> tuple[Pane, str]:
        """The pane in use, and its name."""
        latest = self.body.panes[(self.body.recent or ["agent"])[0]]
        pane = self.focused if isinstance(self.focused, Pane) else latest
        name = pane.heading if isinstance(pane, EndPane) else layout.NAMES[pane.key][0]
        return pane, name

    def _copy(self) -> None:
        """Copy the whole pane; the terminal's own selection needs shift while the mouse is ours."""
        pane, name = self._current_pane
        rows = pane.text_rows()
        self.app.copy_to_clipboard("\n".join(rows))
        self.report(f"{self.label}: {count(len(rows), 'row')} of {name}")

    def _export(self) -> None:
        rows = self._compositor.render_strips()  # as Textual does
        self.exports.ask(rows, *self._current_pane)

    def _search(self) -> None:
        if not self.ralph.show_search():
            words = "this screen shows only one run; ralph-tui search covers all"
            self.report(f"{self.label}: {words}")

    def on_iterations_pane_requested(self) -> None:
        """Show the changes of the selected point."""
        self.history.changes()

    def toggle_zoom(self) -> None:
        """Zoom the pane viewed last, or show all panes again."""
        if self.body.zoomed is not None:
            self.action_unzoom()
            return
        self.body.zoomed = (self.body.recent or ["progress"])[0]
        if self.focused is self.scrubber and self.scrubber is not None:
            self._arrange()
        else:
            self.show_pane(self.body.zoomed)

    def on_pane_opened(self, message: Pane.Opened) -> None:
        """Show the evidence of a log entry."""
        self.dialogs.detail(message.title, message.body)

    def on_learnings_pane_requested(self, message: LearningsPane.Requested) -> None:
        self.dialogs.learnings.show(message.learning_id)

    def on_pane_no_effect(self, message: Pane.NoEffect) -> None:
        """Report when a movement key has no effect."""
        self.footer.report(message.why)

    def open_help(self) -> None:
        self.dialogs.help()

    def leave(self) -> None:
        self.dialogs.leave()

    def on_prompt_pane_edit_requested(self) -> None:
        """Edit the next prompt before it is sent."""
        self.dialogs.edit_prompt()
