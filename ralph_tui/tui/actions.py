"""The table of all key actions in the cockpit.

Bindings, footer, command palette and help derive from it and from `keys.TABLE`, which holds the
keys. Each unavailable action states a reason, so no key is ignored silently.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

from ralph_tui.analysis.next_steps import explain_refusal
from ralph_tui.commands import (
    Checkpoint,
    Command,
    Extend,
    Interrupt,
    RetryNow,
    RollOver,
    are_files_idle,
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
"""Goals of a user who is looking for a key."""
Refusal = Callable[[RunState], str | None]
"""Reason why an action is unavailable in this state; None if it is available."""

Outcome = Callable[[RunState], str | None]
"""Result of an action once it is recorded; None until then."""

# Not validated, because pydantic's validators load only after the cockpit is up.
GRANT, TAKE_BACK = Extend.model_construct(iterations=1), Extend.model_construct(iterations=-1)
CHECKPOINT, INTERRUPT = Checkpoint.model_construct(), Interrupt.model_construct()
RETRY, ROLL_OVER = RetryNow.model_construct(), RollOver.model_construct()


def _accepted(command: Command) -> Refusal:
    """Return a check that refuses whenever the run would refuse this command."""
    return lambda state: refusal(command, state)


def _always(_: RunState) -> str | None:
    return None


def _if_more_left(state: RunState) -> str | None:
    none_left = refusal(TAKE_BACK, state) is not None
    return stopping(state) or ("no more iterations can be removed" if none_left else None)


def _if_asked(state: RunState) -> str | None:
    return over(state) or ("no question is open" if state.needs.question is None else None)


def _is_unfinished(state: RunState) -> bool:
    """True if the run has not ended, or has not begun."""
    return state.run.started is None or state.run.live


def _if_snapshots(state: RunState) -> str | None:
    if state.foreign.tool:
        return f"{state.foreign.tool} takes no snapshots to compare"
    if _is_unfinished(state):
        return "available once the run has ended; for one iteration press 3, then enter"
    return None


def _if_resumable(state: RunState) -> str | None:
    return explain_refusal("resume", state)


def _if_repeatable(state: RunState) -> str | None:
    return explain_refusal("again", state)


def _if_reportable(state: RunState) -> str | None:
    return (
        "available once the run has ended; {export} exports a report so far"
        if _is_unfinished(state)
        else None
    )


def _if_files_idle(state: RunState) -> str | None:
    """Refuse whenever the run would, naming the key that helps."""
    if are_files_idle(state):
        return over(state)
    asked = state.run.pause_requested
    when = "wait until this iteration ends" if asked else "press {pause} to pause first"
    return over(state) or f"the files are in use; {when}"


# results of sent commands, reported once the run has recorded them --------------------------------


def _report_saved(state: RunState) -> Outcome:
    """Report a checkpoint's snapshot, or why it failed."""
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


def _report_grant(state: RunState) -> Outcome:
    """Report the number of iterations after granting some or taking some back."""
    before = state.run.max_iterations

    def outcome(state: RunState) -> str | None:
        now = state.run.max_iterations
        return f"now {count(now, 'iteration')}" if now != before else None

    return outcome


def _report_turn(state: RunState) -> Outcome:
    began = state.agent.began

    def outcome(state: RunState) -> str | None:
        over = not state.run.session_running or state.agent.began != began
        return "the turn has ended; its changes are measured next" if over else None

    return outcome


def _report_pause(state: RunState) -> Outcome:
    """Report that the run is paused or continues."""
    before = state.run.paused

    def outcome(state: RunState) -> str | None:
        if state.run.paused == before:
            return None
        return "the run continues" if before else "the run is paused"

    return outcome


# the table ----------------------------------------------------------------------------------------


