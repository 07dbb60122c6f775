"""A fleet of another process: its state comes from its journal alone, commands go to its socket.

Rule: `poll` runs on the UI thread and stays short, however much there is to read; the socket is
spoken to in a thread.
"""

import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.adapters.fleet.records.folders import FleetFolder
from ralph_tui.adapters.records.lock import Owner, holder, owner_of
from ralph_tui.adapters.remote.client import PATIENCE_S, request
from ralph_tui.adapters.remote.protocol import RefusedError
from ralph_tui.commands import Command
from ralph_tui.errors import RalphError
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.parsing import parse_fleet_event
from ralph_tui.fleet.state import FleetState
from ralph_tui.ports import Accepted, Refused
from ralph_tui.ports.fleet_source import ALL, Asked
from ralph_tui.sources.following import Following
from ralph_tui.sources.outbox import Outbox

LOOK_S = 1.0
"""How often it is looked whether the fleet's process is still there."""
MISSED = 2
"""Looks in vain until it is called gone: a ``git clean`` takes the lock's name for a second."""
GONE = "the fleet's process is gone; 'ralph-tui fleet resume' goes on with its loops"


def _wall_clock() -> datetime:
    return datetime.now(UTC)


def _parse(line: bytes, _: FleetState) -> FleetEvent:
    return parse_fleet_event(line)


class Fleet:
    """See `ports.fleet_source.FleetSource`, which it implements."""

    def __init__(
        self,
        folder: FleetFolder,
        name: str = "another terminal",
        *,
        wall_clock: Callable[[], datetime] = _wall_clock,
    ) -> None:
        """`name` is how the fleet will sign the commands of this screen."""
        self.folder, self.name = folder, name
        self.state = FleetState()
        self.lost, self.note = False, ""
        self._wall_clock = wall_clock
        self._journal: Following[FleetState, FleetEvent] = Following(
            folder.journal, FleetState, _parse, FleetState.apply
        )
        self._outbox: Outbox[Asked] = Outbox(self.hand_over)
        self.refused = self._outbox.refused
        self._look_due = float("-inf")
        self._missed = 0

    @property
    def loaded(self) -> bool:
        """See `FleetSource`."""
        return self._journal.whole

    @property
    def live(self) -> bool:
        """See `FleetSource`."""
        return self.state.started is not None and self.state.finished is None and not self.lost

    def start(self) -> None:
        """See `FleetSource`."""
        self._outbox.start()

    def poll(self, now: float) -> FleetState:
        """See `FleetSource`."""
        self.state = self._journal.look(self.state)
        if self.loaded and now >= self._look_due:
            self._look_due = now + LOOK_S
            self._look()
        return self.state

    def _look(self) -> None:
        state = self.state
        if state.started is not None and state.finished is None:
            here = owner_of(self.folder.lock, state.started.fleet_id) is not None
            self._missed = 0 if here else self._missed + 1
        else:
            self._missed = 0
        self.lost = self._missed >= MISSED
        self.note = self._journal.problem

    def clock(self) -> datetime:
        """See `FleetSource`; nothing grows older once it is over or gone."""
        return self._wall_clock() if self.live else self.state.at

    def send(self, loop: str, command: Command) -> None:
        """See `FleetSource`; a fleet is told of its loops one by one."""
        loops = self.state.loops.values()
        running = [one.spec.id for one in loops if one.status == "running"]
        for name in running if loop == ALL else [loop]:
            self._outbox.put(Asked(name, command))

    def stop(self) -> None:
        """See `FleetSource`."""
        self._outbox.stop()
        self.close()

    def close(self) -> None:
        """It is looked at no more; for who has never started it."""
        self._journal.close()

    def hand_over(self, asked: Asked) -> Accepted | Refused:
        """Hand a command over and wait for the answer; blocks, from any thread.

        Raises ``RalphError`` where the fleet is gone or does not answer.
        """
        owner, lock = self._owner(), self.folder.lock
        try:
            seq = request(
                Path(owner.socket),
                asked.command.model_dump(mode="json"),
                PATIENCE_S,
                lambda: owner_of(lock, owner.run_id) is not None,
                loop=asked.loop,
            )
        except RefusedError as error:
            return Refused(str(error))
        return Accepted(seq)

    def _owner(self) -> Owner:
        """Who can be sent a command."""
        owner, started = holder(self.folder.lock), self.state.started
        if owner is None or (started is not None and owner.run_id != started.fleet_id):
            over = self.state.finished is not None
            raise RalphError("the fleet is over: nobody takes commands" if over else GONE)
        if owner.host != socket.gethostname():
            raise RalphError(f"the fleet lives on {owner.host}: attach there")
        if not owner.socket:
            raise RalphError("this fleet has no command socket; its log says why")
        return owner
