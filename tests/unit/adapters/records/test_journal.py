"""The journal: appended events are read back, whatever happens in between."""

from pathlib import Path

import pytest

from ralph_tui.adapters.records.journal import Journal, read_journal
from ralph_tui.base.errors import JournalError
from ralph_tui.events import AgentSpoke, RunStarted, UnknownEvent
from tests.rows import each_row
from tests.small_disk import run_on_small_disk
from tests.world import FakeClock


def start() -> RunStarted:
    return RunStarted(
        run_id="r",
        root="/r",
        objective="o",
        agent="command",
        max_iterations=3,
        session_timeout_s=1.0,
    )


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def journal(tmp_path: Path, clock: FakeClock) -> Journal:
    return Journal(tmp_path / "deep" / "events.jsonl", clock)


def words(number: int) -> AgentSpoke:
    return AgentSpoke(iteration=1, text=f"word {number}")


def test_events_come_back_stamped_and_in_order(journal: Journal) -> None:
    journal.append(start())
    for number in range(10):
        journal.append(words(number))
    recording = read_journal(journal.path)
    assert [event.seq for event in recording.events] == list(range(1, 12))
    assert not recording.torn
    assert recording.problem == ""
    assert recording.good_bytes == journal.path.stat().st_size


def test_an_event_can_be_read_as_soon_as_append_returns(journal: Journal) -> None:
    stamped = journal.append(start())
    assert read_journal(journal.path).events == [stamped]


def test_time_never_goes_back_within_a_journal(journal: Journal, clock: FakeClock) -> None:
    clock.seconds = 100
    first = journal.append(start())
    clock.seconds = 50
    assert journal.append(words(1)).at == first.at


@pytest.mark.parametrize("cut", [1, 2, 10, 40])
def test_a_torn_last_line_is_dropped(journal: Journal, cut: int) -> None:
    journal.append(start())
    journal.append(words(1))
    journal.close()
    content = journal.path.read_bytes()
    journal.path.write_bytes(content[:-cut])
    recording = read_journal(journal.path)
    assert recording.torn
    assert len(recording.events) == 1
    assert recording.good_bytes == content.index(b"\n") + 1


def test_a_recording_is_outdated_once_the_journal_was_written_to(journal: Journal) -> None:
    journal.append(start())
    recording = read_journal(journal.path)
    assert not recording.is_outdated
    journal.append(words(1))
    assert recording.is_outdated


def test_a_bad_line_in_the_middle_is_named_and_what_is_before_it_stays(journal: Journal) -> None:
    journal.append(start())
    journal.append(words(1))
    journal.append(words(2))
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(lines[0] + lines[1] + b"garbage\n" + lines[2])
    recording = read_journal(journal.path)
    assert len(recording.events) == 2
    assert f"{journal.path}:3" in recording.problem


def test_a_missing_number_is_a_problem(journal: Journal) -> None:
    journal.append(start())
    journal.append(words(1))
    journal.append(words(2))
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(lines[0] + lines[2])
    recording = read_journal(journal.path)
    assert len(recording.events) == 1
    assert ":2 has number 3 instead of 2" in recording.problem


@each_row(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b'{"seq":1,"at":"2026-01-01T00:00:0', "is empty"),
        (b"<html>\n", "is not a line of a ralph-tui journal"),
        (b"\xff\xfe\x00\n", "is not a line of a ralph-tui journal"),
        (b'{"type":"system"}\n', "is not a line of a ralph-tui journal"),
        (b'{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"paused"}\n', "is not the start"),
    ],
)
def test_what_is_not_a_journal_is_said_to_be_none(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(content)
    with pytest.raises(JournalError, match=words):
        read_journal(path)


def test_a_missing_journal_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot read the journal"):
        read_journal(tmp_path / "none")


def test_unknown_kinds_are_kept_raw_and_clean(journal: Journal) -> None:
    journal.append(start())
    with journal.path.open("a") as file:
        file.write('{"seq":2,"at":"2026-01-01T00:00:00Z","kind":"later","x":"\\u001b[1mhi"}\n')
    event = read_journal(journal.path).events[1]
    assert isinstance(event, UnknownEvent)
    assert event.raw["x"] == "hi"


def test_unknown_fields_are_ignored(journal: Journal) -> None:
    journal.append(start())
    with journal.path.open("a") as file:
        file.write('{"seq":2,"at":"2026-01-01T00:00:00Z","kind":"paused","later":1}\n')
    assert read_journal(journal.path).events[1].kind == "paused"


@pytest.mark.parametrize("how", ["unlink", "tree", "replaced"])
def test_a_deleted_journal_is_written_again(journal: Journal, clock: FakeClock, how: str) -> None:
    journal.append(start())
    journal.path.unlink()
    if how == "tree":
        journal.path.parent.rmdir()
    if how == "replaced":
        journal.path.write_text("somebody else's\n")
    assert journal.tick() is False, "checked at most once a second"
    clock.seconds += 1
    assert journal.tick() is True
    journal.append(words(1))
    assert [event.seq for event in read_journal(journal.path).events] == [1, 2]
    clock.seconds += 1
    assert journal.tick() is False


REFUSED = """
import resource
from ralph_tui.adapters.records.journal import Journal
from ralph_tui.base.errors import JournalError, JournalFullError
from ralph_tui.events import Noticed, RunStarted
from ralph_tui.runtime.clock import SystemClock

journal = Journal(Path("events.jsonl"), SystemClock())
journal.append(RunStarted(run_id="r", root="/r", objective="o", agent="command",
                          max_iterations=3, session_timeout_s=1))
whole = journal.path.stat().st_size
%s
try:
    journal.append(Noticed(source="test", text="x" * 50_000))
except JournalError as error:
    print(type(error).__name__, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
assert journal.path.stat().st_size == whole
"""


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    said = run_on_small_disk(REFUSED % "fill()", tmp_path)
    assert said.startswith("JournalFullError cannot append to the journal events.jsonl")
    assert "earlier events are safe: No space left on device; free some space" in said


def test_a_limit_on_file_sizes_is_no_full_disk(tmp_path: Path) -> None:
    """Waiting would not help, so the real cause is reported."""
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (whole + 50, resource.RLIM_INFINITY))"
    said = run_on_small_disk(REFUSED % limit, tmp_path)
    assert said.startswith("JournalError cannot append to the journal events.jsonl")
    assert "the file reached the size limit of the shell" in said
    assert "ulimit -f unlimited" in said
