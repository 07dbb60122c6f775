"""An agent that speaks the Agent Client Protocol from a script, with real agents' quirks.

``python acp.py SCRIPT [...]``: a JSON file with `plays` (quirks), `prompts` (the steps of each
prompt; the last serves all later ones) and the other keys that `Agent` reads. The file `log`
receives every input line. Its tools are real: commands run in sessions of their own.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]

PLAYS: dict[str, Json] = json.loads(Path(__file__).with_name("acp_quirks.json").read_text())
"""Quirks of real agents, by the word that chooses them."""
KINDS = ("allow_once", "allow_always", "reject_once")
SLICE_S = 0.02


def complain(words: str) -> None:
    """A line of error output."""
    sys.stderr.write(words + "\n")
    sys.stderr.flush()


class EndTurn(Exception):  # noqa: N818 - no error
    """Ends the turn with this reason."""


class Agent:
    """Reads requests on a thread, and plays on the main one."""

    def __init__(self, script: Json) -> None:
        self.script = script
        self.plays = PLAYS[script.get("plays", "any")] | script.get("quirks", {})
        self.inbox: queue.SimpleQueue[Json | None] = queue.SimpleQueue()
        self.prompts: list[Json] = []
        self.folded: list[int] = []
        self.answers: dict[int, Json] = {}
        self.cancelled = False
        self.gone = False
        self.asked = 0
        self.turns = 0
        self.uses = 0
        self.session = script.get("session_id", "ses-1")
        self.children: list[subprocess.Popen[bytes]] = []

    def run(self) -> None:
        if self.plays.get("deaf"):
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
        if "dies" in self.script:
            complain(self.script["dies"])
            sys.exit(3)
        for line in self.script.get("noise", ()):
            self.raw(line)
        threading.Thread(target=self.read, daemon=True).start()
        while not self.gone:
            self.pump(1.0)
            if self.prompts:
                self.turn(self.prompts.pop(0))

    # -- the wire --------------------------------------------------------------------------------

    def raw(self, line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def put(self, **fields: Any) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **fields}))

    def update(self, kind: str, /, **fields: Any) -> None:
        update = {"sessionUpdate": kind, **fields}
        self.put(method="session/update", params={"sessionId": self.session, "update": update})

    def read(self) -> None:
        for line in sys.stdin:
            if log := self.script.get("log"):
                with Path(log).open("a") as kept:
                    kept.write(line)
            self.inbox.put(json.loads(line))
        self.inbox.put(None)

    def pump(self, seconds: float) -> None:
        """Handle input for up to this many seconds, or until some has arrived."""
        try:
            message = self.inbox.get(timeout=seconds)
        except queue.Empty:
            return
        if message is None:
            # A busy gemini does not notice that its client is gone.
            self.gone = True
            if not (self.plays.get("deaf") and self.turns):
                self.end()
            return
        method, number = message.get("method"), int(message.get("id") or 0)
        if method is None:
            self.answers[number] = message
        elif method == "session/cancel":
            self.cancelled = True
        elif method == "session/prompt":
            self.prompted(message)
        elif "id" in message:
            self.put(id=number, **self.result(method, message.get("params", {})))

    def end(self) -> None:
        for child in self.children:
            child.kill()
        os._exit(0)

    def prompted(self, message: Json) -> None:
        working, second = self.turns, self.plays.get("second")
        if working and second == "folded in":
            self.folded.append(message["id"])
            return
        if working and second == "refused":
            self.put(id=message["id"], error={"code": -32602, "message": "busy"})
            return
        if working and second == "ends the first":
            self.cancelled = True
        self.prompts.append(message)

    def result(self, method: str, params: Json) -> Json:
        refused = self.script.get("refuses", {}).get(method)
        if refused:
            return {"error": refused}
        if method == "initialize":
            fields = {
                "protocolVersion": 1,
                "agentInfo": self.plays["info"],
                "agentCapabilities": self.plays.get("capabilities", {}),
                "_meta": self.plays.get("meta", {}),
            }
        elif method == "session/new":
            fields = {"sessionId": self.session, **self.plays.get("session", {})}
        elif method in ("session/load", "session/resume"):
            self.session = params["sessionId"]
            fields = dict(self.plays.get("session", {}))
            self.update("agent_message_chunk", content={"type": "text", "text": "said before"})
        elif method == "_session/steering":
            fields = {"outcome": "injected"}
        else:
            fields = {}
            if method == "session/set_mode" and self.plays.get("deaf"):
                text = f"[MODE_UPDATE] {params['modeId']}"
                self.update("agent_message_chunk", content={"type": "text", "text": text})
        return {"result": fields}

    # -- turns -----------------------------------------------------------------------------------

    def turn(self, message: Json) -> None:
        turns = self.script.get("prompts", [[]])
        number = self.script["played"] = self.script.get("played", -1) + 1
        self.cancelled, self.turns = False, 1
        reason = self.script.get("ends_with", "end_turn")
        try:
            for step in turns[min(number, len(turns) - 1)]:
                self.step(step, message["id"])
        except EndTurn as over:
            reason = str(over)
        self.turns = 0
        if reason == "failed":
            return
        usage = {"inputTokens": 12, "outputTokens": 20, "cachedReadTokens": 100, "totalTokens": 132}
        if self.plays.get("usage") in ("turn", "last"):
            fields = {"used": 7000 + number, "size": 200_000}
            if price := self.plays.get("cost"):
                fields["cost"] = {"amount": price * (number + 1), "currency": "USD"}
            self.update("usage_update", **fields)
        quota: Json = {"quota": {"token_count": {"input_tokens": 112, "output_tokens": 20}}}
        answer = {"_meta": quota} if self.plays.get("usage") == "quota" else {"usage": usage}
        for request in (message["id"], *self.folded):
            self.put(id=request, result={"stopReason": reason, **answer})
        self.folded.clear()

    def step(self, step: Json, request: int) -> None:
        if "once" in step:
            if Path(step["once"]).exists():
                return
            Path(step["once"]).touch()
        for kind in ("say", "think", "raw", "complain", "wait", "fail", "use", "update", "die"):
            if kind in step:
                getattr(self, f"do_{kind}")(step, request)
        self.pump(0.0)
        self.look()

    def look(self) -> None:
        if self.cancelled or self.gone:
            raise EndTurn("cancelled")

    def do_say(self, step: Json, request: int) -> None:
        text, size = step["say"], step.get("piece", 7)
        for start in range(0, len(text), size):
            piece = {"type": "text", "text": text[start : start + size]}
            named = {} if self.plays.get("deaf") else {"messageId": f"msg-{self.uses}"}
            self.update("agent_message_chunk", content=piece, **named)

    def do_think(self, step: Json, request: int) -> None:
        self.update("agent_thought_chunk", content={"type": "text", "text": step["think"]})

    def do_update(self, step: Json, request: int) -> None:
        update = dict(step["update"])
        self.update(update.pop("sessionUpdate"), **update)

    def do_raw(self, step: Json, request: int) -> None:
        self.raw(step["raw"] * step.get("times", 1))

    def do_complain(self, step: Json, request: int) -> None:
        complain(step["complain"])

    def do_wait(self, step: Json, request: int) -> None:
        until = time.monotonic() + step["wait"]
        while time.monotonic() < until:
            self.pump(SLICE_S)
            self.look()

    def do_die(self, step: Json, request: int) -> None:
        complain(step["die"])
        os.kill(os.getpid(), signal.SIGKILL)

    def do_fail(self, step: Json, request: int) -> None:
        if words := step.get("stderr"):
            complain(words)
        self.put(id=request, error=step["fail"])
        raise EndTurn("failed")

    # -- tools -----------------------------------------------------------------------------------

    def do_use(self, step: Json, request: int) -> None:
        """A use of a tool: `use` names it; `command`, or `file` and `text`; `ask` for leave."""
        self.uses += 1
        name, kind = step["use"], step.get("kind", "execute" if "command" in step else "edit")
        named = self.plays.get("id_names_tool")
        use = f"{name}__{name}_{self.uses}" if named else f"use-{self.uses}"
        works_on = "command" if "command" in step else "file"
        given = {works_on: step.get(works_on), **step.get("input", {})}
        title = step.get("command") or step.get("file") or name
        unreported = self.plays.get("asks_first") and step.get("ask")
        if not unreported:
            first = name if self.plays.get("title_is_name") else title
            self.update("tool_call", toolCallId=use, title=first, kind=kind, status="pending",
                        rawInput={})  # fmt: skip
            self.update("tool_call_update", toolCallId=use, title=title, kind=kind,
                        status="in_progress", rawInput=given)  # fmt: skip
        if step.get("ask") and not self.permitted(use, title, kind, given, step):
            failed = {"type": "text", "text": "The user rejected permission to use this tool."}
            if not unreported:
                self.update("tool_call_update", toolCallId=use, status="failed",
                            content=[{"type": "content", "content": failed}])  # fmt: skip
            self.look()
            if reason := self.plays.get("refusal"):
                raise EndTurn(reason)
            return
        code, said = self.work(step)
        content = [{"type": "content", "content": {"type": "text", "text": said}}]
        self.update("tool_call_update", toolCallId=use, title=title, kind=kind,
                    status="completed", content=content,
                    rawOutput={"metadata": {"exit": code}})  # fmt: skip

    def permitted(self, use: str, title: str, kind: str, given: Json, step: Json) -> bool:
        options = step.get("options") or [
            {"optionId": option, "kind": what, "name": option}
            for option, what in zip(self.plays["options"], KINDS, strict=True)
        ]
        call = {"toolCallId": use, "title": title, "kind": kind, "status": "pending"}
        places = [{"path": step["file"]}] if "file" in step else []
        number, self.asked = self.asked, self.asked + 1
        params = {"sessionId": self.session, "options": options[::-1],
                  "toolCall": {**call, "rawInput": given, "locations": places}}  # fmt: skip
        self.last_asked = {"method": "session/request_permission", "params": params}
        self.put(id=number, **self.last_asked)
        if step.get("twice"):
            self.put(id=number, **self.last_asked)
        if "dies" in step:
            self.do_die({"die": step["dies"]}, 0)
        while number not in self.answers:
            self.pump(SLICE_S)
            if step.get("withdrawn"):
                self.put(method="$/cancel_request", params={"requestId": number})
                return False
            if (self.cancelled or self.gone) and not self.plays.get("answers_before_end"):
                return False
        outcome = self.answers[number].get("result", {}).get("outcome", {})
        chosen: Json = next((o for o in options if o["optionId"] == outcome.get("optionId")), {})
        return str(chosen.get("kind", "")).startswith("allow")

    def work(self, step: Json) -> tuple[int, str]:
        if "command" not in step:
            if "text" in step:
                Path(step["file"]).write_text(step["text"])
            return 0, "written"
        child = subprocess.Popen(
            step["command"],
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.children.append(child)
        while child.poll() is None:
            self.pump(SLICE_S)
            if self.cancelled or (self.gone and not self.plays.get("deaf")):
                if not self.plays.get("keeps_tools"):
                    os.killpg(child.pid, signal.SIGKILL)
                raise EndTurn("cancelled")
        out = child.stdout.read().decode() if child.stdout else ""
        return child.returncode, out or "(no output)"


def main() -> None:
    """Play the script that the command line names."""
    Agent(json.loads(Path(sys.argv[1]).read_text())).run()


if __name__ == "__main__":
    main()
