"""A stub of Codex's app-server: plays a scenario, works for real, and speaks its protocol.

It follows the real program's messages; `test_codex_real.py` compares the two.
"""

import json
import os
import queue
import shlex
import sys
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.doubles import codex_errors
from tests.doubles.codex_habits import HABITS, Habits
from tests.doubles.patches import PATCHES, command_of, patched
from tests.doubles.scenario import Answer, Json, Scenario, Script, ToolUse, load
from tests.doubles.tools import Shell
from tests.doubles.version import CODEX, codex_line

WINDOW = 258_400
LOOKS = frozenset({"cat", "ls", "pwd", "head", "tail", "false", "true"})
"""Programs that are trusted."""


class TurnInterruptedError(Exception):
    """The turn is interrupted."""


@dataclass
class State:
    """State shared by the processes of one story; without a folder nothing is shared."""

    folder: Path | None
    threads: dict[str, int] = field(default_factory=dict)
    """Tokens by thread."""
    sessions: int = 0

    @classmethod
    def read(cls, folder: str | None) -> "State":
        """Load the saved state."""
        state = cls(Path(folder) if folder else None)
        if state.folder is not None and (state.folder / "codex.json").exists():
            known = json.loads((state.folder / "codex.json").read_text())
            state.threads, state.sessions = known["threads"], known["sessions"]
        return state

    def save(self) -> None:
        """For the next one."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            known = {"threads": self.threads, "sessions": self.sessions}
            (self.folder / "codex.json").write_text(json.dumps(known))


class Server:
    """One process: requests come on stdin, a turn works in a thread of its own."""

    def __init__(self, scenario: Scenario, script: Script, state: State) -> None:
        self.scenario = scenario
        self.habits: Habits = HABITS[scenario.hostile]
        self.thread = ""
        self.root = Path.cwd()
        self._script = script
        self._state = state
        self._asks = False
        self._turn = ""
        self._steered: list[Json] = []
        self._unreported: Answer | None = None
        """The answer whose usage is not reported yet."""
        self._answers: queue.SimpleQueue[Json] = queue.SimpleQueue()
        self._interrupted = threading.Event()
        self._shells: list[Shell] = []
        self._out = threading.Lock()
        self._asked = 0

    # -- the wire --------------------------------------------------------------------------------

    def put(self, **message: Any) -> None:
        """One line."""
        with self._out:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def notify(self, method: str, **params: Any) -> None:
        """A notification about the thread."""
        self.put(method=method, params={**params, "threadId": self.thread, "turnId": self._turn})

    def serve(self) -> int:
        """Serve until stdin is closed, then end everything that was started."""
        self.habits.at_start(self)
        for line in sys.stdin:
            message = json.loads(line)
            if "method" not in message:
                self._answers.put(message)
                continue
            answer = _METHODS.get(message["method"])
            if answer is None:
                error = {"code": -32601, "message": f"unknown method {message['method']}"}
                self.put(id=message["id"], error=error)
            else:
                answer(self, message)
        self.habits.at_end(self)
        for shell in self._shells:
            shell.kill()
        return 0

    # -- requests --------------------------------------------------------------------------------

    def _initialize(self, message: Json) -> None:
        agent = f"ralph-tui/{CODEX} (Debian 12.0.0; x86_64)"
        self.put(id=message["id"], result={"userAgent": agent, "codexHome": "/home/user/.codex"})
        self.habits.after_initialize(self)

    def _initialized(self, _: Json) -> None:
        pass

    def _account(self, message: Json) -> None:
        # A custom provider has its own key, which no account knows.
        account = {"type": "chatgpt"} if self.scenario.subscription else None
        result = {"account": account, "requiresOpenaiAuth": self.scenario.signed_out}
        self.put(id=message["id"], result=result)

    def _thread(self, message: Json) -> None:
        params = message["params"]
        resumed = params.get("threadId")
        if resumed and resumed not in self._state.threads:
            error = {"code": -32600, "message": f"no rollout found for thread id {resumed}"}
            self.put(id=message["id"], error=error)
            return
        self.thread = resumed or str(uuid.uuid4())
        self.root = Path(params["cwd"])
        self._asks = params["approvalPolicy"] != "never"
        self._state.threads.setdefault(self.thread, 0)
        self._state.save()
        sandbox = {"workspace-write": "workspaceWrite", "danger-full-access": "dangerFullAccess"}
        self.put(
            id=message["id"],
            result={
                "thread": {"id": self.thread, "cwd": params["cwd"]},
                "model": params.get("model") or "gpt-5.5",
                "cwd": params["cwd"],
                "approvalPolicy": params["approvalPolicy"],
                "sandbox": {"type": sandbox[params["sandbox"]]},
            },
        )

    def _start(self, message: Json) -> None:
        self._turn = str(uuid.uuid4())
        self._interrupted.clear()
        turn: Json = {"id": self._turn, "items": [], "status": "inProgress", "error": None}
        self.put(id=message["id"], result={"turn": turn})
        self.notify("turn/started", turn=turn)
        words = [message["params"]]
        threading.Thread(target=self._work, args=(words,), daemon=True).start()

    def _steer(self, message: Json) -> None:
        if not self._turn or message["params"]["expectedTurnId"] != self._turn:
            self.put(id=message["id"], error={"code": -32600, "message": "no active turn to steer"})
            return
        self._steered.append(message["params"])
        self.put(id=message["id"], result={"turnId": self._turn})

    def _interrupt(self, message: Json) -> None:
        self.put(id=message["id"], result={})
        if not self.habits.deaf:
            self._interrupted.set()
            self._answers.put({})

    # -- a turn ----------------------------------------------------------------------------------

    def _work(self, words: list[Json]) -> None:
        status, error = "completed", None
        try:
            self._say_words(words)
            error = self._answer_all()
            status = "failed" if error else "completed"
        except TurnInterruptedError:
            status = "interrupted"
            if self._unreported is not None:
                self._count_usage(self._unreported)
        turn, self._turn = self._turn, ""
        about: Json = {"id": turn, "items": [], "status": status, "error": error}
        self.put(method="turn/completed", params={"threadId": self.thread, "turn": about})
        self.habits.after_turn(self, status)

    def _answer_all(self) -> Json | None:
        """Play the script to the end of the turn; the error that ended it, if one did."""
        while True:
            answer = self._call()
            if isinstance(answer, dict):
                return answer
            self._unreported = answer
            if answer.text:
                self._item(type="agentMessage", text=answer.text)
            for tool in answer.tools:
                self._use(tool)
            self._count_usage(answer)
            steered, self._steered = self._steered, []
            if not answer.tools and not steered:
                return None
            self._say_words(steered)

    def _call(self) -> Answer | Json:
        tries, asked = 0, 0
        while True:
            answer = self._script.next(time.time())
            self._pause(answer.delay_s)
            if not answer.fault:
                return answer
            asked += 1
            if answer.fault in codex_errors.ASKED_TWICE and asked % 2:
                continue
            if answer.resets_in_s:
                self._windows(self._script.resets_at(answer))
            failure = codex_errors.of(answer, tries, self._script)
            if not failure["willRetry"]:
                if answer.fault == "overflow":
                    self._report_full()
                self.notify("error", **failure)
                return dict(failure["error"])
            tries += 1
            self.notify("error", **failure)
            self._pause(float(answer.retry_after or 0.2))

    def _pause(self, seconds: float) -> None:
        if self._interrupted.wait(seconds):
            raise TurnInterruptedError

    def _say_words(self, words: Sequence[Json]) -> None:
        for said in words:
            client = said.get("clientUserMessageId")
            self._item(type="userMessage", clientId=client, content=said["input"])

    def _item(self, **item: Any) -> None:
        item = {"id": uuid.uuid4().hex, **item}
        self.notify("item/started", item=item)
        self.notify("item/completed", item=item)

    def _use(self, tool: ToolUse) -> None:
        if tool.name in PATCHES:
            self._patch(tool)
        else:
            self._command(tool)

    def _command(self, tool: ToolUse) -> None:
        command = command_of(tool)
        item: Json = {
            "type": "commandExecution",
            "id": f"call_{uuid.uuid4().hex[:12]}",
            "command": f"/bin/bash -lc {shlex.quote(command)}",
            "cwd": str(self.root),
            "status": "inProgress",
            "aggregatedOutput": None,
            "exitCode": None,
        }
        self.notify("item/started", item=item)
        asked = {"command": item["command"], "cwd": item["cwd"], "reason": None}
        trusted = command.split()[0] in LOOKS
        if not trusted and not self._permitted("commandExecution", item, asked):
            self.notify("item/completed", item={**item, "status": "declined"})
            return
        shell = Shell(command, self.root, dict(os.environ))
        self._shells.append(shell)
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=lambda: done.put(shell.wait()), daemon=True).start()
        while done.empty():
            # Running commands continue when their turn is interrupted.
            self._pause(0.01)
        outcome = done.get()
        self._shells.remove(shell)
        code, output = 0, outcome.text
        if outcome.is_error:
            head, _, output = outcome.text.partition("\n")
            code = int(head.removeprefix("Exit code "))
        elif isinstance(outcome.structured, dict):
            output = outcome.structured["stdout"]
        over = {"status": "failed" if code else "completed", "exitCode": code}
        output = self.habits.output(output)
        self.notify("item/completed", item={**item, **over, "aggregatedOutput": output or None})

    def _patch(self, tool: ToolUse) -> None:
        change = patched(tool, self.root)
        if change is None:
            return
        number = f"call_{uuid.uuid4().hex[:12]}"
        item = {"type": "fileChange", "id": number, "changes": [change.change()]}
        self.notify("item/started", item={**item, "status": "inProgress"})
        if not self._permitted("fileChange", item, {"reason": None, "grantRoot": None}):
            self.notify("item/completed", item={**item, "status": "declined"})
            return
        change.write()
        self.notify("item/completed", item={**item, "status": "completed"})

    def _permitted(self, kind: str, item: Json, about: Json) -> bool:
        if not self._asks:
            return True
        number, self._asked = self._asked, self._asked + 1
        params = {"threadId": self.thread, "turnId": self._turn, "itemId": item["id"], **about}
        for _ in range(self.habits.times_asked):
            self.put(id=number, method=f"item/{kind}/requestApproval", params=params)
        self.habits.after_question(self)
        while True:
            answer = self._answers.get()
            if self._interrupted.is_set():
                self.put(method="serverRequest/resolved", params={"requestId": number})
                raise TurnInterruptedError
            if answer.get("id") == number:
                break
        self.put(method="serverRequest/resolved", params={"requestId": number})
        decision = answer.get("result", {}).get("decision")
        if decision == "cancel":
            raise TurnInterruptedError
        return decision in ("accept", "acceptForSession")

    # -- what it costs ---------------------------------------------------------------------------

    def _count_usage(self, answer: Answer) -> None:
        self._unreported = None
        used = answer.input_tokens + answer.cached_tokens + answer.output_tokens
        total = self._state.threads[self.thread] + used
        self._state.threads[self.thread] = total
        self._state.save()
        last = {"inputTokens": used - answer.output_tokens, "outputTokens": answer.output_tokens}
        self._report_usage({**last, "totalTokens": total}, {**last, "totalTokens": used})

    def _report_usage(self, total: Json, last: Json) -> None:
        usage = {"total": total, "last": last, "modelContextWindow": WINDOW}
        self.notify("thread/tokenUsage/updated", tokenUsage=usage)

    def _report_full(self) -> None:
        """Report an overflowed window as a sum."""
        full = {"inputTokens": 0, "outputTokens": 0, "totalTokens": WINDOW}
        self._report_usage(full, full)

    def _windows(self, resets_at: int) -> None:
        primary = {"usedPercent": 100, "windowDurationMins": 300, "resetsAt": resets_at}
        limits = {"rateLimits": {"primary": primary, "secondary": None}}
        self.put(method="account/rateLimits/updated", params=limits)


_METHODS: dict[str, Callable[[Server, Json], None]] = {
    "initialize": Server._initialize,
    "initialized": Server._initialized,
    "account/read": Server._account,
    "thread/start": Server._thread,
    "thread/resume": Server._thread,
    "turn/start": Server._start,
    "turn/steer": Server._steer,
    "turn/interrupt": Server._interrupt,
}


def main(arguments: Sequence[str]) -> int:
    """The program ``codex``."""
    if "--version" in arguments:
        print(codex_line(os.environ))  # noqa: T201
        return 0
    if list(arguments) != ["app-server"]:
        print(f"error: unexpected arguments {arguments}", file=sys.stderr)  # noqa: T201
        return 2
    scenario = load(
        os.environ["STUB_SCENARIO"], root=str(Path.cwd()), python=os.environ["STUB_PYTHON"]
    )
    state = State.read(os.environ.get("STUB_STATE"))
    script = Script(scenario.answers(state.sessions), time.time())
    state.sessions += 1
    state.save()
    return Server(scenario, script, state).serve()
