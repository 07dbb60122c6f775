"""What a worker's terminal tells of its loops: a line when one begins, ends or cannot be sent."""

from ralph_tui.ports.fleet import Began, Collected, NotCollected, Noted, Observation, Over, Stage
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import outcome_word

WIDTH = 600
"""A line is cut here."""


def worker_line(what: Observation) -> str | None:
    """The line of something that this host tells its fleet; None for what goes on all the time."""
    text = _words(what)
    return clip(one_line(text), WIDTH) if text else None


def _words(what: Observation) -> str:
    match what:
        case Stage(stage="cloning"):
            return f"loop {what.loop}: making its tree"
        case Began():
            return f"loop {what.loop} runs in {what.folder}"
        case Over(never_began=True):
            return f"loop {what.loop} could not begin: {what.reason}"
        case Over():
            because = f": {what.reason}" if what.reason else ""
            return f"loop {what.loop} {outcome_word(what.outcome)}{because}"
        case Collected():
            return f"loop {what.loop}: its work was sent to the fleet"
        case NotCollected():
            return f"loop {what.loop}: its work could not be sent: {what.reason}"
        case Noted(loop=loop, text=text):
            return f"loop {loop}: {text}" if loop else text
        case _:
            return ""
