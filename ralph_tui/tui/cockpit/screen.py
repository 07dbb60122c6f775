"""The cockpit's screen: puts panes in place, feeds them as `rhythm` says, and obeys keys.

Rule: it holds no state of the run but the `RunState` its source brings up to date; what a key may
do, and why not, is asked of the table of actions.
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
from ralph_tui.tui.actions import BY_NAME, ignored
from ralph_tui.tui.cockpit import key_bindings, layout, preloading
from ralph_tui.tui.cockpit.body import Body
from ralph_tui.tui.cockpit.dialogs import Dialogs
from ralph_tui.tui.cockpit.export_view import ExportView
from ralph_tui.tui.cockpit.footer import Note
from ralph_tui.tui.cockpit.going_on import GoingOn
from ralph_tui.tui.cockpit.history_view import HistoryView
from ralph_tui.tui.cockpit.looks import Looks
from ralph_tui.tui.cockpit.moving import MOVES, Moving
from ralph_tui.tui.cockpit.question_presenter import EndCall, QuestionPresenter
from ralph_tui.tui.cockpit.rhythm import Rhythm
from ralph_tui.tui.cockpit.run_screen import RunScreen
from ralph_tui.tui.cockpit.scrubber import Scrubber
from ralph_tui.tui.modals.modal import key_name
from ralph_tui.tui.panes.end import EndPane
from ralph_tui.tui.panes.header import HEADS
from ralph_tui.tui.panes.learnings import LearningsPane
from ralph_tui.tui.panes.pane import Pane


class Ending:
    """Brings the end up once; who has put it away brings it back with the same key."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._over = False

    def follow(self, state: RunState, *, lost: bool | str) -> bool:
        """Whether it has come or gone with this state: the end has come, or the run goes on.

        `lost`: nobody works on it any more, though no end was recorded.
        """
        over = state.run.started is not None and (bool(lost) or not state.run.live)
        if over == self._over:
            return False
        self._over = self._body.ended = over
        return True

    def toggle(self) -> bool:
        """Put it away, or bring it back; False while the run goes on."""
        if self._over:
            self._body.ended = not self._body.ended
        return self._over

    def give_way(self, name: str) -> None:
        """A pane was called that may lie below it; one that has the screen alone does not."""
        if self._body.zoomed is None and name in self._body.covered:
            self._body.ended = False


