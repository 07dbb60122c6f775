"""Records of real runs follow the schema of episodic memory and cover all its fields."""

import json
import re
import shutil
import signal
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from tests.e2e.cli import GATE, here, project, start
from tests.e2e.shared import once
from tests.e2e.test_demo import keep
from tests.e2e.test_history import AGENT, two_tasks
from tests.paths import FIXTURES

SCHEMA: dict[str, Any] = json.loads((FIXTURES / "episodic-memory.schema.json").read_text())
RECORDS = Path(".aiwg/ralph")
FILES = {
    "metadata.json": "task_metadata",
    "trajectory.json": "trajectory",
    "reflections.jsonl": "reflection",
    "attempt.json": "attempt",
    "outcome.json": "outcome",
    "actions.jsonl": "action",
    "by-status.json": "index",
    "by-agent.json": "index",
}
NEVER_KNOWN = {"action.expected_outcome", "outcome.final_quality", "trajectory.final_quality"}
"""No agent reports what it expects, and quality is not measured apart from completion."""


def is_moment(value: object) -> bool:
    """ISO-8601, UTC."""
    return isinstance(value, str) and datetime.fromisoformat(value).utcoffset() is not None


FORMATS = FormatChecker(formats=())
FORMATS.checkers["date-time"] = (is_moment, ValueError)


def validator(name: str) -> Draft202012Validator:
    wanted = {**SCHEMA, "$ref": f"#/$defs/{name}"}
    return Draft202012Validator(wanted, format_checker=FORMATS)


def records(root: Path) -> Iterator[tuple[Path, str, Any]]:
    """Each file of the schema: its path, its part of the schema, each value in it."""
    for path in sorted((root / RECORDS).rglob("*.json*")):
        if path.name in FILES and "results" not in path.parts:
            whole = path.read_text()
            for text in whole.splitlines() if path.suffix == ".jsonl" else [whole]:
                yield path, FILES[path.name], json.loads(text)


@pytest.fixture
def roots(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, git_repo: Path) -> list[Path]:
    """Completed, at its limit, two attempts of one task, aborted, reflected on."""
    demo = once(tmp_path_factory, "demo", keep) / "project"
    two = once(tmp_path_factory, "two-tasks", two_tasks) / "project"
    copy = Path(shutil.copytree(two, tmp_path / "two", symlinks=True))
    (copy / "done-3.txt").unlink(missing_ok=True)
    again = here("run", "Fix the failing checks", "-c", GATE, *AGENT, cwd=copy)
    assert again.returncode == 0, again.stdout + again.stderr
    assert here("history", "task-001", "--reflect", "Begin at 3", cwd=copy).returncode == 0
    return [demo, copy, aborted(project(git_repo))]


def aborted(root: Path) -> Path:
    agent = ("--agent", "command", "--agent-command", "echo works; cat; sleep 60")
    with start("run", "x", "-c", "false", *agent, "--json", cwd=root) as process:
        assert process.stdout is not None
        try:
            while "session_started" not in process.stdout.readline():
                pass
            done = here("abort", "--yes", cwd=root)
            process.stdout.read()
        finally:
            process.send_signal(signal.SIGINT)
    assert done.returncode == 0, done.stderr
    return root


def test_records_of_real_runs_are_what_the_schema_says(roots: list[Path]) -> None:
    seen: set[str] = set()
    checked: set[str] = set()
    for root in roots:
        for path, name, value in records(root):
            problems = [
                f"{path}: {error.json_path}: {error.message}"
                for error in validator(name).iter_errors(value)
            ]
            assert problems == []
            checked.add(path.name)
            seen |= names_in(value, SCHEMA["$defs"][name], name)
    assert checked == FILES.keys()
    assert all_names() - seen == NEVER_KNOWN


def test_every_record_names_the_version_of_its_schema_and_needs_none(roots: list[Path]) -> None:
    """Journal, status and table of tasks have versions of their own."""
    own = {"events.jsonl": "schema_version", "status.json": "version", "tasks.json": "version"}
    seen = set()
    for root in roots:
        for path in sorted((root / RECORDS).glob("[ti]*/**/*.json*")):
            if path.name == "transcript.jsonl":  # the agent's own words
                continue
            whole = path.read_text()
            texts = whole.splitlines() if path.suffix == ".jsonl" else [whole]
            values = [json.loads(text) for text in texts]
            if path.name in own:
                assert isinstance(values[0][own[path.name]], int), path
                continue
            assert {value.get("version") for value in values} <= {"1.0.0"}, path
            seen.add(path.name)
    assert seen >= {*FILES, "summary.json", "assessment.json", "verification.json"}
    assert seen >= {"001-checkpoint.json", "checkpoint-summary.json", "pre-snapshot.json"}
    shown = here("history", "task-001", "--json", cwd=roots[1]).stdout
    for path in (roots[1] / RECORDS / "tasks").rglob("*.json*"):
        if path.name == "events.jsonl":
            path.unlink()
        elif path.name in FILES:
            path.write_text(re.sub(r'"version": "1\.0\.0",?\s*', "", path.read_text()))
    older = here("history", "task-001", "--json", cwd=roots[1])
    assert (older.stdout, older.stderr) == (shown, "")


def test_it_finds_what_is_wrong(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = once(tmp_path_factory, "demo", keep) / "project"
    [attempt] = [value for path, _, value in records(root) if path.name == "attempt.json"]
    wrong = (
        {"outcome": None},
        {"started": "yesterday"},
        {"id": "1"},
        {"outcome": {**attempt["outcome"], "status": "aborted"}},
    )
    for change in wrong:
        assert not validator("attempt").is_valid({**attempt, **change}), change
    assert validator("attempt").is_valid(attempt)


def all_names() -> set[str]:
    """Names of all fields in the schema."""
    found: set[str] = set()
    for name, part in SCHEMA["$defs"].items():
        found |= named(part, name)
    return found


def named(part: dict[str, Any], where: str) -> set[str]:
    if "items" in part:
        return named(part["items"], where)
    fields = part.get("properties", {})
    inner = [named(inside, f"{where}.{name}") for name, inside in fields.items()]
    return {f"{where}.{name}" for name in fields}.union(*inner)


def names_in(value: Any, part: dict[str, Any], where: str) -> set[str]:
    """Names of the fields that a value has."""
    if isinstance(value, list):
        return set().union(*(names_in(item, part.get("items", {}), where) for item in value))
    if not isinstance(value, dict):
        return set()
    fields = {name: inside for name, inside in part.get("properties", {}).items() if name in value}
    inner = [names_in(value[name], inside, f"{where}.{name}") for name, inside in fields.items()]
    return {f"{where}.{name}" for name in fields}.union(*inner)
