"""A run uses what an earlier run learned; its agent knows nothing but its prompt."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import Done, events_of, here
from tests.e2e.shared import once
from tests.e2e.test_resume import git

AGENT = """\
import json, re, subprocess, sys
prompt = sys.stdin.read()
tried = re.findall(r"used approach ([A-Y])", prompt)
taught = re.findall(r"tokenizer needs approach ([A-Z])", prompt)
approach = taught[0] if taught else chr(ord(max(tried)) + 1) if tried else "A"
open("work.txt", "w").write(approach + "\\n")
works = subprocess.run(["sh", "check.sh"], capture_output=True).returncode == 0
print(json.dumps({"ralph": {
    "completion": 0,
    "summary": f"used approach {approach}",
    "learnings": [f"In this project the tokenizer needs approach {approach}."] if works else [],
    "next": f"use approach {chr(ord(approach) + 1)}",
}}))
if works:
    print("<promise>COMPLETE</promise>")
"""
"""Tries one approach after the other, unless its prompt says which one is right."""
CHECK = 'grep -q "^D$" work.txt\n'
OBJECTIVE = "Fix the failing tokenizer tests"


@pytest.fixture
def root(git_repo: Path) -> Path:
    return filled(git_repo)


def filled(folder: Path) -> Path:
    (folder / "check.sh").write_text(CHECK)
    (folder / "agent.py").write_text(AGENT)
    return folder


@pytest.fixture
def taught(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A copy of what the first run leaves, which had to find everything out."""

    def make(folder: Path) -> None:
        git(folder, "init", "-q")
        assert iterations(attempt(filled(folder))) == 4

    kept = once(tmp_path_factory, "taught", make)
    return Path(shutil.copytree(kept, tmp_path / "taught", symlinks=True))


def first_of(root: Path) -> list[dict[str, Any]]:
    """The events of its first run."""
    journal = root / ".aiwg/ralph/tasks/task-001/attempts/001/events.jsonl"
    return events_of(journal.read_text("utf-8"))


def attempt(root: Path, *more: str, objective: str = OBJECTIVE) -> list[dict[str, Any]]:
    """Undo the work, run again, and return the events."""
    (root / "work.txt").unlink(missing_ok=True)
    # It is measured as stuck, and there is no user to ask.
    agent = ("--agent", "command", "--agent-command", f"{sys.executable} -S -E agent.py")
    more = ("--set", "oversight.enabled=false", *more)
    done: Done = here("run", objective, "-c", "sh check.sh", *agent, "--json", *more, cwd=root)
    assert "Traceback" not in done.stdout + done.stderr
    return events_of(done.stdout)


def iterations(events: list[dict[str, Any]]) -> int:
    assert events[-1]["outcome"] == "completed", events[-1]
    count: int = events[-1]["iterations"]
    return count


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind]


def test_the_second_run_knows_what_the_first_has_learned(taught: Path) -> None:
    root, first = taught, first_of(taught)
    assert "needs approach D" in of_kind(first, "learning_staged")[0]["learning"]["text"]
    second = attempt(root)
    assert iterations(second) == 1
    (retrieved,) = of_kind(second, "learnings_retrieved")
    reported = [one for one in retrieved["learnings"] if one["in_prompt"]]
    assert any("needs approach D" in one["text"] and one["why"] for one in reported)
    prompt = root / ".aiwg/ralph/tasks/task-001/attempts/002/results/iter-001/prompt.md"
    assert "tokenizer needs approach D" in prompt.read_text("utf-8")
    assert {event["success"] for event in of_kind(second, "learning_credited")} == {True}
    (plan,) = of_kind(second, "plan_made")
    assert plan["cites"][0].startswith("task-001/001 #")
    # Used with success: it is knowledge now, and a third run has it from the file.
    knowledge = json.loads((root / ".aiwg/knowledge/ralph-learnings.json").read_text("utf-8"))
    proven = [entry for entry in knowledge["learnings"] if "approach D" in json.dumps(entry)]
    assert proven
    third = attempt(root, objective="Fix the tests of the tokenizer that fail")
    assert iterations(third) == 1
    (similar,) = of_kind(third, "plan_made")
    assert similar["related"] == ["task-001"]
    assert similar["estimate_from"] == 2
    assert similar["estimated_iterations"] in (2, 3), "4 iterations, then 1"
    (again,) = of_kind(attempt(root), "plan_made")
    assert (again["related"], again["estimate_from"]) == (["task-002"], 3), "its own two as well"


def test_with_memory_off_every_run_starts_fresh(taught: Path) -> None:
    off = attempt(taught, "--set", "memory.enabled=false", "--max-iterations", "1")
    assert off[-1]["outcome"] == "limit_reached", "it begins with approach A"
    assert not [event for event in off if event["kind"].startswith("learning")]
    assert not of_kind(off, "plan_made")


