"""A loop of a fleet: its state comes from the mirror of its journal, commands go to the fleet.

As for any `Source`, `poll` runs on the UI thread and must be fast. A host may name any folder as a
loop's clone, so it is read only if it contains the record of this very run.
"""

import socket
from datetime import datetime
from pathlib import Path

from ralph_tui.adapters.records.folders import attempt_folder, worktree_root
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.base.errors import RalphError
from ralph_tui.base.plain_files import reading
from ralph_tui.commands import Command
from ralph_tui.events import Event
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.ports import TargetedCommand
from ralph_tui.fleet.sources.fleet import Fleet
from ralph_tui.fleet.wording import loop_sentence, lost_words
from ralph_tui.ports.player import Player
from ralph_tui.ports.source import Files, OnDisk, Source
from ralph_tui.runtime.sources.follower import Follower, followed_run
from ralph_tui.runtime.sources.outbox import Outbox
from ralph_tui.runtime.sources.recorded import opened
from ralph_tui.runtime.sources.run_record import INSIDE, RunRecord
from ralph_tui.runtime.sources.snapshots import RecordedFiles
from ralph_tui.state import RunState
from ralph_tui.state.fleet_work import FleetWork
from ralph_tui.text.foreign_json import parse_json

LOOK_S = 1.0
"""Seconds between two searches for the loop's clone."""


class LoopRecord(RunRecord):
    """The record of a loop's run on disk; the user's exports are stored beside the mirror.

    The clone is removed when the loop's work is collected, and commands must not be typed in it.
    """

    def __init__(self, fleet: Fleet, loop: str, journal: Path, mirror: Path) -> None:
        """`journal` is in the loop's clone if that is on this machine, else in the mirror."""
        super().__init__(journal)
        self.worktree = None
        self._fleet, self._loop, self._beside = fleet, loop, mirror

    @property
    def fleet(self) -> FleetWork | None:
        """The loop's place in its fleet; read each time, as its work may be collected meanwhile."""
        loop, started = self._fleet.state.loops.get(self._loop), self._fleet.state.started
        if loop is None or started is None:  # the journal is being reloaded
            return None
        name = f"{started.name}/{self._loop}"
        branch = loop.branch if loop.commit else ""
        record = name if loop.record and loop.commit else ""
        return FleetWork(name, started.commit, branch, record)

    def report(self) -> str:
        """Return the report, with paths to the mirror, which is kept."""
        # It imports git code that few screens need.
        from ralph_tui.runtime.sources.build_report import build_report  # noqa: PLC0415

        mirror = RecordedRun(self._beside / "events.jsonl")
        return build_report(self._read(), worktree_root(self._beside), mirror=mirror)

    def _folder(self) -> tuple[Path, bool]:
        return self._beside / INSIDE, True


