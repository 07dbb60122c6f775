"""The stub and its service end every scenario as documented, in both version generations."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from ralph_tui.events.agent import SessionOutcome
from tests.doubles import hostile
from tests.doubles.api import Api
from tests.doubles.comparing import differences, outline
from tests.doubles.driver import Run, run
from tests.doubles.launch import environment, on_path, prepare, request_line, stub_argv, user_line
from tests.doubles.scenario import Answer, Json, Scenario, Script, ToolUse, load, names
from tests.rows import each_row

ENDLESS = ("never_exits", "stays_after_result")
REQUIRED = {
    "success", "failing_tools", "max_turns", "budget", "limited_once", "limited_until_reset",
    "overloaded", "auth_401", "forbidden_403", "dropped", "stalled", "mid_stream_error",
    "context_overflow", "compaction", "subagents", "background_bash", "guidance_in_tool",
    "guidance_in_text", "interrupt", "sigint", "sigterm", "refusal", "denied_tools", "long_line",
    "bad_model", "hook_stops", "outage", "broken_service",
}  # fmt: skip
STORY = {"CLAUDE_CODE_MAX_RETRIES": "2", "PATH": os.environ["PATH"], "HOME": "/nonexistent"}


def ignores_sigterm(pid: int) -> bool:
    """True if the process ignores SIGTERM: the last step of scenarios that end only by a kill."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    ignored = next(line.split()[1] for line in lines if line.startswith("SigIgn:"))
    return bool(int(ignored, 16) >> (signal.SIGTERM - 1) & 1)


def play(name: str, tmp_path: Path, *more: str, **environ: str) -> Run:
    root = tmp_path / "project"
    scenario = load(name, root=str(root), python=sys.executable)
    prepare(scenario, root)
    base = {**STORY, **environ}
    state = tmp_path / "state"
    return run(
        [*stub_argv(scenario), *more],
        scenario,
        root,
        environment(name, state=state, base=base),
        stays=ignores_sigterm if name in ENDLESS else lambda _pid: False,
    )


