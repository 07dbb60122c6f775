"""A status reports a damaged journal, and stays fast."""

import json
import os
import subprocess
import sys
from datetime import datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.records import status
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import newer_version_note, problem_of
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.base.errors import JournalError
from ralph_tui.cli import main
from ralph_tui.state import RunState
from tests.fixtures.journals.make import FOLDER

LINES = (FOLDER / "v1-stuck.jsonl").read_bytes().splitlines(keepends=True)


def problem(folder: Path, lines: list[bytes]) -> str:
    journal = folder / "events.jsonl"
    journal.write_bytes(b"".join(lines))
    return problem_of(RecordedRun(journal))


@pytest.fixture(params=["parsed", "looked at"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Journals short enough to be parsed, and longer ones."""
    if request.param == "looked at":
        monkeypatch.setattr(status, "PARSED_BYTES", 0)
    return tmp_path


@pytest.mark.parametrize(
    "bad",
    [b"garbage\n", b"\0" * 40 + b"\n", b"{}\n", b"[3]\n", LINES[7][:40] + b"\n", LINES[8], b"["],
)
def test_it_names_the_bad_line(folder: Path, bad: bytes) -> None:
    lines = [*LINES[:7], bad, *LINES[8:]]
    said = problem(folder, lines)
    assert said.startswith(f"{folder / 'events.jsonl'}:8 cannot be read; ")
    assert "\n" not in said
    # The result of full readers.
    assert f"{folder / 'events.jsonl'}:8 " in read_journal(folder / "events.jsonl").problem


def test_a_line_is_missing(folder: Path) -> None:
    assert f"{folder / 'events.jsonl'}:8 " in problem(folder, [*LINES[:7], *LINES[8:]])


@pytest.mark.parametrize("end", [b"", b"\n", b'{"seq":', b'{"seq":1}', b"garbage"])
def test_a_whole_journal_has_none(folder: Path, end: bytes) -> None:
    """A crash leaves a torn last line; blank lines and other spacing are harmless."""
    spaced = json.dumps(json.loads(LINES[3])).encode() + b"\n"
    assert problem(folder, [*LINES[:2], b"\n", LINES[2], spaced, *LINES[4:], end]) == ""


def test_a_bad_line_within_a_short_journal_is_parsed(tmp_path: Path) -> None:
    broken = LINES[7].replace(b'"kind"', b"kind", 1)
    assert ":8 " in problem(tmp_path, [*LINES[:7], broken, *LINES[8:]])
    deep = b'{"seq":8,"x":' + b"[" * 100_000 + b"}\n"
    assert ":8 " in problem(tmp_path, [*LINES[:7], deep, *LINES[8:]])


def test_a_record_of_a_newer_version_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "events.jsonl"
    first = json.loads(LINES[0]) | {"schema_version": 99, "program_version": "9.9"}
    journal.write_bytes(b"".join([json.dumps(first).encode() + b"\n", *LINES[1:]]))
    said = newer_version_note(RecordedRun(journal))
    assert said.startswith("recorded by ralph-tui 9.9, which is newer; ")
    assert said == read_journal(journal).newer
    assert main(["status", str(journal)]) == 0
    assert said in capsys.readouterr().out
    journal.write_bytes(b"".join(LINES))
    assert newer_version_note(RecordedRun(journal)) == ""


def test_there_is_no_journal(tmp_path: Path) -> None:
    said = problem_of(RecordedRun(tmp_path / "events.jsonl"))
    missing = "No such file or directory; make it readable"
    assert said == f"{tmp_path / 'events.jsonl'} cannot be read: {missing}"


@given(st.binary(max_size=60), st.integers(0, len(LINES) - 1))
def test_it_agrees_with_those_who_read_all(
    tmp_path_factory: pytest.TempPathFactory, bad: bytes, at: int
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    said = problem(folder, [*LINES[:at], bad + b"\n", *LINES[at + 1 :]])
    try:
        whole = not read_journal(folder / "events.jsonl").problem
    except JournalError:
        whole = False
    assert (said == "") == whole


@pytest.mark.parametrize("part", [rb"\ud800", rb"\uDC00\ud800", b"\xff", b"\xed\xa0\x80"])
def test_what_is_no_character_damages_no_journal(folder: Path, part: bytes) -> None:
    """Full readers replace what a quick check does not see."""
    at = next(at for at, line in enumerate(LINES) if b'"agent_spoke"' in line)
    line = LINES[at].replace(b'"text":"', b'"text":"a' + part)
    newer = b'{"seq":%d,"at":"2026-11-28T00:00:00Z","kind":"later","x%b":"%b"}\n'
    more = newer % (len(LINES) + 1, part, part)
    assert problem(folder, [*LINES[:at], line, *LINES[at + 1 :], more]) == ""
    recording = read_journal(folder / "events.jsonl")
    assert (recording.problem, len(recording.events)) == ("", len(LINES) + 1)
    assert '"text":"a\ufffd' in recording.events[at].model_dump_json()
    assert '"x\ufffd' in recording.events[-1].model_dump_json()


def test_no_events_are_made_for_it(tmp_path: Path) -> None:
    attempt = tmp_path / ".aiwg/ralph/tasks/task-001/attempts/001"
    attempt.mkdir(parents=True)
    problem(attempt, [*LINES[:7], b"garbage\n", *LINES[8:]])
    events = read_journal(FOLDER / "v1-stuck.jsonl").events
    summary = json.dumps(summarize(RunState().apply_all(events)))
    (attempt / "status.json").write_text(summary)
    look = (
        "import sys; from ralph_tui.cli import main; main(['status']);"
        "heavy = {'pydantic', 'textual', 'rich', 'asyncio', 'ralph_tui.importers'};"
        "print(heavy & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    *_, said, loaded = done.stdout.splitlines()
    assert "events.jsonl:8 cannot be read" in said
    assert loaded == "set()"


def nulls(value: Any, where: str = "") -> list[str]:
    """Places where JSON has null."""
    if isinstance(value, dict):
        return [n for name, part in value.items() for n in nulls(part, f"{where}.{name}")]
    if isinstance(value, list):
        return [n for part in value for n in nulls(part, where)]
    return [where] if value is None else []


@pytest.mark.parametrize("events", [2, 40, None], ids=["just begun", "under way", "over"])
@pytest.mark.parametrize("journal", ["v1-command", "v1-stuck", "v1-kinds"])
def test_what_is_not_known_is_left_out(
    journal: str,
    events: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the file and in the output; reading the file gives what the journal says."""
    attempt = tmp_path / ".aiwg/ralph/tasks/task-001/attempts/001"
    attempt.mkdir(parents=True)
    lines = (FOLDER / f"{journal}.jsonl").read_bytes().splitlines(keepends=True)
    (attempt / "events.jsonl").write_bytes(b"".join(lines[:events]))
    monkeypatch.chdir(tmp_path)

    def said(*words: str) -> str:
        assert main(["status", *words]) == 0
        return capsys.readouterr().out

    folded = said(), said("--line")
    assert nulls(json.loads(said("--json"))) == []
    assert main(["rebuild"]) == 0
    capsys.readouterr()
    written = json.loads((attempt / "status.json").read_text())
    assert nulls(written) == []
    at = datetime.fromisoformat(written["updated"]).timestamp()
    os.utime(attempt / "status.json", (at, at))  # the file has the time of a run that died
    assert nulls(json.loads(said("--json"))) == []
    monkeypatch.setattr(status, "_fold", None)  # the file is enough
    assert (said(), said("--line")) == folded


FORGED: list[Any] = ["x", [3], {"text": 7}, 1e308]


def test_a_status_file_that_somebody_has_forged_is_told_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any content is sanitized, or the journal is folded instead."""
    attempt = tmp_path / ".aiwg/ralph/tasks/task-001/attempts/001"
    attempt.mkdir(parents=True)
    lines = (FOLDER / "v1-step9-context.jsonl").read_bytes().splitlines(keepends=True)
    (attempt / "events.jsonl").write_bytes(b"".join(lines))
    monkeypatch.chdir(tmp_path)
    assert main(["rebuild"]) == 0
    capsys.readouterr()
    honest = json.loads((attempt / "status.json").read_text())
    window = honest["context"]
    commands = cycle((["context"], ["status"], ["status", "--line"]))
    forgeries = cycle(FORGED)
    places = [*((honest, name) for name in honest), *((window, name) for name in window)]
    for fields, name in places:
        true = fields[name]
        for _ in range(2):
            fields[name] = forged = next(forgeries)
            (attempt / "status.json").write_text(json.dumps(honest))
            words = next(commands)  # in turn, so that every combination with forged values occurs
            assert main(words) == 0, (words, name, forged)
            assert capsys.readouterr().out.strip()
        fields[name] = true
