"""The whole product with Claude Code: a bug is fixed, measured, recorded, and can be replayed.

With the stub everywhere, and with the real binary on a scripted service where it is installed.
"""

import json
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from ralph_tui.loop.steps import service_limits
from tests.doubles.api import Api
from tests.doubles.launch import STUB, environment, prepare, real_binary, real_environment
from tests.doubles.scenario import FOLDER, load
from tests.e2e.cli import CLI, Command, events_of, here, processes_of, run
from tests.processes import Child
from tests.waiting import until

BINARY = real_binary()
CHECK = shlex.join([sys.executable, "-B", "-c", "import calc; assert calc.add(2, 3) == 5"])


ORDER = ("run", "Fix add", "-c", CHECK, "--headless", "--json")


def settings(binary: str) -> dict[str, str]:
    return {"RALPH_TUI_AGENT__BINARY": binary, "RALPH_TUI_PERMISSIONS__MODE": "skip"}


def stub(
    root: Path, name: str, state: Path, *more: str, by: Command = here
) -> tuple[int, list[Any]]:
    scenario = load(name, root=str(root), python=sys.executable)
    prepare(scenario, root)
    environ = environment(name, state=state, base=settings(str(STUB)))
    done = by(*ORDER, *more, cwd=root, **environ)
    assert "Traceback" not in done.stderr
    return done.returncode, events_of(done.stdout)


def kinds(events: list[Any], kind: str) -> list[Any]:
    return [event for event in events if event["kind"] == kind]


def test_a_bug_is_fixed_and_the_run_replayed(git_repo: Path, tmp_path: Path) -> None:
    code, events = stub(git_repo, "success", tmp_path / "state", by=run)
    assert code == 0
    assert events[-1]["outcome"] == "completed"
    assert events[-1]["cost_usd"] > 0
    described = kinds(events, "session_described")[0]
    assert described["model"]
    assert kinds(events, "run_started")[0]["agent"] == "claude", "nothing else was configured"
    assert [event["tool"] for event in kinds(events, "tool_started")] == ["Read", "Edit", "Bash"]
    assert events_of(here("replay", "--json", cwd=git_repo).stdout) == events
    assert "$" in here("status", cwd=git_repo).stdout


def test_a_refused_key_ends_the_run_at_once_with_what_to_do(git_repo: Path, tmp_path: Path) -> None:
    code, events = stub(git_repo, "auth_401", tmp_path / "state")
    assert code == 1
    assert "/login" in events[-1]["reason"]
    assert len(kinds(events, "session_started")) == 1


def test_a_binary_that_is_none_costs_no_record(git_repo: Path, tmp_path: Path) -> None:
    code, events = stub(git_repo, "other_json", tmp_path / "state", "--max-iterations", "1")
    assert code == 1
    finished = kinds(events, "session_finished")
    assert [session["outcome"] for session in finished] == ["not_started"] * 2
    assert finished[0]["reason"].endswith(".")
    assert events[-1]["kind"] == "run_finished"
    assert "it does not start (2 attempts): " in events[-1]["reason"]


def test_an_outage_is_slept_through(
    git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(service_limits.FIRST_WAIT_S, "outage", 0.02)
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "2")  # not ten, seconds long
    story = json.loads((FOLDER / "success.json").read_text())
    dead, works = [{"fault": "drop", "times": 99}], story.pop("answers")
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps({**story, "sessions": [dead, dead, works]}))
    monkeypatch.setenv("STUB_VERSION", "2.1.197")
    code, events = stub(git_repo, str(path), tmp_path / "state", "--max-iterations", "1")
    assert code == 0, events[-1]
    assert len(kinds(events, "session_started")) == 3
    waits = kinds(events, "wait_started")
    assert [wait["cause"] for wait in waits] == ["outage"] * 2
    assert {wait["since"] for wait in waits} == {waits[0]["since"]}
    assert all("has never answered in this run" in wait["reason"] for wait in waits)
    assert [event["status"] for event in kinds(events, "iteration_finished")] == ["completed"]