def once(tmp_path: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A one-shot session."""
    base = {**STORY, **environ}
    return subprocess.run(
        [*stub_argv(), "-p", "--output-format", "stream-json", "--verbose", *arguments],
        cwd=tmp_path,
        env=environment(environ.get("scenario", "refusal"), state=tmp_path / "state", base=base),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def result(output: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    assert found["type"] == "result"
    return found


def working_folders() -> set[str]:
    """Working folders of all processes."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            found.add(str(link.readlink()))
    return found


def test_every_scenario_that_is_asked_for_is_there() -> None:
    assert set(names()) >= REQUIRED
    assert set(hostile.HABITS) <= set(names())


def files_are_edited_and_commands_run(done: Run, project: Path) -> None:
    assert "a + b" in (project / "calc.py").read_text()
    results = [event for event in done.events if event.get("tool_use_result")]
    assert results[-1]["tool_use_result"]["stdout"] == "5"


def a_line_has_600_kb(done: Run, project: Path) -> None:
    assert done.longest_line > 600_000


def the_command_is_gone_with_all_its_children(done: Run, project: Path) -> None:
    assert (project / "started").exists()
    assert str(project) not in working_folders()


AFTERWARDS = {
    "success": files_are_edited_and_commands_run,
    "long_line": a_line_has_600_kb,
    "sigterm": the_command_is_gone_with_all_its_children,
}
"""Additional visible effects of some scenarios."""


@each_row("name", names())
def test_a_scenario_ends_as_it_says(name: str, tmp_path: Path) -> None:
    expected = dict(load(name).expected)
    done = play(name, tmp_path)
    if name in AFTERWARDS:
        AFTERWARDS[name](done, tmp_path / "project")
    assert expected.pop("outcome", "success") in get_args(SessionOutcome)
    if name in ENDLESS:
        assert done.exit_code == -9
    elif "exit_code" in expected:
        assert done.exit_code == expected.pop("exit_code"), done.stderr
    said: Mapping[str, object] = done.result or {}
    assert {key: said.get(key) for key in expected} == expected
    assert "Traceback" not in done.stderr


@each_row(
    ("version", "receipts"), [("2.1.197", []), ("2.1.329", ["queued", "started", "completed"])]
)
def test_receipts_depend_on_the_version(version: str, receipts: list[str], tmp_path: Path) -> None:
    done = play("guidance_in_tool", tmp_path, STUB_VERSION=version)
    states = [event["state"] for event in done.events if event["type"] == "command_lifecycle"]
    assert states == receipts
    assert done.result is not None
    assert done.result["result"] == "end of turn"


def test_an_older_version_ends_failed_calls_with_completed(tmp_path: Path) -> None:
    said = play("forbidden_403", tmp_path, STUB_VERSION="2.1.197").result
    assert said is not None
    assert (said["is_error"], said["terminal_reason"]) == (True, "completed")


def test_a_key_hears_nothing_of_limits(tmp_path: Path) -> None:
    reported = play("limited_until_reset", tmp_path, ANTHROPIC_API_KEY="sk-test").kinds()
    assert "rate_limit_event" not in reported
    assert reported[-1] == "result"


def test_a_usage_limit_ends_with_its_reset(tmp_path: Path) -> None:
    story = Script([Answer(fault="429", resets_in_s=20), Answer(text="works")], began=1000.0)
    assert [story.next(now).fault for now in (1000.0, 1019.9)] == ["429", "429"]
    assert story.next(1020.0).text == "works"
    assert story.next(1021.0).text == "Nothing left to do."


def test_sessions_of_a_story_have_answers_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "story.json"
    file.write_text(json.dumps({"about": "", "sessions": [[{"text": "one"}], [{"text": "two"}]]}))
    said = [result(once(tmp_path, scenario=str(file)).stdout)["result"] for _ in range(3)]
    assert said == ["one", "two", "two"]


def test_cost_grows_over_resumed_sessions_in_newer_versions_only(tmp_path: Path) -> None:
    for version, factor in (("2.1.329", 2), ("2.1.197", 1)):
        home = tmp_path / version
        home.mkdir()
        identifier = str(uuid.uuid4())
        fields = {"STUB_VERSION": version, "scenario": "two_tools"}
        first = result(once(home, "--session-id", identifier, "p", **fields).stdout)
        second = result(once(home, "--resume", identifier, "p", **fields).stdout)
        assert second["session_id"] == identifier
        assert second["total_cost_usd"] == pytest.approx(factor * first["total_cost_usd"])


def test_what_the_real_binary_refuses_on_stderr_alone(tmp_path: Path) -> None:
    identifier = str(uuid.uuid4())
    assert once(tmp_path, "--session-id", identifier, "p").returncode == 0
    for arguments, words in (
        (("--session-id", identifier, "p"), "already in use"),
        (("--session-id", "no-uuid", "p"), "Invalid session ID"),
        (("--no-such-flag", "p"), "unknown option '--no-such-flag'"),
    ):
        done = once(tmp_path, *arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert words in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_root_needs_a_sandbox(tmp_path: Path) -> None:
    argv = [*stub_argv(), "-p", "--dangerously-skip-permissions", "p"]
    environ = {**STORY, "STUB_SCENARIO": "success"}
    done = subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"root/sudo" in done.stderr


def test_an_unknown_session_is_not_resumed(tmp_path: Path) -> None:
    done = once(tmp_path, "--resume", str(uuid.uuid4()), "p")
    said = result(done.stdout)
    assert done.returncode == 1
    assert (said["subtype"], len(done.stdout.splitlines())) == ("error_during_execution", 1)


def test_help_and_version_by_version(tmp_path: Path) -> None:
    def say(flag: str, version: str) -> str:
        environ = on_path({**STORY, "STUB_VERSION": version})
        return subprocess.run(
            ["claude", flag], env=environ, capture_output=True, text=True, check=True
        ).stdout

    assert say("--version", "2.1.197") == "2.1.197 (Claude Code)\n"
    assert "--max-budget-usd" in say("--help", "2.1.197")
    assert "--max-budget-usd" not in say("--help", "1.0.50")
    assert "--max-turns" not in say("--help", "2.1.329")


def test_requests_to_the_program(tmp_path: Path) -> None:
    lines = [
        request_line("get_context_usage", "1"),
        request_line("set_model", "2", model="haiku"),
        request_line("set_permission_mode", "3", mode="plan"),
        request_line("nonsense", "4"),
        user_line("hi"),
    ]
    argv = stub_argv(Scenario("", "", []))
    done = subprocess.run(
        argv,
        cwd=tmp_path,
        env=environment("refusal", base=STORY),
        input=b"".join(lines),
        capture_output=True,
        check=True,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    answers = {
        event["response"]["request_id"]: event["response"]
        for event in events
        if event["type"] == "control_response"
    }
    assert answers["1"]["response"]["maxTokens"] == 1_000_000
    assert answers["4"]["error_code"] == "unsupported_request"
    init = next(event for event in events if event.get("subtype") == "init")
    assert (init["model"], init["permissionMode"]) == ("claude-haiku-5-5", "plan")


def ask(url: str, path: str = "/v1/messages", **body: object) -> tuple[int, str]:
    request = urllib.request.Request(url + path, data=json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_service_gives_answers_to_requests_with_tools_only() -> None:
    scenario = Scenario(
        "", "", [[Answer(text="first", tools=[ToolUse("Bash", {"command": "ls"})]),
                  Answer(fault="529"), Answer(text="last")]],
        subagents={"SUB": [Answer(text="of a subagent")]},
    )  # fmt: skip
    main: Json = {"messages": [{"role": "user", "content": "do"}], "tools": [{"name": "Bash"}]}
    sub: Json = {
        **main,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "SUB"}]}],
    }
    with Api(scenario) as api:
        status, stream = ask(api.url, **main, stream=True)
        assert status == 200
        events = [line[7:] for line in stream.splitlines() if line.startswith("event: ")]
        assert (events[0], events[-1]) == ("message_start", "message_stop")
        assert '{\\"command\\": \\"ls\\"}' in stream
        assert "first" not in ask(api.url, messages=main["messages"])[1]
        assert json.loads(ask(api.url, "/v1/messages/count_tokens", **main)[1])["input_tokens"] > 0
        assert ask(api.url, **main)[0] == 529
        assert "of a subagent" in ask(api.url, **sub)[1]
        assert json.loads(ask(api.url, **main)[1])["content"] == [{"type": "text", "text": "last"}]
        assert api.requests[0].answer == "first"


def test_the_service_ends_while_it_is_silent() -> None:
    with Api(Scenario("", "", [[Answer(text="late", delay_s=3600)]])) as api:
        pass
    assert api.ended.is_set()


def test_differences_are_found(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "more.txt").write_text("x")
    event = {"type": "system", "subtype": "status", "status": "compacting"}
    end = {"type": "result", "usage": {}, "total_cost_usd": 0.1, "permission_denials": []}
    one = outline(Run(0, [event, event, end], "", 10), tmp_path / "one")
    two = outline(Run(1, [{**event, "status": None}, end], "", 10), tmp_path / "two")
    found = " ".join(differences(one, two))
    assert not differences(one, one)
    for words in ("exit code", "kinds", "status: compacting instead of None", "more.txt"):
        assert words in found
