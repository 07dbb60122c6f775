"""ONE table of everything a key can do in the cockpit.

Bindings, footer, command palette and help derive from it, and from `keys.TABLE`, which has the keys
themselves. Each action says, while it cannot be done, why not: an ignored key is never silent.
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
from ralph_tui.text.format import count
from ralph_tui.text.keys import TABLE, Keys, Where
from ralph_tui.text.sanitize import one_line

Task = Literal["watch", "steer", "go back", "leave", "replay"]
TASKS: tuple[Task, ...] = get_args(Task)
"""What somebody wants who looks for a key."""
Refusal = Callable[[RunState], str | None]
"""Why an action cannot be done in this state; None when it can."""

Outcome = Callable[[RunState], str | None]
"""What has come of an action that was sent; None while nothing was recorded."""

# Not validated: pydantic's validators load after the cockpit stands.
GRANT, TAKE_BACK = Extend.model_construct(iterations=1), Extend.model_construct(iterations=-1)
CHECKPOINT, INTERRUPT = Checkpoint.model_construct(), Interrupt.model_construct()
RETRY, ROLL_OVER = RetryNow.model_construct(), RollOver.model_construct()


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


# what has come of a key whose wish was sent, as soon as the run has recorded it -------------------


def _captured(state: RunState) -> Outcome:
    """A checkpoint: its snapshot, or why it failed."""
    seen = state.seq

    def outcome(state: RunState) -> str | None:
        span = state.timeline.current
        new = [p for p in span.checkpoints if p.seq > seen and p.trigger == "key"] if span else []
        if not new:
            return None
        point = new[-1]
        if point.error:
            return f"failed: {one_line(point.error)}"
        return f"{point.name} saved"

    return outcome


def _granted(state: RunState) -> Outcome:
    """Iterations granted or taken back: how many there are now."""
    before = state.run.max_iterations

    def outcome(state: RunState) -> str | None:
        now = state.run.max_iterations
        return f"now {count(now, 'iteration')}" if now != before else None

    return outcome


def _interrupted(state: RunState) -> Outcome:
    """The end of the turn."""
    began = state.agent.began

    def outcome(state: RunState) -> str | None:
        over = not state.run.session_running or state.agent.began != began
        return "the turn has ended; what it did is measured next" if over else None

    return outcome


def _paused(state: RunState) -> Outcome:
    """Paused, or going on."""
    before = state.run.paused

    def outcome(state: RunState) -> str | None:
        if state.run.paused == before:
            return None
        return "the run goes on" if before else "the run is paused"

    return outcome


# the table ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Action:
    """One row of the table; its keys, and what it does in words, stand in `keys.TABLE`."""

    name: str
    verb: str
    """What the footer says."""
    task: Task
    """Below which heading of the help it stands."""
    refusal: Refusal = _always
    """Why not; an action in braces stands for its key."""
    sends: Command | None = None
    """What it asks of the run; None: what it does is the screen's affair."""
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
    Action("decide", "answer", "steer", _while_asked, footer=True, urgent=True),
    Action("diff", "diff", "watch", refusal=_while_snapshots, footer=True, urgent=True),
    Action("report", "report", "watch", refusal=_while_reportable, footer=True, urgent=True),
    Action("resume", "resume", "leave", refusal=_while_resumable, footer=True, urgent=True),
    Action("again", "run again", "leave", refusal=_while_repeatable, footer=True, urgent=True),
    Action("retry", "retry now", "steer", _takes(RETRY), RETRY, footer=True, urgent=True,
           said="sent; the wait ends"),
    Action("pause", "pause", "steer", stopping, footer=True, outcome=_paused),
    Action("guide", "guide", "steer", stopping, footer=True),
    Action("abort", "abort", "steer", over, footer=True),
    # By key, a checkpoint is for what an agent does; a paused run takes one by command.
    Action("checkpoint", "checkpoint", "go back", _takes(INTERRUPT), CHECKPOINT, footer=True,
           said="sent; it is being taken", outcome=_captured),
    Action("roll_over", "roll over", "steer", _takes(ROLL_OVER), footer=True, spare=True),
    Action("interrupt", "interrupt", "steer", _takes(INTERRUPT), INTERRUPT, footer=True,
           said="sent; it spends this iteration, what it did is measured",
           outcome=_interrupted),
    Action("grant", "more", "steer", _takes(GRANT), GRANT,
           said="sent; one iteration more", outcome=_granted),
    Action("take_back", "fewer", "steer", _while_more_is_left, TAKE_BACK,
           said="sent; one iteration less", outcome=_granted),
    Action("restore", "restore", "go back", _while_files_rest, footer=True),
    Action("play", "play", "replay", footer=True),
    Action("back", "event", "replay"),
    Action("forward", "event", "replay", footer=True, before="back"),
    Action("back_iteration", "iteration", "watch"),
    Action("forward_iteration", "iteration", "watch", footer=True, footer_where="replay",
           before="back_iteration"),
    Action("slower", "slower", "replay"),
    Action("faster", "speed", "replay", footer=True, before="slower"),
    Action("start", "start", "replay"),
    Action("end", "end", "replay"),
    Action("next_mark", "next alarm", "replay"),
    Action("previous_mark", "last alarm", "replay"),
    Action("copy_text", "copy", "watch"),
    Action("export", "export", "watch"),
    Action("zoom", "zoom", "watch", footer=True),
    Action("prompt", "prompt", "watch"),
    Action("search", "search", "watch"),
    Action("palette", "commands", "watch"),
    Action("theme", "theme", "watch"),
    Action("help", "help", "watch", footer=True),
    Action("leave", "leave", "leave", footer=True),
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
