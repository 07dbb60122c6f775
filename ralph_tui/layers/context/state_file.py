"""The state file of a loop, ``ralph-state.json``, and the circuit breaker in it.

Other programs and people write the file too. Unknown fields are kept. A field with an unusable
value gets a safe one and is reported; the writer then sets the old file aside. Readers and writers
lock the file. Standard library only, because the hook program runs this.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from ralph_tui.layers.context.levels import LEVELS, whole
from ralph_tui.text.foreign_json import parse_json

TIMES = 3
"""Number of consecutive iterations with the same result that trips the circuit breaker."""
KEPT = 10
"""Maximum number of error hashes to remember."""


class Circuit(NamedTuple):
    """Results of the latest iterations."""

    no_change_count: int = 0
    """Number of consecutive iterations whose worktree equals the previous iteration's."""
    last_diff_hash: str = ""
    error_hashes: tuple[str, ...] = ()
    """Error hashes of consecutive iterations that ended with an error, latest last."""

    def after(self, diff_hash: str, error_hash: str = "") -> "Circuit":
        """Return the breaker after one more iteration; an empty hash means unknown or no error."""
        same = bool(diff_hash) and diff_hash == self.last_diff_hash
        return Circuit(
            no_change_count=self.no_change_count + 1 if same else 0,
            last_diff_hash=diff_hash,
            error_hashes=(*self.error_hashes, error_hash)[-KEPT:] if error_hash else (),
        )

    @property
    def tripped(self) -> str:
        """Why the loop should stop, a sentence without its full stop; empty if it may continue."""
        if self.no_change_count >= TIMES - 1:
            # The first of these iterations is not counted.
            return f"{self.no_change_count + 1} iterations in a row left the files unchanged"
        latest = self.error_hashes[-TIMES:]
        if len(latest) == TIMES and len(set(latest)) == 1:
            return f"{TIMES} iterations in a row ended with the same error"
        return ""


PROMISE = "COMPLETE"
MAX_ITERATIONS = 50
LARGEST = 10**9
"""Largest valid count."""


class Rule(NamedTuple):
    """How to validate a field."""

    what: str
    take: Callable[[Any], Any]
    """Function that returns the usable value, or None for an unusable one."""
    default: Callable[[], Any]
    instead: str
    """The default, in words."""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(least: int) -> Callable[[object], int | None]:
    def take(value: object) -> int | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        # Infinities and NaN fail this comparison.
        return int(value) if least <= value <= LARGEST else None

    return take


def _texts(value: object) -> list[str] | None:
    return [e for e in value if isinstance(e, str)] if isinstance(value, list) else None


def _items(value: object) -> list[Any] | None:
    """Accept any list: other programs' items have fields of their own, which are kept."""
    return value if isinstance(value, list) else None


def _percent(value: object) -> int | None:
    taken = _count(0)(value)
    return None if taken is None else min(100, taken)


def _entry(entry: object) -> bool:
    """True if this is a valid entry of `context_history`."""
    if not isinstance(entry, dict):
        return False
    numbers = (_count(0)(entry.get("iteration")), _percent(entry.get("peak_percent")))
    return None not in numbers


def _history(value: object) -> list[dict[str, Any]] | None:
    if not isinstance(value, list):
        return None
    return [
        entry
        | {
            "iteration": _count(0)(entry["iteration"]),
            "peak_percent": _percent(entry["peak_percent"]),
            "checkpoint": entry.get("checkpoint") is True,
        }
        for entry in value
        if _entry(entry)
    ]


def _files(value: object) -> list[dict[str, Any]] | None:
    if not isinstance(value, list):
        return None
    return [e for e in value if isinstance(e, dict) and isinstance(e.get("path"), str)]


def _level(value: object) -> str | None:
    return value if isinstance(value, str) and value in LEVELS else None


UNKNOWN = "unknown"
CHECKPOINT: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "active": (_truth, bool),
    "level": (_level, lambda: "L2"),
    "percent_at_checkpoint": (_percent, int),
    "timestamp": (_text, str),
    "handoff_file": (_text, str),
    "resume_summary": (_text, str),
    "files_in_progress": (_files, list),
    "current_todo_item": (_text, str),
    "progress_on_item": (_text, lambda: UNKNOWN),
}


def _checkpoint(value: object) -> dict[str, Any] | None:
    """Replace unusable parts with defaults, because the rest is worth keeping."""
    if not isinstance(value, dict):
        return None
    if not value:
        return {}
    taken = {name: take(value.get(name)) for name, (take, _) in CHECKPOINT.items()}
    whole_one = {
        name: CHECKPOINT[name][1]() if found is None else found for name, found in taken.items()
    }
    return whole_one | {k: v for k, v in value.items() if k not in whole_one}


