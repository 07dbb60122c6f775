"""The state file of a loop, ``ralph-state.json``, as pure changes of a dict.

Other programs and people write it too. What they add is kept, whatever it is; a field whose value
is of no use gets a safe one, and a sentence says so: whoever then writes sets the old file aside.
Standard library only: the hook program runs it too. Whoever reads and writes it holds its lock.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from ralph_tui.layers.context.circuit import Circuit
from ralph_tui.layers.context.levels import whole
from ralph_tui.layers.context.state_fields import CHECKPOINT, FIELDS, MAX_ITERATIONS, PROMISE
from ralph_tui.text.foreign_json import parse_json

State = dict[str, Any]
"""The file's object. Functions here take one that `read` or `fresh` gave, and give back another."""

NAME = "ralph-state.json"
ENDED = frozenset({"completed", "fatal_error", "limit_reached", "circuit_breaker", "stopped"})
"""Values of `status` with which nothing goes on; any other one is a loop that runs."""
LONGEST_HISTORY = 1000
"""Entries of `context_history` that are kept."""


class FileInProgress(NamedTuple):
    """A file that a session was working on."""

    path: str
    lines: str = ""
    """``45-120``, or several such ranges."""
    description: str = ""


class Checkpoint(NamedTuple):
    """What a session that ended for its full window leaves to the next one."""

    level: str
    percent_at_checkpoint: int
    timestamp: str
    """ISO 8601, UTC."""
    handoff_file: str
    """Relative to the project."""
    resume_summary: str = ""
    files_in_progress: tuple[FileInProgress, ...] = ()
    current_todo_item: str = ""
    progress_on_item: str = "unknown"
    active: bool = True
    """Whether no session has taken it up yet."""


class StateRead(NamedTuple):
    """A state file as read."""

    state: State
    problems: tuple[str, ...] = ()
    """A sentence without its end for each field that got another value."""


def fresh(
    *,
    objective: str,
    started_at: datetime,
    task_name: str = "",
    max_iterations: int = MAX_ITERATIONS,
    completion_promise: str = PROMISE,
    todo_items: tuple[str, ...] = (),
) -> State:
    """The state of a loop that begins with its first iteration."""
    return read(
        {
            "task_name": task_name or objective.partition("\n")[0][:60],
            "objective": objective,
            "iteration": 1,
            "started_at": stamp(started_at),
            "max_iterations": max_iterations,
            "completion_promise": completion_promise,
            "todo_items": list(todo_items),
        }
    ).state


def parse(content: bytes) -> StateRead:
    """A file's content. Raises ``ValueError`` for what is no JSON object."""
    value = parse_json(content)
    if not isinstance(value, dict):
        raise ValueError("it holds no JSON object")
    return read(value)


def read(fields: Mapping[str, Any]) -> StateRead:
    """The fields with every known one there and of its type; unknown ones as they are."""
    state: State = {}
    problems = []
    for name, rule in FIELDS.items():
        given = fields.get(name)
        value = None if given is None else rule.take(given)
        state[name] = rule.default() if value is None else value
        if given is None:
            continue
        if value is None:
            problems.append(f"`{name}` is not {rule.what}, so {rule.instead} is used")
        elif isinstance(given, list) and len(value) < len(given):
            problems.append(
                f"{len(given) - len(value)} entries of `{name}` are of no use: left out"
            )
        elif isinstance(given, dict) and any(
            given.get(part) not in (None, taken) for part, taken in value.items()
        ):
            problems.append(f"parts of `{name}` are of no use: replaced")
    return StateRead(state | {k: v for k, v in fields.items() if k not in state}, tuple(problems))


def content_of(state: State) -> bytes:
    """The file's content; `parse` gives the same state back."""
    # Of a character that is none, as JSON can hold it, the escape is left.
    return (
        json.dumps(state, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    )


def stamp(moment: datetime) -> str:
    """A moment as the file has it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def has_ended(state: State) -> bool:
    """Whether the loop is over."""
    return state["status"] in ENDED


def checkpoint_of(state: State) -> Checkpoint | None:
    """The checkpoint that no session has taken up yet."""
    found = state["context_checkpoint"]
    if not found.get("active"):
        return None
    files = tuple(
        FileInProgress(*(str(entry.get(name, "")) for name in ("path", "lines", "description")))
        for entry in found["files_in_progress"]
    )
    known = {name: found[name] for name in CHECKPOINT if name != "files_in_progress"}
    return Checkpoint(**known, files_in_progress=files)


def with_checkpoint(state: State, checkpoint: Checkpoint) -> State:
    """With an active checkpoint, marked in the history of its iteration."""
    files = [file._asdict() for file in checkpoint.files_in_progress]
    entry = checkpoint._asdict() | {"files_in_progress": files}
    state = with_peak(state, checkpoint.percent_at_checkpoint)
    history = [*state["context_history"]]
    history[-1] = history[-1] | {"checkpoint": True}
    return state | {
        "context_checkpoint": state["context_checkpoint"] | entry,
        "context_history": history,
    }


def without_checkpoint(state: State) -> State:
    """With the checkpoint taken up; what it said stays to be read."""
    return state | {"context_checkpoint": state["context_checkpoint"] | {"active": False}}


def with_peak(state: State, percent: float, *, new_session: bool = False) -> State:
    """With the highest percentage of the iteration's session; a new one has its own entry."""
    history = [*state["context_history"]]
    last = history[-1] if history else {}
    if new_session or last.get("iteration") != state["iteration"]:
        entry = {
            "iteration": state["iteration"],
            "peak_percent": whole(percent),
            "checkpoint": False,
        }
        history.append(entry)
    elif whole(percent) > last["peak_percent"]:
        history[-1] = last | {"peak_percent": whole(percent)}
    return state | {"context_history": history[-LONGEST_HISTORY:]}


def todo_of(state: State) -> str:
    """The item that is worked on: the first that is open; empty where none is."""
    for item in state["todo_items"]:
        if isinstance(item, str) and item.strip():
            return item.strip()
        if isinstance(item, dict):
            for name in ("text", "title", "content", "description", "name"):
                if isinstance(item.get(name), str) and item[name].strip():
                    return str(item[name]).strip()
    return ""


def circuit_of(state: State) -> Circuit:
    """The circuit breaker as the last iteration left it."""
    return Circuit(state["no_change_count"], state["last_diff_hash"], tuple(state["error_hashes"]))


def with_circuit(state: State, circuit: Circuit) -> State:
    """With what one more iteration came to."""
    return state | {
        "no_change_count": circuit.no_change_count,
        "last_diff_hash": circuit.last_diff_hash,
        "error_hashes": list(circuit.error_hashes),
    }