def test_a_session_goes_on_after_an_outage(
    git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(service_limits.FIRST_WAIT_S, "outage", 0.02)
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "2")  # not ten, seconds long
    story = json.loads((FOLDER / "success.json").read_text())
    answers = story.pop("answers")
    begun = [answers[0], {"fault": "500", "times": 99}]
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps({**story, "sessions": [begun, answers]}))
    code, events = stub(git_repo, str(path), tmp_path / "state", "--max-iterations", "1")
    assert code == 0, events[-1]
    one, other = kinds(events, "session_started")
    assert one["session_id"] == other["session_id"], "it was resumed"


@pytest.mark.real_agent
@pytest.mark.skipif(BINARY is None, reason="Claude Code is not installed")
def test_the_real_binary_sleeps_through_an_outage(
    git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(service_limits.FIRST_WAIT_S, "outage", 0.1)
    scenario = load("success", root=str(git_repo), python=sys.executable)
    prepare(scenario, git_repo)
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    environ = real_environment(f"http://127.0.0.1:{port}", tmp_path / "home", scenario)

    def waits() -> bool:
        return any("wait_started" in file.read_text() for file in git_repo.rglob("events.jsonl"))

    def come_back() -> None:
        until(waits)
        with Api(scenario, port=port):
            over.wait(55)

    over = Event()
    service = Thread(target=come_back)
    service.start()
    try:
        order = (*ORDER, "--model", scenario.model)
        done = here(*order, cwd=git_repo, **environ, **settings(BINARY or ""))
    finally:
        over.set()
        service.join()
    events = events_of(done.stdout)
    assert done.returncode == 0, json.dumps(events[-1])
    assert {wait["cause"] for wait in kinds(events, "wait_started")} == {"outage"}
    assert kinds(events, "iteration_finished")[0]["iteration"] == 1


@pytest.mark.real_agent
@pytest.mark.skipif(BINARY is None, reason="Claude Code is not installed")
def test_the_real_binary_fixes_a_bug_end_to_end(git_repo: Path, tmp_path: Path) -> None:
    scenario = load("success", root=str(git_repo), python=sys.executable)
    prepare(scenario, git_repo)
    with Api(scenario) as api:
        environ = real_environment(api.url, tmp_path / "home", scenario)
        done = subprocess.run(
            [*CLI, *ORDER, "--model", scenario.model],
            cwd=git_repo,
            env={**environ, **settings(BINARY or "")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    assert "Traceback" not in done.stderr
    events = events_of(done.stdout)
    assert done.returncode == 0, json.dumps(events[-1])
    assert [event["tool"] for event in kinds(events, "tool_started")] == ["Read", "Edit", "Bash"]
    assert kinds(events, "session_described")[0]["model"] == scenario.model
    assert events_of(here("replay", "--json", cwd=git_repo).stdout) == events


@pytest.mark.real_agent
@pytest.mark.skipif(BINARY is None, reason="Claude Code is not installed")
def test_nothing_is_left_of_the_real_binary_killed_in_mid_bash(
    git_repo: Path, tmp_path: Path
) -> None:
    scenario = load("sigterm", root=str(git_repo), python=sys.executable)
    prepare(scenario, git_repo)
    with Api(scenario) as api:
        environ = {
            **real_environment(api.url, tmp_path / "home", scenario),
            **settings(BINARY or ""),
        }
        process = Child(
            [*CLI, "run", "x", "-c", "false", "--json", "--model", scenario.model],
            cwd=git_repo, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with process:
            assert process.stdout is not None
            first = json.loads(process.stdout.readline())
            for line in process.stdout:
                if '"tool":"Bash"' in line:
                    break
            until(lambda: len(processes_of(first["run_id"])) >= 2)
            process.kill()
        until(lambda: not processes_of(first["run_id"]))