FIELDS: dict[str, Rule] = {
    # In the order in which they are written.
    "task_name": Rule("text", _text, str, "empty text"),
    "objective": Rule("text", _text, str, "empty text"),
    "iteration": Rule("a number of at least 0", _count(0), lambda: 1, "1"),
    "started_at": Rule("text", _text, str, "empty text"),
    "status": Rule("text", _text, lambda: "running", "`running`"),
    "no_change_count": Rule("a number of at least 0", _count(0), int, "0"),
    "last_diff_hash": Rule("text", _text, str, "empty text"),
    "error_hashes": Rule("a list", _texts, list, "an empty one"),
    "max_iterations": Rule(
        "a number of at least 1", _count(1), lambda: MAX_ITERATIONS, str(MAX_ITERATIONS)
    ),
    "completion_promise": Rule("text", _text, lambda: PROMISE, f"`{PROMISE}`"),
    "todo_items": Rule("a list", _items, list, "an empty one"),
    "completed_items": Rule("a list", _items, list, "an empty one"),
    "context_checkpoint": Rule("an object", _checkpoint, dict, "none"),
    "context_history": Rule("a list", _history, list, "an empty one"),
}


State = dict[str, Any]
"""The file's JSON object. Functions here take one from `read` or `fresh` and return a new one."""

NAME = "ralph-state.json"
ENDED = frozenset({"completed", "fatal_error", "limit_reached", "circuit_breaker", "stopped"})
"""Values of `status` for a loop that has ended; any other value means a running loop."""
LONGEST_HISTORY = 1000
"""Maximum number of entries in `context_history`."""


class FileInProgress(NamedTuple):
    """A file that a session was working on."""

    path: str
    lines: str = ""
    """``45-120``, or several such ranges."""
    description: str = ""
    """What the work is about; empty if unknown."""
    status: str = ""
    """The size of its change, and how far along the work is: ``+60 −12, 70 % done``."""
    last_line: str = ""
    """Line of the last edit, to continue from; empty if unknown."""


class Checkpoint(NamedTuple):
    """State that a session leaves to the next one when its window is full."""

    level: str
    percent_at_checkpoint: int
    timestamp: str
    """ISO 8601, UTC."""
    handoff_file: str
    """Path relative to the project."""
    resume_summary: str = ""
    files_in_progress: tuple[FileInProgress, ...] = ()
    current_todo_item: str = ""
    progress_on_item: str = UNKNOWN
    active: bool = True
    """True until a session has taken over."""


class StateRead(NamedTuple):
    """A state file as read."""

    state: State
    problems: tuple[str, ...] = ()
    """One sentence, without a full stop, for each field whose value was replaced."""


def fresh(
    *,
    objective: str,
    started_at: datetime,
    task_name: str = "",
    max_iterations: int = MAX_ITERATIONS,
    completion_promise: str = PROMISE,
    todo_items: tuple[str, ...] = (),
) -> State:
    """Return the state of a loop at its first iteration."""
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
    """Parse a file's content; raise ``ValueError`` if it is not a JSON object."""
    value = parse_json(content)
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return read(value)


def read(fields: Mapping[str, Any]) -> StateRead:
    """Return the fields with every known one present and valid, and unknown ones unchanged."""
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
            problems.append(f"{len(given) - len(value)} entries of `{name}` are invalid: ignored")
        elif isinstance(given, dict) and any(
            given.get(part) not in (None, taken) for part, taken in value.items()
        ):
            problems.append(f"parts of `{name}` are invalid: replaced")
    return StateRead(state | {k: v for k, v in fields.items() if k not in state}, tuple(problems))


def content_of(state: State) -> bytes:
    """Return the file's content; `parse` returns the same state."""
    # JSON can contain lone surrogates; they are written as escapes.
    return (
        json.dumps(state, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    )


def stamp(moment: datetime) -> str:
    """Format a UTC moment as the file stores it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def has_ended(state: State) -> bool:
    """True if the loop has ended."""
    return state["status"] in ENDED


def checkpoint_of(state: State) -> Checkpoint | None:
    """Return the checkpoint that no session has taken over yet; None without one."""
    found = state["context_checkpoint"]
    if not found.get("active"):
        return None
    files = tuple(
        FileInProgress(*(str(entry.get(name, "")) for name in FileInProgress._fields))
        for entry in found["files_in_progress"]
    )
    known = {name: found[name] for name in CHECKPOINT if name != "files_in_progress"}
    return Checkpoint(**known, files_in_progress=files)


def with_checkpoint(state: State, checkpoint: Checkpoint) -> State:
    """Return the state with an active checkpoint, marked in the history of its iteration."""
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
    """Return the state with its checkpoint marked as taken over; the content stays readable."""
    return state | {"context_checkpoint": state["context_checkpoint"] | {"active": False}}


def with_peak(state: State, percent: float, *, new_session: bool = False) -> State:
    """Return the state with the session's highest percentage; a new session gets its own entry."""
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
    """Return the current item, which is the first open one; empty without one."""
    for item in state["todo_items"]:
        if isinstance(item, str) and item.strip():
            return item.strip()
        if isinstance(item, dict):
            for name in ("text", "title", "content", "description", "name"):
                if isinstance(item.get(name), str) and item[name].strip():
                    return str(item[name]).strip()
    return ""


def circuit_of(state: State) -> Circuit:
    """Return the circuit breaker after the last iteration."""
    return Circuit(state["no_change_count"], state["last_diff_hash"], tuple(state["error_hashes"]))


def with_circuit(state: State, circuit: Circuit) -> State:
    """Return the state with the circuit breaker of one more iteration."""
    return state | {
        "no_change_count": circuit.no_change_count,
        "last_diff_hash": circuit.last_diff_hash,
        "error_hashes": list(circuit.error_hashes),
    }
