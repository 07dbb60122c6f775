"""The demo whose window fills: sessions hand over in the middle of their work, and it completes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.demo.agent.bugs import BUGS
from ralph_tui.demo.agent.plan_file import ITEMS, PLAN
from ralph_tui.layers.context.handoff import MAX_CHARACTERS
from ralph_tui.layers.intelligence.handoff_section import HEADING
from tests.e2e.cli import events_of, run
from tests.e2e.shared import once
from tests.e2e.test_demo import in_todays_words


def keep(folder: Path) -> None:
    words = ("--scenario", "context", "--headless", "--fast", "--json")
    done = run("demo", *words, "--keep", str(folder / "project"), cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "printed").write_text(done.stdout)


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return once(tmp_path_factory, "context_demo", keep)


def of(kept: Path, kind: str) -> list[dict[str, Any]]:
    return [event for event in events_of((kept / "printed").read_text()) if event["kind"] == kind]


def test_sessions_roll_over_and_the_run_completes(kept: Path) -> None:
    assert of(kept, "run_finished")[0]["outcome"] == "completed"
    began = of(kept, "rollover_began")
    assert len([event for event in began if event["cause"] == "L2"]) >= 2
    ends = [event["outcome"] for event in of(kept, "session_finished")]
    assert ends.count("rolled_over") == len(began)
    assert "context_full" not in ends
    started = Counter(event["iteration"] for event in of(kept, "session_started"))
    over = Counter(event["iteration"] for event in began)
    assert started == {k: 1 + over[k] for k in started}, "a fresh session of the same iteration"


def test_it_is_told_in_the_words_of_today(kept: Path) -> None:
    in_todays_words((kept / "printed").read_text())


def test_whoever_takes_over_is_told_so_and_can_read_what_was_left(kept: Path) -> None:
    project = kept / "project"
    left = of(kept, "handoff_written")
    assert len(left) == len(of(kept, "rollover_began"))
    for event in left:
        handoff = (project / event["read_at"]).read_text()
        assert 0 < len(handoff) <= MAX_CHARACTERS
        (folder,) = project.rglob(f"iter-{event['iteration']:03}/handoff-{event['number']}.md")
        text = folder.with_name(f"prompt-{event['number'] + 1}.md").read_text()
        assert f"# {HEADING}" in text
        assert event["read_at"] in text
        # Who takes over reads it, before it does anything else with the project.
        streams = folder.with_name("transcript.jsonl").read_text()
        assert f"{project / event['read_at']}" in streams
    first = next(project.rglob("iter-001/prompt.md")).read_text()
    assert HEADING not in first


def test_a_session_is_ended_in_the_middle_of_an_item_and_no_edit_is_lost_or_repeated(
    kept: Path,
) -> None:
    project = kept / "project"
    for bug in BUGS:
        assert bug.fixed in (project / bug.path).read_text(), bug.name
    assert (project / PLAN).read_text().count("- [x]") == len(ITEMS)
    edits = [(new, ok) for new, ok in edits_of(project)]
    done = Counter(new for new, ok in edits if ok)
    changes = [bug.fixed for bug in BUGS] + [item.ticked for item in ITEMS]
    assert done == Counter(changes)
    transcripts = "".join(p.read_text() for p in project.rglob("transcript.jsonl"))
    assert "I'll continue with" in transcripts, "an item was half done"


def edits_of(project: Path) -> list[tuple[str, bool]]:
    """Text inserted by each edit, and whether the edit was applied."""
    asked: dict[str, str] = {}
    found = []
    for path in sorted(project.rglob("transcript.jsonl")):
        for line in path.read_text().splitlines():
            event = json.loads(line)
            blocks = event.get("message", {}).get("content", [])
            for block in blocks if isinstance(blocks, list) else []:
                if block.get("name") == "Edit":
                    asked[block["id"]] = block["input"]["new_string"]
                elif block.get("type") == "tool_result" and block["tool_use_id"] in asked:
                    found.append((asked[block["tool_use_id"]], not block["is_error"]))
    return found
