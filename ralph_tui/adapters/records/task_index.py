"""All tasks of a worktree in one file, so that listing ten thousand opens no other files.

``index/tasks.json`` has a row per task, stored by columns. It also names the *open* tasks, whose
files may have been written since. Their rows are not trusted, so a crash at any time does no harm.
Next to it are ``by-status.json`` and ``by-agent.json``. All three only cache the tasks' own files,
and are rebuilt if missing or damaged.

Rule: before writing a task's files, mark the task as open with `TaskIndex.changing`.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ralph_tui.adapters.records.aiwg.write import put
from ralph_tui.adapters.records.files import read_json
from ralph_tui.adapters.records.folders import number_of
from ralph_tui.adapters.records.task_table import TaskRow, TaskTable, by_number, checked
from ralph_tui.base.file_lock import clear_unfinished, locked
from ralph_tui.text.sanitize import clip, one_line

_FILES = ("metadata.json", "summary.json", "trajectory.json")
"""Files from which a task's row is built."""
_VAGUE = ("success", "failure", "timeout")
"""Imprecise outcomes in files from older versions."""
DESCRIPTION = 160
"""Maximum length of a description in a row, in characters."""


Agents = dict[str, list[str]]
"""Names of attempts, such as ``task-001/002``, by agent."""


class TaskIndex:
    """The index of one ``.aiwg/ralph``. Its calls block."""

    def __init__(self, records: Path) -> None:
        self._tasks = records / "tasks"
        self._folder = records / "index"
        self._reported: dict[str, tuple[str, Agents] | None] = {}
        """Status and agents as last written, for the tasks opened here."""

    def read(self) -> dict[str, TaskRow]:
        """Return all readable tasks by name, in order; outdated rows are read again.

        Raises ``OSError`` if the tasks' folder cannot be listed.
        """
        listed = self._listed()
        if not listed:
            return {}
        table = TaskTable.read(self._file)
        if table is not None and not table.open and table.listed == listed:
            return table.rows
        names = self._names()
        if table is None or table.listed == 0 or table.rows.keys() != names:
            with suppress(OSError):  # without permission to update the cache, reading still works
                self._sync_rows()
            table = TaskTable.read(self._file) or TaskTable()
        stale = {name for name in names if name not in table.rows or name in table.open}
        fresh = {name: found[0] for name in stale if (found := self._read(name)) is not None}
        rows = {name: row for name, row in table.rows.items() if name in names} | fresh
        return dict(sorted(rows.items(), key=by_number))

    @contextmanager
    def changing(self, task: str, *, over: bool) -> Iterator[None]:
        """Wrap the writing of a task's files; `over` is True if no further writes will follow soon.

        The caller must hold the worktree's lock. Raises ``OSError``.
        """
        if task not in self._reported:
            with locked(self._lock):
                table, agents = self._load()
                for name in table.open & (
                    self._names() - {task}
                ):  # its run died: no one else writes there
                    agents[name] = self._update_row(table, name)
                table.open = {task}
                self._write(table, agents)
            self._reported[task] = None
        yield
        found = self._read(task)
        now = (found[0].status, found[1]) if found else ("", {})
        if not over and self._reported[task] == now:
            return
        with locked(self._lock):
            table, agents = self._load()
            agents[task] = self._update_row(table, task)
            table.open = (table.open - {task}) if over else (table.open | {task})
            self._write(table, agents)
        self._reported[task] = now
        if over:
            del self._reported[task]

    def likely(self, names: Set[str], description: str) -> list[str]:
        """Return the tasks in `names` that may have this description, in order; no others can."""
        table = TaskTable.read(self._file) or TaskTable()
        wanted = clip(one_line(description), DESCRIPTION)
        unsure = {name for name in names if name not in table.rows or name in table.open}
        found = {name for name in names - unsure if table.rows[name].description == wanted}
        return sorted(unsure | found, key=number_of)

    def of_agent(self, agent: str) -> set[str]:
        """Return the tasks that this agent attempted, as far as the index knows."""
        attempts = (read_json(self._folder / "by-agent.json") or {}).get(agent)
        named = attempts if isinstance(attempts, list) else []
        return {str(attempt).partition("/")[0] for attempt in named}

    def tags(self, name: str) -> list[str]:
        """Return a task's tags: its kind, and the categories of the files it changed."""
        tags = (read_json(self._tasks / name / "metadata.json") or {}).get("tags")
        return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []

    def rebuild(self) -> list[Path]:
        """Rebuild the index; return the paths of bad files set aside. Raises ``OSError``."""
        with locked(self._lock):
            return self._write(*self._fold())

    # -- the files -------------------------------------------------------------------------------

    @property
    def _lock(self) -> Path:
        return self._folder / ".lock"

    @property
    def _file(self) -> Path:
        return self._folder / "tasks.json"

    def _listed(self) -> int:
        """Return when a task's folder was last added or removed, in ns, or 0."""
        try:
            return self._tasks.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def _names(self) -> set[str]:
        try:
            with os.scandir(self._tasks) as entries:
                return {
                    entry.name
                    for entry in entries
                    if number_of(entry.name) and entry.is_dir(follow_symlinks=False)
                }
        except FileNotFoundError:
            return set()

    def _load(self) -> tuple[TaskTable, dict[str, Agents]]:
        """Return the table, rebuilt if necessary, and the agents in its new rows."""
        table = TaskTable.read(self._file)
        return self._fold() if table is None else (table, {})

    def _fold(self) -> tuple[TaskTable, dict[str, Agents]]:
        """Rebuild the table from the tasks' files. Any unfinished task may be open."""
        table = TaskTable(listed=self._listed())
        names = self._names()
        agents = {name: self._update_row(table, name) for name in names}
        table.open = {n for n, row in table.rows.items() if row.status in ("running", "paused")}
        table.listed = table.listed if table.rows.keys() == names else 0
        return table, agents

    def _sync_rows(self) -> None:
        """Add rows of new tasks and remove those of deleted ones."""
        with locked(self._lock):
            table = TaskTable.read(self._file)
            if table is None:
                self._write(*self._fold())
                return
            before = TaskTable(table.rows.copy(), listed=table.listed)
            listed, names = self._listed(), self._names()
            agents: dict[str, Agents] = {name: {} for name in table.rows.keys() - names}
            table.rows = {name: row for name, row in table.rows.items() if name in names}
            agents |= {name: self._update_row(table, name) for name in names - table.rows.keys()}
            table.listed = listed if table.rows.keys() == names else 0
            if (table.rows, table.listed) != (before.rows, before.listed):
                self._write(table, agents)

    def _write(self, table: TaskTable, agents: Mapping[str, Agents]) -> list[Path]:
        """Write all files, the table last: open tasks stay open until everything is written."""
        rows = dict(sorted(table.rows.items(), key=by_number))
        by_status: dict[str, list[str]] = {}
        for name, row in rows.items():
            by_status.setdefault(row.status, []).append(name)
        contents = {
            "by-status.json": by_status,
            "by-agent.json": self._by_agent(rows, agents),
            "tasks.json": TaskTable(rows, table.open, table.listed).text(),
        }
        for name in contents:
            clear_unfinished(self._folder / name)
        return [a for name, value in contents.items() for a in put(self._folder / name, value)]

    def _by_agent(self, names: Iterable[str], changed: Mapping[str, Agents]) -> Agents:
        """Return the attempts by agent, with new entries for tasks that changed."""
        known = read_json(self._folder / "by-agent.json")
        if known is None:
            changed = {name: found[1] for name in names if (found := self._read(name))}
        kept = set(names) - changed.keys()
        pairs = {
            (agent, attempt)
            for agent, attempts in (known or {}).items()
            for attempt in (attempts if isinstance(attempts, list) else ())
            if isinstance(attempt, str) and attempt.partition("/")[0] in kept
        }
        for made in changed.values():
            pairs |= {(agent, attempt) for agent in made for attempt in made[agent]}
        agents: Agents = {}
        for agent, attempt in sorted(pairs, key=lambda pair: (pair[0], _place(pair[1]))):
            agents.setdefault(agent, []).append(attempt)
        return agents

    # -- a task's own files ----------------------------------------------------------------------

    def _update_row(self, table: TaskTable, name: str) -> Agents:
        """Update the row of a task; return its attempts by agent."""
        found = self._read(name)
        if found is None:
            table.rows.pop(name, None)
            table.open.discard(name)
            return {}
        table.rows[name] = found[0]
        return found[1]

    def _files(self, name: str) -> dict[str, dict[str, Any]] | None:
        """Return a task's files, rebuilt from its attempts if they are missing or outdated.

        None if none of the task's files can be read.
        """
        folder = self._tasks / name
        found = {file: content for file in _FILES if (content := read_json(folder / file))}
        attempts = found.get("trajectory.json", {}).get("attempts")
        # Older versions have no agent there.
        named = isinstance(attempts, list) and all(
            isinstance(each, dict) and "agent" in each for each in attempts
        )
        # They also do not distinguish a stopped or aborted run from a failed one.
        vague = found.get("summary.json", {}).get("last_outcome") in _VAGUE
        if named and not vague and len(found) == len(_FILES):
            return found
        from ralph_tui.adapters.records.aiwg.tasks import fold_task  # noqa: PLC0415  the rare case

        return fold_task(folder)

    def _read(self, name: str) -> tuple[TaskRow, Agents] | None:
        """Return a task's row and its attempts by agent, or None if nothing can be read."""
        files = self._files(name)
        if files is None:
            return None
        metadata, summary = files["metadata.json"], files["summary.json"]
        try:
            row = TaskRow(
                clip(one_line(metadata["description"]), DESCRIPTION),
                one_line(metadata["status"]),
                metadata["total_attempts"],
                summary["iterations"],
                summary.get("best_completion"),
                summary.get("cost_usd"),
                one_line(metadata["created"]),
                one_line(metadata["updated"]),
                one_line(summary.get("last_outcome") or ""),
            )
            return checked(row), _agents_of(name, files["trajectory.json"]["attempts"])
        except (KeyError, TypeError, AttributeError):
            return None


def _agents_of(name: str, attempts: list[dict[str, Any]]) -> Agents:
    found: Agents = {}
    for attempt in attempts:
        agent, number = attempt.get("agent"), attempt.get("attempt_id")
        if isinstance(agent, str) and isinstance(number, int):
            found.setdefault(one_line(agent), []).append(f"{name}/{number:03}")
    return found


def _place(attempt: str) -> tuple[int, int]:
    task, _, number = attempt.partition("/")
    return number_of(task), number_of(number)
