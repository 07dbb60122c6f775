"""Handoffs and the prompts that follow them, on the command line."""

import re
import subprocess
from pathlib import Path

import pytest

from ralph_tui.demo.agent.plan_file import ITEMS
from ralph_tui.layers.intelligence.handoff_section import HEADING
from tests.e2e.cli import here
from tests.e2e.test_context_demo import kept, of

__all__ = ["kept"]


def test_the_prompt_of_each_session_is_shown(kept: Path) -> None:
    project = kept / "project"
    reported = [event for event in of(kept, "prompt_prepared") if event["iteration"] == 1]
    assert len(reported) > 1
    for number, event in enumerate(reported, 1):
        words = ("prompt", "show", "--iteration", "1", "--session", str(number))
        shown = here(*words, cwd=project)
        assert f"iteration 1, session {number} of {len(reported)}, as it was sent" in shown.stderr
        assert (HEADING in shown.stdout) == (number > 1)
        (file,) = project.rglob(event["path"])
        assert shown.stdout == file.read_text()
    last = here("prompt", "show", "task-001", "--iteration", "1", cwd=project)
    assert f"session {len(reported)} of {len(reported)}" in last.stderr
    none = here("prompt", "show", "--iteration", "1", "--session", "9", cwd=project)
    assert none.returncode == 2
    assert f"iteration 1 of task-001/001 has {len(reported)} prompts" in none.stderr


def test_a_handoff_tells_what_the_session_did_with_files_and_lines(kept: Path) -> None:
    project = kept / "project"
    lines = 0
    for event in of(kept, "handoff_written"):
        text = (project / event["read_at"]).read_text()
        assert text.count("## ") == len(set(re.findall("^## .+$", text, re.MULTILINE)))
        assert f"`{event['item']}`" in text
        assert event["item"] in {item.title for item in ITEMS}
        assert set(event["done"]) <= {item.title for item in ITEMS}
        assert event["item"] not in event["done"]
        for file in event["files"]:
            assert f"- `{file['path']}`" in text
            changed = (project / file["path"]).read_text().splitlines()
            assert file["description"]
            assert 0 < int(file["last_line"]) <= len(changed) + 1
            for place in filter(None, file["lines"].split(", ")):
                lines += 1
                assert 0 < int(place.partition("-")[0]) <= len(changed) + 1
        # The command that it names works where the agent works.
        diff = re.search(r"`git diff (\S+) (\S+)`", text)
        assert diff is not None
        shown = subprocess.run(
            ["git", "diff", "--stat", *diff.groups()],
            cwd=project, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert all(file["path"] in shown.stdout for file in event["files"])
    assert lines


@pytest.mark.parametrize("words", ["PLAN.md exponents", "restart the task"])
def test_handoffs_are_found(kept: Path, words: str) -> None:
    found = here("search", words, "--json", cwd=kept / "project")
    assert '"handoff"' in found.stdout, found.stdout[:2000]
