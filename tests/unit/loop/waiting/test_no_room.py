"""A full disk in the loop: reported once, waited out, and never misinterpreted."""

import errno
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.records.journal import Journal, read_journal
from ralph_tui.base.errors import NoRoomError, WorkspaceError
from ralph_tui.commands import Abort, Checkpoint, Stop
from ralph_tui.layers.sensor.gate import GateResult
from tests.small_disk import run_on_small_disk
from tests.world import FakeClock, FakeSession, World


def fill(world: World) -> None:
    world.workspace.error = NoRoomError("git write-tree failed: No space left on device")


def make_room(world: World) -> None:
    world.workspace.error = None


def test_it_is_told_once_however_long_it_takes() -> None:
    world = World([2, 10])
    tries = []

    def look(number: int, message: str) -> None:
        tries.append(message)
        if len(tries) == 5:
            make_room(world)

    taken = world.workspace.snapshot

    def snapshot(number: int, message: str) -> Any:
        look(number, message)
        return taken(number, message)

    world.workspace.snapshot = snapshot  # type: ignore[method-assign]
    fill(world)
    world.run()
    assert world.end.outcome == "completed"
    waits = world.kinds("wait_started", "wait_ended", "snapshot_taken")
    assert waits[:4] == ["wait_started", "wait_ended", "snapshot_taken", "snapshot_taken"]
    assert len(world.all(ev.WaitStarted)) == 1
    started, ended = world.all(ev.WaitStarted)[0], world.all(ev.WaitEnded)[0]
    assert started.reason.startswith("the disk is full: free some space")
    assert started.reason.endswith("No space left on device)")
    assert ended.waited_s >= 6
    assert not world.all(ev.Noticed)


@pytest.mark.parametrize(
    ("order", "outcome"),
    [(Abort(by="a test"), "aborted"), (Stop(by="a test"), "interrupted")],
    ids=["abort", "stop"],
)
def test_the_owner_need_not_wait_for_room(order: Any, outcome: str) -> None:
    world = World([2, 10])

    def act(session: FakeSession) -> None:
        fill(world)
        session.finish()
        world.send(order)

    world.agent.acts.append(act)
    world.run()
    assert world.end.outcome == outcome
    assert not world.all(ev.IterationFinished), "a resume measures it"
    said = [event.text for event in world.all(ev.Noticed)]
    assert any(text.startswith("no snapshot taken: ") for text in said)


def test_a_checkpoint_without_room_stops_the_agent_until_there_is() -> None:
    world = World([2, 10])

    def act(session: FakeSession) -> None:
        fill(world)
        world.send(Checkpoint(note="now"))
        world.host.idle.append(lambda: make_room(world))

    world.agent.acts.append(act)
    world.run()
    assert world.end.outcome == "completed"
    assert [session.stopped for session in world.agent.sessions] == [True, False]
    assert [e.iteration for e in world.all(ev.IterationFinished)] == [1]
    kinds = world.kinds("session_finished", "wait_started", "wait_ended", "session_started")
    assert kinds.index("session_finished") < kinds.index("wait_started")
    assert "after a full disk" in " ".join(world.workspace.taken)


def test_a_gate_that_a_full_disk_cancelled_runs_again() -> None:
    """Its output is unknown, so it is not a measurement."""
    world = World([2, 10])
    run, cut = world.gate.run, iter([False, True, True, False])

    def gate(log: Path) -> GateResult:
        if next(cut):
            return GateResult(ok=False, exit_code=None, cancelled=True)
        return replace(run(log))

    world.gate.run = gate  # type: ignore[method-assign]
    world.run()
    assert world.end.outcome == "completed"
    assert [e.ok for e in world.all(ev.GateFinished)] == [False, True]


def test_a_folder_that_cannot_be_made_is_waited_for() -> None:
    world = World([2, 10])
    made, refusals = world.records.iteration_folder, iter([True, False, True])

    def folder(iteration: int) -> Path:
        if next(refusals, False):
            raise OSError(errno.ENOSPC, "No space left on device", "/r/results")
        return made(iteration)

    world.records.iteration_folder = folder  # type: ignore[method-assign]
    world.run()
    assert world.end.outcome == "completed"
    assert [e.cause for e in world.all(ev.WaitStarted)] == ["disk_full"] * 2


def test_changes_that_cannot_be_told_do_not_end_the_run() -> None:
    world = World([2, 10])

    def changes(since: str, until: str | None = None) -> Any:
        raise WorkspaceError("git diff-tree failed: bad object")

    world.workspace.changes = changes  # type: ignore[method-assign]
    world.run()
    assert world.end.outcome == "completed"
    said = [event.text for event in world.all(ev.Noticed)]
    (reported,) = said
    assert reported.startswith("this iteration's changes are unknown")
    assert reported.endswith("(git diff-tree failed: bad object)")


# -- the journal -----------------------------------------------------------------------------------


def start() -> ev.RunStarted:
    return ev.RunStarted(
        run_id="run",
        root="/r",
        objective="x" * 500,
        command="true",
        agent="fake",
        max_iterations=1,
        session_timeout_s=60,
    )


def test_a_deleted_journal_waits_for_room_to_be_written_again(tmp_path: Path) -> None:
    run_on_small_disk(
        """
from ralph_tui.adapters.records.journal import Journal, read_journal
from tests.unit.loop.waiting.test_no_room import start
from tests.world import FakeClock

clock = FakeClock()
journal = Journal(Path("records/events.jsonl"), clock)
journal.append(start())
journal.path.unlink()
clock.seconds += 1
fill()
assert journal.tick() is False
assert list(journal.path.parent.iterdir()) == []
make_room()
clock.seconds += 1
assert journal.tick() is True
journal.close()
assert len(read_journal(journal.path).events) == 1
""",
        tmp_path,
    )


def test_a_journal_deleted_just_before_its_end_is_written_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "records" / "events.jsonl", FakeClock())
    journal.append(start())
    journal.path.unlink()
    journal.path.parent.rmdir()
    journal.close()
    assert len(read_journal(journal.path).events) == 1