class CockpitScreen(RunScreen):
    """Live and replay alike; only the source knows which."""

    HORIZONTAL_BREAKPOINTS = layout.HORIZONTAL
    VERTICAL_BREAKPOINTS = layout.VERTICAL

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.PLACES]

    KEEPS_SEEN = False
    """What is seen here is put down also where it is no live run."""

    def __init__(self, source: Source, *, called: bool = False) -> None:
        super().__init__(source)
        self._stamp: object = None
        self.rhythm = Rhythm(called=called)  # by whoever fills the source
        keys = self.ralph.keys
        self.body = Body(source, keys, lambda name: self.refusal(BY_NAME[name]))
        self.heads = tuple(
            kind(keys, recorded=not source.live, replay=source.player is not None) for kind in HEADS
        )
        self.note = Note(source.note)
        self.dialogs = Dialogs(self)
        self.when_here = self.dialogs.tell_presence
        self.questions = QuestionPresenter(self, self.dialogs.keep_draft)
        self.going_on = GoingOn(self)
        self.history = HistoryView(self, self.body.timeline, self.going_on)
        self.exports = ExportView(self)
        self.looks = Looks(self, kept=self.KEEPS_SEEN or source.live)
        self.moving = Moving(self, self.body, self.tick)
        self.ending = Ending(self.body)
        self.effects = self._effects()
        self.refusals = {
            "resume": lambda: self.going_on.refusal("resume"),
            "again": lambda: self.going_on.refusal("again"),
            "restore": self.history.refusal,
        }
        self.end_call = EndCall(self.ralph, source)
        self.scrubber = Scrubber(source.player) if source.player is not None else None
        for bound, does, moves in key_bindings.of_actions(keys, live=source.live):
            self._bindings.bind(bound, does, show=False, priority=moves)
        # Before anything is styled: with each later change all that is here would be styled anew.
        self.update_classes(self.body.looks(), update=False)

    def _effects(self) -> Mapping[str, Callable[[], object]]:
        dialogs, moving = self.dialogs, self.moving
        return {
            **{name: partial(moving.move, name) for name in MOVES},
            "back_iteration": partial(moving.step_iteration, -1),
            "forward_iteration": partial(moving.step_iteration, 1),
            "decide": self.questions.reopen,
            "diff": self.history.whole,
            "report": self.exports.read,
            "resume": lambda: self.going_on.ask("resume"),
            "again": lambda: self.going_on.ask("again"),
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
            "theme": lambda: self.say(self.ralph.next_theme()),
            "help": self.open_help,
            "leave": self.leave,
        }

    def key_came(self) -> None:
        """See `BaseScreen`: an older answer never stands beside a newer key."""
        self.footer.hush()
        self.hush_key()
        if self.scrubber is not None:
            self.scrubber.end_pointing()
        self.looks.key()
        self.rhythm.happened()

    def interrupt(self) -> None:
        self.dialogs.interrupt()

    def ask_to_leave(self) -> None:
        self.dialogs.ask_to_leave()

    def hang_up(self, by: str) -> None:
        self.looks.hung_up()
        self.dialogs.hang_up(by)

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield from (*self.heads, self.note, self.body)
        if self.scrubber is not None:
            yield self.scrubber
        yield self.footer

    def on_mount(self) -> None:
        """Begin."""
        self.source.start()
        self._arrange()
        self.set_focus(self.scrubber or self.body.panes["agent"])
        self.tick()
        self.rhythm.begin(self, self.tick)
        preloading.begin(self)

    def on_unmount(self) -> None:
        """The screen is gone."""
        self.questions.end()
        self.end_call.end()
        self.looks.end()
        self.source.stop()

    def tick(self) -> None:
        """Bring everything up to date; nothing is drawn when nothing changed."""
        player = self.source.player
        if player is not None:
            player.resting = not self.in_front  # who opens something wants to read it
        self.state = self.source.poll(self.state, self.ralph.monotonic())
        self.came()
        self.looks.shown()
        clock = self.source.clock(self.state)
        moved = (player.position, player.playing, player.speed, player.length) if player else None
        # What is shown changes with an event, a move, or the second: most ticks bring none.
        front = self.in_front
        told = (id(self.state), self.state.seq, moved, self.source.note, self.source.lost, front)
        self.rhythm.looked(told)
        stamp = (told, int(clock.timestamp()))
        if stamp != self._stamp and (front or self.rhythm.behind):
            self._sync()
            self._stamp = stamp
        else:
            self.footer.expire()
        self.questions.follow()
        self.follow_key()
        self.dialogs.learnings.follow()
        while self.source.refused:
            self.dialogs.refused(*self.source.refused.popleft())
        if self.dialogs.may_go():
            self.app.exit()
        else:
            self.end_call.follow(self.state)

    def came(self) -> None:
        """What has come is taken in, and nothing of it is asked or drawn yet."""

    def _sync(self) -> None:
        self._stamp, state, clock = None, self.state, self.source.clock(self.state)
        for head in self.heads:
            head.sync(state, clock, lost=self.source.lost, keys=self.in_front)
        self.note.say(self.source.note)
        if self.ending.follow(state, lost=self.source.lost):
            self._place_end()
        self.body.sync(state, clock)
        self.history.follow()
        self.footer.sync(state)
        if self.scrubber is not None:
            self.scrubber.sync(state, clock)

    # places -----------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        """Another size may mean other places."""
        self._arrange()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """What is focused was looked at last."""
        pane = event.widget
        others = self.body.panes.keys() - self.body.recent[:1]
        if isinstance(pane, Pane) and pane.key in others:
            self._look_at(pane.key)

    def _look_at(self, name: str) -> None:
        self.body.look_at(name)
        self._arrange()

    def _arrange(self) -> None:
        self.body.place_panes()
        self._sync()

    def _place_end(self) -> None:
        """The end of the run comes or goes; the focus never stays on what it hides."""
        self.body.place_panes()
        focused, end = self.focused, self.body.end
        if focused is not None and not focused.display:
            before = self.body.panes[(self.body.recent or ["agent"])[0]]
            self.set_focus(end if end.display else before)

    def action_pane(self, name: str) -> None:
        """Show a pane and focus it, also where the end of the run stands."""
        self.ending.give_way(name)
        self.show_pane(name)

    def show_pane(self, name: str) -> None:
        """Show a pane and focus it; where the end of the run stands in its place, focus that."""
        self._look_at(name)
        pane = self.body.panes[name]
        # At once: the next key may already be waiting, and means the pane that was just called.
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
        """The latest iteration again, then all panes."""
        if self.moving.end():
            self.footer.say("the latest iteration again")
        elif self.body.zoomed is not None:
            self.show_pane(self.body.unzoom())
        elif self.ending.toggle():
            self._place_end()
            self._sync()
        else:
            self.footer.say("esc: all panes are shown already")

    # actions ----------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """An ignored key says why."""
        if event.key in self.active_bindings or not self.in_front:
            return
        why = ignored(event.key, self.ralph.keys, live=self.source.live)
        self.footer.say(f"{key_name(event)} {why}")

    def _restore(self) -> None:
        if not self.history.restore():
            self.action_pane("iterations")

    @property
    def _looked_at(self) -> tuple[Pane, str]:
        """The pane that is looked at, and what it is called."""
        latest = self.body.panes[(self.body.recent or ["agent"])[0]]
        pane = self.focused if isinstance(self.focused, Pane) else latest
        name = pane.heading if isinstance(pane, EndPane) else layout.NAMES[pane.key][0]
        return pane, name

    def _copy(self) -> None:
        """The pane's text; the terminal's own selection needs shift while the mouse is ours."""
        pane, name = self._looked_at
        rows = pane.text_rows()
        self.app.copy_to_clipboard("\n".join(rows))
        self.say(f"{self.label}: {count(len(rows), 'row')} of {name}")

    def _export(self) -> None:
        rows = self._compositor.render_strips()  # as Textual's own
        self.exports.ask(rows, *self._looked_at)

    def _search(self) -> None:
        if not self.ralph.show_search():
            words = "this screen shows one run alone; ralph-tui search finds in all"
            self.say(f"{self.label}: {words}")

    def on_iterations_pane_wanted(self) -> None:
        """Show what changed there."""
        self.history.changes()

    def toggle_zoom(self) -> None:
        """The pane looked at last alone, or all again."""
        if self.body.zoomed is not None:
            self.action_unzoom()
            return
        self.body.zoomed = (self.body.recent or ["progress"])[0]
        if self.focused is self.scrubber and self.scrubber is not None:
            self._arrange()
        else:
            self.show_pane(self.body.zoomed)

    def on_pane_opened(self, message: Pane.Opened) -> None:
        """Show an entry's evidence."""
        self.dialogs.detail(message.title, message.body)

    def on_learnings_pane_wanted(self, message: LearningsPane.Wanted) -> None:
        """Show the card of a learning."""
        self.dialogs.learnings.show(message.learning_id)

    def on_pane_still(self, message: Pane.Still) -> None:
        """A key that changes nothing is answered, too."""
        self.footer.say(message.why)

    def open_help(self) -> None:
        self.dialogs.help()

    def leave(self) -> None:
        self.dialogs.leave()

    def on_prompt_pane_edit_wanted(self) -> None:
        """Edit the next prompt before it is sent."""
        self.dialogs.edit_prompt()
