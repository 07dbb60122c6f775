"""Journals of every past version stay readable, and newer ones do no harm."""

import json
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import Recording, read_journal
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.base.errors import JournalError
from ralph_tui.events import UnknownEvent, parse_event
from ralph_tui.state import RunState
from tests.fixtures.journals.make import FOLDER, facts, missing_fields
from tests.lines import plain_line
from tests.rows import each_row

JOURNALS = sorted(FOLDER.glob("v*.jsonl"))
named = pytest.mark.parametrize("journal", JOURNALS, ids=lambda path: path.stem)


def lines_of(journal: Path) -> list[bytes]:
    return [line for line in journal.read_bytes().splitlines(keepends=True) if line[-1:] == b"\n"]


def newer(tmp_path: Path, *more: dict[str, Any]) -> Recording:
    """A run's start and events of a future version, on disk."""
    lines = lines_of(FOLDER / "v1-steady.jsonl")[:5]
    for seq, fields in enumerate(more, 6):
        stamped = {"seq": seq, "at": "2031-01-01T00:00:00Z", **fields}
        lines.append(json.dumps(stamped).encode() + b"\n")
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"".join(lines))
    return read_journal(path)


@named
def test_every_line_means_what_was_recorded(journal: Path) -> None:
    for line in lines_of(journal):
        event = parse_event(line)
        assert not isinstance(event, UnknownEvent)
        assert json.loads(event.model_dump_json(exclude_unset=True)) == json.loads(line)


@named
def test_the_fold_says_what_it_said_then(journal: Path) -> None:
    recording = read_journal(journal)
    assert not recording.problem
    assert recording.torn == (not journal.read_bytes().endswith(b"\n"))
    expected = json.loads(journal.with_suffix(".expected.json").read_text("utf-8"))
    found = facts(RunState().apply_all(recording.events))
    assert {name: found[name] for name in expected} == expected


@named
def test_a_report_can_be_made_of_it(journal: Path) -> None:
    events = read_journal(journal).events
    page = report(events, Circumstances())
    assert page.startswith("# Report on ")
    read = any(event.kind == "reading_taken" for event in events)
    assert ("## Completion\n\n```text\n100 ┤" in page) is read
    assert "newer version" not in page


def test_every_field_that_is_recorded_today_is_in_a_journal_that_is_kept() -> None:
    assert JOURNALS
    missing = missing_fields()
    assert not missing, (
        "no journal has these; keep one: python -m tests.fixtures.journals.make kinds NAME"
    )


# -- newer versions --------------------------------------------------------------------------------


def test_an_unknown_kind_is_kept_and_shown_raw(tmp_path: Path) -> None:
    fields = {"kind": "dream_had", "iteration": 1, "of": {"sheep": [1, "\x1b[31mred"]}}
    recording = newer(tmp_path, fields)
    assert not recording.problem
    event = recording.events[-1]
    shown = 'dream_had {"iteration":1,"of":{"sheep":[1,"red"]}}'

    again = json.loads(event.model_dump_json())
    assert again == {
        **fields, "of": {"sheep": [1, "red"]}, "seq": 6, "at": "2031-01-01T00:00:00Z"
    }  # fmt: skip
    assert parse_event(event.model_dump_json()) == event
    assert plain_line(event) == f"00:00:00 newer   {shown}"
    row = RunState().apply_all(recording.events).log.rows[-1]
    assert (row.word, row.text, row.detail, row.seq) == ("NEWER", shown, shown, 6)
    page = report(recording.events, Circumstances())
    assert "1 event from a newer version cannot be shown here: `dream_had`" in page


def test_unknown_fields_of_a_known_kind_are_ignored(tmp_path: Path) -> None:
    asked = {
        "kind": "question_asked", "iteration": 1, "question_id": "q", "topic": "pause",
        "text": "more?", "options": [{"key": "c", "answer": "continue", "verb": "v", "mood": 1}],
        "colour": {"of": "money"},
    }  # fmt: skip
    recording = newer(tmp_path, asked)
    assert not recording.problem
    state = RunState().apply_all(recording.events)
    question = state.needs.question
    assert question is not None
    assert question.options[0].answer == "continue"
    assert "colour" not in question.model_dump()


def test_a_newer_schema_version_is_read_all_the_same(tmp_path: Path) -> None:
    first, *rest = lines_of(FOLDER / "v1-steady.jsonl")
    start = json.loads(first) | {"schema_version": 9, "shoe_size": 44}
    path = tmp_path / "events.jsonl"
    path.write_bytes(json.dumps(start).encode() + b"\n" + b"".join(rest))
    recording = read_journal(path)
    assert len(recording.events) == 1 + len(rest)
    assert not recording.problem
    assert "ralph-tui 0.1.0, which is newer" in recording.newer


OF_THE_FUTURE: tuple[tuple[dict[str, Any], str], ...] = (
    # A word that is new where it may be left out, where it may not, and another form of a field.
    ({"kind": "run_finished", "outcome": "hibernating", "reason": "", "iterations": 1,
      "completion": 40}, "run_finished"),
    ({"kind": "prompt_prepared", "iteration": 1, "path": "p.md", "origin": "oracle"}, ""),
    ({"kind": "paused", "iteration": {"of": 3}}, ""),
    ({"kind": "reading_taken", "iteration": 1, "completion": {"points": 40}, "source": "tests"},
     "reading_taken"),
)  # fmt: skip


@each_row(("fields", "raw"), OF_THE_FUTURE)
def test_what_a_newer_version_says_otherwise_costs_its_own_row(
    tmp_path: Path, fields: dict[str, Any], raw: str
) -> None:
    """For this version it would be an error; only a newer one writes it."""
    recording = newer(tmp_path, fields, {"kind": "paused"})
    path = recording.path
    first, *rest = path.read_bytes().splitlines(keepends=True)
    start = json.loads(first) | {"schema_version": 2, "program_version": "9.1"}
    path.write_bytes(json.dumps(start | {"mode": "dreaming"}).encode() + b"\n" + b"".join(rest))
    future = read_journal(path)
    assert not future.problem
    assert len(future.events) == 7
    unread = future.events[5]
    assert isinstance(unread, UnknownEvent) is bool(raw)
    assert unread.kind == fields["kind"]
    assert "recorded by ralph-tui 9.1, which is newer" in future.newer
    page = report(future.events, Circumstances(problems=[future.newer]))
    assert "which is newer" in page


@each_row("line", [b"{}\n", b'{"seq":"x","kind":"paused"}\n', b"[]\n", b"7\n", b"\xff\n"])
def test_what_is_no_event_is_none_of_a_newer_version_either(tmp_path: Path, line: bytes) -> None:
    first, second, *_ = lines_of(FOLDER / "v1-steady.jsonl")
    start = json.loads(first) | {"schema_version": 9}
    path = tmp_path / "events.jsonl"
    path.write_bytes(json.dumps(start).encode() + b"\n" + line + second)
    recording = read_journal(path)
    assert len(recording.events) == 1
    assert ":2 cannot be read" in recording.problem
    path.write_bytes(line)
    with pytest.raises(JournalError, match="is not a line of a ralph-tui journal"):
        read_journal(path)
