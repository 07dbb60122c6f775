"""What keys do on the cockpit's screen, and the answer that each of them gets.

Rule: an answer stands within the paint that follows its key: done, sent, or why not. What is only
sent is followed until the run has recorded what came of it, unless another key is pressed first.
"""

from bisect import bisect_left
from typing import TYPE_CHECKING, Literal

from ralph_tui.analysis.verdict import gone
from ralph_tui.ports.player import Player
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.text.format import count, place
from ralph_tui.text.terms import LEVELS, SEVERITIES, alarm_words
from ralph_tui.tui import moves
from ralph_tui.tui.actions import ACTIONS, BY_NAME, Action
from ralph_tui.tui.cockpit.dialogs import Dialogs
from ralph_tui.tui.cockpit.footer import verb as verb_of
from ralph_tui.tui.moves import Move
from ralph_tui.tui.outcomes import Outcome
from ralph_tui.tui.panes.end import EndPane
from ralph_tui.tui.panes.pane import Pane
from ralph_tui.tui.panes.tabs import tab

if TYPE_CHECKING:
    from ralph_tui.tui.cockpit.screen import CockpitScreen

FOLLOWED_S = 30.0
"""So long is it waited for what comes of a key."""


class Doing:
    """An `ActionTarget`: obeys keys on behalf of the screen."""

    def __init__(self, screen: "CockpitScreen") -> None:
        self._screen = screen
        self.source: Source = screen.source
        self._keys = screen.ralph.keys
        self._outcome: Outcome | None = None
        self._label = ""
        self._said = ""
        self._until = 0.0

    @property
    def dialogs(self) -> Dialogs:
        """See `ActionTarget`."""
        return self._screen.dialogs

    @property
    def _state(self) -> RunState:
        return self._screen.state

    def do(self, name: str) -> None:
        """Do what the table calls by this name, or say why not.

        Of two actions on one key the one that can be done now is meant.
        """
        action = BY_NAME[name]
        refused = self.refusal(action)
        if refused is not None:
            mine = set(self._keys.of(name))
            alike = [
                a for a in ACTIONS if mine & {*self._keys.of(a.name)} and self.refusal(a) is None
            ]
            action, refused = (alike[0], None) if alike else (action, refused)
        verb = verb_of(action, self._state, self.source.player)
        self._label = f"{self._keys.shown(action.name)} {verb}"
        if refused is not None:
            self._screen.say(f"{self._label}: {refused}")
            return
        if action.said:
            self._screen.say(f"{self._label}: {action.said}")
        if action.outcome is not None:
            self._outcome, self._said = action.outcome(self._state), ""
            self._until = self._screen.ralph.monotonic() + FOLLOWED_S
        action.do(self)

    def refusal(self, action: Action) -> str | None:
        """Why it cannot be done here and now; None: it can."""
        why = self._refusal(action)
        return None if why is None else self._keys.told(why)

    def _refusal(self, action: Action) -> str | None:
        # Of some more is known here than the state tells: the point that is selected, the record.
        match action.name:
            case "resume" | "again" as step:
                return self._screen.going_on.refusal(step)
            case "report" if self.source.lost:
                return None
            case "diff" if self.source.lost and not self._state.foreign.tool:
                return None
            case _ if self.source.lost and action.where == "live":
                says = gone(self._state, self.source.lost)
                return says.text.removeprefix(f"{says.word}: ")
            case "restore":
                return self._screen.history.refusal()
        return action.refusal(self._state)

    def follow(self) -> None:
        """Say what has come of the last key, once that is recorded."""
        if self._outcome is None:
            return
        said = self._outcome(self._state)
        if said is not None and said != self._said:
            self._said = said
            self._screen.say(f"{self._label}: {said}")
        elif self._screen.ralph.monotonic() > self._until:
            self._outcome = None

    def hush(self) -> None:
        """Another key is pressed: what comes of the last one is no news any more."""
        self._outcome = None

    # the actions ------------------------------------------------------------------------------

    def move(self, move: Move) -> None:
        """See `ActionTarget`; at once, so that the next key counts from there."""
        player = self.source.player
        if player is None:
            return
        before, played = (player.position, player.speed), player.playing
        move.how(player)
        moved = before != (player.position, player.speed)
        if not moved and not (player.playing or played):
            self._screen.say(move.still)
        elif moved and move in (moves.NEXT_MARK, moves.LAST_MARK):
            self._tell_mark(player)
        self._screen.tick()

    def _tell_mark(self, player: Player) -> None:
        """Which alarm or question was gone to."""
        number = bisect_left(player.marks, player.position, key=lambda mark: mark.position)
        mark, many = player.marks[number], len(player.marks)
        words = f"{LEVELS[SEVERITIES[mark.severity]].glyph} {alarm_words(mark.name)}"
        self._screen.say(f"{words}, {place(mark.iteration)} · {number + 1} of {many}")

    def step_iteration(self, by: int) -> None:
        """See `ActionTarget`."""
        if self.source.player is not None:
            self.move(moves.FORWARD_ITERATION if by > 0 else moves.BACK_ITERATION)
        elif not self._screen.looking_back.step(by):
            self._screen.say("there is no further iteration that way")

    def decide(self) -> None:
        """See `ActionTarget`."""
        self._screen.questions.reopen()

    def restore(self) -> None:
        """See `ActionTarget`."""
        if not self._screen.history.restore():
            self._screen.action_pane("iterations")

    def report(self) -> None:
        """See `ActionTarget`."""
        self._screen.exports.read()

    def go_on(self, name: Literal["resume", "again"]) -> None:
        """See `ActionTarget`."""
        self._screen.going_on.ask(name)

    def whole_diff(self) -> None:
        """See `ActionTarget`."""
        self._screen.history.whole()

    def toggle_zoom(self) -> None:
        """See `ActionTarget`."""
        self._screen.toggle_zoom()

    def show_prompt(self) -> None:
        """See `ActionTarget`."""
        self._screen.show_pane(self._screen.body.prompt_or_back())

    @property
    def _looked_at(self) -> tuple[Pane, str]:
        """The pane that is looked at, and what it is called."""
        body, focused = self._screen.body, self._screen.focused
        latest = body.panes[(body.recent or ["agent"])[0]]
        pane = focused if isinstance(focused, Pane) else latest
        name = pane.heading if isinstance(pane, EndPane) else tab(pane.key, shown=True).heading
        return pane, name

    def copy(self) -> None:
        """See `ActionTarget`; the terminal's own selection needs shift while the mouse is ours."""
        pane, name = self._looked_at
        rows = pane.text_rows()
        self._screen.app.copy_to_clipboard("\n".join(rows))
        self._screen.say(f"{self._label}: {count(len(rows), 'row')} of {name}")

    def export(self) -> None:
        """See `ActionTarget`."""
        rows = self._screen._compositor.render_strips()  # noqa: SLF001 - as Textual's own
        self._screen.exports.ask(rows, *self._looked_at)

    def search(self) -> None:
        """See `ActionTarget`."""
        if not self._screen.ralph.show_search():
            words = "this screen shows one run alone; ralph-tui search finds in all"
            self._screen.say(f"{self._label}: {words}")

    def next_theme(self) -> None:
        """See `ActionTarget`."""
        self._screen.say(self._screen.ralph.next_theme())

    def open_help(self) -> None:
        """See `ActionTarget`."""
        self._screen.open_help()

    def leave(self) -> None:
        """See `ActionTarget`."""
        self._screen.leave()
