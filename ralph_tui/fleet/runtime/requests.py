"""Handle user commands to a fleet or to one of its loops.

A command to a loop goes to its host and on to its run; the answer is ``CommandAnswered``. No caller
waits forever, because commands to a lost host are refused.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from ralph_tui.adapters.remote.requests import Request
from ralph_tui.commands import Abort, Command, Pause, Present, Stop, Unpause
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.loop_state import LoopState, end_event, refusal
from ralph_tui.fleet.ports import CommandAnswered, End, SendCommand
from ralph_tui.fleet.runtime.core import Core
from ralph_tui.ports.host import Accepted, Refused
from ralph_tui.text.sanitize import clip, one_line

OVER = "the fleet has ended"
HOST_GONE = "its host is lost; it may still carry out the command once it is back"
Reply = Callable[[Accepted | Refused], None]


@dataclass(frozen=True)
class _OpenCommand:
    """A command that was sent to a run and has not been answered yet."""

    loop: str
    host: str
    command: Command
    reply: Reply


class Requests:
    """Handles requests and their answers; called in the engine's thread."""

    def __init__(self, core: Core, aborted: set[str]) -> None:
        """`aborted` collects the loops that are aborted while their clone is being made."""
        self._core = core
        self._aborted = aborted
        self._open: dict[str, _OpenCommand] = {}
        self._numbers = count(1)

    def take(self, request: Request, reply: Reply) -> None:
        """Answer a request or pass it on; `reply` is called once."""
        command, name = request.command, request.loop
        if not name:
            self._handle_fleet(command, reply)
            return
        loop = self._core.state.loops.get(name)
        if loop is None:
            known = ", ".join(self._core.state.loops)
            sentence = f"this fleet has no loop {clip(one_line(name), 40)!r}; loops: {known}"
            reply(Refused(clip(sentence, 400)))
        elif reason := refusal(loop, abort=isinstance(command, Abort)):
            self._record_command(name, command, reason)
            reply(Refused(reason))
        elif loop.status == "running":
            self.send_to_run(loop, command, reply)
        else:
            reply(Accepted(self._abort(loop, command)))

    def send_to_run(self, loop: LoopState, command: Command, reply: Reply = lambda _: None) -> None:
        """Send a command to the run of a running loop."""
        number = str(next(self._numbers))
        self._open[number] = _OpenCommand(loop.spec.id, loop.host, command, reply)
        fields = command.model_dump(mode="json")
        self._core.order(loop.host, SendCommand(id=number, loop=loop.spec.id, command=fields))

    def on_answered(self, answer: CommandAnswered) -> None:
        """Handle a run's answer to a command."""
        asked = self._open.pop(answer.id, None)
        if asked is None:
            return
        refused = clip(answer.refused, 500)
        if not refused and answer.accepted is None:
            refused = "its run did not answer"
        caused = answer.accepted or 0
        self._record_command(asked.loop, asked.command, refused, 0 if refused else caused)
        asked.reply(Refused(refused) if refused else Accepted(caused))

    def refuse_open(self, reason: str, *, host: str | None = None) -> None:
        """Refuse open commands; with `host`, only those sent to that host."""
        for number, asked in list(self._open.items()):
            if host is None or asked.host == host:
                self.on_answered(CommandAnswered(id=number, refused=reason))

    def take_waiting(self) -> list[Reply]:
        """Remove and return the callbacks of unanswered commands; the caller must answer them."""
        left, self._open = list(self._open.values()), {}
        return [asked.reply for asked in left]

    def follow(self, event: FleetEvent) -> None:
        """React to a recorded event: pause a new run, or refuse commands to an ended one."""
        if isinstance(event, ev.LoopBegan):
            self._on_loop_began(event.loop)
        elif isinstance(event, ev.LoopEnded):
            self._on_loop_over(event.loop)

    def _on_loop_over(self, loop: str) -> None:
        """Refuse commands that the ended run has not answered."""
        for number, asked in list(self._open.items()):
            if asked.loop == loop:
                self.on_answered(CommandAnswered(id=number, refused="the run has ended"))

    def _abort(self, loop: LoopState, command: Command) -> int:
        """Abort a loop that is not running yet; return the number of the first event."""
        name = loop.spec.id
        first = self._record_command(name, command, "")
        if loop.status == "queued" and loop.run_id:
            self._core.record(end_event(loop, "aborted", f"aborted by {command.by}"))
        elif loop.status == "queued":
            reason = f"aborted by {command.by}"
            self._core.record(ev.LoopSkipped(loop=name, reason=reason, aborted=True))
        else:
            self._aborted.add(name)
            self._core.order(loop.host, End(loop=name))
        return first

    def _handle_fleet(self, command: Command, reply: Reply) -> None:
        if isinstance(command, Present):
            for loop in self._core.state.loops.values():
                if loop.status == "running":
                    self.send_to_run(loop, command)
            reply(Accepted(self._core.state.seq))
            return
        if isinstance(command, Pause | Unpause):
            self._pause_fleet(command, reply)
            return
        stopping, reason = self._core.state.stopping, ""
        if not isinstance(command, Stop | Abort):
            reason = f"{command.name} is for loops: name one, or pass all"
        elif isinstance(command, Stop) and command.mode == "taken_back":
            reason = "you cannot undo a stop; 'ralph-tui fleet resume' continues the fleet"
        elif stopping is not None and _is_in_effect(stopping, command):
            reason = "the fleet is already stopping"
        if reason:
            self._record_command("", command, reason)
            reply(Refused(reason))
            return
        first = self._record_command("", command, "")
        abort = isinstance(command, Abort)
        now = abort or (isinstance(command, Stop) and command.mode == "now")
        self._core.record(ev.StopAsked(by=command.by, now=now, abort=abort))
        reply(Accepted(first))

    def _pause_fleet(self, command: Pause | Unpause, reply: Reply) -> None:
        """Pause or unpause the queue; running loops get their own commands."""
        paused = self._core.state.paused is not None
        reason = ""
        if paused is isinstance(command, Pause):
            reason = "the fleet is already paused" if paused else "the fleet is not paused"
        first = self._record_command("", command, reason)
        reply(Refused(reason) if reason else Accepted(first))

    def _on_loop_began(self, name: str) -> None:
        """Pause a loop that was being placed when the fleet was paused."""
        paused, loop = self._core.state.paused, self._core.state.loops.get(name)
        if paused is not None and loop is not None:
            self.send_to_run(loop, Pause(by=paused.by))

    def _record_command(self, loop: str, command: Command, refused: str, run_seq: int = 0) -> int:
        if isinstance(command, Present):  # not worth recording
            return self._core.state.seq
        given = ev.CommandGiven(
            loop=loop, name=command.name, by=command.by, refused=refused, run_seq=run_seq
        )
        return self._core.record(given)


def _is_in_effect(asked: ev.StopAsked, command: Command) -> bool:
    """True if the requested stop is already in effect."""
    if isinstance(command, Abort):
        return asked.abort
    return asked.now or not (isinstance(command, Stop) and command.mode == "now")