def test_a_run_promotes_by_the_settings_of_memory(taught: Path) -> None:
    strict = attempt(taught, "--set", "memory.promote_at=1")
    assert of_kind(strict, "learning_credited")
    assert not of_kind(strict, "learning_promoted")
    assert of_kind(attempt(taught), "learning_promoted")


def test_the_backup_of_proven_learnings_can_be_switched_off(taught: Path) -> None:
    proven = taught / ".aiwg/knowledge/ralph-learnings.json"
    backup = proven.with_name(f"{proven.name}.bak")
    for _ in range(2):
        attempt(taught, "--set", "memory.backup=false")
    assert proven.exists()
    assert not backup.exists()
    attempt(taught)
    assert backup.exists()


def test_what_its_owner_silences_comes_back_in_no_part_of_a_prompt(taught: Path) -> None:
    mute, delete = [
        e["learning"]["learning_id"] for e in of_kind(first_of(taught), "learning_staged")
    ][:2]
    here("memory", "mute", mute, cwd=taught)
    here("memory", "delete", delete, "--yes", cwd=taught)
    second = attempt(taught, "--max-iterations", "1")
    assert not of_kind(second, "learnings_retrieved")
    prompt = taught / ".aiwg/ralph/tasks/task-001/attempts/002/results/iter-001/prompt.md"
    assert "approach D" not in prompt.read_text("utf-8")
    assert second[-1]["outcome"] == "limit_reached"


def test_a_learning_that_does_harm_is_unlearned(root: Path) -> None:
    knowledge = root / ".aiwg/knowledge"
    knowledge.mkdir(parents=True)
    harmful = {
        "id": "learn-bad",
        "type": "strategy",
        "taskType": "test-fix",
        "content": {"approach": "The tokenizer needs approach Z."},
        "confidence": 0.9,
        "sourceLoops": ["loop-1"],
        "useCount": 2,
        "successRate": 0.75,
        "createdAt": "2026-01-15T08:00:00Z",
        "updatedAt": "2026-02-01T14:00:00Z",
    }
    (knowledge / "ralph-learnings.json").write_text(
        json.dumps({"version": "1.0.0", "learnings": [harmful], "stats": {}})
    )
    # Each run is one proof against it: the first does not know better, the second unlearns it.
    first = attempt(root, "--max-iterations", "3")
    assert first[-1]["outcome"] == "limit_reached"
    assert carried(first, "learn-bad") == [1, 2, 3]
    second = attempt(root)
    assert 1 <= len(carried(second, "learn-bad")) <= 4
    assert second[-1]["outcome"] == "completed"
    for events in (first, second):
        given = of_kind(events, "learning_credited")
        assert [(e["learning_id"], e["success"]) for e in given].count(("learn-bad", False)) == 1
        assert not any(e["success"] for e in given if e["learning_id"] == "learn-bad")


def carried(events: list[dict[str, Any]], learning_id: str) -> list[int]:
    """The iterations whose prompt had it."""
    return [
        event["iteration"]
        for event in of_kind(events, "learnings_retrieved")
        for one in event["learnings"]
        if one["learning_id"] == learning_id and one["in_prompt"]
    ]


KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LEAKING = f"""\
import json, sys
sys.stdin.read()
print(json.dumps({{"ralph": {{
    "completion": 20,
    "summary": "used {KEY}",
    "blockers": ["the key {KEY} is refused"],
    "learnings": ["Always push with {KEY} in this project."],
    "next": "push with {KEY}",
}}}}))
"""


def test_a_key_in_an_agents_output_surfaces_nowhere_in_memory(root: Path) -> None:
    (root / "agent.py").write_text(LEAKING)
    for _ in range(2):
        events = attempt(root, "--max-iterations", "2")
        assert of_kind(events, "learning_staged")
    assert (root / ".aiwg/knowledge/ralph-learnings.json").exists(), "two runs have said it"
    output = [
        here(*command, cwd=root).stdout
        for command in (
            ("memory", "list"),
            ("memory", "export"),
            ("history", "task-001", "--reflections"),
            ("history", "task-001", "--export", "history.json"),
            ("search", "push"),
        )
    ]
    assert sum(bool(text) for text in output) >= 4, output
    assert (root / "history.json").exists()
    files = [path for path in root.rglob("*") if path.is_file() and ".git/" not in str(path)]
    leaking = [path for path in files if KEY.encode() in path.read_bytes()]
    assert leaking == [root / "agent.py"]
    assert not [text for text in output if KEY in text]
