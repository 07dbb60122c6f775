"""The engine: one writer, journal first, and a bug never leaves an agent alone."""

import errno
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.records.journal import Journal, read_journal
from ralph_tui.adapters.records.runs import STATUS_VERSION
from ralph_tui.adapters.records.status import worked_after_s
from ralph_tui.base.errors import JournalError, JournalFullError
from ralph_tui.commands import Pause, Stop
from ralph_tui.ports.host import Job
from ralph_tui.runtime.clock import SystemClock
from ralph_tui.runtime.engine import Engine
from ralph_tui.runtime.inbox import LIMIT, Inbox
from tests.waiting import PATIENCE_S

START = ev.RunStarted(
    run_id="r",
    root="/r",
    objective="o",
    agent="fake",
    max_iterations=3,
    session_timeout_s=1,
    task="task-001",
    attempt="001",
)
END = ev.RunFinished(outcome="completed", reason="done", iterations=1, completion=100)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    clock = SystemClock()
    journal = Journal(tmp_path / "events.jsonl", clock)
    return Engine(journal, clock, status=tmp_path / "status.json")


def drive(engine: Engine, steps: Iterator[ev.Event]) -> list[str]:
    stopped: list[str] = []

    def run() -> None:
        for event in steps:
            engine.record(event)

    engine.start_thread(run, lambda: stopped.append("stopped"))
    assert engine.join(PATIENCE_S)
    return stopped


def test_an_event_is_on_disk_before_anyone_sees_it(engine: Engine) -> None:
    seen: list[int] = []

    def look(event: ev.Event) -> None:
        on_disk = read_journal(engine.journal.path).events
        assert on_disk[-1] == event
        assert engine.state.seq == event.seq
        seen.append(event.seq)

    engine.subscribe(look)
    drive(engine, iter([START, ev.IterationStarted(iteration=1, max_iterations=3), END]))
    assert seen == [1, 2, 3]


def test_the_status_of_a_silent_run_tells_since_when(engine: Engine) -> None:
    """After a death only the status does: the journal records no silence."""
    status = engine.journal.path.with_name("status.json")
    silent: list[dict[str, object]] = []

    def steps() -> Iterator[ev.Event]:
        yield START
        engine.receive(0)
        silent.append(json.loads(status.read_text()))
        yield END

    drive(engine, steps())
    assert worked_after_s(status, "r", 1) == 0, "it has ended since"
    status.write_text(json.dumps(silent[0]))
    assert worked_after_s(status, "r", 1) == silent[0]["silent_s"]
    status.write_text(json.dumps(silent[0] | {"silent_s": 34.5}))
    assert worked_after_s(status, "r", 1) == 34.5
    assert worked_after_s(status, "r", 2) == worked_after_s(status, "other", 1) == 0
    for forged in ("long", None, -1.0, float("inf")):
        status.write_text(json.dumps(silent[0] | {"silent_s": forged}))
        assert worked_after_s(status, "r", 1) == 0


def test_the_loop_finds_its_event_in_the_state_when_it_goes_on(engine: Engine) -> None:
    def steps() -> Iterator[ev.Event]:
        yield START
        assert engine.state.run.started is not None
        yield ev.IterationStarted(iteration=2, max_iterations=3)
        assert engine.state.run.iteration == 2
        yield END

    drive(engine, steps())
    assert engine.state.run.crash is None


def test_a_bug_is_recorded_and_the_work_is_stopped(engine: Engine) -> None:
    def steps() -> Iterator[ev.Event]:
        yield START
        raise ZeroDivisionError("oops")

    assert drive(engine, steps()) == ["stopped"]
    last = read_journal(engine.journal.path).events[-1]
    assert isinstance(last, ev.RunCrashed)
    assert "ZeroDivisionError: oops" in last.error
    assert engine.state.run.phase == "crashed"


def test_a_run_that_the_system_ends_tells_what_it_came_to(engine: Engine) -> None:
    def steps() -> Iterator[ev.Event]:
        yield START
        yield ev.IterationStarted(iteration=1, max_iterations=3)
        yield ev.SessionFinished(iteration=1, outcome="success", cost_usd=0.5, tokens=700)
        yield ev.ReadingTaken(iteration=1, completion=40, source="tests")
        raise OSError(errno.EMFILE, "Too many open files")

    assert drive(engine, steps()) == ["stopped"]
    last = read_journal(engine.journal.path).events[-1]
    assert isinstance(last, ev.RunFinished)
    assert (last.outcome, last.best, last.best_iteration) == ("failed", 40, 1)
    assert (last.cost_usd, last.tokens) == (0.5, 700)


