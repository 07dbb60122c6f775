"""Journals of every version that ever was stay readable, and newer ones do no harm."""

import json
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import Recording, read_journal
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.cli.fronts.plain import plain_line
from ralph_tui.events import UnknownEvent, parse_event
from ralph_tui.state import RunState
from tests.fixtures.journals.make import FOLDER, facts, missing_fields

JOURNALS = sorted(FOLDER.glob("v*.jsonl"))
named = pytest.mark.parametrize("journal", JOURNALS, ids=lambda path: path.stem)


def lines_of(journal: Path) -> list[bytes]:
    return [line for line in journal.read_bytes().splitlines(keepends=True) if line[-1:] == b"\n"]


def newer(tmp_path: Path, *more: dict[str, Any]) -> Recording:
    """The start of a run, and events of a version to come, on disk."""
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
    assert page.startswith("# Report of ")
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
    assert "1 event of a newer version could not be told here: `dream_had`" in page


def test_unknown_fields_of_a_known_kind_are_ignored(tmp_path: Path) -> None:
    asked = {
        "kind": "question_asked", "iteration": 1, "question_id": "q", "topic": "pause",
        "text": "go on?", "options": [{"key": "c", "answer": "continue", "verb": "v", "mood": 1}],
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
