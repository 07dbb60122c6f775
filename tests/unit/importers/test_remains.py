"""Leftovers of another tool's runs are listed, with the missing file."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph_tui.cli import main
from ralph_tui.tui.home.table import RUN
from tests.foreign import NAMES, STATE, External, entry, find_imported, remains, row_of, unpacked
from tests.rows import each_row


@each_row("sample", NAMES)
def test_of_a_whole_run_nothing_is_missing(sample: str, tmp_path: Path) -> None:
    root = unpacked(sample, tmp_path)
    assert remains(root) == []
    assert [row_of(run).problem for run in find_imported(root)] == [""]


def test_nothing_is_left_of_what_never_was(tmp_path: Path) -> None:
    assert remains(tmp_path) == []
    for folder in ("ralph-external/prompts", "ralph/iterations", "ralph/loops/x", "ralph/tasks/y"):
        (tmp_path / ".aiwg" / folder).mkdir(parents=True)
    assert remains(tmp_path) == []


def test_where_its_analytics_are_left_it_is_not_said_to_be_lost(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.prompt(1)
    (sentence,) = remains(tmp_path)
    assert "that cannot be read: its session-state.json is missing" in sentence
    foreign.write("analytics/one.json", {"loop_id": "one", "task_description": "Fix it"})
    (sentence,) = remains(tmp_path)
    assert "that is unreadable, except perhaps its analytics" in sentence
    assert [row_of(run).objective for run in find_imported(tmp_path)] == ["Fix it"]


def test_loops_without_a_state_are_counted(tmp_path: Path) -> None:
    for slug in ("a", "b", "c\nd"):
        folder = tmp_path / ".aiwg" / "ralph" / "loops" / slug / "iterations"
        folder.mkdir(parents=True)
    (sentence,) = remains(tmp_path)
    assert sentence.startswith(".aiwg/ralph/loops/a (and of 2 others) holds a run of aiwg ")
    assert sentence.endswith("its state.json is missing; put it back")


@each_row(
    ("sample", "file"),
    [
        ("ref-stuck", "ralph-external/session-state.json"),
        ("internal-hook", "ralph/current-loop.json"),
        ("internal-cli", "ralph/loops/ralph-fix-all-failing-tests-fb1bb8af/state.json"),
    ],
)
@each_row(("content", "why"), [("", "it is empty"), ("[1]", "it is not a JSON object")])
def test_the_row_of_a_run_names_its_broken_file(
    sample: str, file: str, content: str, why: str, tmp_path: Path
) -> None:
    root = unpacked(sample, tmp_path)
    (root / ".aiwg" / file).write_text(content)
    (root / ".aiwg" / f"{file}.bak").unlink(missing_ok=True)
    (run,) = find_imported(root)
    name = file.rpartition("/")[2]
    assert row_of(run).problem == f"{name} cannot be used: {why}"
    assert remains(root) == []


def test_an_objective_that_is_no_text_is_said_to_be_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = unpacked("ref-stuck", tmp_path)
    state = root / ".aiwg/ralph-external/session-state.json"
    state.write_text(json.dumps(json.loads(state.read_text()) | {"objective": {"text": 1}}))
    (run,) = find_imported(root)
    row = row_of(run)
    said = "(its objective cannot be read)"
    assert RUN.objective.cell(row, datetime.now(UTC), 60) == [(said, "dim")]
    monkeypatch.chdir(root)
    for command in (["status"], ["history"], ["history", "aiwg"]):
        assert main(command) == 0
        assert said in capsys.readouterr().out, command


def test_a_state_that_its_copy_stands_for_is_whole(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 30), name=f"{STATE}.bak")
    foreign.write(STATE, "{")
    (run,) = find_imported(tmp_path)
    assert row_of(run).problem == ""
    assert remains(tmp_path) == []


def test_analytics_that_are_broken_are_named(tmp_path: Path) -> None:
    External(tmp_path).write("analytics/one.json", "{")
    (run,) = find_imported(tmp_path)
    assert row_of(run).problem == "analytics/one.json cannot be used: it is not complete JSON"
