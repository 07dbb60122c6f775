"""A run in another process: its state comes from its journal, commands go to its socket.

`poll` runs on the UI thread and must be fast, however much there is to read. A separate thread uses
the socket.
"""

import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ralph_tui.adapters.records.lock import Owner, holder, owner_of
from ralph_tui.adapters.records.newer import newer_sentence
from ralph_tui.adapters.records.runs import SILENCE_S, RecordedRun
from ralph_tui.adapters.records.status import describe_silence, worked_after
from ralph_tui.adapters.remote.client import send
from ralph_tui.base.errors import RalphError
from ralph_tui.commands import WATCHED, Command
from ralph_tui.ports.host import Accepted, Refused
from ralph_tui.ports.player import Player
from ralph_tui.ports.source import Files, OnDisk
from ralph_tui.runtime.sources.follower import followed_run
from ralph_tui.runtime.sources.liveness import Liveness
from ralph_tui.runtime.sources.outbox import Outbox
from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.state import RunState

GONE = "the process of this run is gone; continue the run with 'ralph-tui resume'"


def _wall_clock() -> datetime:
    return datetime.now(UTC)


class Attached:
    """A `Source` that watches a run in another process and sends it commands."""

    live = True
    elsewhere = True
    restores_ended = False
    broken = False
    overtaken = ""
    player: Player | None = None
    record: OnDisk | None

    def __init__(
        self,
        run: RecordedRun,
        name: str = "another terminal",
        *,
        files: Files | None = None,
        wall_clock: Callable[[], datetime] = _wall_clock,
    ) -> None:
        """`name` is the author of this screen's commands."""
        self.name = name
        self.files = files
        self.folder: Path | None = run.folder
        self.record = RunRecord(run.journal)
        self.note = ""
        self.lost: bool | str = False
        self._run = run
        self._after = timedelta()
        self._wall_clock = wall_clock
        self._journal = followed_run(run.journal)
        self._liveness = Liveness(run.lock)
        self._outbox: Outbox[Command] = Outbox(lambda wish: self._send_to(self._owner(), wish))
        self.refused = self._outbox.refused

    def start(self) -> None:
        self._outbox.start()

    def poll(self, state: RunState, now: float) -> RunState:
        state = self._journal.look(state)
        if self._journal.whole:
            self._check_process(state, now)
        return state

    def _check_process(self, state: RunState, now: float) -> None:
        """Check whether a process is still working on the run."""
        started = state.run.started
        works = started.run_id if started is not None and state.run.live else None
        if self._liveness.check(works, now):
            self.lost = self._liveness.lost
            self._after = worked_after(self._run, state) if self.lost else timedelta()
            newer = newer_sentence(started) if started is not None else ""
            self.note = self._journal.problem or newer  # the verdict already shows `lost`

    def clock(self, state: RunState) -> datetime:
        """Return the wall time; once the process is gone, return its last sign of life."""
        return state.at + self._after if self.lost else self._wall_clock()

    def send(self, command: Command) -> None:
        """Send a command; a refusal arrives in `refused`."""
        self._outbox.put(command)

    def stop(self) -> None:
        self._outbox.stop()
        self._journal.close()

    def _send_to(self, owner: Owner, command: Command) -> Accepted | Refused:
        lock = self._run.lock
        return send(
            Path(owner.socket), command, alive=lambda: owner_of(lock, owner.run_id) is not None
        )

    def _owner(self) -> Owner:
        """Return the lock owner that accepts commands. Raises ``RalphError`` without one."""
        owner = holder(self._run.lock)
        if owner is None:
            raise RalphError(GONE)
        if owner.host != socket.gethostname():
            raise RalphError(f"the run is on {owner.host}; attach there")
        if not owner.socket:
            raise RalphError("this run has no command socket; use its own terminal")
        return owner


class WatchedLoop(Attached):
    """A loop that ralph-tui did not start, from the journal written by its hooks.

    It accepts no commands, and no process shows whether it continues.
    """

    def _check_process(self, state: RunState, now: float) -> None:
        silent = (self._wall_clock() - state.at).total_seconds()
        self.lost = state.run.live and silent >= SILENCE_S
        self.note = describe_silence(silent) if self.lost else self._journal.problem

    def _owner(self) -> Owner:
        raise RalphError(WATCHED)
