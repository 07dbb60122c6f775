"""Lazy reading of a journal: events are built on demand, even while it changes."""

from pathlib import Path

import pytest

from ralph_tui.adapters.records import journal
from ralph_tui.adapters.records.journal import CUT_OFF, parse_line, read_journal
from ralph_tui.adapters.records.lazy import GONE, TRUNCATED, LazyJournal
from ralph_tui.base.errors import JournalError
from ralph_tui.events import Event, RunStarted
from ralph_tui.state.outline import Outline
from tests.rows import each_row
from tests.world.stories import stuck

KEPT = sorted((Path(__file__).parents[3] / "fixtures" / "journals").glob("*.jsonl"))


def lines() -> list[bytes]:
    return [event.model_dump_json().encode() + b"\n" for event in stuck()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"".join(lines()))
    return path


@each_row("kept", KEPT)
def test_a_kept_journal_is_read_as_a_whole_one_is(kept: Path) -> None:
    record, whole = LazyJournal(kept), read_journal(kept)
    assert record.events(0, 10**9) == whole.events
    facts = (len(record), record.problem, record.problem or record.remark)
    assert facts == (len(whole.events), whole.problem, whole.remark)
    outline = Outline()
    for event in whole.events:
        outline.add(event.kind, event.at.timestamp(), lambda event=event: event)  # type: ignore[misc]
    assert vars(record.outline) == vars(outline)


def test_only_what_is_asked_for_is_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def count(line: bytes, started: RunStarted | None) -> Event:
        made.append(line)
        return parse_line(line, started)

    monkeypatch.setattr(journal, "parse_line", count)
    record = LazyJournal(path)
    assert len(made) < len(record) / 3, "iterations, alarms and interventions alone"
    made.clear()
    assert [event.seq for event in record.events(7, 9)] == [8, 9]
    assert len(made) == 2


def test_what_is_appended_comes_with_a_look_and_a_torn_line_waits(path: Path) -> None:
    every = lines()
    path.write_bytes(b"".join(every[:40]) + every[40][:30])
    record = LazyJournal(path)
    assert (len(record), record.remark) == (40, CUT_OFF)
    assert not record.look()
    with path.open("ab") as file:
        file.write(every[40][30:] + b"\n" + b"".join(every[41:]))
    assert record.look()
    assert (len(record), record.remark) == (len(every), "")
    assert record.events(0, 10**9) == stuck()
    assert len(record.outline.at) == len(every)


def test_a_bad_line_is_found_where_it_is_made(path: Path) -> None:
    every = lines()
    bad = every[59].replace(b'"kind"', b'"kind":"agent_spoke","was"', 1)
    path.write_bytes(b"".join([*every[:10], b"\n", *every[10:59], bad, *every[60:]]))
    record = LazyJournal(path)
    assert len(record) == len(every), "it begins as a line of a journal does"
    assert len(record.events(50, 70)) == 9
    assert len(record) == 59
    assert record.problem.endswith("events.jsonl:61 cannot be read; only earlier events are shown")
    assert not record.look()
    assert record.events(0, 10**9) == stuck()[:59]


@pytest.mark.parametrize(
    ("instead", "says"),
    [
        (b"{}\n", "events.jsonl:31 cannot be read; only earlier events are shown"),
        (b"\xff\x00\n", "events.jsonl:31 cannot be read; only earlier events are shown"),
        (lines()[4], "has number 5 instead of 31; only earlier events are shown"),
    ],
)
def test_a_line_that_is_none_ends_the_record(path: Path, instead: bytes, says: str) -> None:
    every = lines()
    path.write_bytes(b"".join([*every[:30], instead, *every[31:]]))
    record = LazyJournal(path)
    assert len(record) == 30
    assert record.problem.endswith(says)
    assert record.problem == read_journal(path).problem


@pytest.mark.parametrize("content", [b"", b"\n\n", b"hello\n", lines()[3], lines()[0][:40]])
def test_what_is_no_journal_is_refused_in_the_same_words(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(JournalError) as said:
        LazyJournal(path)
    with pytest.raises(JournalError) as expected:
        read_journal(path)
    assert str(said.value) == str(expected.value)


def test_a_journal_that_is_not_there_is_refused_in_the_same_words(tmp_path: Path) -> None:
    with pytest.raises(JournalError) as said:
        LazyJournal(tmp_path / "none")
    with pytest.raises(JournalError) as expected:
        read_journal(tmp_path / "none")
    assert str(said.value) == str(expected.value)


def test_what_was_read_outlives_its_file(path: Path) -> None:
    record = LazyJournal(path)
    path.unlink()
    assert not record.look()
    assert record.problem == GONE
    assert record.events(0, 10**9) == stuck()
    path.write_bytes(b"".join(lines()))  # its writer brings it back, as a copy
    record.look()
    assert record.problem == ""
    path.write_bytes(b"".join(lines()[:20]))
    record.look()
    assert record.problem == TRUNCATED
    assert record.events(0, 10**9) == stuck()
    assert not record.look()
