"""A screen on another process's run: it only reads the journal and sends to the socket."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from ralph_tui.adapters.processes.lineage import name_of
from ralph_tui.adapters.records.journal import Journal
from ralph_tui.adapters.records.lock import Lock, acquire
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import read_status, worked_s
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.adapters.records.tail import CHUNK, ReplacedError, Tail
from ralph_tui.adapters.remote.server import listening
from ralph_tui.commands import Command, Pause, Present, Stop
from ralph_tui.events import Event, QuestionAnswered
from ralph_tui.ports.host import Accepted, Refused
from ralph_tui.runtime.clock import SystemClock
from ralph_tui.runtime.engine import Engine
from ralph_tui.runtime.sources.attached import Attached
from ralph_tui.runtime.sources.recorded import opened
from ralph_tui.state import RunState
from ralph_tui.tui.modals.leave import Leave
from ralph_tui.tui.modals.question import Question
from tests.tui.driving import Driver, drive, story
from tests.waiting import until
from tests.world.stories import flood

RUN_ID = "0d4f2a51-4a54-4fbb-9f0e-3f4f7d5a1f11"


class Elsewhere:
    """A run that seems to live in another process: its journal, its lock, its socket."""

    def __init__(self, root: Path) -> None:
        self.run = RecordedRun(root / ".aiwg/ralph/tasks/task-001/attempts/001/events.jsonl")
        self.journal = Journal(self.run.journal, SystemClock())
        self.lock: Lock | None = acquire(self.run.lock, "task-001/001", RUN_ID, "now")

    def records(self, *events: Event) -> None:
        """Write events as an engine would."""
        for event in events:
            self.journal.append(event)

    def dies(self) -> None:
        """Leave the journal as it is and the lock free."""
        if self.lock is not None:
            self.lock.release()
            self.lock = None

    def look(self) -> tuple[Attached, Driver]:
        """A screen on it."""
        source = Attached(self.run, "the terminal pts/7")
        return source, Driver(source)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    run = Elsewhere(tmp_path)
    yield run
    run.dies()
    run.journal.close()


def followed(source: Attached, state: RunState | None = None) -> RunState:
    """The state after as many polls as it takes to read all there is, on any machine."""
    state = state or RunState()
    for number in range(200):
        state = source.poll(state, float(number))
    return state


# reading ------------------------------------------------------------------------------------------


def test_a_line_is_there_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    tail = Tail(path)
    assert tail.lines() == []
    with path.open("wb", buffering=0) as file:
        file.write(b"one\ntw")
        assert tail.lines() == [b"one\n"]
        assert tail.lines() == []
        file.write(b"o\nthree\n")
        assert tail.lines() == [b"two\n", b"three\n"]
    tail.close()


def test_a_line_may_be_longer_than_one_look(tmp_path: Path) -> None:
    path = tmp_path / "log"
    long = b"x" * (5 * CHUNK) + b"\n"
    path.write_bytes(b"short\n" + long + b"last\n")
    tail = Tail(path)
    seen: list[bytes] = []
    while len(seen) < 3:
        seen += tail.lines()
    assert seen == [b"short\n", long, b"last\n"]
    tail.close()


def test_a_copy_of_the_file_is_read_on_where_the_other_was_left(tmp_path: Path) -> None:
    path, copy = tmp_path / "log", tmp_path / "copy"
    path.write_bytes(b"one\ntwo\n")
    tail = Tail(path)
    assert tail.lines() == [b"one\n", b"two\n"]
    copy.write_bytes(b"one\ntwo\nthree\n")
    path.unlink()
    assert tail.lines() == [], "for a moment it has no name"
    copy.rename(path)
    assert tail.lines() == [b"three\n"]
    tail.close()


@pytest.mark.parametrize("other", [b"other\n", b"ONE\nTWO\nthree\n"])
def test_another_file_is_read_from_its_start(tmp_path: Path, other: bytes) -> None:
    path, fresh = tmp_path / "log", tmp_path / "fresh"
    path.write_bytes(b"one\ntwo\n")
    tail = Tail(path)
    tail.lines()
    fresh.write_bytes(other)
    fresh.rename(path)
    with pytest.raises(ReplacedError):
        tail.lines()
    assert b"".join(tail.lines()) == other
    tail.close()


def test_a_file_that_shrinks_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\n")
    tail = Tail(path)
    tail.lines()
    path.write_bytes(b"new\n")
    with pytest.raises(ReplacedError):
        tail.lines()
    assert tail.lines() == [b"new\n"]
    tail.close()


def test_the_state_is_the_fold_of_the_journal(elsewhere: Elsewhere) -> None:
    events = story("stuck")
    source, _ = elsewhere.look()
    elsewhere.records(*events[:-10])
    state = followed(source)
    assert state.seq == len(events) - 10
    elsewhere.records(*events[-10:])
    for number in range(200):
        assert source.poll(state, 1000.0 + number) is state
    assert state.seq == len(events)
    assert state.run.finished is not None
    assert not source.lost


def test_a_journal_deleted_by_the_agent_and_written_again_is_followed(elsewhere: Elsewhere) -> None:
    events = story("running")
    elsewhere.records(*events[:40])
    source, _ = elsewhere.look()
    state = followed(source)
    elsewhere.run.journal.unlink()
    elsewhere.records(*events[40:50])
    state = followed(source, state)
    assert state.seq == 50, "the writer's descriptor still has it"
    until(elsewhere.journal.tick)
    elsewhere.records(*events[50:60])
    state = followed(source, state)
    assert state.seq == 60
    assert source.note == ""


def test_a_long_record_holds_no_poll_up_and_opens_nothing_on_the_way(elsewhere: Elsewhere) -> None:
    many = list(flood(20_000))
    elsewhere.run.journal.write_bytes(
        b"".join(event.model_dump_json().encode() + b"\n" for event in many)
    )
    source, _ = elsewhere.look()
    empty, polls = RunState(), 0
    state = source.poll(empty, 0.0)
    while state is empty:
        assert empty.seq == 0, "incomplete text is not shown"
        state, polls = source.poll(empty, 0.0), polls + 1
    assert state.seq == len(many)
    assert polls > 1


@pytest.mark.parametrize("bad", [b"garbage\n", b'{"kind": "paused", "seq": 99}\n'])
def test_a_bad_line_is_told_and_ends_the_reading(elsewhere: Elsewhere, bad: bytes) -> None:
    elsewhere.records(*story("running")[:10])
    with elsewhere.run.journal.open("ab") as file:
        file.write(bad)
    source, _ = elsewhere.look()
    state = followed(source)
    assert state.seq == 10
    assert "journal" in source.note


# the process --------------------------------------------------------------------------------------


def test_a_run_whose_process_is_gone_has_died(elsewhere: Elsewhere) -> None:
    elsewhere.records(*story("running"))
    source, driver = elsewhere.look()

    async def look(driver: Driver) -> None:
        await driver.sees("● agent")
        assert "died" not in "\n".join(driver.text())
        elsewhere.dies()
        for _ in range(2):
            driver.watch.now += 2.0
            driver.cockpit.tick()
        await driver.sees("◇ died")
        await driver.sees("its process is gone; ralph-tui resume continues it")
        await driver.sees("─ the end ─")
        await driver.press("escape")
        await driver.sees("▲ cut off")
        seen = "\n".join(driver.text())
        assert seen.count("is gone") == 1, "said once"
        assert "running" not in seen
        assert "following" not in seen
        assert "last output" not in seen, "the time is unknown"
        for offered in ("pause", "guide", "abort", "checkpoint", "interrupt"):
            assert offered not in driver.text()[-1]
        await driver.press("p")
        await driver.sees(" p pause: its process is gone; ralph-tui resume continues it")
        elsewhere.lock = acquire(elsewhere.run.lock, "task-001/001", RUN_ID, "now")
        driver.watch.now += 20.0
        driver.cockpit.tick()
        await driver.sees("● agent")
        await driver.until(lambda: "resume" not in "\n".join(driver.text()))

    drive(driver, look)
    assert not source.lost


def test_screens_and_status_count_a_dead_runs_time_to_its_last_sign_of_life(
    elsewhere: Elsewhere,
) -> None:
    elsewhere.records(*story("running"))
    source, _ = elsewhere.look()
    state = followed(source)
    status = summarize(state, state.at, 7.0)
    elsewhere.run.status.write_text(json.dumps(status))
    elsewhere.dies()
    for later in (1000.0, 1002.0):
        state = source.poll(state, later)
    died = read_status(elsewhere.run)
    assert died["phase"] == "died"
    replay = opened(elsewhere.run.journal)
    past = replay.poll(RunState(), 0.0)
    assert replay.lost
    for screen in (source.clock(state), replay.clock(past)):
        assert screen == state.at + timedelta(seconds=7)
        assert state.run.worked_s(screen) == worked_s(died)


def test_what_is_left_of_a_killed_run_is_not_the_run(elsewhere: Elsewhere) -> None:
    """Its keepers hold the lock until they have stopped everything."""
    elsewhere.records(*story("running"))
    source, _ = elsewhere.look()
    assert not source.lost
    ended = subprocess.Popen(["true"])
    ended.wait()
    owner = json.loads(elsewhere.run.lock.read_text())
    elsewhere.run.lock.write_text(json.dumps(owner | {"pid": ended.pid}))
    followed(source)
    assert source.lost


def test_a_run_of_another_machine_is_not_called_gone(elsewhere: Elsewhere) -> None:
    elsewhere.records(*story("running"))
    owner = json.loads(elsewhere.run.lock.read_text())
    elsewhere.run.lock.write_text(json.dumps(owner | {"pid": 1, "host": "somewhere"}))
    source, _ = elsewhere.look()
    followed(source)
    assert not source.lost
    source.start()
    source.send(Pause())
    until(lambda: source.refused)
    assert "somewhere" in source.refused[0][1]
    source.stop()


# speaking -----------------------------------------------------------------------------------------


class Obedient:
    """The parts of an engine that a command socket needs."""

    def __init__(self, answer: Accepted | Refused) -> None:
        self.answer = answer
        self.heard: list[Command] = []

    def request(self, command: Command, reply: Callable[[Accepted | Refused], None]) -> None:
        self.heard.append(command)
        reply(self.answer)


@contextmanager
def served(elsewhere: Elsewhere, answer: Accepted | Refused) -> Iterator[Obedient]:
    engine = Obedient(answer)
    with listening(cast("Engine", engine), RUN_ID) as address:
        assert elsewhere.lock is not None
        elsewhere.lock.rename("task-001/001", str(address))
        yield engine


def test_keys_become_commands_in_order_and_signed(elsewhere: Elsewhere) -> None:
    elsewhere.records(*story("running"))

    async def look(driver: Driver) -> None:
        await driver.press("p", "c", "i")
        await driver.until(lambda: len(engine.heard) == 3)

    with served(elsewhere, Accepted(1)) as engine:
        source, driver = elsewhere.look()
        drive(driver, look)
    assert [command.name for command in engine.heard] == ["pause", "checkpoint", "interrupt"]
    assert {command.by for command in engine.heard} == {name_of(os.getpid())}, "as it was found out"
    # A test has no user, so presence may be refused before or after the end.
    assert all(isinstance(command, Present) for command, _ in source.refused)


def test_a_refusal_is_told_in_the_footer(elsewhere: Elsewhere) -> None:
    elsewhere.records(*story("running"))

    async def look(driver: Driver) -> None:
        await driver.press("p")
        await driver.sees(" not today")

    with served(elsewhere, Refused("not today")):
        drive(elsewhere.look()[1], look)


def test_a_run_without_a_socket_says_so(elsewhere: Elsewhere) -> None:
    elsewhere.records(*story("running"))

    async def look(driver: Driver) -> None:
        await driver.press("p")
        await driver.sees("no command socket")

    drive(elsewhere.look()[1], look)


def test_a_question_opens_here_too_and_closes_when_it_is_answered_there(
    elsewhere: Elsewhere,
) -> None:
    elsewhere.records(*story("asked"))

    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        elsewhere.records(QuestionAnswered(question_id="q1", answer="retry", by="you"))
        await driver.until(lambda: not isinstance(driver.app.screen, Question))
        await driver.sees("question closed: interrupt, at the run's own terminal")

    drive(elsewhere.look()[1], look)


def test_a_question_that_was_settled_before_opens_nothing(elsewhere: Elsewhere) -> None:
    elsewhere.records(*story("asked"), QuestionAnswered(question_id="q1", answer="retry", by="you"))
    _, driver = elsewhere.look()
    alerts: list[bool] = []

    async def look(driver: Driver) -> None:
        await driver.until(lambda: driver.cockpit.state.seq == len(story("asked")) + 1)
        driver.cockpit.tick()
        assert len(driver.app.screen_stack) == 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver.app, "alert_user", lambda text: alerts.append(True))
        patch.setattr(driver.app, "clear_alert", lambda: alerts.append(False))
        drive(driver, look)
    assert alerts == []


# leaving ------------------------------------------------------------------------------------------


def test_q_leaves_at_once_and_stops_nothing(elsewhere: Elsewhere) -> None:
    elsewhere.records(*story("running"))

    async def look(driver: Driver) -> None:
        await driver.press("q")
        await driver.until(lambda: driver.app._exit)

    with served(elsewhere, Accepted(1)) as engine:
        drive(elsewhere.look()[1], look)
    assert engine.heard == []


@pytest.mark.parametrize("keys", [("ctrl+q", "enter"), ("ctrl+c", "l")])
def test_the_dialog_leaves_the_screen_by_default(elsewhere: Elsewhere, keys: tuple[str]) -> None:
    elsewhere.records(*story("running"))

    async def look(driver: Driver) -> None:
        await driver.press(keys[0])
        assert isinstance(driver.app.screen, Leave)
        await driver.sees("leave this screen")
        await driver.press(*keys[1:])
        await driver.until(lambda: driver.app._exit)

    with served(elsewhere, Accepted(1)) as engine:
        drive(elsewhere.look()[1], look)
    assert engine.heard == []


def test_ctrl_c_twice_stops_nothing_that_lives_elsewhere(elsewhere: Elsewhere) -> None:
    elsewhere.records(*story("running"))

    async def look(driver: Driver) -> None:
        await driver.pilot.press("ctrl+c")
        await driver.pilot.press("ctrl+c")
        await driver.until(lambda: driver.app._exit)

    with served(elsewhere, Accepted(1)) as engine:
        drive(elsewhere.look()[1], look)
    assert engine.heard == []


def test_the_run_can_be_stopped_from_here(elsewhere: Elsewhere) -> None:
    elsewhere.records(*story("steady")[:-1])

    async def look(driver: Driver) -> None:
        await driver.press("ctrl+q", "s")
        await driver.until(lambda: engine.heard)
        assert not driver.app._exit, "first it ends"
        elsewhere.records(story("steady")[-1])
        await driver.until(lambda: driver.app._exit)

    with served(elsewhere, Accepted(1)) as engine:
        drive(elsewhere.look()[1], look)
    assert engine.heard == [Stop(mode="now", by=name_of(os.getpid()))]


def test_a_stop_that_is_refused_keeps_the_screen(elsewhere: Elsewhere) -> None:
    elsewhere.records(*story("running"))

    async def look(driver: Driver) -> None:
        await driver.press("ctrl+q", "s")
        await driver.sees("the run is ending")
        driver.watch.now += 60
        driver.cockpit.tick()
        assert not driver.app._exit

    with served(elsewhere, Refused("the run is ending")):
        drive(elsewhere.look()[1], look)
