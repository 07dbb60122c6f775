"""ONE table of everything a key can do in the cockpit.

Bindings, footer, command palette and help derive from it, and from `keys.TABLE`, which has the keys
themselves. Each action says what it does to the screen, and while it cannot be done, why not: an
ignored key is never silent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from ralph_tui.analysis.next_steps import refusal_to_go_on
from ralph_tui.commands import (
    Checkpoint,
    Command,
    Extend,
    Interrupt,
    RetryNow,
    RollOver,
    files_rest,
    over,
    refusal,
    stopping,
)
from ralph_tui.keys import TABLE, Keys, Where
from ralph_tui.ports.source import Source
from ralph_tui.state import RunState
from ralph_tui.tui import moves, outcomes
from ralph_tui.tui.moves import Move
from ralph_tui.tui.outcomes import Outcome


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


Task = Literal["watch", "steer", "go back", "leave", "replay"]
TASKS: tuple[Task, ...] = get_args(Task)
"""What somebody wants who looks for a key."""
Refusal = Callable[[RunState], str | None]
"""Why an action cannot be done in this state; None when it can."""

Effect = Callable[[ActionTarget], None]
"""What an action does."""


GRANT, TAKE_BACK = Extend(iterations=1), Extend(iterations=-1)


def _sends(command: Command) -> Effect:
    return lambda screen: screen.source.send(command)


def _moves(move: Move) -> Effect:
    return lambda screen: screen.move(move)


def _takes(command: Command) -> Refusal:
    """Refused as the run would refuse this command."""
    return lambda state: refusal(command, state)


def _always(_: RunState) -> str | None:
    return None


def _while_more_is_left(state: RunState) -> str | None:
    none_left = refusal(TAKE_BACK, state) is not None
    return stopping(state) or ("no later iteration is left to take back" if none_left else None)


def _while_asked(state: RunState) -> str | None:
    return over(state) or ("no question is open" if state.needs.question is None else None)


def _goes_on(state: RunState) -> bool:
    """It has no end yet; nor has one that is only about to begin."""
    return state.run.started is None or state.run.live


def _while_snapshots(state: RunState) -> str | None:
    if state.foreign.tool:
        return f"{state.foreign.tool} takes no snapshots to compare"
    if _goes_on(state):
        return "only when the run is over; for one iteration press 3, then enter"
    return None


def _while_resumable(state: RunState) -> str | None:
    return refusal_to_go_on("resume", state)


def _while_repeatable(state: RunState) -> str | None:
    return refusal_to_go_on("again", state)


def _while_reportable(state: RunState) -> str | None:
    return (
        "only when the run is over; {export} exports one of it so far" if _goes_on(state) else None
    )


def _while_files_rest(state: RunState) -> str | None:
    """As the run would refuse it, with the key that helps."""
    if files_rest(state):
        return over(state)
    asked = state.run.pause_requested
    when = "not before this iteration is over" if asked else "pause first: {pause}"
    return over(state) or f"the files are in use; {when}"


@dataclass(frozen=True)
class Action:
    """One row of the table; its keys, and what it does in words, stand in `keys.TABLE`."""

    name: str
    verb: str
    """What the footer says."""
    task: Task
    """Below which heading of the help it stands."""
    do: Effect
    refusal: Refusal = _always
    """Why not; an action in braces stands for its key."""
    footer: bool = False
    footer_where: Where = "everywhere"
    """On which screens the footer names it."""
    urgent: bool = False
    """The footer names it first, and only while it can be done."""
    spare: bool = False
    """The footer leaves it out first where room is short."""
    before: str = ""
    """The action whose key stands in front of its own in the footer: the way back."""
    said: str = ""
    """What the footer answers at once, where the screen does not show it by itself."""
    outcome: Callable[[RunState], Outcome] | None = None
    """Given the state as it is when the key is pressed: what is said as soon as it is recorded."""

    @property
    def help(self) -> str:
        """What it does."""
        return TABLE[self.name].help

    @property
    def where(self) -> Where:
        """On which screens it exists."""
        return TABLE[self.name].where

    @property
    def moves(self) -> bool:
        """It moves a replay in its time."""
        return TABLE[self.name].moves

    def shown_key(self, keys: Keys) -> str:
        """Its key as the footer prints it."""
        both = [keys.shown(name) for name in (self.before, self.name) if name]
        return ("" if set("".join(both)) <= set("←→") else " ").join(both)


ACTIONS: tuple[Action, ...] = (
    Action("decide", "answer", "steer",
           lambda screen: screen.decide(), _while_asked, footer=True, urgent=True),
    Action("diff", "diff", "watch",
           lambda screen: screen.whole_diff(), refusal=_while_snapshots, footer=True, urgent=True),
    Action("report", "report", "watch",
           lambda screen: screen.report(), refusal=_while_reportable, footer=True, urgent=True),
    Action("resume", "resume", "leave",
           lambda screen: screen.go_on("resume"), refusal=_while_resumable, footer=True,
           urgent=True),
    Action("again", "run again", "leave",
           lambda screen: screen.go_on("again"), refusal=_while_repeatable, footer=True,
           urgent=True),
    Action("retry", "retry now", "steer",
           _sends(RetryNow()), _takes(RetryNow()), footer=True, urgent=True,
           said="sent; the wait ends"),
    Action("pause", "pause", "steer",
           lambda screen: screen.dialogs.toggle_pause(), stopping, footer=True,
           outcome=outcomes.paused),
    Action("guide", "guide", "steer",
           lambda screen: screen.dialogs.guide(), stopping, footer=True),
    Action("abort", "abort", "steer",
           lambda screen: screen.dialogs.abort(), over, footer=True),
    # By key, a checkpoint is for what an agent does; a paused run takes one by command.
    Action("checkpoint", "checkpoint", "go back",
           _sends(Checkpoint()), _takes(Interrupt()), footer=True,
           said="sent; it is being taken", outcome=outcomes.captured),
    Action("roll_over", "roll over", "steer",
           lambda screen: screen.dialogs.roll_over(), _takes(RollOver()), footer=True,
           spare=True),
    Action("interrupt", "interrupt", "steer",
           _sends(Interrupt()), _takes(Interrupt()), footer=True,
           said="sent; it spends this iteration, what it did is measured",
           outcome=outcomes.interrupted),
    Action("grant", "more", "steer",
           _sends(GRANT), _takes(GRANT),
           said="sent; one iteration more", outcome=outcomes.granted),
    Action("take_back", "fewer", "steer",
           _sends(TAKE_BACK), _while_more_is_left,
           said="sent; one iteration less", outcome=outcomes.granted),
    Action("restore", "restore", "go back",
           lambda screen: screen.restore(), _while_files_rest, footer=True),
    Action("play", "play", "replay", _moves(moves.PLAY), footer=True),
    Action("back", "event", "replay", _moves(moves.BACK)),
    Action("forward", "event", "replay", _moves(moves.FORWARD), footer=True, before="back"),
    Action("back_iteration", "iteration", "watch",
           lambda screen: screen.step_iteration(-1)),
    Action("forward_iteration", "iteration", "watch",
           lambda screen: screen.step_iteration(1), footer=True, footer_where="replay",
           before="back_iteration"),
    Action("slower", "slower", "replay", _moves(moves.SLOWER)),
    Action("faster", "speed", "replay", _moves(moves.FASTER), footer=True, before="slower"),
    Action("start", "start", "replay", _moves(moves.START)),
    Action("end", "end", "replay", _moves(moves.END)),
    Action("next_mark", "next alarm", "replay", _moves(moves.NEXT_MARK)),
    Action("previous_mark", "last alarm", "replay", _moves(moves.LAST_MARK)),
    Action("copy_text", "copy", "watch",
           lambda screen: screen.copy()),
    Action("export", "export", "watch",
           lambda screen: screen.export()),
    Action("zoom", "zoom", "watch",
           lambda screen: screen.toggle_zoom(), footer=True),
    Action("prompt", "prompt", "watch",
           lambda screen: screen.show_prompt()),
    Action("search", "search", "watch",
           lambda screen: screen.search()),
    Action("palette", "commands", "watch",
           lambda screen: screen.dialogs.palette()),
    Action("theme", "theme", "watch",
           lambda screen: screen.next_theme()),
    Action("help", "help", "watch",
           lambda screen: screen.open_help(), footer=True),
    Action("leave", "leave", "leave",
           lambda screen: screen.leave(), footer=True),
)  # fmt: skip

BY_NAME: dict[str, Action] = {action.name: action for action in ACTIONS}


def offered(action: Action, *, live: bool) -> bool:
    """Whether the action exists at all on this kind of screen."""
    return _fits(action.where, live=live)


def in_footer(action: Action, *, live: bool) -> bool:
    """Whether the footer of this kind of screen names it."""
    return action.footer and offered(action, live=live) and _fits(action.footer_where, live=live)


def _fits(where: Where, *, live: bool) -> bool:
    return where in ("everywhere", "fleet too", "home too") or (where == "live") == live


EDIT = "e"
"""In the prompt pane it asks for the next prompt before it is sent."""
SELECTING = ("left", "right", "space")
"""Keys that mean something in the checkpoints alone, where nothing is replayed."""


def ignored(key: str, keys: Keys, *, live: bool) -> str:
    """What is said of a key that does nothing here."""
    if live and key == EDIT:
        return "edits the next prompt: press 8 first"
    action = next((action for action in ACTIONS if key in keys.of(action.name)), None)
    if action is None:
        return f"does nothing; {keys.shown('help')} lists the keys"
    if live and key in SELECTING:
        return "selects or marks an iteration: press 3 first"
    return f"{action.verb}: only in a {'replay' if live else 'live run'}"
