"""A fleet's journal as read: as a run's, a torn last line is dropped, a bad line named."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ralph_tui.adapters.records.journal import Recording, read_events
from ralph_tui.fleet.events import SCHEMA_VERSION, FleetEvent, FleetStarted
from ralph_tui.fleet.parsing import parse_fleet_event
from ralph_tui.fleet.state import FleetState


@dataclass(frozen=True)
class FleetRecording:
    """A fleet's journal, and what its events become."""

    journal: Recording

    @property
    def events(self) -> list[FleetEvent]:
        """All that can be read."""
        return cast("list[FleetEvent]", self.journal.events)

    @property
    def remark(self) -> str:
        """One sentence about what is not told; empty when all of it is."""
        started = self.journal.events[0]
        newer = isinstance(started, FleetStarted) and started.schema_version > SCHEMA_VERSION
        told = "recorded by a newer ralph-tui: what this version does not know is left out"
        return self.journal.problem or (told if newer else self.journal.remark)

    def state(self) -> FleetState:
        """Folded anew."""
        return FleetState().replay(self.events)


def read_fleet(path: Path) -> FleetRecording:
    """Read a fleet's whole journal, up to the first bad line.

    `Recording` says where a writer may go on, and `cut` of the journals of runs takes off the rest.
    Raises ``JournalError`` when there is no journal, it is empty, or it is not one of ours.
    """

    def parse(line: bytes, _: FleetStarted | None) -> FleetEvent:
        return parse_fleet_event(line)

    return FleetRecording(read_events(path, FleetStarted, parse))
