"""ONE table of everything a key can do in the cockpit.

Bindings, footer, command palette, help and the README's key list derive from it. Each action says
when it is allowed, and if not, why not, in one sentence: an ignored key is never silent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ralph_tui.state import RunState

Where = Literal["live", "replay", "everywhere"]
Refusal = Callable[[RunState], str | None]
"""Why an action cannot be done in this state; None when it can."""


def _always(_: RunState) -> str | None:
    return None


def _while_live(state: RunState) -> str | None:
    if state.run.finished or state.run.crash:
        return "the run is over"
    if state.run.aborting:
        return "the run is being aborted"
    return None


def _while_going(state: RunState) -> str | None:
    if state.run.stopping == "now":
        return "the run is being stopped"
    return _while_live(state)


def _while_session(state: RunState) -> str | None:
    return _while_going(state) or (None if state.run.session_running else "no session runs")


def _while_more_is_left(state: RunState) -> str | None:
    used = state.run.max_iterations <= max(1, state.run.iteration)
    return _while_going(state) or ("no later iteration is left to take back" if used else None)


def _while_limited(state: RunState) -> str | None:
    waits = state.needs.wait is not None
    return _while_going(state) or (None if waits else "the run waits for no limit")


def _while_asked(state: RunState) -> str | None:
    asks = state.needs.question is not None
    return _while_live(state) or (None if asks else "no question is open")


def _while_files_rest(state: RunState) -> str | None:
    if state.run.paused or state.needs.question is not None:
        return _while_live(state)
    asked = state.run.pause_requested
    when = "not before this iteration is over" if asked else "pause first: p"
    return _while_live(state) or f"the files are in use; {when}"


@dataclass(frozen=True)
class Action:
    """One row of the table."""

    name: str
    keys: str
    """Textual's key names, comma-separated; the first is the one that is shown."""
    verb: str
    """What the footer says."""
    help: str
    """One sentence for help and palette."""
    where: Where = "everywhere"
    refusal: Refusal = _always
    footer: bool = False
    urgent: bool = False
    """The footer names it first, and only while it can be done."""
    key_display: str = ""
    """How the key is written; empty: as it is named."""

    @property
    def shown_key(self) -> str:
        """The key as footer and help print it."""
        return self.key_display or self.keys.split(",")[0]


ACTIONS: tuple[Action, ...] = (
    Action(
        "decide",
        "d",
        "decide",
        "Open the question that waits for you.",
        "live",
        _while_asked,
        footer=True,
        urgent=True,
    ),
    Action(
        "retry",
        "w",
        "retry now",
        "Try again now, without waiting for the end of a limit.",
        "live",
        _while_limited,
        footer=True,
        urgent=True,
    ),
    Action(
        "pause",
        "p",
        "pause",
        "Pause before the next iteration, or go on.",
        "live",
        _while_going,
        footer=True,
    ),
    Action(
        "guide",
        "g",
        "guide",
        "Send words to the agent: into its session where it can take "
        "them, else into the next prompt.",
        "live",
        _while_going,
        footer=True,
    ),
    Action(
        "abort",
        "a",
        "abort",
        "Give the run up: keep the work, or roll back to its best. Asks first.",
        "live",
        _while_live,
        footer=True,
    ),
    Action(
        "checkpoint",
        "c",
        "checkpoint",
        "Take a checkpoint now.",
        "live",
        _while_session,
        footer=True,
    ),
    Action(
        "interrupt",
        "i",
        "interrupt",
        "End the agent's turn; the run goes on.",
        "live",
        _while_session,
        footer=True,
    ),
    Action(
        "grant",
        "plus",
        "more",
        "Grant the run one more iteration.",
        "live",
        _while_going,
        key_display="+",
    ),
    Action(
        "take_back",
        "minus",
        "fewer",
        "Take one iteration back; those that were begun stay.",
        "live",
        _while_more_is_left,
        key_display="-",
    ),
    Action(
        "restore",
        "r",
        "restore",
        "Bring the files back to the point selected in the checkpoints; on ↶ that undoes it. Asks.",
        "live",
        _while_files_rest,
        footer=True,
    ),
    Action("play", "space", "play", "Play or hold the replay.", "replay", footer=True),
    Action("back", "left,comma", "event", "Step one event back.", "replay", key_display="←"),
    Action(
        "forward",
        "right,full_stop",
        "event",
        "Step one event forward.",
        "replay",
        footer=True,
        key_display="←→",
    ),
    Action(
        "back_iteration",
        "shift+left,less_than_sign",
        "iteration",
        "Step one iteration back.",
        "replay",
        key_display="<",
    ),
    Action(
        "forward_iteration",
        "shift+right,greater_than_sign",
        "iteration",
        "Step one iteration forward.",
        "replay",
        footer=True,
        key_display="< >",
    ),
    Action(
        "slower", "left_square_bracket", "slower", "Halve the speed.", "replay", key_display="["
    ),
    Action(
        "faster",
        "right_square_bracket",
        "speed",
        "Double the speed, up to 64x and instant.",
        "replay",
        footer=True,
        key_display="[ ]",
    ),
    Action("start", "home", "start", "Go to the first event.", "replay"),
    Action("end", "end", "end", "Go to the last event.", "replay"),
    Action("next_mark", "m", "next alarm", "Go to the next alarm.", "replay"),
    Action("previous_mark", "M", "last alarm", "Go to the alarm before.", "replay"),
    Action("zoom", "z", "zoom", "Show the focused pane alone, or all panes again.", footer=True),
    Action("prompt", "P", "prompt", "Read the prompt of this iteration as it was sent."),
    Action(
        "palette",
        "colon,ctrl+p",
        "commands",
        "Search all commands; permissions are changed here, too.",
        key_display=":",
    ),
    Action("theme", "t", "theme", "Switch between dark, light and the terminal's own colours."),
    Action(
        "help",
        "question_mark,f1",
        "help",
        "Explain keys, lines and glyphs.",
        footer=True,
        key_display="?",
    ),
    Action("leave", "q,ctrl+q,ctrl+c", "leave", "Leave; a live run asks how.", footer=True),
)

BY_NAME: dict[str, Action] = {action.name: action for action in ACTIONS}


def offered(action: Action, *, live: bool) -> bool:
    """Whether the action exists at all on this kind of screen."""
    return action.where == "everywhere" or (action.where == "live") == live
