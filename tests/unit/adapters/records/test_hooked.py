"""Loops recorded by hooks, among the runs: found, distinguished, and never commanded."""

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

from ralph_tui.adapters.records.runs import (
    SILENCE_S,
    find_hooked,
    find_runs,
    newest_run,
    resolve_run,
)
from ralph_tui.adapters.records.status import read_status
from ralph_tui.base.errors import UsageError
from ralph_tui.commands import Pause, RollOver, Stop, refusal
from ralph_tui.events import parse_event
from ralph_tui.state import RunState
from tests.e2e.cli import here
from tests.hooked import NAME, HookedLoop


@pytest.fixture
def loop(tmp_path: Path) -> HookedLoop:
    found = HookedLoop(tmp_path)
    found.begin()
    found.tool("t1", "src/oauth.ts", 42)
    return found


def test_it_has_a_name_of_its_own_and_is_no_run_of_ours(tmp_path: Path, loop: HookedLoop) -> None:
    assert list(find_runs(tmp_path)) == []
    assert [run.name for run in find_hooked(tmp_path)] == [f"hooks/{NAME}"]
    for name in ("hooks", f"hooks/{NAME}", str(loop.folder), str(loop.journal)):
        assert resolve_run(tmp_path, name, hooked=True).journal.samefile(loop.journal)
        with pytest.raises(
            UsageError, match=r"you can only attach to it .*, replay it or report on it"
        ):
            resolve_run(tmp_path, name)


def test_the_newest_is_that_which_was_written_to_last(tmp_path: Path, loop: HookedLoop) -> None:
    later = HookedLoop(tmp_path, "20260108T000000Z-33334444")
    later.begin()
    os.utime(later.journal, (1, 1))
    newest = newest_run(tmp_path, hooked=True)
    assert newest is not None
    assert newest.folder.name == NAME
    assert newest_run(tmp_path) is None
    assert resolve_run(tmp_path, "hooks", hooked=True).folder == later.folder


def test_a_folder_that_is_called_hooks_somewhere_else_is_none(tmp_path: Path) -> None:
    (tmp_path / "hooks" / "x").mkdir(parents=True)
    (tmp_path / "hooks" / "x" / "events.jsonl").touch()
    assert not resolve_run(tmp_path, str(tmp_path / "hooks" / "x")).hooked


def test_it_is_alive_while_something_is_heard_of_it(tmp_path: Path, loop: HookedLoop) -> None:
    run = resolve_run(tmp_path, "hooks", hooked=True)
    status = read_status(run)
    assert (status["alive"], status["phase"], status["watched"]) == (True, "agent", True)
    long_ago = time.time() - SILENCE_S - 60
    os.utime(loop.journal, (long_ago, long_ago))
    status = read_status(run)
    assert (status["alive"], status["phase"], status["outcome"]) == (False, "unheard", None)
    assert status["reason"].startswith("no events from its sessions for 16m")
    loop.end()
    assert read_status(run)["outcome"] == "completed"


def test_the_words_of_status_send_nobody_to_resume(tmp_path: Path, loop: HookedLoop) -> None:
    assert "hooks/" in here("status", cwd=tmp_path).stdout
    os.utime(loop.journal, (1, 1))
    died = here("status", cwd=tmp_path).stdout
    assert "no recorded end" in died
    loop.end("limit_reached", "iteration 50 of 50")
    over = here("status", "hooks", cwd=tmp_path).stdout
    assert "limit reached" in over
    assert "resume" not in died + over
    assert not here("replay", cwd=tmp_path).stderr
    report = here("report", cwd=tmp_path)
    assert report.returncode == 0
    assert "Move to the new service" in report.stdout


@pytest.mark.parametrize("command", ["resume", "restore", "lab", "prompt"])
def test_commands_that_go_on_with_a_run_refuse_it(
    tmp_path: Path, loop: HookedLoop, command: str
) -> None:
    words = ["--run", "hooks"] if command in ("restore",) else ["hooks"]
    if command == "lab":
        words = ["--from", "hooks"]
    if command == "prompt":
        words = ["show", "--run", "hooks"]
    done = here(command, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""


def test_nothing_can_be_asked_of_it(loop: HookedLoop) -> None:
    state = RunState().apply_all(map(parse_event, loop.journal.read_bytes().splitlines()))
    for command in (Pause(), Stop(), RollOver()):
        assert refusal(command, state) == (
            "ralph-tui did not start its sessions; you can only watch it"
        )


def test_attach_without_a_terminal_prints_its_events(tmp_path: Path, loop: HookedLoop) -> None:
    os.utime(loop.journal, (1, 1))
    silent = here("attach", "hooks", cwd=tmp_path)
    assert "Move to the new service" in silent.stdout
    assert "unknown: no events from its sessions for" in silent.stderr
    assert silent.returncode == 1
    loop.end()
    ended = here("attach", "hooks", "--json", cwd=tmp_path)
    assert ended.returncode == 0
    assert '"outcome":"completed"' in ended.stdout.splitlines()[-1]


def test_without_a_session_the_record_is_explained(tmp_path: Path) -> None:
    for command in ("attach", "status", "report"):
        done = here(command, "hooks", cwd=tmp_path)
        assert "no Claude Code session under the hooks is recorded" in done.stderr
        assert done.returncode == 2


def test_the_time_of_its_events_is_told_by_its_screen(tmp_path: Path) -> None:
    quiet = HookedLoop(tmp_path, "20260101T000000Z-0")
    quiet.late = timedelta(hours=2)
    quiet.begin()
    done = here("replay", "hooks", "--headless", cwd=tmp_path)
    assert "Move to the new service" in done.stdout