def test_a_journal_that_refuses_stops_the_work_and_tells_the_screens(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    engine.subscribe(lambda event: shown.append(event.kind))

    def refuse(_line: bytes) -> None:
        raise JournalError("the disk is full; free some space")

    def steps() -> Iterator[ev.Event]:
        yield START
        monkeypatch.setattr(engine.journal, "_write", refuse)
        yield ev.Noticed(source="test", text="never written")

    assert drive(engine, steps()) == ["stopped"]
    assert str(engine.error) == "the disk is full; free some space"
    assert shown == ["run_started", "run_finished"]


def test_many_writers_one_order(engine: Engine) -> None:
    """Observations of many threads become one sequence without gaps."""
    writers, each = 8, 200

    def write(number: int) -> None:
        for _ in range(each):
            engine.emit(ev.Noticed(source=f"w{number}", text="x"))

    def steps() -> Iterator[ev.Event]:
        yield START
        threads = [threading.Thread(target=write, args=(n,)) for n in range(writers)]
        for thread in threads:
            thread.start()
        got = 0
        while got < writers * each:
            item = engine.receive(1.0)
            if isinstance(item, ev.Event):
                got += 1
                yield item
        yield END

    drive(engine, steps())
    events = read_journal(engine.journal.path).events
    assert [event.seq for event in events] == list(range(1, writers * each + 3))


def test_jobs_report_what_they_came_to(engine: Engine) -> None:
    def fail() -> None:
        raise OSError("no")

    engine.start("good", lambda: 42)
    first = engine.receive(5.0)
    assert isinstance(first, Job)
    assert first.result == 42
    engine.start("bad", fail)
    second = engine.receive(5.0)
    assert isinstance(second, Job)
    assert isinstance(second.error, OSError)


def test_a_deleted_journal_comes_back_with_an_event_and_the_lock_with_it(tmp_path: Path) -> None:
    class Clock(SystemClock):
        seconds = 0.0

        def monotonic(self) -> float:
            return self.seconds

    clock = Clock()
    kept: list[str] = []
    journal = Journal(tmp_path / "events.jsonl", clock)
    engine = Engine(
        journal, clock, status=tmp_path / "status.json", keep_lock=lambda: kept.append("lock")
    )

    def steps() -> Iterator[ev.Event]:
        yield START
        journal.path.unlink()
        clock.seconds += 1
        item = engine.receive(0)
        assert isinstance(item, ev.Event)
        yield item
        yield END

    drive(engine, steps())
    assert kept == ["lock"]
    kinds = [event.kind for event in read_journal(journal.path).events]
    assert kinds == ["run_started", "journal_restored", "run_finished"]


def test_the_status_file_tells_the_end(engine: Engine, tmp_path: Path) -> None:
    drive(engine, iter([START, END]))
    status = json.loads((tmp_path / "status.json").read_text())
    assert status["outcome"] == "completed"
    assert status["version"] == STATUS_VERSION, "what `status` takes without folding the journal"
    assert status["run"] == "task-001/001"


def test_a_full_inbox_holds_observers_up_but_never_a_human() -> None:
    inbox = Inbox()
    for _ in range(LIMIT):
        inbox.put_event(ev.Noticed(source="test", text="x"))
    blocked = threading.Thread(
        target=inbox.put_event, args=(ev.Noticed(source="test", text="late"),), daemon=True
    )
    blocked.start()
    inbox.put(Pause())
    blocked.join(0.05)
    assert blocked.is_alive()
    inbox.get(0)
    inbox.get(0)
    blocked.join(PATIENCE_S)
    assert not blocked.is_alive()


def test_a_closed_inbox_lets_every_writer_go() -> None:
    inbox = Inbox()
    for _ in range(LIMIT):
        inbox.put_event(ev.Noticed(source="test", text="x"))
    blocked = threading.Thread(
        target=inbox.put_event, args=(ev.Noticed(source="test", text="late"),), daemon=True
    )
    blocked.start()
    inbox.close()
    blocked.join(PATIENCE_S)
    assert not blocked.is_alive()


def test_time_is_utc_and_aware() -> None:
    assert SystemClock().now().tzinfo is UTC
    assert isinstance(SystemClock().now(), datetime)


def test_a_full_disk_holds_the_run_and_loses_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent is stopped, the screens show it, and the run continues when there is space."""
    full = threading.Event()
    shown: list[str] = []
    write = engine.journal._write

    def refuse(line: bytes) -> None:
        if full.is_set():
            raise JournalFullError("no room; free some")
        write(line)

    def see(event: ev.Event) -> None:
        shown.append(event.kind)
        if event.kind == "wait_started":
            engine.emit(ev.Noticed(source="test", text="came meanwhile"))
            full.clear()

    def steps() -> Iterator[ev.Event]:
        yield START
        full.set()
        yield ev.IterationStarted(iteration=1, max_iterations=3)
        item = engine.receive(1.0)
        assert isinstance(item, ev.Event)
        yield item
        yield END

    monkeypatch.setattr(engine.journal, "_write", refuse)
    engine.subscribe(see)
    assert drive(engine, steps()) == ["stopped"]
    kinds = ["run_started", "iteration_started", "wait_ended", "noticed", "run_finished"]
    assert [event.kind for event in read_journal(engine.journal.path).events] == kinds
    assert shown == ["run_started", "wait_started", *kinds[1:]]
    assert engine.state.run.phase == "finished"


def test_the_owner_may_give_up_on_a_full_disk(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_line: bytes) -> None:
        raise JournalFullError("no room; free some")

    def steps() -> Iterator[ev.Event]:
        yield START
        monkeypatch.setattr(engine.journal, "_write", refuse)
        engine.send(Stop())
        yield ev.IterationStarted(iteration=1, max_iterations=3)

    assert drive(engine, steps()) == ["stopped", "stopped"]
    assert str(engine.error) == "no room; free some"
