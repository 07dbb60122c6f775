"""Commands and subagents that go on when the agent's turn ends. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from ralph_tui.adapters.agents.claude.notices import Notice
from ralph_tui.adapters.agents.json_fields import as_map, as_text
from ralph_tui.events.agent import BackgroundTask
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]

MOST_TASKS = 1000
"""That are remembered at once; the oldest go first."""
NAMED = 20
"""Tasks that an event names."""


@dataclass
class _Task:
    """Something that the agent has started, and that may outlast its tool call."""

    what: str
    started: float
    tool_id: str | None
    goes_on: bool = False
    """No tool waits for it."""


class BackgroundTasks:
    """Those of one session; what a tool waits for is told by the tool."""

    def __init__(self) -> None:
        self._tasks: dict[str, _Task] = {}

    def __len__(self) -> int:
        return sum(task.goes_on for task in self._tasks.values())

    def began(self, fields: Json, command: str, now: float) -> None:
        """``task_started``; `command` is that of its tool call, if it has one."""
        kind, words = as_text(fields.get("subagent_type")), as_text(fields.get("description"))
        what = command or ": ".join(part for part in (kind, words) if part)
        what = what or as_text(fields.get("task_type")) or "a task"
        tool_id = as_text(fields.get("tool_use_id")) or None
        if len(self._tasks) >= MOST_TASKS:
            del self._tasks[next(iter(self._tasks))]
        self._tasks.setdefault(
            as_text(fields.get("task_id")), _Task(shorten(what, 200), now, tool_id)
        )

    def goes_on(self, fields: Json) -> bool:
        """Whether an event about a task says that no tool waits for it."""
        patch = as_map(fields.get("patch"))
        return fields.get("is_backgrounded") is True or patch.get("is_backgrounded") is True

    def left(self, task_id: str) -> tuple[Notice, str | None] | None:
        """No tool waits for it any more: what to say, once, and beside which tool call."""
        task = self._tasks.get(task_id)
        if task is None or task.goes_on:
            return None
        task.goes_on = True
        return (f"In the background: {task.what}", "log"), task.tool_id

    def ended(self, fields: Json) -> tuple[Notice, str | None] | None:
        """``task_notification``: what to say of a task that went on."""
        task = self._tasks.pop(as_text(fields.get("task_id")), None)
        if task is None or not task.goes_on:
            return None
        status = as_text(fields.get("status")) or "ended"
        summary = as_text(fields.get("summary"))
        # Older versions repeat the description of a task that was stopped, and nothing else.
        said = summary if "ackground" in summary else f"Background task {status}: {task.what}"
        return (said, "log" if status == "completed" else "warn"), task.tool_id

    def named(self, now: float) -> list[BackgroundTask]:
        """Those that go on, the oldest first, as far as they are named."""
        going = [task for task in self._tasks.values() if task.goes_on][:NAMED]
        return [
            BackgroundTask(what=task.what, age_s=round(max(0.0, now - task.started), 3))
            for task in going
        ]
