"""Start the stub, or the real binary, on a scenario."""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.doubles.scenario import Scenario

STUB = Path(__file__).parent / "bin" / "claude"
"""The stub as a program on PATH."""
PROGRAM = Path(__file__).parent / "program.py"
"""Runs without site packages: it does not need them, and loading them takes time."""
STREAMING = (
    "-p",
    "--input-format", "stream-json",
    "--output-format", "stream-json",
    "--verbose",
    "--replay-user-messages",
)  # fmt: skip
"""Flags of a session that accepts messages."""
KEY = {"ANTHROPIC_API_KEY": "sk-test-0000"}
LOGIN = {"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-test"}
"""Invented values."""


def stub_argv(scenario: Scenario | None = None) -> list[str]:
    """The stub's program, with a session's flags and the scenario's when one is given."""
    program = [sys.executable, "-S", str(PROGRAM)]
    return program if scenario is None else [*program, *STREAMING, *scenario.arguments]


def environment(
    scenario: str | Path, *, state: Path | None = None, base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment for the stub: `base` (else ours), the scenario and the story's folder."""
    environ = dict(os.environ if base is None else base)
    environ |= {"STUB_SCENARIO": str(scenario), "STUB_PYTHON": sys.executable, "IS_SANDBOX": "1"}
    if state is not None:
        environ["STUB_STATE"] = str(state)
    return environ


def on_path(environ: Mapping[str, str]) -> dict[str, str]:
    """The same environment, in which ``claude`` is the stub."""
    return {**environ, "PATH": f"{STUB.parent}{os.pathsep}{environ.get('PATH', os.defpath)}"}


def prepare(scenario: Scenario, root: Path) -> None:
    """The project as the scenario finds it."""
    root.mkdir(parents=True, exist_ok=True)
    for name, text in scenario.files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def real_binary() -> str | None:
    """Claude Code itself: `RALPH_TEST_CLAUDE`, or the one on PATH."""
    return os.environ.get("RALPH_TEST_CLAUDE") or shutil.which("claude")


def real_argv(binary: str, scenario: Scenario) -> list[str]:
    """The command line for a session of the real binary."""
    return [binary, *STREAMING, "--model", scenario.model, *scenario.arguments]


def real_environment(url: str, home: Path, scenario: Scenario) -> dict[str, str]:
    """The environment for the real binary: nothing of ours but PATH."""
    home.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "IS_SANDBOX": "1",
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_1M_CONTEXT": "1",  # 200,000 tokens, as older versions have them
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        **(LOGIN if scenario.subscription else KEY),
        **scenario.environment,
    }


def user_line(text: str, message_id: str = "") -> bytes:
    """A line of input with words of the user."""
    message: dict[str, object] = {
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": None,
        "session_id": "default",
    }
    if message_id:
        message["uuid"] = message_id
    return json.dumps(message).encode() + b"\n"


def request_line(subtype: str, request_id: str, **fields: object) -> bytes:
    """A line of input with a request to the program."""
    request = {"subtype": subtype, **fields}
    line = {"type": "control_request", "request_id": request_id, "request": request}
    return json.dumps(line).encode() + b"\n"
