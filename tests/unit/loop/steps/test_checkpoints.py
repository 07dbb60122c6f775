"""Checkpoint records: start of the period, frequency, and the agent's memory."""

from collections.abc import Callable
from datetime import timedelta

from ralph_tui.commands import Checkpoint, Command, Pause, Unpause
from ralph_tui.config.settings import CheckpointSettings, Settings
from ralph_tui.events import CheckpointCaptured, SessionFinished, SnapshotTaken
from ralph_tui.ports.records import CheckpointFacts, NoCheckpointFiles
from tests.world import FakeSession, World


def after(world: World, seconds: float, act: Callable[[], object]) -> None:
    """Do this after this much more time; the observation it returns, if any, is processed."""
    until = world.host.clock.seconds + seconds

    def look() -> object:
        if world.host.clock.seconds >= until:
            return act()
        world.host.idle.append(look)
        return None

    world.host.idle.append(look)


def captured(world: World, iteration: int) -> list[tuple[str, float]]:
    """Trigger, and seconds since the session's start, to the nearest ten: a sample takes one."""
    found = [e for e in world.all(CheckpointCaptured) if e.iteration == iteration]
    return [(e.trigger, round(e.duration_s, -1)) for e in found]


def works_for(world: World, seconds: float, *commands: Command) -> Callable[[FakeSession], None]:
    """Act: send these commands after half of the time, and end the turn after all of it."""

    def act(session: FakeSession) -> None:
        for command in commands:
            after(world, seconds / 2, lambda command=command: command)  # type: ignore[misc]
        after(world, seconds, session.finish)

    return act


def refused_for_an_hour(world: World) -> Callable[[FakeSession], None]:
    """Act: the service accepts no session for an hour."""

    def act(session: FakeSession) -> None:
        resets_at = world.host.clock.now() + timedelta(hours=1)
        session.emit(
            SessionFinished(
                iteration=session.iteration,
                outcome="limited",
                limit="usage_limit",
                resets_at=resets_at,
            )
        )

    return act


def test_time_is_counted_from_the_start_of_the_session_and_not_of_the_iteration() -> None:
    world = World([2, 10])
    world.agent.acts += [refused_for_an_hour(world), works_for(world, 40, Checkpoint())]
    world.run()
    assert captured(world, 1) == [("start", 0), ("key", 20), ("end", 40)]
    reported = world.all(CheckpointCaptured)[1:]
    assert {e.session_id for e in reported[1:]} != {reported[0].session_id}, (
        "each names its session"
    )


def test_a_session_that_is_tried_again_leaves_one_point_at_the_start() -> None:
    world = World([2, 10])
    world.agent.acts += [refused_for_an_hour(world)] * 3
    world.run()
    assert [trigger for trigger, _ in captured(world, 1)] == ["start", "end"]
    assert len(world.agent.sessions) == 4


def test_between_sessions_no_time_is_counted() -> None:
    world = World([2, 4, 10])
    world.agent.acts.append(works_for(world, 30, Pause()))

    def pause() -> None:
        after(world, 10, lambda: Checkpoint(note="by hand"))
        after(world, 20, Unpause)

    after(world, 60, pause)
    world.run()
    by_key = next(e for e in world.all(CheckpointCaptured) if e.trigger == "key")
    assert (by_key.duration_s, by_key.session_id) == (0, "")


def test_memory_is_the_peak_since_the_checkpoint_before() -> None:
    world = World([2, 10])

    def act(session: FakeSession) -> None:
        for held in (100, 700, 300):
            world.memory.sample(held)
        after(world, 10, Checkpoint)
        after(world, 20, lambda: world.memory.sample(500))
        after(world, 30, session.finish)

    world.agent.acts.append(act)
    world.run()
    reported = [(e.trigger, e.memory_bytes) for e in world.all(CheckpointCaptured)]
    assert reported == [("start", 0), ("start", 0), ("key", 700), ("end", 500)]
    assert not world.memory.working, "nothing is sampled after the session"


def test_a_checkpoint_names_the_files_and_a_start_the_interval() -> None:
    world = World([2, 10], settings=Settings(checkpoints=CheckpointSettings(interval_s=600)))
    world.run()
    start, end = (e for e in world.all(CheckpointCaptured) if e.iteration == 1)
    assert (start.interval_s, start.modified) == (600, [])
    assert (end.interval_s, end.files, end.modified) == (0, 1, ["a.py"])
    off = World([2, 10], settings=Settings(checkpoints=CheckpointSettings(enabled=False))).run()
    assert {e.interval_s for e in off.all(CheckpointCaptured)} == {0}


class Written(NoCheckpointFiles):
    """Notes which checkpoints' files are written."""

    def __init__(self) -> None:
        self.triggers: list[str] = []

    def path(self, iteration: int, number: int) -> str:
        return f"{iteration}/{number}"

    def capture(self, facts: CheckpointFacts) -> None:
        self.triggers.append(facts.trigger)


def test_without_checkpoints_only_snapshots_are_taken() -> None:
    """Starts and ends stay in the journal, because a restore and a resume need them."""

    def played(*, enabled: bool) -> tuple[World, list[str]]:
        checkpoints, files = CheckpointSettings(enabled=enabled, interval_s=20), Written()
        settings = Settings(checkpoints=checkpoints)
        world = World([2, 10], settings=settings, checkpoint_files=files)
        world.agent.acts.append(works_for(world, 50))
        return world.run(), files.triggers

    world, written = played(enabled=False)
    assert [trigger for trigger, _ in captured(world, 1)] == ["start", "end"]
    assert not any(e.path or e.interval_s for e in world.all(CheckpointCaptured))
    assert [e.iteration for e in world.all(SnapshotTaken)] == [0, 1]
    assert written == []
    assert played(enabled=True)[1] == ["start", "timer", "timer", "end"]
