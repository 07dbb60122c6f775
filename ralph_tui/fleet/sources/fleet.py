"""A fleet in another process: its state comes from its journal, commands go to its socket.

`poll` runs on the UI thread and must be fast, however much there is to read; a separate thread uses
the socket.
"""

import socket
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from ralph_tui.adapters.remote.client import PATIENCE_S, request
from ralph_tui.adapters.remote.protocol import RefusedError
from ralph_tui.base.errors import RalphError
from ralph_tui.commands import Command, Pause, Unpause
from ralph_tui.fleet.events import FleetEvent, parse_fleet_event
from ralph_tui.fleet.ports import ALL, FLEET, TargetedCommand
from ralph_tui.fleet.records import FleetFolder, find_fleets
from ralph_tui.fleet.state import FleetState, Lost, why_lost
from ralph_tui.fleet.wording import GONE, cost_words, fleet_sentence
from ralph_tui.ports.host import Accepted, Refused
from ralph_tui.ports.runs import FleetGlance
from ralph_tui.runtime.sources.follower import Follower, with_listener
from ralph_tui.runtime.sources.liveness import Liveness
from ralph_tui.runtime.sources.outbox import Outbox
from ralph_tui.runtime.sources.run_list import FleetGlances
from ralph_tui.text.sanitize import one_line


def _wall_clock() -> datetime:
    return datetime.now(UTC)


def _parse(line: bytes, _: FleetState) -> FleetEvent:
    return parse_fleet_event(line)


def follow_fleet(
    journal: Path, on_event: Callable[[FleetEvent], object] | None = None
) -> Follower[FleetState, FleetEvent]:
    """Follow the journal of a fleet; `on_event` receives each event once."""
    apply = with_listener(FleetState.apply, on_event) if on_event is not None else FleetState.apply
    return Follower(journal, FleetState, _parse, apply, "; see ralph-tui fleet status")


class Fleet:
    """Implements `fleet.ports.FleetSource`."""

    def __init__(
        self,
        folder: FleetFolder,
        name: str = "another terminal",
        *,
        wall_clock: Callable[[], datetime] = _wall_clock,
    ) -> None:
        """`name` is the author of this screen's commands."""
        self.folder, self.name = folder, name
        self.state = FleetState()
        self.lost: Lost = ""
        self.note = ""
        self._wall_clock = wall_clock
        self._journal = follow_fleet(folder.journal)
        self._outbox: Outbox[TargetedCommand] = Outbox(self.send_and_wait)
        self.refused = self._outbox.refused
        self._liveness = Liveness(folder.lock)

    @property
    def loaded(self) -> bool:
        return self._journal.whole

    @property
    def live(self) -> bool:
        return self.state.started is not None and self.state.finished is None and not self.lost

    def start(self) -> None:
        self._outbox.start()

    def poll(self, now: float) -> FleetState:
        self.state = self._journal.look(self.state)
        started, over = self.state.started, self.state.finished is not None
        works = started.fleet_id if started is not None and not over else None
        if self.loaded and self._liveness.check(works, now):
            self.note = self._journal.problem
            self.lost = why_lost(self.state, self.note, alive=not self._liveness.lost)
        return self.state

    def clock(self) -> datetime:
        """Return the current time; for an ended or lost fleet, the time of its last event."""
        return self._wall_clock() if self.live else self.state.at

    def send(self, loop: str, command: Command) -> None:
        """Queue a command; one for all loops is sent to each that it would change."""
        for name in self._all_targets(command) if loop == ALL else [loop]:
            self._outbox.put(TargetedCommand(name, command))

    def _all_targets(self, command: Command) -> list[str]:
        running = [one for one in self.state.loops.values() if one.status == "running"]
        if not isinstance(command, Pause | Unpause):
            return [one.spec.id for one in running]
        pause = isinstance(command, Pause)
        queue = [FLEET] if (self.state.paused is None) is pause else []
        return [*queue, *(one.spec.id for one in running if one.pauses is not pause)]

    def stop(self) -> None:
        self._outbox.stop()
        self.close()

    def close(self) -> None:
        """Close the journal; call it directly if `start` was never called."""
        self._journal.close()

    def send_and_wait(self, asked: TargetedCommand) -> Accepted | Refused:
        """Send a command and wait for the answer; blocks, thread-safe.

        Raises ``RalphError`` if the fleet is gone or does not answer.
        """
        if self.state.finished is not None:
            return Refused("the fleet has ended and accepts no commands")
        try:
            return Accepted(
                send_command(self.folder, asked.loop, asked.command.model_dump(mode="json"))
            )
        except RefusedError as error:
            return Refused(str(error))


def send_command(folder: FleetFolder, loop: str, command: Mapping[str, object]) -> int:
    """Send a command to a loop, or to the fleet if `loop` is empty.

    Block until it is answered, and return the number of the first event. Raises ``RefusedError``
    with the fleet's own sentence, and ``RalphError`` if the fleet is gone, on another machine or
    does not answer.
    """
    owner = folder.owner()
    if owner is None:
        raise RalphError(GONE)
    if owner.host != socket.gethostname():
        raise RalphError(f"{folder.name} runs on {owner.host}; control it from there")
    if not owner.socket:
        raise RalphError(f"{folder.name} has no command socket (its log {folder.log} says why)")
    return request(
        Path(owner.socket), command, PATIENCE_S, lambda: folder.owner() is not None, loop=loop
    )


class FollowedFleet(FleetGlances):
    """Follows only the newest fleet's journal; called in a thread, one call at a time."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder: FleetFolder | None = None
        self._fleet: Fleet | None = None

    def glance(self) -> FleetGlance | None:
        newest = next(reversed(find_fleets(self._root)), None)
        if newest != self._folder or self._fleet is None:
            if self._fleet is not None:
                self._fleet.close()
            self._folder = newest
            self._fleet = Fleet(newest) if newest is not None else None
        fleet = self._fleet
        if fleet is None:
            return None
        state = fleet.poll(monotonic())
        if state.started is None:
            return None
        loops = state.loops.values()
        return FleetGlance(
            name=fleet.folder.name,
            title=one_line(state.plan.name),
            objectives=len({loop.spec.tries_at or loop.spec.id for loop in loops}),
            sentence=one_line(fleet_sentence(state, fleet.clock(), lost=fleet.lost)),
            cost=cost_words(state),
            end=fleet.lost or (state.finished.outcome if state.finished is not None else ""),
            asking=fleet.live and any(loop.question for loop in loops),
        )
