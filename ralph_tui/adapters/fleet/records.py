"""Where the records of fleets lie: ``.aiwg/ralph/fleets/fleet-001`` of the repository.

events.jsonl                    the fleet's journal
log.txt                         what its process says
loops/3a/attempts/001/          the mirror of a loop's run: its journal and its status
../lock                         one fleet of a repository lives at a time
"""

import re
from dataclasses import dataclass
from pathlib import Path

from ralph_tui.adapters.records.folders import numbered, ralph_folder
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.errors import UsageError
from ralph_tui.text.sanitize import one_line

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
"""Of a loop, as it may stand in a path."""


@dataclass(frozen=True)
class FleetFolder:
    """The records of one fleet, found but not read."""

    path: Path

    @property
    def name(self) -> str:
        """``fleet-001``."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """What the fleet itself records."""
        return self.path / "events.jsonl"

    @property
    def log(self) -> Path:
        """What its process says, and what it is built on."""
        return self.path / "log.txt"

    @property
    def lock(self) -> Path:
        """Held by the process of the fleet that lives (it need not exist)."""
        return self.path.parent / "lock"

    def mirror(self, loop: str, attempt: int) -> RecordedRun:
        """The copy of a loop's record; raises ``ValueError`` for what is no id of a loop."""
        if not _ID.fullmatch(loop):
            raise ValueError(f"{one_line(loop)[:40]!r} is no id of a loop")
        folder = self.path / "loops" / loop / "attempts" / f"{attempt:03}"
        return RecordedRun(folder / "events.jsonl")


def fleets_folder(root: Path) -> Path:
    """Where the fleets of a repository are recorded."""
    return ralph_folder(root) / "fleets"


def find_fleets(root: Path) -> list[FleetFolder]:
    """All that have a journal, the newest last."""
    found = map(FleetFolder, numbered(fleets_folder(root)))
    return [fleet for fleet in found if fleet.journal.exists()]


def resolve_fleet(root: Path, name: str | None = None) -> FleetFolder:
    """The fleet of that name, or the newest; raises ``UsageError`` where there is none."""
    known = find_fleets(root)
    if not known:
        raise UsageError("no fleet was started here yet; start one with 'ralph-tui fleet run'")
    if name is None:
        return known[-1]
    found = next((fleet for fleet in known if fleet.name == name), None)
    if found is None:
        names = ", ".join(fleet.name for fleet in known)
        raise UsageError(f"there is no fleet '{one_line(name)}' here; known fleets: {names}")
    return found
