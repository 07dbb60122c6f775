"""ONE table of everything a key can do in the cockpit.

Bindings, footer, command palette, help and the README's key list derive from it. Each action says
what it does to the screen, and while it cannot be done, why not: an ignored key is never silent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

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
from ralph_tui.state import RunState
from ralph_tui.tui import moves, outcomes
from ralph_tui.tui.action_target import ActionTarget
from ralph_tui.tui.moves import Move
from ralph_tui.tui.outcomes import Outcome

Where = Literal["live", "replay", "everywhere"]
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


def _while_snapshots(state: RunState) -> str | None:
    if state.foreign.tool:
        return f"{state.foreign.tool} takes no snapshots to compare"
    return "no question is open" if state.run.live else None


def _while_resumable(state: RunState) -> str | None:
    return refusal_to_go_on("resume", state)


def _while_repeatable(state: RunState) -> str | None:
    return refusal_to_go_on("again", state)


def _while_reportable(state: RunState) -> str | None:
    return "the run goes on; e writes a report of it as it is now" if state.run.live else None


def _while_files_rest(state: RunState) -> str | None:
    """As the run would refuse it, with the key that helps."""
    if files_rest(state):
        return over(state)
    asked = state.run.pause_requested
    when = "not before this iteration is over" if asked else "pause first: p"
    return over(state) or f"the files are in use; {when}"


@dataclass(frozen=True)
class Action:
    """One row of the table."""

    name: str
    keys: str
    """Textual's key names, comma-separated; the first is the one that is shown."""
    verb: str
    """What the footer says."""
    help: str
    """What it does, for help and palette: at most 27 cells, half a line of a small terminal."""
    task: Task
    """Below which heading of the help it stands."""
    do: Effect
    where: Where = "everywhere"
    refusal: Refusal = _always
    footer: bool = False
    footer_where: Where = "everywhere"
    """On which screens the footer names it."""
    urgent: bool = False
    """The footer names it first, and only while it can be done."""
    spare: bool = False
    """The footer leaves it out first where room is short."""
    key_display: str = ""
    """How the key is written; empty: as it is named."""
    said: str = ""
    """What the footer answers at once, where the screen does not show it by itself."""
    moves: bool = False
    """Also where it means something without a replay, it moves a replay in its time."""
    outcome: Callable[[RunState], Outcome] | None = None
    """Given the state as it is when the key is pressed: what is said as soon as it is recorded."""

    @property
    def shown_key(self) -> str:
        """The key as footer and help print it."""
        return self.key_display or self.keys.split(",")[0]


