"""Runs whose windows fill: where the next session continues, and the cost of no handoff.

They use the double of Claude Code, and Claude Code itself where it is installed.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.context import ARMS, ran
from bench.context_table import Ran
from bench.context_task import task_of
from ralph_tui.layers.intelligence.handoff_section import HEADING
from tests.doubles.launch import real_binary

ON, _, _ = ARMS
BINARY = real_binary()
WITHIN_AN_ITEM = 10
"""A seed whose run fills two windows in the middle of items."""


def events_in(place: Path) -> list[dict[str, Any]]:
    (journal,) = place.rglob("events.jsonl")
    return [json.loads(line) for line in journal.read_text().splitlines()]


def goes_on(one: Ran) -> None:
    """Assert that work continued after each full window and that every edit is there once."""
    assert one.success, one
    assert (one.verdict.lost, one.verdict.repeated) == (0, 0)
    # If the plan is read early enough, a window ends before an item that does not fit.
    assert one.rollovers["L2"] >= 1
    assert sum(one.rollovers.values()) >= 2
    assert any(taken.mid_item for taken in one.resumes)
    assert all(taken.continued for taken in one.resumes), one.resumes


def test_work_goes_on_where_a_window_filled(tmp_path: Path) -> None:
    """`make bench` compares this with runs whose handoffs are blanked."""
    goes_on(ran(WITHIN_AN_ITEM, ON, tmp_path, None))


@pytest.mark.real_agent
@pytest.mark.skipif(BINARY is None, reason="Claude Code is not installed")
def test_claude_code_hands_over_after_the_running_tool_and_nothing_is_lost(tmp_path: Path) -> None:
    goes_on(ran(WITHIN_AN_ITEM, ON, tmp_path, BINARY))
    events = events_in(tmp_path)
    reached = [
        at
        for at, event in enumerate(events)
        if event["kind"] == "context_level_reached" and event["level"] == "L2"
    ]
    ends = [
        next(n for n in range(at, len(events)) if events[n]["kind"] == "session_finished")
        for at in reached
    ]
    # On a loaded machine a session may end, or its window fill, before the handoff is requested.
    outcomes = {events[end]["outcome"] for end in ends}
    assert "rolled_over" in outcomes
    assert outcomes <= {"rolled_over", "success", "context_full"}
    for at, end in zip(reached, ends, strict=True):
        started = [e for e in events[at:end] if e["kind"] == "tool_started"]
        finished = {e["tool_id"]: e for e in events[at:end] if e["kind"] == "tool_finished"}
        if started:
            # The tool that ran at the handoff request finished on its own.
            assert finished[started[0]["tool_id"]]["ok"]
            assert started[0]["tool_id"] in results_in(tmp_path, events[at]["iteration"])
    for left in (event for event in events if event["kind"] == "handoff_written"):
        reported = next(
            event
            for event in events
            if event["seq"] > left["seq"] and event["kind"] == "prompt_prepared"
        )
        prompt = next(tmp_path.rglob("attempts/*")) / reported["path"]
        assert f"# {HEADING}" in prompt.read_text()
        assert left["read_at"] in prompt.read_text()
    windows = {e["context_window"] for e in events if e["kind"] == "usage_reported"} - {None}
    assert windows == {200_000}, "the figures of the measure are made for this window"


def results_in(place: Path, iteration: int) -> set[str]:
    """Identifiers of tools whose results the transcript holds, the failed ones left out."""
    (path,) = place.rglob(f"iter-{iteration:03}/transcript.jsonl")
    found = set()
    for line in path.read_text().splitlines():
        event = json.loads(line)
        content = event.get("message", {}).get("content", [])
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_result" and not block.get("is_error"):
                found.add(block["tool_use_id"])
    return found


def test_every_seed_is_a_task_of_its_own() -> None:
    tasks = [task_of(seed) for seed in range(20)]
    assert len({repr(task.items) for task in tasks}) == 20
    for task in tasks:
        for item in task.items:
            pairs = zip(item.files, item.files[1:], strict=False)
            assert all(one != other for one, other in pairs), "the file's author names the step"
    assert any(len(item.files) > 15 for task in tasks for item in task.items)
    assert any(item.slow for task in tasks for item in task.items)
