"""Test bench for sessions of the Agent Client Protocol double."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.agents.acp.agent import AcpAgent
from ralph_tui.adapters.agents.acp.quirks import ANY, CLAUDE, CODEX, GEMINI, OPENCODE, Quirks
from ralph_tui.adapters.agents.acp.session import AcpSession
from ralph_tui.events import AgentAsked, SessionFinished
from ralph_tui.ports.agents import Permissions, Turn
from tests.agent_sessions import Heard, context_in, numbered_turn
from tests.doubles import acp

ROWS: dict[str, Quirks] = {
    "opencode": OPENCODE, "gemini": GEMINI, "claude": CLAUDE, "codex": CODEX, "any": ANY,
}  # fmt: skip
EVERY = pytest.mark.parametrize("plays", list(ROWS))
Step = dict[str, Any]
ONCE = {"opencode": "once", "gemini": "proceed_once", "claude": "allow-once", "codex": "allow_once",
        "any": "y"}  # fmt: skip
REJECT = {"opencode": "reject", "gemini": "cancel", "claude": "reject", "codex": "cancel",
          "any": "n"}  # fmt: skip


DOUBLE = f"import sys; sys.path.append({str(Path(acp.__file__).parent)!r}); import acp; acp.main()"
"""Imported, so that it is not compiled again for each session."""


class Bench:
    def __init__(self, tmp: Path) -> None:
        self.tmp = tmp
        self.root = tmp / "project"
        self.root.mkdir()
        self.log = tmp / "received.jsonl"
        self.heard = Heard()
        self.sessions = 0
        self.agent: AcpAgent | None = None

    def turn(self, mode: str = "edits", *allow: str, **fields: Any) -> Turn:
        self.sessions += 1
        allowed = Permissions(mode, allow)  # type: ignore[arg-type]
        given = {"prompt": "Fix it.", "permissions": allowed, **fields}
        return numbered_turn(self.tmp, self.sessions, **given)

    def start(
        self, plays: str, *prompts: list[Step], turn: Turn | None = None, **script: Any
    ) -> AcpSession:
        settings = script.pop("settings", {})
        path = self.tmp / "script.json"
        whole = {"plays": plays, "prompts": prompts, "log": str(self.log), **script}
        path.write_text(json.dumps(whole))
        argv = [sys.executable, "-ISc", DOUBLE, str(path)]
        context = context_in(self.root)
        context = context._replace(settings=context.settings.model_copy(update=settings))
        if self.agent is None:
            self.agent = AcpAgent(plays, argv, ROWS[plays], context)
        return self.agent.start(turn or self.turn(), self.heard)

    def run(self, plays: str, *prompts: list[Step], **fields: Any) -> SessionFinished:
        self.start(plays, *prompts, **fields)
        return self.heard.finished()

    def received(self, method: str) -> list[dict[str, Any]]:
        """Messages that the agent received through this method."""
        lines = map(json.loads, self.log.read_text().splitlines())
        return [line.get("params", {}) for line in lines if line.get("method") == method]

    def prompts(self) -> list[str]:
        return [params["prompt"][0]["text"] for params in self.received("session/prompt")]

    def answered(self) -> list[str]:
        """Answers to its requests: options, or ``cancelled``."""
        lines = map(json.loads, self.log.read_text().splitlines())
        outcomes = [line["result"]["outcome"] for line in lines if "result" in line]
        return [outcome.get("optionId") or outcome["outcome"] for outcome in outcomes]


def bash(command: str, **more: Any) -> Step:
    return {"use": "bash", "command": command, **more}


def asked(bench: Bench) -> AgentAsked:
    event = bench.heard.wait_for(lambda event: isinstance(event, AgentAsked))
    assert isinstance(event, AgentAsked)
    return event