ACTIONS: tuple[Action, ...] = (
    Action("decide", "d", "decide", "answer the open question", "steer",
           lambda screen: screen.decide(), "live", _while_asked, footer=True, urgent=True),
    Action("diff", "d", "diff", "when over: what it changed", "watch",
           lambda screen: screen.whole_diff(), refusal=_while_snapshots, footer=True, urgent=True),
    Action("report", "o", "report", "when over: its report", "watch",
           lambda screen: screen.report(), refusal=_while_reportable, footer=True, urgent=True),
    Action("resume", "u", "resume", "go on with it (asks)", "leave",
           lambda screen: screen.go_on("resume"), refusal=_while_resumable, footer=True,
           urgent=True),
    Action("again", "n", "run again", "the same anew (asks)", "leave",
           lambda screen: screen.go_on("again"), refusal=_while_repeatable, footer=True,
           urgent=True),
    Action("retry", "w", "retry now", "try again now, do not wait", "steer",
           _sends(RetryNow()), "live", _takes(RetryNow()), footer=True, urgent=True,
           said="sent; the wait ends"),
    Action("pause", "p", "pause", "pause, or go on again", "steer",
           lambda screen: screen.dialogs.toggle_pause(), "live", stopping, footer=True,
           outcome=outcomes.paused),
    Action("guide", "g", "guide", "send words to the agent", "steer",
           lambda screen: screen.dialogs.guide(), "live", stopping, footer=True),
    Action("abort", "a", "abort", "abort the run (asks)", "steer",
           lambda screen: screen.dialogs.abort(), "live", over, footer=True),
    # By key, a checkpoint is for what an agent does; a paused run takes one by command.
    Action("checkpoint", "c", "checkpoint", "save the files as they are", "go back",
           _sends(Checkpoint()), "live", _takes(Interrupt()), footer=True,
           said="sent; it is being taken", outcome=outcomes.captured),
    Action("roll_over", "C", "roll over", "a fresh session (asks)", "steer",
           lambda screen: screen.dialogs.roll_over(), "live", _takes(RollOver()), footer=True,
           spare=True),
    Action("interrupt", "i", "interrupt", "end this turn, and measure", "steer",
           _sends(Interrupt()), "live", _takes(Interrupt()), footer=True,
           said="sent; it spends this iteration, what it did is measured",
           outcome=outcomes.interrupted),
    Action("grant", "plus", "more", "one iteration more", "steer",
           _sends(GRANT), "live", _takes(GRANT), key_display="+",
           said="sent; one iteration more", outcome=outcomes.granted),
    Action("take_back", "minus", "fewer", "one iteration less", "steer",
           _sends(TAKE_BACK), "live", _while_more_is_left, key_display="-",
           said="sent; one iteration less", outcome=outcomes.granted),
    Action("restore", "r", "restore", "restore that point (asks)", "go back",
           lambda screen: screen.restore(), "live", _while_files_rest, footer=True),
    Action("play", "space", "play", "play or hold", "replay",
           _moves(moves.PLAY), "replay", footer=True),
    Action("back", "left,comma", "event", "one event back", "replay",
           _moves(moves.BACK), "replay", key_display="←"),
    Action("forward", "right,full_stop", "event", "one event forward", "replay",
           _moves(moves.FORWARD), "replay",
           footer=True, key_display="←→"),
    Action("back_iteration", "less_than_sign,shift+left", "iteration",
           "one iteration back", "watch",
           lambda screen: screen.step_iteration(-1), key_display="<", moves=True),
    Action("forward_iteration", "greater_than_sign,shift+right", "iteration",
           "one iteration forward", "watch",
           lambda screen: screen.step_iteration(1), footer=True, footer_where="replay",
           key_display="< >", moves=True),
    Action("slower", "left_square_bracket", "slower", "half the speed", "replay",
           _moves(moves.SLOWER), "replay", key_display="["),
    Action("faster", "right_square_bracket", "speed", "double the speed", "replay",
           _moves(moves.FASTER), "replay",
           footer=True, key_display="[ ]"),
    Action("start", "home", "start", "go to the beginning", "replay",
           _moves(moves.START), "replay"),
    Action("end", "end", "end", "go to the end", "replay",
           _moves(moves.END), "replay"),
    Action("next_mark", "m", "next alarm", "next alarm or question", "replay",
           _moves(moves.NEXT_MARK), "replay"),
    Action("previous_mark", "M", "last alarm", "the one before", "replay",
           _moves(moves.LAST_MARK), "replay"),
    Action("copy", "y", "copy", "copy the text of the pane", "watch",
           lambda screen: screen.copy()),
    Action("export", "e", "export", "write text, JSON, a picture", "watch",
           lambda screen: screen.export()),
    Action("zoom", "z", "zoom", "one pane alone, or all", "watch",
           lambda screen: screen.toggle_zoom(), footer=True),
    Action("prompt", "P", "prompt", "read the prompt as sent", "watch",
           lambda screen: screen.show_prompt()),
    Action("search", "slash", "search", "search all runs here", "watch",
           lambda screen: screen.search(), key_display="/"),
    Action("palette", "colon,ctrl+p", "commands", "find any command by name", "watch",
           lambda screen: screen.dialogs.palette(), key_display=":"),
    Action("theme", "t", "theme", "dark, light, terminal's own", "watch",
           lambda screen: screen.next_theme()),
    Action("help", "question_mark,f1", "help", "explain keys and signs", "watch",
           lambda screen: screen.open_help(), footer=True, key_display="?"),
    Action("leave", "q,ctrl+q,ctrl+c", "leave", "leave; a live run asks how", "leave",
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
    return where == "everywhere" or (where == "live") == live


SELECTING = ("left", "right", "space")
"""Keys that mean something in the checkpoints alone, where nothing is replayed."""


def ignored(key: str, restore: str, *, live: bool) -> str:
    """What is said of a key that does nothing here; `restore`: what of the one that restores."""
    action = next((action for action in ACTIONS if key in action.keys.split(",")), None)
    if action is None:
        return "does nothing; ? lists the keys"
    if action.name == "restore":
        return f"{action.verb}: {restore}"
    if live and key in SELECTING:
        return "selects or marks an iteration: press 3 first"
    return f"{action.verb}: only in a {'replay' if live else 'live run'}"
