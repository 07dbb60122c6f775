"""Plays the user of a scenario against any program that speaks stream-json both ways."""

import json
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.doubles.launch import request_line, user_line
from tests.doubles.scenario import Action, Json, Scenario

LIMIT_S = 300.0
EVERY_S = 0.02


@dataclass
class Run:
    """Result of a program; `exit_code` is negative for a signal."""

    exit_code: int
    events: list[Json]
    stderr: str
    longest_line: int

    def kinds(self) -> list[str]:
        """The kinds of its events, in their order."""
        return [kind(event) for event in self.events]

    @property
    def result(self) -> Json | None:
        """The last result."""
        return next((event for event in reversed(self.events) if event["type"] == "result"), None)


def kind(event: Mapping[str, object]) -> str:
    """``type/subtype``, or ``type/block`` for messages, ``type/state`` for receipts."""
    message = event.get("message")
    if event["type"] in ("assistant", "user") and isinstance(message, dict):
        content = message.get("content")
        if isinstance(content, list) and content:
            return f"{event['type']}/{content[0]['type']}"
        return f"{event['type']}/text"
    detail = event.get("state") if event["type"] == "command_lifecycle" else event.get("subtype")
    return (
        f"{event['type']}/{detail}" if detail and event["type"] != "result" else str(event["type"])
    )


@dataclass
class _Conversation:
    process: subprocess.Popen[bytes]
    scenario: Scenario
    root: Path
    events: list[Json] = field(default_factory=list)
    longest: int = 0
    pending: list[Action] = field(default_factory=list)
    since: float = 0.0
    """When the next action became due."""

    def read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        for line in stream:
            self.longest = max(self.longest, len(line))
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and "type" in event:
                self.events.append(event)

    def step(self) -> None:
        """Do what is due; close the input once everything is sent and answered."""
        while self.pending and self._due(self.pending[0]):
            self.since = self.since or time.monotonic()
            if time.monotonic() < self.since + self.pending[0].wait_s:
                return
            self.since = 0.0
            self._do(self.pending.pop(0))
        results = sum(event["type"] == "result" for event in self.events)
        if not self.pending and results >= self.scenario.results:
            self.close()

    def _due(self, action: Action) -> bool:
        if action.file:
            return (self.root / action.file).exists()
        return [kind(event) for event in self.events].count(action.on) >= action.nth

    def _do(self, action: Action) -> None:
        if action.do == "send":
            self.write(user_line(action.text, str(uuid.uuid4())))
        elif action.do == "close":
            self.close()
        elif action.do.startswith("SIG"):
            os.kill(self.process.pid, signal.Signals[action.do])
        else:
            self.write(request_line(action.do, f"r-{uuid.uuid4().hex[:6]}"))

    def write(self, line: bytes) -> None:
        stream = self.process.stdin
        assert stream is not None
        try:
            stream.write(line)
            stream.flush()
        except (BrokenPipeError, ValueError):
            return

    def close(self) -> None:
        stream = self.process.stdin
        assert stream is not None
        try:
            stream.close()
        except BrokenPipeError:
            return


def run(
    argv: Sequence[str],
    scenario: Scenario,
    root: Path,
    environ: Mapping[str, str],
    limit_s: float = LIMIT_S,
    stays: Callable[[int], bool] = lambda _pid: False,
) -> Run:
    """Run a session to its end; it is killed once it `stays`, or after so many seconds."""
    errors = root.with_name(f"{root.name}.stderr")
    with errors.open("wb") as stderr:
        process = _start(argv, root, environ, stderr)
    talk = _Conversation(process, scenario, root, pending=list(scenario.actions))
    reader = threading.Thread(target=talk.read, daemon=True)
    reader.start()
    talk.write(user_line(scenario.prompt))
    deadline = time.monotonic() + limit_s
    while process.poll() is None:
        if stays(process.pid) or time.monotonic() > deadline:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        talk.step()
        time.sleep(EVERY_S)
    talk.close()
    reader.join(timeout=5)
    if process.stdout is not None and not reader.is_alive():
        process.stdout.close()
    return Run(process.returncode, talk.events, errors.read_text(errors="replace"), talk.longest)


def _start(
    argv: Sequence[str], root: Path, environ: Mapping[str, str], stderr: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(argv),
        cwd=root,
        env=dict(environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
    )