class Action(NamedTuple):
    """A row of the table; its keys and description are in `keys.TABLE`."""

    name: str
    verb: str
    """Label in the footer."""
    task: Task
    """Heading in the help."""
    refusal: Refusal = _always
    """Reason for refusal; an action's name in braces is replaced with its key."""
    sends: Command | None = None
    """The command to send; None if the screen handles the action itself."""
    footer: bool = False
    footer_where: Where = "everywhere"
    """Kinds of screen whose footer shows it."""
    urgent: bool = False
    """The footer shows it first, and only while it is available."""
    spare: bool = False
    """The footer drops it first if space is short."""
    before: str = ""
    """The action whose key is shown before this one's in the footer: the opposite direction."""
    feedback: str = ""
    """Immediate feedback, if the screen itself shows none."""
    outcome: Callable[[RunState], Outcome] | None = None
    """Called with the state at the key press; the result it returns is reported once recorded."""

    @property
    def help(self) -> str:
        """Description for the help."""
        return TABLE[self.name].help

    @property
    def where(self) -> Where:
        """Kinds of screen that have this action."""
        return TABLE[self.name].where

    @property
    def moves(self) -> bool:
        """True if it moves a replay in time."""
        return TABLE[self.name].moves

    def shown_key(self, keys: Keys) -> str:
        """Return its key as printed in the footer."""
        both = [keys.shown(name) for name in (self.before, self.name) if name]
        return ("" if set("".join(both)) <= set("←→") else " ").join(both)


ACTIONS: tuple[Action, ...] = (
    Action("decide", "answer", "steer", _if_asked, footer=True, urgent=True),
    Action("diff", "diff", "watch", refusal=_if_snapshots, footer=True, urgent=True),
    Action("report", "report", "watch", refusal=_if_reportable, footer=True, urgent=True),
    Action("resume", "resume", "leave", refusal=_if_resumable, footer=True, urgent=True),
    Action("again", "run again", "leave", refusal=_if_repeatable, footer=True, urgent=True),
    Action("retry", "retry now", "steer", _accepted(RETRY), RETRY, footer=True, urgent=True,
           feedback="sent; the wait ends"),
    Action("pause", "pause", "steer", stopping, footer=True, outcome=_report_pause),
    Action("guide", "guide", "steer", stopping, footer=True),
    Action("abort", "abort", "steer", over, footer=True),
    # The key is for an agent at work; a paused run takes checkpoints only by command.
    Action("checkpoint", "checkpoint", "go back", _accepted(INTERRUPT), CHECKPOINT, footer=True,
           feedback="sent; saving a checkpoint", outcome=_report_saved),
    Action("roll_over", "hand off", "steer", _accepted(ROLL_OVER), footer=True, spare=True),
    Action("interrupt", "interrupt", "steer", _accepted(INTERRUPT), INTERRUPT, footer=True,
           feedback="sent; this iteration counts, and its changes are measured",
           outcome=_report_turn),
    Action("grant", "more", "steer", _accepted(GRANT), GRANT,
           feedback="sent; one more iteration", outcome=_report_grant),
    Action("take_back", "fewer", "steer", _if_more_left, TAKE_BACK,
           feedback="sent; one fewer iteration", outcome=_report_grant),
    Action("restore", "restore", "go back", _if_files_idle, footer=True),
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
    Action("previous_mark", "previous alarm", "replay"),
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


def is_offered(action: Action, *, live: bool) -> bool:
    """True if this kind of screen has the action."""
    return _fits(action.where, live=live)


def is_in_footer(action: Action, *, live: bool) -> bool:
    """True if the footer of this kind of screen shows the action."""
    return action.footer and is_offered(action, live=live) and _fits(action.footer_where, live=live)


def _fits(where: Where, *, live: bool) -> bool:
    return where in ("everywhere", "fleet too", "home too") or (where == "live") == live


EDIT = "e"
"""In the prompt pane, this key requests the next prompt for editing."""
SELECT_KEYS = ("left", "right", "space")
"""In a live run, these keys only work in the iterations pane."""


def ignored_text(key: str, keys: Keys, *, live: bool) -> str:
    """Return the message for a key that does nothing here."""
    if live and key == EDIT:
        return "edits the next prompt: press 8 first"
    action = next((action for action in ACTIONS if key in keys.of(action.name)), None)
    if action is None:
        return f"does nothing; {keys.shown('help')} lists the keys"
    if live and key in SELECT_KEYS:
        return "selects or marks an iteration: press 3 first"
    return f"{action.verb}: only in a {'replay' if live else 'live run'}"
