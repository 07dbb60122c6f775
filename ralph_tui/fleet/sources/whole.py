"""A fleet of another process: its state comes from its journal alone, commands go to its socket.

Rule: `poll` runs on the UI thread and stays short, however much there is to read; the socket is
spoken to in a thread.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from ralph_tui.adapters.remote.protocol import RefusedError
from ralph_tui.commands import Command, Pause, Unpause
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.host.notes import tell
from ralph_tui.fleet.parsing import parse_fleet_event
from ralph_tui.fleet.ports.source import ALL, FLEET, Asked
from ralph_tui.fleet.records.folders import FleetFolder
from ralph_tui.fleet.state import FleetState
from ralph_tui.ports import Accepted, Refused
from ralph_tui.sources.following import Following
from ralph_tui.sources.outbox import Outbox
from ralph_tui.sources.presence import Presence


def _wall_clock() -> datetime:
    return datetime.now(UTC)


def _parse(line: bytes, _: FleetState) -> FleetEvent:
    return parse_fleet_event(line)


class Fleet:
    """See `fleet.ports.source.FleetSource`, which it implements."""

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
        self._presence = Presence(folder.lock)

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
        started, over = self.state.started, self.state.finished is not None
        works = started.fleet_id if started is not None and not over else None
        if self.loaded and self._presence.look(works, now):
            self.lost = self._presence.lost
            self.note = self._journal.problem
        return self.state

    def clock(self) -> datetime:
        """See `FleetSource`; nothing grows older once it is over or gone."""
        return self._wall_clock() if self.live else self.state.at

    def send(self, loop: str, command: Command) -> None:
        """See `FleetSource`; a fleet is told of its loops one by one."""
        if loop == ALL and isinstance(command, Pause | Unpause):
            self._outbox.put(Asked(FLEET, command))
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
        if self.state.finished is not None:
            return Refused("the fleet is over: nobody takes commands")
        try:
            return Accepted(tell(self.folder, asked.loop, asked.command.model_dump(mode="json")))
        except RefusedError as error:
            return Refused(str(error))
