"""Runs of the aiwg tool for tests: recorded samples, unpacked, and runs built field by field."""

import json
import tarfile
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from ralph_tui.adapters.records.foreign import foreign_runs
from ralph_tui.adapters.records.journal import Recording
from ralph_tui.events import Event
from ralph_tui.importers.foreign_runs import ImportedRuns
from ralph_tui.importers.records import ImportedRun
from ralph_tui.state import RunState
from tests.paths import ROOT

E = TypeVar("E", bound=Event)
LOOP = "0a1b2c3d-0000-4000-8000-000000000001"
BEGAN = datetime(2026, 11, 20, 8, tzinfo=UTC)
STATE = "session-state.json"

SAMPLES = ROOT / "tests" / "fixtures" / "runs"
_RUNS = ImportedRuns()
imported_at, read_imported, row_of = _RUNS.find_at, _RUNS.read, _RUNS.row_of
NAMES = sorted(path.name.removesuffix(".tar.gz") for path in SAMPLES.glob("*.tar.gz"))


def find_imported(root: Path) -> list[ImportedRun]:
    """The runs of a project, as commands look for them."""
    return [run for run in foreign_runs(root).find(root) if isinstance(run, ImportedRun)]


def remains(root: Path) -> list[str]:
    """Files left by other tools, as commands find them."""
    return list(foreign_runs(root).remains(root))


@cache
def sample_events(name: str) -> list[Event]:
    """The events of a sample, without its files."""
    with TemporaryDirectory() as folder:
        (run,) = find_imported(unpacked(name, Path(folder)))
        return list(read_imported(run).events)


def unpacked(name: str, into: Path) -> Path:
    """Unpack a project with that run; return its root."""
    root = into / name
    with tarfile.open(SAMPLES / f"{name}.tar.gz") as archive:
        # A filter is known from 3.11.4 on; the archives are our own.
        if hasattr(tarfile, "data_filter"):
            archive.extractall(root, filter="data")
        else:
            archive.extractall(root)
    return root


class External:
    """An external run of the tool in a project: what a test gives is written, and nothing else."""

    def __init__(self, project: Path, folder: str = ".aiwg/ralph-external") -> None:
        self.project = project
        self.folder = project / folder
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, content: Any) -> Path:
        """A file below its folder: text as it is, anything else as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def state(self, *iterations: dict[str, Any], name: str = STATE, **fields: Any) -> Path:
        """The state file; None fields are left out."""
        last = max([entry.get("number") or 0 for entry in iterations], default=0)
        data = {
            "loopId": LOOP, "objective": "Fix it", "completionCriteria": "make test passes",
            "status": "limit_reached", "maxIterations": 10, "currentIteration": last,
            "startTime": at(0), "lastUpdate": at(60), "sessionId": "s1",
            "iterations": list(iterations),
            "config": {"model": "opus", "timeoutMinutes": 60, "workingDir": "/home/dev/project"},
        } | fields  # fmt: skip
        known = {name: value for name, value in data.items() if value is not None}
        return self.write(name, known)

    def printed(self, number: int, *lines: dict[str, Any] | str, kind: str = "stdout") -> Path:
        """The output of a session."""
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        return self.write(f"outputs/{number:03}-{kind}.log", "".join(f"{t}\n" for t in texts))

    def prompt(self, number: int, text: str = "Go on.\n") -> Path:
        """The prompt of an iteration."""
        return self.write(f"prompts/{number:03}-prompt.md", text)


def at(minute: float) -> str:
    """A time in the run, minutes from its start."""
    return (BEGAN + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")


def entry(number: int | None, points: Any = None, **fields: Any) -> dict[str, Any]:
    """An iteration as listed in the state; None fields are left out."""
    data = {
        "number": number, "sessionId": "s1", "status": "incomplete", "exitCode": 0,
        "duration": 60_000, "analysis": {"completionPercentage": points},
    } | fields  # fmt: skip
    return {name: value for name, value in data.items() if value is not None}


INIT = {"type": "system", "subtype": "init", "session_id": "s1", "model": "opus"}


def spoke(text: str) -> dict[str, Any]:
    """A message of the agent."""
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def used(tool_id: str, tool: str = "Bash", **arguments: str) -> dict[str, Any]:
    """A tool call."""
    return {"type": "tool_use", "id": tool_id, "name": tool, "input": arguments}


def output(tool_id: str, content: str = "ok", *, error: bool = False) -> dict[str, Any]:
    """A tool's result."""
    return {
        "type": "tool_result", "tool_use_id": tool_id, "content": content, "is_error": error
    }  # fmt: skip


def result(cost: float = 0.5, tokens: int = 100, **fields: Any) -> dict[str, Any]:
    """A session's last line."""
    usage = {"input_tokens": tokens, "output_tokens": 0}
    return {"type": "result", "subtype": "success", "is_error": False, "num_turns": 2,
            "total_cost_usd": cost, "usage": usage, "session_id": "s1"} | fields  # fmt: skip


def timed(line: dict[str, Any], minute: float, session: str = "s1") -> dict[str, Any]:
    """A line as the transcript has it."""
    return line | {"timestamp": at(minute), "sessionId": session}


def read_run(project: Path) -> tuple[ImportedRun, Recording, RunState]:
    """The only run of a project, read and folded."""
    (run,) = find_imported(project)
    recording = read_imported(run)
    return run, recording, RunState().apply_all(recording.events)


def of_kind(recording: Recording, kind: type[E]) -> list[E]:
    return [event for event in recording.events if isinstance(event, kind)]


def printed_times(
    foreign: External,
    *sessions: tuple[int, float, float],
    name: str = "outputs/session-transcript.jsonl",
) -> None:
    """The transcript of sessions as `printed` them: number, and minutes of first and last line."""
    lines = []
    for number, first, last in sessions:
        path = foreign.folder / f"outputs/{number:03}-stdout.log"
        printed = [json.loads(line) for line in path.read_text().splitlines()]
        step = (last - first) / max(1, len(printed) - 1)
        lines += [timed(line, first + place * step) for place, line in enumerate(printed)]
    foreign.write(name, "".join(f"{json.dumps(line)}\n" for line in lines))
