"""The mirror of a loop's run: equal to the journal, without gaps or forged events."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.run_status import RunStatus
from ralph_tui.adapters.records.runs import STATUS_VERSION, RecordedRun
from ralph_tui.adapters.records.status import FLEET_GONE, read_status
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.cli.status_words import status_line
from ralph_tui.events import AgentSpoke
from ralph_tui.fleet.records import GapError, Mirror, create_fleet, take_lock
from ralph_tui.runtime.sources.build_report import build_report
from ralph_tui.runtime.sources.recorded import opened
from ralph_tui.state import RunState
from ralph_tui.text.terms import NO_END
from tests.examples import FEWER
from tests.fixtures.journals.make import FOLDER
from tests.rows import each_row
from tests.small_disk import run_on_small_disk

KEPT = FOLDER / "v1-stuck.jsonl"
LINES = KEPT.read_text().splitlines()
EVENTS = read_journal(KEPT).events


@FEWER
@given(st.lists(st.integers(0, len(LINES)), max_size=8).map(sorted), st.integers(0, 5))
def test_in_any_pieces_and_told_twice_it_is_the_journal(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], again: int
) -> None:
    folder = tmp_path_factory.mktemp("mirror")
    mirror = Mirror(folder)
    new = []
    for begin, end in pairwise([0, *cuts, len(LINES)]):
        first = max(0, begin - again)
        new += mirror.append(first + 1, LINES[first:end])
        assert mirror.seq == end
    assert new == EVENTS
    assert read_journal(mirror.run.journal).events == EVENTS


def test_a_gap_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path)
    mirror.append(1, LINES[:3])
    with pytest.raises(GapError, match="event 5 arrived instead of 4"):
        mirror.append(5, LINES[4:6])
    assert mirror.seq == 3
    assert [event.seq for event in read_journal(mirror.run.journal).events] == [1, 2, 3]


@each_row("bad", ["garbage", "{}", LINES[7], LINES[0], ""])
def test_what_is_no_event_is_refused_and_what_came_before_it_kept(tmp_path: Path, bad: str) -> None:
    mirror = Mirror(tmp_path)
    with pytest.raises(ValueError, match=r".+"):
        mirror.append(1, [*LINES[:3], bad])
    assert mirror.seq == 3
    assert mirror.append(4, LINES[3:5]) == EVENTS[3:5]


def test_a_run_begins_with_its_first_event(tmp_path: Path) -> None:
    spoken = AgentSpoke(seq=1, iteration=1, text="hello").model_dump_json()
    with pytest.raises(ValueError, match="does not begin a run"):
        Mirror(tmp_path).append(1, [spoken])


def test_foreign_text_is_sanitized_before_it_is_kept(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path)
    evil = AgentSpoke(seq=2, iteration=1, text="plain").model_dump_json()
    mirror.append(1, [LINES[0], evil.replace("plain", "\\u001b[31mred\\u202e")])
    assert b"\\u001b" not in mirror.run.journal.read_bytes()
    assert "\u202e" not in mirror.run.journal.read_text()


@each_row("broken", ['{"seq":5,"ki', "garbage\n", LINES[6] + "\n"])
def test_it_goes_on_where_it_was_and_drops_what_is_broken(tmp_path: Path, broken: str) -> None:
    first = Mirror(tmp_path)
    first.append(1, LINES[:4])
    with first.run.journal.open("a") as file:
        file.write(broken)
    second = Mirror(tmp_path)
    assert second.seq == 4
    second.append(3, LINES[2:])
    assert read_journal(second.run.journal).events == EVENTS


def status_of(events: int) -> RunStatus:
    return summarize(RunState().apply_all(EVENTS[:events]))


def test_the_status_is_kept_if_it_is_of_this_run(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path)
    mirror.append(1, LINES[:20])
    said = {**status_of(20), "reason": "\x1b[31mred"}
    assert said["version"] == STATUS_VERSION
    assert mirror.put_status(said)["reason"] == "red"
    for wrong in (
        {}, {**said, "version": 1}, {**said, "run_id": "other"}, {**said, "phase": 3},
        {**said, **{str(number): 1 for number in range(500)}},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="not a status"):
            mirror.put_status(wrong)


def test_a_mirror_is_read_as_the_run_that_it_is(tmp_path: Path) -> None:
    """Only the fleet knows its process: without the fleet its state is unknown."""
    lock = take_lock(tmp_path, "uuid", "2026-01-01T00:00:00Z")
    fleet = create_fleet(tmp_path)
    lock.rename(fleet.name)
    mirror = Mirror(fleet.mirror("3a", 1))
    mirror.append(1, LINES[:20])
    mirror.put_status(status_of(20))
    run = RecordedRun(mirror.run.journal)
    assert run.fleet == fleet.path
    assert read_status(run)["alive"] is True
    assert read_status(run)["phase"] == status_of(20)["phase"]
    lock.release()
    read = read_status(run)
    assert (read["alive"], read["phase"], read["reason"]) == (False, "unheard", FLEET_GONE)
    fleet.journal.touch()
    reason = f"ralph-tui fleet resume fleet-001 may continue it; {NO_END}"
    assert read_status(run)["reason"] == reason
    assert "ralph-tui fleet resume fleet-001" in status_line(read_status(run)), "it is not cut"
    assert opened(run.journal).why_lost == f"unknown: {reason}"
    ordinary = RecordedRun(tmp_path / ".aiwg/ralph/tasks/task-001/attempts/001/events.jsonl")
    assert ordinary.fleet is None


def test_the_report_names_a_loop_as_commands_do_and_an_earlier_attempt_by_its_folder(
    tmp_path: Path,
) -> None:
    fleet = create_fleet(tmp_path)
    first, second = (Mirror(fleet.mirror("3a", attempt)) for attempt in (1, 2))
    first.append(1, LINES)

    def last_line(mirror: Mirror) -> str:
        return build_report(read_journal(mirror.run.journal), tmp_path).splitlines()[-1]

    assert last_line(first) == "Everything else: `ralph-tui report fleet-001/3a --full`"
    second.append(1, LINES)
    assert last_line(second) == "Everything else: `ralph-tui report fleet-001/3a --full`"
    assert f"`ralph-tui report {first.run.folder} --full`" in last_line(first)


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("in the way")
    with pytest.raises(WorkspaceError, match="cannot write to "):
        Mirror(tmp_path / "folder")


def test_on_a_full_disk_nothing_half_written_stays(tmp_path: Path) -> None:
    script = f"""
from ralph_tui.fleet.records import Mirror
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.base.errors import NoRoomError
lines = Path({str(KEPT)!r}).read_text().splitlines()
mirror = Mirror(Path("mirror"))
mirror.append(1, lines[:5])
fill()
try:
    mirror.append(6, lines[5:])
    print("written")
except NoRoomError as error:
    print(error)
print(mirror.seq, len(read_journal(mirror.run.journal).events))
make_room()
mirror.append(6, lines[5:])
print(mirror.seq)
"""
    said = run_on_small_disk(script, tmp_path, size="1m").splitlines()
    assert "No space left on device" in said[0]
    assert said[1:] == ["5 5", str(len(LINES))]
