"""A fleet's journal: written like a run's, and read back up to the first error."""

from pathlib import Path

import pytest

from ralph_tui.adapters.records.journal import Journal, cut
from ralph_tui.base.errors import JournalError
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.records import read_fleet
from ralph_tui.fleet.state import FleetState
from tests.fleet_events import SIX, started
from tests.world import FakeClock

EVENTS = [
    started(SIX),
    ev.HostJoined(host="local", slots=2),
    ev.LoopPlaced(loop="1", attempt=1, host="local", branch="ralph/fleet-001/1"),
    ev.LoopEnded(loop="1", outcome="completed"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    journal = Journal(tmp_path / "events.jsonl", FakeClock())
    for event in EVENTS:
        journal.append(event)
    journal.close()
    return journal.path


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_what_was_recorded_is_folded(path: Path) -> None:
    recording = read_fleet(path)
    assert recording.remark == ""
    assert [event.kind for event in recording.events] == [event.kind for event in EVENTS]
    state = recording.state()
    assert state == FleetState().replay(recording.events)
    assert state.loops["1"].outcome == "completed"


def test_a_torn_last_line_is_dropped_and_cut_before_more_is_written(path: Path) -> None:
    whole = lines(path)
    path.write_bytes(b"".join(whole[:3]) + whole[3][:20])
    recording = read_fleet(path)
    assert recording.remark == "its last line was cut off by a crash"
    assert len(recording.events) == 3
    cut(recording.journal)
    journal = Journal(path, FakeClock(), seq=3)
    journal.append(ev.StopAsked(by="you"))
    journal.close()
    assert [event.seq for event in read_fleet(path).events] == [1, 2, 3, 4]


@pytest.mark.parametrize("bad", [b"garbage\n", b"{}\n", b'{"seq":9,"kind":"loop_ended"}\n'])
def test_a_bad_line_is_named_and_what_is_before_it_is_read(path: Path, bad: bytes) -> None:
    whole = lines(path)
    path.write_bytes(b"".join([*whole[:2], bad, *whole[3:]]))
    recording = read_fleet(path)
    assert recording.remark.startswith(f"{path}:3 ")
    assert len(recording.events) == 2


def test_a_missing_line_is_named(path: Path) -> None:
    whole = lines(path)
    path.write_bytes(b"".join([*whole[:2], whole[3]]))
    assert "has number 4 instead of 3" in read_fleet(path).remark


def test_a_kind_of_a_newer_version_is_passed_over(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"seq":5,"at":"2026-01-01T00:00:00Z","kind":"loop_teleported"}\n')
    recording = read_fleet(path)
    assert recording.remark == ""
    assert recording.state().seq == 5


def test_a_newer_fleet_says_so(path: Path) -> None:
    text = path.read_text().replace('"schema_version":1', '"schema_version":9')
    path.write_text(text)
    assert "newer ralph-tui" in read_fleet(path).remark


@pytest.mark.parametrize("content", [b"", b"garbage\n", b'{"seq":1,"kind":"run_started"}\n'])
def test_what_is_no_journal_of_a_fleet_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(JournalError):
        read_fleet(path)


def test_the_journal_of_a_run_is_none_of_a_fleet(tmp_path: Path) -> None:
    from tests.fixtures.journals.make import FOLDER

    with pytest.raises(JournalError, match=":1 is not "):
        read_fleet(FOLDER / "v1-stuck.jsonl")