class FleetLoop:
    """Implements `ports.source.Source` for a loop of a fleet."""

    live = True
    elsewhere = True
    restores_ended = False
    broken = False
    overtaken = ""
    player: Player | None = None

    def __init__(self, fleet: Fleet, loop: str) -> None:
        """`loop` is an id in the fleet's plan."""
        self.loop = loop
        self.name = fleet.name
        self.lost: bool | str = False
        self.folder: Path | None = None
        self.files: Files | None = None
        self.record: OnDisk | None = None
        self._fleet = fleet
        self._outbox: Outbox[Command] = Outbox(
            lambda wish: fleet.send_and_wait(TargetedCommand(loop, wish))
        )
        self.refused = self._outbox.refused
        self._attempt = 0
        self._journal: Follower[RunState, Event] | None = None
        self._tree: Path | None = None
        self._look_due = float("-inf")
        self._loop_note = self._own_note = ""

    @property
    def note(self) -> str:
        """The screen's own note, or else the note about the loop."""
        return self._own_note or self._loop_note

    @note.setter
    def note(self, text: str) -> None:
        self._own_note = text

    def start(self) -> None:
        self._outbox.start()

    def poll(self, state: RunState, now: float) -> RunState:
        """Update the state; a new attempt starts with an empty one."""
        self._fleet.poll(now)
        loop = self._fleet.state.loops.get(self.loop)
        if loop is None:  # the journal is being reloaded
            return state
        if loop.attempt != self._attempt:
            self._begin(loop)
            state = RunState()
        if self._journal is None:
            self._show_state(loop, state, "")
            return state
        state = self._journal.look(state)
        if self._journal.whole:
            self._show_state(loop, state, self._journal.problem)
        if now >= self._look_due:
            self._look_due = now + LOOK_S
            self._find(loop)
        return state

    def _begin(self, loop: LoopState) -> None:
        """Follow the record of the current attempt."""
        self._close()
        self._attempt, self._tree, self._look_due = loop.attempt, None, float("-inf")
        self.record = None
        if loop.attempt:
            self._journal = followed_run(_mirror_run(self._fleet, loop).journal)

    def _show_state(self, loop: LoopState, state: RunState, problem: str) -> None:
        """Set `lost` and the note from facts that the run's own journal does not contain."""
        self.lost = _lost_reason(loop, self._fleet) if state.run.live else False
        said = "" if self.lost else _idle_text(loop, self._fleet, begun=bool(state.seq))
        self._loop_note = problem or said

    def _find(self, loop: LoopState) -> None:
        """Find the run's record, and its files, which may be in a clone on this machine."""
        mirror = _mirror_run(self._fleet, loop)
        run = find_clone_run(loop, mirror)
        if self.record is None or (run.folder if run else None) != self._tree:
            self._tree = self.folder = run.folder if run is not None else None
            here = loop.commit or run is not None
            self.files = RecordedFiles((run or mirror).folder) if here else None
            self.record = LoopRecord(self._fleet, self.loop, (run or mirror).journal, mirror.folder)

    def clock(self, state: RunState) -> datetime:
        """Return the current time; for a lost run, the time of its last event."""
        return state.at if self.lost else self._fleet.clock()

    def send(self, command: Command) -> None:
        self._outbox.put(command)

    def stop(self) -> None:
        self._outbox.stop()
        self._close()

    def _close(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None


def _idle_text(loop: LoopState, fleet: Fleet, *, begun: bool) -> str:
    """Describe a loop whose run has not begun or does not report; empty for any other."""
    if loop.status in ("running", "placing", "ended") and begun:
        return ""
    return f"loop {loop.spec.id}: {_state_text(loop, fleet)}"


def _state_text(loop: LoopState, fleet: Fleet) -> str:
    return loop_sentence(loop, fleet.state, fleet.clock(), lost=fleet.lost)


def _lost_reason(loop: LoopState, fleet: Fleet) -> str:
    """Return why a run without a recorded end is lost; empty if it is not lost."""
    if fleet.lost:
        return lost_words(fleet.lost)
    if loop.over or (loop.status == "queued" and loop.attempt):
        return _state_text(loop, fleet)
    return "" if fleet.state.finished is None else "its fleet has ended"


def find_clone_run(loop: LoopState, mirror: RecordedRun) -> RecordedRun | None:
    """Return the record in the run's clone; None if that is not on this machine."""
    if loop.machine != socket.gethostname() or "/" not in loop.run or not loop.folder:
        return None
    folder = attempt_folder(Path(loop.folder), loop.run)
    run = RecordedRun(folder / "events.jsonl")
    ids = {_run_id(each.journal) for each in (run, mirror)}
    return run if ids == {loop.run_id} and ".." not in folder.parts else None


def _run_id(journal: Path) -> str | None:
    try:
        with reading(journal) as file:
            first = parse_json(file.readline(1 << 20))
        return str(first["run_id"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _mirror_run(fleet: Fleet, loop: LoopState) -> RecordedRun:
    return RecordedRun(fleet.folder.mirror(loop.spec.id, loop.attempt) / "events.jsonl")


def open_loop(fleet: Fleet, loop: LoopState) -> Source:
    """Return a loop's source for a screen: a replay of an ended loop, else live.

    Raises ``RalphError`` if the loop has no record and will not get one.
    """
    if fleet.live and not loop.over:
        return FleetLoop(fleet, loop.spec.id)
    if not loop.attempt or not (mirror := _mirror_run(fleet, loop)).journal.exists():
        raise RalphError(f"loop {loop.spec.id} has no record: {_state_text(loop, fleet)}")
    replay = opened(mirror.journal)
    run = find_clone_run(loop, mirror)
    replay.record = LoopRecord(fleet, loop.spec.id, (run or mirror).journal, mirror.folder)
    replay.why_lost = _lost_reason(loop, fleet)
    replay.folder = run.folder if run is not None else None
    if run is not None:
        replay.files = RecordedFiles(run.folder)
    return replay
