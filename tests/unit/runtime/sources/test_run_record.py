"""Exports of a run: never over another file, never where git or an agent sees them."""

import json
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ralph_tui.adapters.records.attempts import prepare_folder
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.base.errors import JournalError, RalphError
from ralph_tui.cli import main
from ralph_tui.runtime.sources.run_record import ELSEWHERE, RunRecord
from tests.unit.adapters.search.journals import a_run, attempt, write


@pytest.fixture
def journal(git_repo: Path) -> Path:
    prepare_folder(git_repo)
    write(attempt(git_repo), a_run())
    return attempt(git_repo) / "events.jsonl"


def seen_by_git(root: Path) -> str:
    return subprocess.run(
        ["git", "-C", str(root), "status", "--porcelain", "--untracked-files=all"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_a_file_is_never_written_over(journal: Path) -> None:
    record = RunRecord(journal)
    paths = [record.write("screen.svg", text) for text in ("one", "two", "three")]
    assert [path.name for path in paths] == ["screen.svg", "screen-2.svg", "screen-3.svg"]
    assert [path.read_text() for path in paths] == ["one", "two", "three"]
    assert {path.parent for path in paths} == {journal.parent / "exports"}


def test_report_and_events_are_those_of_the_commands(
    journal: Path,
    git_repo: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(git_repo)
    record = RunRecord(journal)
    assert main(["report"]) == 0
    assert capsys.readouterr().out == record.report()
    assert main(["replay", "--json"]) == 0
    assert capsys.readouterr().out == record.events()
    kinds = [json.loads(line)["kind"] for line in record.events().splitlines()]
    assert kinds == [event.kind for event in read_journal(journal).events]


def test_neither_git_nor_the_agent_sees_any_of_it(
    journal: Path, git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = seen_by_git(git_repo)
    RunRecord(journal).write("report.md", "a report")
    monkeypatch.chdir(git_repo)
    foreign = git_repo / "kept" / "events.jsonl"
    foreign.parent.mkdir()
    foreign.write_bytes(journal.read_bytes())
    beside = RunRecord(foreign).write("report.md", "a report")
    assert beside.parent == git_repo / ELSEWHERE
    assert seen_by_git(git_repo).replace("?? kept/events.jsonl\n", "") == before


def test_what_goes_with_its_demo_is_written_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scratch = tmp_path / "ralph-tui-demo-1a2b" / "calculator"
    write(attempt(scratch), a_run())
    path = RunRecord(attempt(scratch) / "events.jsonl").write("screen.txt", "kept")
    assert path == tmp_path / ELSEWHERE / "screen.txt"


@pytest.mark.parametrize("kind", ["a file", "a link"])
def test_what_is_in_the_way_is_said_in_a_sentence(journal: Path, tmp_path: Path, kind: str) -> None:
    place = journal.parent / "exports"
    if kind == "a file":
        place.write_text("")
    else:
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RalphError, match=r"^cannot write .*exports.*: .*; ") as refused:
        RunRecord(journal).write("screen.txt", "text")
    assert "\n" not in str(refused.value)
    assert not [*(tmp_path / "elsewhere").glob("*")]


def test_a_link_that_an_agent_made_is_not_followed(journal: Path, tmp_path: Path) -> None:
    record = RunRecord(journal)
    first = record.write("screen.txt", "first")
    first.unlink()
    first.symlink_to(tmp_path / "precious")
    assert record.write("screen.txt", "second").name == "screen-2.txt"
    assert not (tmp_path / "precious").exists()


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_cannot_be_whole_is_not_left_behind(journal: Path) -> None:
    record = RunRecord(journal)
    with no_file_longer_than(1000), pytest.raises(RalphError, match="size limit of the shell"):
        record.write("screen.txt", "x" * 5000)
    assert not [*(journal.parent / "exports").iterdir()]


def test_a_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(RalphError, match=r"^cannot write screen\.txt: "):
        RunRecord(tmp_path / "events.jsonl").write("screen.txt", "text")
    with pytest.raises(JournalError):
        RunRecord(tmp_path / "events.jsonl").events()
