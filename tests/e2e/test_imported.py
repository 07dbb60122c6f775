"""Runs of another tool on the command line: readable like ours, but read-only."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.e2e.cli import here
from tests.foreign import NAMES, unpacked

ONLY_READ = "was recorded by aiwg and is read-only: 'ralph-tui replay aiwg/"


@pytest.fixture
def wired(tmp_path: Path) -> Path:
    return unpacked("wired-oscillating", tmp_path)


@pytest.mark.parametrize("sample", NAMES)
def test_every_sample_is_told_by_every_command_that_tells(sample: str, tmp_path: Path) -> None:
    root = unpacked(sample, tmp_path)
    whole = here("replay", "--headless", "--json", cwd=root)
    assert whole.returncode == 0, whole.stderr
    events = [json.loads(line) for line in whole.stdout.splitlines()]
    assert events[0]["imported"].startswith("aiwg, form ")
    assert [event["seq"] for event in events] == [*range(1, len(events) + 1)]
    name = f"aiwg/{events[0]['attempt']}"
    for command in (
        ("replay", name, "--headless"), ("report", name), ("status", name), ("history", name),
        ("status", name, "--line"),
    ):  # fmt: skip
        done = here(*command, cwd=root)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stderr == ""
        assert name in done.stdout or command[0] == "replay" or "--line" in command
    status = json.loads(here("status", name, "--json", cwd=root).stdout)
    assert status["imported"] == events[0]["imported"]
    last = events[-1]
    assert status.get("outcome") == last.get("outcome")


def test_a_run_is_called_by_name_file_or_folder(wired: Path, tmp_path: Path) -> None:
    external = wired / ".aiwg" / "ralph-external"
    for name in (
        "aiwg/020b2b71", "aiwg", ".aiwg", ".aiwg/ralph-external", str(wired),
        ".aiwg/ralph-external/session-state.json", str(external / "prompts"),
    ):  # fmt: skip
        done = here("status", name, cwd=wired)
        assert "aiwg/020b2b71" in done.stdout, (name, done.stderr)
    copied = tmp_path / "from elsewhere"
    shutil.copytree(external, copied)
    done = here("status", str(copied), cwd=tmp_path)
    assert "aiwg/020b2b71  Implement user authentication" in done.stdout


def test_the_newest_run_may_be_anyones(wired: Path) -> None:
    attempt = wired / ".aiwg/ralph/tasks/task-001/attempts/001"
    attempt.mkdir(parents=True)
    kept = Path(__file__).parent.parent / "fixtures" / "journals" / "v1-stuck.jsonl"
    shutil.copy(kept, attempt / "events.jsonl")
    state = wired / ".aiwg/ralph-external/session-state.json"
    for mine, theirs, newest in ((1e9, 2e9, "aiwg/020b2b71"), (2e9, 1e9, "task-001/001")):
        os.utime(attempt / "events.jsonl", (mine, mine))
        os.utime(state, (theirs, theirs))
        for name in ((), (str(wired),)):
            assert newest in here("status", *name, cwd=wired).stdout
    assert "task-001/001" in here("status", "task-001", cwd=wired).stdout
    both = here("history", cwd=wired).stdout
    assert "task-001" in both
    assert "Recorded by other tools" in both
    assert "aiwg/020b2b71" in both


def test_what_acts_on_a_run_refuses_it_in_a_sentence(wired: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in wired.rglob("*")}
    for number, command in enumerate((
        ("resume", "{}"), ("restore", "--run", "{}"), ("restore", "1", "--run", "{}"),
        ("rebuild", "{}"), ("context", "{}"), ("guide", "--run", "{}", "hello"),
        ("pause", "--run", "{}"), ("unpause", "--run", "{}"), ("abort", "--yes", "--run", "{}"),
        ("checkpoint", "--run", "{}"), ("decide", "--run", "{}", "continue"),
        ("history", "{}", "--reflect", "x"), ("history", "{}", "--attempt", "1"),
    )):  # fmt: skip
        # A task is no folder; each of the other ways to name it is tried with some.
        names = ("aiwg/020b2b71", "aiwg", ".aiwg/ralph-external", ".aiwg")
        for name in names if not number else (names[number % 3],):
            done = here(*(word.format(name) for word in command), cwd=wired)
            assert done.returncode == 2, done.stdout
            assert ONLY_READ in done.stderr, done.stderr
            assert done.stderr.count("\n") == 1
    assert {path: path.stat().st_mtime_ns for path in wired.rglob("*")} == before


def test_nothing_is_written_where_it_is_read(wired: Path) -> None:
    before = {path: path.read_bytes() for path in wired.rglob("*") if path.is_file()}
    for command in (("replay", "--headless"), ("report",), ("status",), ("history",)):
        here(*command, cwd=wired)
    assert {path: path.read_bytes() for path in wired.rglob("*") if path.is_file()} == before


def test_a_name_that_nobody_has_names_those_there_are(wired: Path) -> None:
    for name in ("nonsense", "aiwg/nonsense"):
        done = here("replay", name, cwd=wired)
        assert done.returncode == 2
        assert f"no run '{name}' here; " in done.stderr
        assert "of aiwg: aiwg/020b2b71" in done.stderr


def test_the_prompt_of_an_iteration_is_shown_as_it_was_sent(wired: Path) -> None:
    sent = (wired / ".aiwg/ralph-external/prompts/003-prompt.md").read_text()
    done = here("prompt", "show", "aiwg", "--iteration", "3", cwd=wired)
    assert done.stdout.rstrip("\n") == sent.rstrip("\n")


def test_the_lab_says_what_is_recomputed(wired: Path) -> None:
    said = " ".join(here("lab", "--run", "aiwg", cwd=wired).stdout.split())
    assert "aiwg recorded only the measurements; everything else is recomputed." in said
    assert "REDIRECT at 5" in said
    patient = here("lab", "--run", "aiwg", "--set", "control.smoothing=0.9", cwd=wired).stdout
    assert "With these settings, it differs at " in " ".join(patient.split())


@pytest.mark.parametrize(
    ("sample", "lines"), [("internal-hook", ""), ("ref-stuck", "files   source 1")]
)
def test_what_was_not_recorded_is_not_told_as_zero(sample: str, lines: str, tmp_path: Path) -> None:
    root = unpacked(sample, tmp_path)
    output = here("replay", "aiwg", "--headless", cwd=root).stdout
    report = here("report", "aiwg", "--full", cwd=root).stdout
    assert "+0 −0" not in output + report
    assert [row for row in output.splitlines() if row.endswith(lines)]
    rows = [row for row in report.splitlines() if row.startswith(("| 1 ", "| 2 "))]
    assert rows
    assert all(row.split(" | ")[-2] == ("1" if lines else "—") for row in rows[-2:])


def test_a_run_that_nobody_measured_came_to_no_percentage(tmp_path: Path) -> None:
    root = unpacked("internal-cli", tmp_path)
    last = here("replay", "aiwg", "--headless", cwd=root).stdout.splitlines()[-1]
    assert "aborted: aiwg recorded it as aborted · no iteration, never measured" in last
    status = here("status", "aiwg", cwd=root).stdout
    assert "completion  never measured" in status


def test_a_run_without_an_end_is_called_the_same_everywhere(tmp_path: Path) -> None:
    root = unpacked("ref-crash", tmp_path)
    report = here("report", "aiwg", cwd=root).stdout
    assert here("status", "aiwg", cwd=root).stdout.startswith("◇ died: no end was recorded\n")
    assert here("status", "aiwg", "--line", cwd=root).stdout.startswith("◇ 40 % 3/8 died: no end")
    assert json.loads(here("status", "aiwg", "--json", cwd=root).stdout)["verdict_word"] == "died"
    assert "  died  " in here("history", cwd=root).stdout
    assert "**Died:** no end was recorded. The record stops in iteration 3 of 8" in report
    assert "aiwg takes no snapshots" in report
    assert "not in this repository" not in report


def test_words_of_it_are_found_with_the_command_that_opens_that_moment(wired: Path) -> None:
    done = here("search", "--json", "authentication", cwd=wired)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found
    for one in found:
        opens = one["open"].split()
        assert opens[:3] == ["ralph-tui", "replay", "aiwg/020b2b71"]
        last = here(*opens[1:], "--json", cwd=wired).stdout.splitlines()[-1]
        assert json.loads(last)["seq"] == one["seq"]
    assert "authentication" in here("search", "authentication", cwd=wired).stdout.lower()


@pytest.mark.parametrize(
    ("sample", "missing", "where"),
    [
        ("ref-crash", "session-state.json", ".aiwg/ralph-external"),
        ("internal-hook", "current-loop.json", ".aiwg/ralph"),
    ],
)
def test_what_is_left_of_a_run_is_said_to_be_there(
    sample: str, missing: str, where: str, tmp_path: Path
) -> None:
    root = unpacked(sample, tmp_path)
    for path in [*root.rglob("*.json"), *root.rglob("*.bak")]:
        if path.parent.name not in ("outputs", "iterations"):
            path.unlink()
    said = f"{where} holds a run of aiwg that cannot be read: its {missing} is missing; put it back"
    for command in (
        ("status", "aiwg"), ("report", "aiwg"), ("replay",), ("replay", "aiwg"), ("history",)
    ):  # fmt: skip
        done = here(*command, cwd=root)
        assert done.returncode == 2
        assert said in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1


def test_a_run_whose_state_is_broken_is_listed_with_the_reason(tmp_path: Path) -> None:
    root = unpacked("ref-stuck", tmp_path)
    external = root / ".aiwg" / "ralph-external"
    (external / "session-state.json").write_text('{"loopId": "x", "iter')
    (external / "session-state.json.bak").unlink(missing_ok=True)
    listed = here("history", cwd=root)
    assert listed.returncode == 0
    (row,) = json.loads(here("history", "--json", cwd=root).stdout)
    assert row["problem"] == "session-state.json cannot be used: it is not complete JSON"
    assert listed.stderr == f"ralph-tui: {row['run']}: {row['problem']}\n"
    assert row["run"] in listed.stdout
