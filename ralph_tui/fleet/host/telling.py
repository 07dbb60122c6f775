"""What can be told of one attempt of a loop: where its run records, and what it has recorded.

Used by the loop's thread while there is one, and by whoever holds the loop when it is over.
"""

from contextlib import suppress
from typing import Any

from ralph_tui.adapters.clones.places import PlaceRecord, TreeFolder
from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import Owner
from ralph_tui.errors import WorkspaceError
from ralph_tui.fleet.host.following import Follower
from ralph_tui.fleet.ports import Began, Observe, Place


class Telling:
    """The run of one attempt, as far as it is known."""

    def __init__(self, place: Place, folder: TreeFolder, observe: Observe) -> None:
        self.follower: Follower | None = None
        self._place = place
        self._folder = folder
        self._observe = observe
        self._began: Began | None = None
        self._unsaved: dict[str, Any] = {}

    @property
    def seq(self) -> int:
        """The last event of its journal; 0 before the first."""
        return self.follower.seq if self.follower else 0

    @property
    def began(self) -> bool:
        """Whether the run was found."""
        return self._began is not None

    def begin(self, run: str, run_id: str, ports: tuple[int, int] | None) -> None:
        """The run was found: it is told, and followed from what the fleet has seen of it."""
        records = self._folder.attempt_folder(run)
        if records is None:
            return
        loop, attempt = self._place.loop.id, self._place.attempt
        self._began = Began(
            loop=loop,
            attempt=attempt,
            run_id=run_id,
            run=run,
            folder=str(self._folder.tree),
            ports=ports,
        )
        self._observe(self._began)
        self.follower = Follower(loop, attempt, records, self._observe)
        self.follower.begin_at(self._place.seen)
        self._unsaved = {"run": run, "run_id": run_id, "ports": ports}
        self._save()

    def look(self, *, last: bool = False) -> bool:
        """Tell what is new; whether anything was."""
        self._save()
        return self.follower is not None and self.follower.look(last=last)

    def again(self, seen: int) -> None:
        """Tell it from this event on."""
        if self._began is not None:
            self._observe(self._began)
        if self.follower is not None:
            self.follower.begin_at(seen)
            self.follower.look(last=True)

    def recall(self) -> None:
        """Find the run of a loop that an earlier process has held.

        That may have ended before it saw its run begin: then the worktree's lock says which it is.
        """
        record = self._folder.read()
        if record is None or self.began:
            return
        owner = Owner.read(ralph_folder(self._folder.tree) / "lock")
        run, run_id = (record.run, record.run_id) if record.run else (owner.run, owner.run_id)
        if run:
            self.begin(run, run_id, record.ports)

    def _save(self) -> None:
        """Keep which run it is, for a later process; on a full disk, when there is room again."""
        if not self._unsaved:
            return
        record = self._folder.read() or PlaceRecord(place=self._place, ready=True)
        with suppress(WorkspaceError):
            self._folder.write(record.model_copy(update=self._unsaved))
            self._unsaved = {}

    def close(self) -> None:
        """Close its files; they are opened again when they are asked for."""
        if self.follower is not None:
            self.follower.close()
