"""What a worker's terminal tells of its loops: a line when one begins, ends or cannot be sent."""

from collections.abc import Callable

from ralph_tui.fleet.ports import Began, Collected, NotCollected, Noted, Observation, Over, Stage
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import outcome_word

WIDTH = 600
"""A line is cut here."""


class WorkerLines:
    """The lines of a host's loops, each said once: a fleet that comes back is told all again."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._at_work: dict[tuple[str, str, int], bool] = {}
        """By fleet, loop and number of the attempt, whether it was said that its run has begun."""

    def tell(self, what: Observation, fleet_id: str) -> None:
        """Say what is new of it; nothing of what goes on all the time."""
        text = worker_line(what)
        if self._is_new(what, fleet_id) and text:
            self._say(text)

    def _is_new(self, what: Observation, fleet_id: str) -> bool:
        if not isinstance(what, Stage | Began | Over):
            return True
        which = (fleet_id, what.loop, what.attempt)
        if isinstance(what, Stage):
            self._at_work[which] = False
            return True
        if isinstance(what, Over):
            return self._at_work.pop(which, None) is not None or what.never_began
        begins = self._at_work.get(which) is False
        self._at_work |= {which: True} if begins else {}
        return begins


def worker_line(what: Observation) -> str:
    """The line of something that a host observes; empty for what goes on all the time."""
    return clip(one_line(_words(what)), WIDTH)


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
