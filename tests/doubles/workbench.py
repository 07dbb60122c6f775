"""The stub's use of tools: what is allowed, what runs in the background, what subagents do."""

import os
import uuid
from pathlib import Path

from tests.doubles.inbox import EndedBySignalError, Inbox, InterruptedTurnError
from tests.doubles.permission import CHOICE, Asker, Permission, chosen
from tests.doubles.scenario import ToolUse
from tests.doubles.tools import FILE_TOOLS, Outcome, Shell, failure
from tests.doubles.turns import Limits, Message, Turn
from tests.doubles.wire import Json, Wire

STOPPED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). STOP what you are doing and wait "
    "for the user to tell you how to proceed."
)
SLOW_S = 2.7
"""Seconds after which a command is reported as a task."""
REJECTED = {"non_execution_kind": "user-rejected"}


class Workbench:
    """Uses tools in one project."""

    def __init__(self, wire: Wire, inbox: Inbox, limits: Limits, root: Path) -> None:
        self.background: dict[str, Json] = {}
        """Commands that run on, by the identifier of their task."""
        self.finished: list[Message] = []
        """Finished tasks that the model has not heard of yet."""
        self._wire = wire
        self._inbox = inbox
        self._limits = limits
        self._root = root
        self._seen: set[Path] = set()
        self.asker = Asker(wire, inbox)
        self._shells: list[Shell] = []

    def use(self, tool: ToolUse, tool_id: str, turn: Turn, about: Json) -> None:
        """Run the tool and report it; `about` describes a subagent."""
        if not about:
            turn.user_events += 1
        refusal = self._refusal(tool)
        if refusal and self._limits.asks:
            permission = self._asked(tool, tool_id, turn, refusal, about)
            if not permission.allowed:
                self._refuse(tool, tool_id, turn, permission.message, about)
                return
            tool = ToolUse(tool.name, permission.input)
        elif refusal:
            self._deny(tool, tool_id, turn, refusal)
            return
        if tool.name in FILE_TOOLS:
            outcome = FILE_TOOLS[tool.name](self._root, tool.input, self._seen)
        elif tool.name == "Bash" and tool.input.get("run_in_background"):
            outcome = self._in_background(tool, tool_id)
        elif tool.name == CHOICE:
            outcome = Outcome(chosen(tool.input), tool.input)
        elif tool.name == "Bash":
            outcome = self._bash(tool, tool_id, turn, about)
        else:
            outcome = failure(f"<tool_use_error>No such tool: {tool.name}</tool_use_error>")
        structured = None if about else outcome.structured
        fields = {**about, "is_error": outcome.is_error}
        self._wire.tool_result(tool_id, outcome.text, structured, fields)

    def end(self) -> None:
        """A signal ends the program: newer versions leave no command behind."""
        if self._wire.modern:
            for shell in self._shells:
                shell.kill()

    def _shell(self, tool: ToolUse) -> Shell:
        shell = Shell(tool.input["command"], self._root, dict(os.environ))
        self._shells.append(shell)
        return shell

    def _bash(self, tool: ToolUse, tool_id: str, turn: Turn, about: Json) -> Outcome:
        shell = self._shell(tool)
        done: list[Outcome] = []
        turn.in_tool = True
        try:
            self._inbox.in_background(shell.wait, done.append)
            self._inbox.wait(SLOW_S, lambda: done)
            if not done:
                self._slow(tool, tool_id, done)
        except InterruptedTurnError:
            shell.kill()
            fields = {**about, "is_error": True, "meta": REJECTED}
            self._wire.tool_result(tool_id, STOPPED, "User rejected tool use", fields)
            raise
        except EndedBySignalError:
            if self._wire.modern:
                ended = failure("Exit code 137")
                fields = {**about, "is_error": True}
                self._wire.tool_result(tool_id, ended.text, ended.structured, fields)
            raise
        turn.in_tool = False
        self._shells.remove(shell)
        return done[0]

    def _slow(self, tool: ToolUse, tool_id: str, done: list[Outcome]) -> None:
        description = tool.input.get("description", "")
        about = {"task_id": uuid.uuid4().hex[:9], "tool_use_id": tool_id}
        kind = {"description": description, "task_type": "local_bash"}
        self._wire.put("system", "task_started", **about, **kind)
        self._inbox.wait(None, lambda: done)
        fields = {"status": "completed", "output_file": "", "summary": description}
        self._wire.put("system", "task_notification", **about, **fields)

    # -- in the background -----------------------------------------------------------------------

    def _in_background(self, tool: ToolUse, tool_id: str) -> Outcome:
        task_id = uuid.uuid4().hex[:9]
        task = {"task_id": task_id, "task_type": "local_bash",
                "description": tool.input.get("description", "")}  # fmt: skip
        self.background[task_id] = task
        self._changed()
        goes_on = {"is_backgrounded": True} if self._wire.modern else {}
        self._wire.put("system", "task_started", **task, tool_use_id=tool_id, **goes_on)
        shell = self._shell(tool)
        self._inbox.in_background(shell.wait, lambda end: self._ended(task, tool_id, end))
        structured = {
            "stdout": "",
            "stderr": "",
            "interrupted": False,
            "isImage": False,
            "noOutputExpected": False,
            "backgroundTaskId": task_id,
        }
        text = f"Command running in background with ID: {task_id}."
        return Outcome(text, structured, is_error=False)

    def _ended(self, task: Json, tool_id: str, outcome: object) -> None:
        failed = isinstance(outcome, Outcome) and outcome.is_error
        status = "failed" if failed else "completed"
        task_id = task["task_id"]
        del self.background[task_id]
        self._wire.put("system", "task_updated", task_id=task_id, patch={"status": status})
        self._wire.put(
            "system",
            "task_notification",
            task_id=task_id,
            tool_use_id=tool_id,
            status=status,
            output_file="",
            summary=f'Background command "{task["description"]}" {status}',
        )
        self._changed()
        origin = {"kind": "task-notification", "producer": "session-task"}
        self.finished.append(Message("", origin=origin))

    def _changed(self) -> None:
        if self._wire.modern:
            tasks = list(self.background.values())
            self._wire.put("system", "background_tasks_changed", tasks=tasks)

    # -- permissions -----------------------------------------------------------------------------

    def _refusal(self, tool: ToolUse) -> str:
        mode = self._wire.permission_mode
        if mode == "bypassPermissions" or tool.name in ("Read", "Task"):
            return ""
        if mode == "acceptEdits" and tool.name in ("Edit", "Write"):
            return ""
        command = str(tool.input.get("command", ""))
        if tool.name == CHOICE:
            return "it asks its user"
        for rule in (*self._limits.allowed, *self.asker.rules):
            name, _, pattern = rule.partition("(")
            if name == tool.name and command.startswith(pattern.rstrip(")").rstrip("*: ")):
                return ""
        if tool.name == "Bash":
            return "This command requires approval"
        path = tool.input.get("file_path")
        return f"Claude requested permissions to write to {path}, but you haven't granted it yet."

    def _asked(
        self, tool: ToolUse, tool_id: str, turn: Turn, reason: str, about: Json
    ) -> Permission:
        turn.in_tool = True
        try:
            permission = self.asker.ask(tool, tool_id, reason, about)
        except InterruptedTurnError:
            fields = {**about, "is_error": True, "meta": REJECTED}
            self._wire.tool_result(tool_id, STOPPED, "User rejected tool use", fields)
            raise
        turn.in_tool = False
        return permission

    def _refuse(self, tool: ToolUse, tool_id: str, turn: Turn, message: str, about: Json) -> None:
        """By who was asked: his words are the tool's result."""
        denial = {"tool_name": tool.name, "tool_use_id": tool_id, "tool_input": tool.input}
        turn.denials.append(denial)
        fields = {**about, "is_error": True, "meta": {"non_execution_kind": "permission-rule"}}
        self._wire.tool_result(tool_id, message, f"Error: {message}", fields)

    def _deny(self, tool: ToolUse, tool_id: str, turn: Turn, refusal: str) -> None:
        denial = {"tool_name": tool.name, "tool_use_id": tool_id}
        turn.denials.append({**denial, "tool_input": tool.input})
        if self._wire.modern:
            self._wire.put("system", "permission_denied", **denial, message=refusal)
        fields = {"is_error": True, "meta": REJECTED}
        self._wire.tool_result(tool_id, refusal, f"Error: {refusal}", fields)
