"""A project whose Claude Code sessions have the hook program, and a transcript to write."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.events import Event
from ralph_tui.hooks.program.__main__ import run
from ralph_tui.hooks.project import read_program
from ralph_tui.state import RunState
from tests.forks import Program, completed

INTERPRETER = Path(sys.executable).resolve()
"""Without the virtual environment."""
LOADED = (
    "ralph_tui.hooks.program.program",
    "ralph_tui.hooks.program.stop",
    "ralph_tui.hooks.program.watch",
)
SESSION = "35767911-764b-4edc-ab0b-ff876111a8a3"
MODEL = "claude-sonnet-5-5"
WINDOW = 200_000

Json = dict[str, Any]


def install(folder: Path) -> Path:
    """The hook program in this folder."""
    for name, content in read_program().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def served(folder: Path) -> Program:
    """The program from which calls are forked."""
    return Program((str(INTERPRETER), "-I", "-S"), folder, LOADED, "ralph_tui.hooks.program")


def settings_for(program: Path) -> Json:
    """The project's settings with both hooks."""
    command = f'"{INTERPRETER}" -I -S "{program}"'

    def hook(name: str) -> list[Json]:
        return [{"hooks": [{"type": "command", "command": f"{command} {name}"}]}]

    return {"hooks": {"PostToolUse": hook("post-tool-use"), "Stop": hook("stop")}}


@dataclass(frozen=True)
class HookResult:
    """The result of a call."""

    code: int
    fields: Json
    """The JSON on stdout."""
    err: str

    @property
    def model(self) -> str:
        """Text for the model."""
        return str(self.fields.get("hookSpecificOutput", {}).get("additionalContext", ""))

    @property
    def user(self) -> str:
        return str(self.fields.get("systemMessage", ""))


def _run_in_process(
    hook: str, folder: Path, environ: Mapping[str, str], streams: tuple[int, int, int]
) -> int:
    """The exit code of a call in this process, whose folder, environment and streams change."""
    with ExitStack() as restored:
        patch = restored.enter_context(pytest.MonkeyPatch.context())
        patch.chdir(folder)
        for name in os.environ.keys() - environ.keys():
            patch.delenv(name)
        for name, value in environ.items():
            patch.setenv(name, value)
        patch.setattr(tempfile, "tempdir", None)
        patch.setattr(sys, "stdin", restored.enter_context(os.fdopen(os.dup(streams[0]))))
        for number in (1, 2):
            before = os.dup(number)
            restored.callback(os.close, before)
            restored.callback(os.dup2, before, number)
            os.dup2(streams[number], number)
        handler = signal.getsignal(signal.SIGALRM)
        restored.callback(signal.signal, signal.SIGALRM, handler)
        restored.callback(signal.alarm, 0)
        code: int = run([hook])  # type: ignore[no-untyped-call]
        return code


