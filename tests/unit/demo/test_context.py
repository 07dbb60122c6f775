"""The `context` scenario: sessions know only their prompt and the files, in a small window."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import demo
from ralph_tui.demo.agent.bugs import BUGS, COMMENT, EXPONENT
from ralph_tui.demo.agent.plan_file import ITEMS, PLAN, TEXT
from ralph_tui.demo.agent.planned import HANDOFF_HEADING
from ralph_tui.layers.intelligence.handoff_section import HEADING
from tests.unit.demo.test_scenarios import session

LEFT = "handoff-1.md"
PROMPT = f"# Task\n\nGo on.\n\n# {HEADING}\n\nRead its handoff first: {LEFT}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    demo.prepare(root, "context")
    return root


def read_by(stream: list[dict[str, Any]]) -> list[str]:
    """Names of the files a session read, in order."""
    blocks = [b for e in stream if e["type"] == "assistant" for b in e["message"]["content"]]
    return [Path(b["input"]["file_path"]).name for b in blocks if b.get("name") == "Read"]


def contexts(stream: list[dict[str, Any]]) -> list[int]:
    """Tokens in the window, message by message."""
    used = [e["message"]["usage"] for e in stream if e["type"] == "assistant"]
    return [sum(usage.values()) - usage["output_tokens"] for usage in used]


def mend(project: Path, *bugs: Any) -> None:
    for bug in bugs:
        path = project / bug.path
        path.write_text(path.read_text().replace(bug.broken, bug.fixed))


def test_the_project_has_a_plan_of_all_that_is_to_be_done(project: Path, tmp_path: Path) -> None:
    assert (project / PLAN).read_text() == TEXT
    assert sorted(bug.name for item in ITEMS for bug in item.bugs) == sorted(b.name for b in BUGS)
    log = ["git", "log", "--format=%s", "--", PLAN]
    done = subprocess.run(log, cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "A calculator, with bugs"
    demo.prepare(tmp_path / "steady")
    assert not (tmp_path / "steady" / PLAN).exists()


def test_a_session_that_nobody_ends_dies_of_its_full_window(project: Path) -> None:
    stream = session(project, "context", 1)
    result = stream[-1]
    assert (result["is_error"], result["terminal_reason"]) == (True, "prompt_too_long")
    window = result["modelUsage"]["demo-agent"]["contextWindow"]
    assert window == 20_000
    used = contexts(stream)
    assert used == sorted(used)
    assert 0.8 < used[-1] / window <= 1
    assert EXPONENT.fixed in (project / EXPONENT.path).read_text(), "its work is in the files"


def test_who_takes_over_reads_the_handoff_and_goes_on_where_it_says(project: Path) -> None:
    mend(project, EXPONENT, COMMENT)
    (project / LEFT).write_text(f"In progress: {ITEMS[0].title}\n")
    stream = session(project, "context", 1, PROMPT)
    assert read_by(stream)[:3] == [PLAN, LEFT, "lexer.py"]
    assert "2 of 3 are done" in json.dumps(stream)


def test_the_item_that_the_handoff_names_is_taken_first(project: Path) -> None:
    (project / LEFT).write_text(f"In progress: {ITEMS[3].title}\n")
    session(project, "context", 1, PROMPT)
    lines = (project / PLAN).read_text().splitlines()
    assert [line for line in lines if "[x]" in line][-1] == ITEMS[3].ticked


def test_the_agent_knows_the_heading_of_the_prompts_section() -> None:
    assert f"# {HEADING}".startswith(HANDOFF_HEADING)
