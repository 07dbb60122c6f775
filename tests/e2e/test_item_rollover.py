"""A whole run with Claude Code's double: the plan's next item would not fit, and waits for room."""

import json
import shlex
from pathlib import Path
from typing import Any

from tests.doubles.launch import STUB, environment
from tests.e2e.cli import events_of, here

WINDOW = 200_000
PLAN = "- [ ] Read dates [simple]\n- [ ] Write dates [complex]\n"


def bash(command: str, percent: float) -> dict[str, Any]:
    """A model's answer: a command, with the window's level at that point."""
    tool = {"name": "Bash", "input": {"command": command, "description": "work"}}
    return {"tools": [tool], "cached_tokens": int(WINDOW * percent / 100) - 12}


def tick(item: str) -> str:
    return f"sed -i 's/\\[ \\] {item}/[x] {item}/' PLAN.md"


def of(events: list[Any], kind: str) -> list[Any]:
    return [event for event in events if event["kind"] == kind]


def test_an_item_that_would_not_fit_begins_in_a_fresh_session(
    git_repo: Path, tmp_path: Path
) -> None:
    (git_repo / "PLAN.md").write_text(PLAN)
    first = [
        bash("true", 10),
        bash(tick("Read"), 45),
        # The plan is read every few seconds; repeat this until the session ends.
        *[bash("sleep 1", 46 + n / 2) for n in range(30)],
    ]
    second = [bash("cat PLAN.md", 10), bash(tick("Write"), 50), {"text": "Done."}]
    later = [bash(tick("Add"), 20), {"text": "Done."}]
    story = {
        "about": "an item that would not fit",
        "sessions": [first, second, later],
        "context_window": WINDOW,
        "arguments": ["--dangerously-skip-permissions"],
    }
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(story))
    base = {"RALPH_TUI_AGENT__BINARY": str(STUB), "RALPH_TUI_PERMISSIONS__MODE": "skip"}
    run = (
        "run", "Mend the dates", "-c", f"! grep -qF {shlex.quote('[ ]')} PLAN.md",
        "--plan", "PLAN.md", "--max-iterations", "1", "--headless", "--json",
    )  # fmt: skip
    environ = environment(str(path), state=tmp_path / "state", base=base)
    done = here(*run, cwd=git_repo, **environ)
    assert done.stderr == ""
    events = events_of(done.stdout)
    items = [(e["item"], e["size"], e["basis"], e["done"]) for e in of(events, "plan_item_began")]
    assert items == [
        ("Read dates [simple]", "simple", "tag", 0),
        ("Write dates [complex]", "complex", "tag", 1),
        ("", "medium", "default", 2),
    ]
    (began,) = of(events, "rollover_began")
    assert began["cause"] == "item"
    assert 44 < began["percent"] < 62
    assert began["reason"].startswith("the next item (complex, up to 60 %) does not fit in the ")
    ends = [event["outcome"] for event in of(events, "session_finished")]
    assert ends == ["rolled_over", "success"]
    (handoff,) = of(events, "handoff_written")
    assert "Write dates" in (git_repo / handoff["read_at"]).read_text()
    assert not of(events, "context_level_reached"), "long before any level"
    context = json.loads(here("context", "--json", cwd=git_repo).stdout)
    assert (context["rollovers"], context["alive"]) == (1, False)
    took = [(one["size"], one["basis"]) for one in context["taken"]]
    assert took == [("simple", "tag"), ("complex", "tag")]

    # The next run in the repository learns from it.
    (git_repo / "PLAN.md").write_text("- [ ] Add dates [simple]\n")
    events = events_of(here(*run, cwd=git_repo, **environ).stdout)
    (read,) = of(events, "earlier_windows_read")
    assert (read["runs"], read["items"]) == (1, context["taken"])
    assert read["peaks"] == [context["history"][0]["peak_percent"]]