class Project:
    """A git repository with a state file; hooks are called as Claude Code calls them."""

    def __init__(self, folder: Path, program: Path, **state: object) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self.program = program
        self.transcript = folder / "transcript.jsonl"
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "TZ": "UTC"}
        self.environ["TMPDIR"] = str(folder)  # what a killed hook leaves goes with the test
        self._clock = 0
        self.write_state(
            objective="Mend the parser", max_iterations=10, context_window=WINDOW, **state
        )

    @cached_property
    def with_git(self) -> "Project":
        """A first commit with a file to change."""
        (self.root / "calc.py").write_text("def add(a, b):\n    return a - b\n")
        self.git("init", "-q")
        self.git("add", "calc.py")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
        return self

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", str(self.root), *arguments], check=True, capture_output=True)

    @property
    def state_path(self) -> Path:
        return self.root / ".claude" / "ralph-state.json"

    @property
    def state(self) -> Json:
        found: Json = json.loads(self.state_path.read_text())
        return found

    def write_state(self, **fields: object) -> None:
        self.state_path.parent.mkdir(exist_ok=True)
        self.state_path.write_text(json.dumps(fields))

    def entry(self, kind: str, **fields: object) -> None:
        """A line of the transcript."""
        self._clock += 1
        at = f"2026-01-07T11:{self._clock // 60:02}:{self._clock % 60:02}.000Z"
        line = {"type": kind, "isSidechain": False, "timestamp": at, "version": "2.1.197", **fields}
        with self.transcript.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def says(
        self, tokens: int, *blocks: Json, message_id: str = "", model: str = MODEL, **more: object
    ) -> None:
        """A message of the session that used so many tokens of the window."""
        usage = {
            "input_tokens": 12,
            "cache_creation_input_tokens": 1000,
            "cache_read_input_tokens": tokens - 1012,
            "output_tokens": 20,
        }
        message = {
            "id": message_id or f"msg_{self._clock}",
            "role": "assistant",
            "model": model,
            "content": [*blocks],
            "usage": usage,
        }
        self.entry("assistant", message=message, **more)

    def uses(self, tokens: int, tool: str, number: int, **given: object) -> Json:
        """Record a message that calls a tool; return the input of the hook after it."""
        tool_id = f"toolu_{number}"
        self.says(tokens, {"type": "tool_use", "id": tool_id, "name": tool, "input": given})
        return {"tool_name": tool, "tool_input": given, "tool_use_id": tool_id, "duration_ms": 60}

    def answers(
        self, number: int, text: str = "done", *, failed: bool = False, result: object = None
    ) -> None:
        """The tool's answer; `result`: its structured form."""
        block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text}
        content = [block | {"is_error": failed}]
        more = {} if result is None else {"toolUseResult": result}
        self.entry("user", message={"role": "user", "content": content}, **more)

    def given(self, event: str, **fields: object) -> bytes:
        """The hook's input from Claude Code."""
        whole = {
            "session_id": SESSION,
            "transcript_path": str(self.transcript),
            "cwd": str(self.root),
            "permission_mode": "default",
            "hook_event_name": event,
            **fields,
        }
        return json.dumps(whole).encode()

    def after_tool(self, environ: Mapping[str, str] | None = None, **fields: object) -> HookResult:
        return self.call("post-tool-use", self.given("PostToolUse", **fields), environ)

    def stop(self, environ: Mapping[str, str] | None = None, **fields: object) -> HookResult:
        given = {"stop_hook_active": False, "last_assistant_message": "One more step is done."}
        return self.call("stop", self.given("Stop", **given | fields), environ)

    def call(self, hook: str, data: bytes, environ: Mapping[str, str] | None = None) -> HookResult:
        """A call of the program within this process; see `after_tool_installed`."""
        variables = {**self.environ, **(environ or {})}
        return self._call_program(
            data, lambda streams: _run_in_process(hook, self.root, variables, streams)
        )

    def after_tool_installed(self, fields: Json) -> HookResult:
        """Like `after_tool`, with the installed copy in a process of its own."""
        program, hook = served(self.program), "post-tool-use"
        return self._call_program(
            self.given("PostToolUse", **fields),
            lambda streams: completed(program, [hook], self.root, self.environ, streams, 50),
        )

    @staticmethod
    def _call_program(data: bytes, run: Callable[[tuple[int, int, int]], int]) -> HookResult:
        with TemporaryFile() as given, TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            given.write(data)
            given.seek(0)
            code = run((given.fileno(), out.fileno(), err.fileno()))
            out.seek(0)
            err.seek(0)
            text = out.read()
            return HookResult(code, json.loads(text) if text else {}, err.read())

    @property
    def journal(self) -> Path:
        (path,) = self.root.glob(".aiwg/ralph/hooks/*/events.jsonl")
        return path

    @property
    def events(self) -> list[Event]:
        """Events of the only journal."""
        return self.events_of(self.journal)

    @staticmethod
    def events_of(journal: Path) -> list[Event]:
        """All events as the project's own reader returns them; none may be damaged."""
        recording = read_journal(journal)
        assert recording.problem == ""
        assert not recording.torn
        return recording.events

    @property
    def run(self) -> RunState:
        """The events, folded."""
        state = RunState()
        for event in self.events:
            state.apply(event)
        return state
