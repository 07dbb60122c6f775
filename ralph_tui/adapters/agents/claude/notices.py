"""Activity other than work: retries, limits, hooks, background tasks. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ralph_tui.events.agent import BackgroundTask
from ralph_tui.text.json_fields import as_amount, as_count, as_map, as_moment, as_text
from ralph_tui.text.sanitize import shorten

Json = Mapping[str, object]
Notice = tuple[str, Literal["log", "warn", "error"]]
"""A sentence and its level."""


def retry(fields: Json) -> Notice:
    """Describe a failed call to the service that will be retried."""
    cause = (as_text(fields.get("error")) or "unknown error").replace("_", " ")
    status = fields.get("error_status")
    if status is None and cause.startswith("unknown"):
        cause = "no answer"
    code = f" ({status})" if isinstance(status, int) else ""
    attempts = f"{as_count(fields.get('attempt'))} of {as_count(fields.get('max_retries'))}"
    delay = as_count(fields.get("retry_delay_ms")) / 1000
    return f"The service refused a call: {cause}{code}; retry {attempts} in {delay:.1f} s", "warn"


def rejected_until(fields: Json) -> tuple[bool, datetime | None]:
    """Return whether a usage limit has been reached, and when all such limits have ended."""
    info = as_map(fields.get("rate_limit_info"))
    if as_text(info.get("status")) != "rejected":
        return False, None
    windows = map(as_map, as_map(info.get("unifiedWindows")).values())
    ends = [as_moment(window.get("resetsAt")) for window in windows
            if as_text(window.get("status")) == "rejected"]  # fmt: skip
    known = [end for end in (as_moment(info.get("resetsAt")), *ends) if end is not None]
    return True, max(known, default=None)


def _rate_limit(fields: Json) -> Notice | None:
    info = as_map(fields.get("rate_limit_info"))
    status = as_text(info.get("status"))
    if status == "allowed":
        return None
    window = as_text(info.get("rateLimitType")).replace("_", "-") or "unknown"
    used = as_amount(info.get("utilization"))
    share = "" if used is None else f", {used:.0%} used"
    resets = as_moment(info.get("resetsAt"))
    until = f", resets at {resets:%Y-%m-%d %H:%M} UTC" if resets else ""
    if status == "rejected":
        return f"Usage limit reached ({window} window{until})", "error"
    return f"Usage limit is near ({window} window{share}{until})", "warn"


def _hook(fields: Json) -> Notice:
    name = as_text(fields.get("hook_name")) or "unnamed"
    result = as_text(fields.get("outcome")) or "ended"
    if fields.get("exit_code") or result == "error":
        return f"Hook {name}: {result}, exit {as_count(fields.get('exit_code'))}", "warn"
    return f"Hook {name}: {result}", "log"


def _status(fields: Json) -> Notice | None:
    compacting = as_text(fields.get("status")) == "compacting"
    return ("The agent is compacting its context", "log") if compacting else None


def _fallback(fields: Json) -> Notice:
    model = as_text(fields.get("fallback_model")) or as_text(fields.get("to_model"))
    return f"The agent switched to another model{': ' * bool(model)}{model}", "warn"


def _progress_notice(fields: Json) -> Notice | None:
    for name in ("content", "message", "text", "summary"):
        if (text := as_text(fields.get(name))).strip():
            return text, "log"
    return None


SENTENCES: Mapping[str, Callable[[Json], Notice | None]] = {
    "rate_limit_event": _rate_limit,
    "system/hook_response": _hook,
    "system/status": _status,
    "system/model_fallback": _fallback,
    "system/informational": _progress_notice,
    "system/notification": _progress_notice,
}
"""Kinds of events that are reported directly; a function returns None to report nothing."""


MAX_TASKS = 1000
"""Maximum number of tasks to remember; the oldest are dropped first."""
NAMED = 20
"""Maximum number of tasks that an event names."""


@dataclass
class _Task:
    """Work that the agent started and that may outlast its tool call."""

    what: str
    started: float
    tool_id: str | None
    is_detached: bool = False
    """True once no tool is waiting for it."""


class BackgroundTasks:
    """Background tasks of one session; while a tool waits for a task, its tool call reports it."""

    def __init__(self) -> None:
        self._tasks: dict[str, _Task] = {}

    def __len__(self) -> int:
        return sum(task.is_detached for task in self._tasks.values())

    def began(self, fields: Json, command: str, now: float) -> None:
        """Handle ``task_started``; `command` is the command of its tool call, if any."""
        kind, words = as_text(fields.get("subagent_type")), as_text(fields.get("description"))
        what = command or ": ".join(part for part in (kind, words) if part)
        what = what or as_text(fields.get("task_type")) or "a task"
        tool_id = as_text(fields.get("tool_use_id")) or None
        if len(self._tasks) >= MAX_TASKS:
            del self._tasks[next(iter(self._tasks))]
        self._tasks.setdefault(
            as_text(fields.get("task_id")), _Task(shorten(what, 200), now, tool_id)
        )

    def is_detached(self, fields: Json) -> bool:
        """True if an event reports that no tool is waiting for the task any more."""
        patch = as_map(fields.get("patch"))
        return fields.get("is_backgrounded") is True or patch.get("is_backgrounded") is True

    def left(self, task_id: str) -> tuple[Notice, str | None] | None:
        """Move a task to the background; return its notice and its tool call, the first time."""
        task = self._tasks.get(task_id)
        if task is None or task.is_detached:
            return None
        task.is_detached = True
        return (f"In the background: {task.what}", "log"), task.tool_id

    def ended(self, fields: Json) -> tuple[Notice, str | None] | None:
        """Handle ``task_notification``; return a background task's notice and its tool call."""
        task = self._tasks.pop(as_text(fields.get("task_id")), None)
        if task is None or not task.is_detached:
            return None
        status = as_text(fields.get("status")) or "ended"
        summary = as_text(fields.get("summary"))
        # Older versions only repeat the description of a task that was stopped.
        said = summary if "ackground" in summary else f"Background task {status}: {task.what}"
        return (said, "log" if status == "completed" else "warn"), task.tool_id

    def named(self, now: float) -> list[BackgroundTask]:
        """Return the running background tasks, oldest first, at most `NAMED`."""
        running = [task for task in self._tasks.values() if task.is_detached][:NAMED]
        return [
            BackgroundTask(what=task.what, age_s=round(max(0.0, now - task.started), 3))
            for task in running
        ]
