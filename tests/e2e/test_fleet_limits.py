"""A fleet whose agents meet a limit of their account, or use up its budget."""

import json
import shlex
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.fleet.records import find_fleet
from tests.doubles.launch import STUB, environment
from tests.e2e.cli import GATE, here, run, start
from tests.e2e.test_fleet import DOES_ALL, nothing_is_left, root, runs, said, state_of
from tests.fleets import complete_lines
from tests.waiting import until

__all__ = ["root"]
Json = dict[str, Any]


def works(command: str, tokens: int = 20) -> list[Json]:
    """A session that does one thing."""
    tool = {"name": "Bash", "input": {"command": command, "description": "work"}}
    return [{"output_tokens": tokens, "tools": [tool]}, {"text": "Done."}]


def claude(root: Path, monkeypatch: pytest.MonkeyPatch, *sessions: list[Json]) -> str:
    """The stub is everybody's Claude Code, and plays these sessions in each loop; its path."""
    program, story = root.parent / "claude", root.parent / "story.json"
    states = shlex.quote(str(root.parent / "told"))
    program.write_text(
        f'#!/bin/sh\nSTUB_STATE={states}/$RALPH_FLEET_LOOP exec {shlex.quote(str(STUB))} "$@"\n'
    )
    program.chmod(0o755)
    arguments = ["--dangerously-skip-permissions"]
    fields = {"about": "a fleet", "subscription": True, "arguments": arguments}
    story.write_text(json.dumps({**fields, "sessions": sessions}))
    settings = {"RALPH_TUI_AGENT__BINARY": str(program), "RALPH_TUI_PERMISSIONS__MODE": "skip"}
    for name, value in environment(story, base=settings).items():
        monkeypatch.setenv(name, value)
    return str(program)


def file_of(root: Path, *objectives: str, **fleet: object) -> Path:
    """A fleet file; an objective is its lines."""
    fields = {"start_every": "1s", "agent": "claude", "command": GATE, "ports": 0, **fleet}
    head = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    tables = [f'[[objective]]\ntext = "Do it"\n{each}' for each in objectives]
    path = root.parent / "night.toml"
    accounts = ["[account.work]", "agents = 1", "[account.other]"]
    path.write_text("\n".join(["[fleet]", *head, *accounts, *tables]) + "\n")
    return path


def events(root: Path) -> list[Json]:
    return complete_lines(find_fleet(root).journal)


def seq(root: Path, kind: str, **fields: object) -> list[int]:
    """Numbers of such events in the fleet's journal."""
    wanted = {"kind": kind, **fields}.items()
    return [event["seq"] for event in events(root) if wanted <= event.items()]


def test_at_a_limit_one_loop_tries_first_and_the_others_follow_in_steps(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = [{"fault": "429", "resets_in_s": 1, "times": 99}]
    claude(root, monkeypatch, limit, works(DOES_ALL.partition("; ")[2]))
    of_work = 'account = "work"'
    waits = f"until [ -e {root.parent}/go ]; do sleep 0.1; done; {DOES_ALL}"
    other = f'account = "other"\nagent_command = {json.dumps(waits)}'
    file = file_of(root, other, of_work, of_work, agents=3)
    served = root.parent / "told" / "3" / "state.json"  # it begins when the limit has ended
    served.parent.mkdir(parents=True)
    served.write_text(json.dumps({"sessions": 1, "began": 0, "costs": {}, "questions": {}}))

    with start("fleet", "run", str(file), "--headless", cwd=root) as fleet:
        until(lambda: runs(root, "1"))
        until(lambda: seq(root, "account_held"))
        shown = here("fleet", "status", cwd=root).stdout
        (root.parent / "go").touch()
        code, lines = fleet.wait(), fleet.stdout.read() if fleet.stdout else ""

    assert code == 0, lines
    assert "account work is at its limit until " in shown
    assert "usage limit, reported by loop " in shown.splitlines()[0]
    (why,) = [below for row, below in pairwise(shown.splitlines()) if row.startswith("  3  queued")]
    assert "it is waiting: account work is at its limit until " in why
    assert "; nothing starts on it" in lines
    held, freed = seq(root, "account_held")[0], seq(root, "account_released")[0]
    assert held < seq(root, "loop_ended", loop="1")[0] < freed, "another account continues"
    assert not [n for n in seq(root, "loop_placed") if held < n < freed], "nothing starts on it"
    (first,) = [e["loop"] for e in events(root) if e["kind"] == "loop_retried" and e["seq"] < freed]
    assert f"account work is free again: loop {first} works" in lines
    journal = find_fleet(root).mirror(first, 1) / "events.jsonl"
    ended = [event["by"] for event in complete_lines(journal) if event["kind"] == "wait_ended"]
    assert ended
    assert {*ended} == {"the fleet"}, "no loop wakes with all the others"
    begun = [
        datetime.fromisoformat(event["at"])
        for event in events(root)
        if event["kind"] in ("loop_retried", "loop_placed") and event["loop"] != "1"
    ]
    assert len(begun) > 1
    assert all((after - before).total_seconds() >= 1 for before, after in pairwise(begun))
    assert nothing_is_left(root)


def test_a_used_up_budget_ends_the_fleet_and_what_is_over_it_is_said_everywhere(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = claude(root, monkeypatch, works("date +%N >>notes.txt; sleep 1", tokens=100_000))
    file = file_of(root, "", "", agents=1, budget_usd=0.5, start_every="0s")

    began = run("fleet", "run", str(file), "--detach", cwd=root, RALPH_TUI_AGENT__BINARY=stub)
    assert "fleet-001 runs in the background" in began.stdout, said(began)
    watched = here("fleet", "attach", cwd=root)

    assert watched.returncode == 3
    state = state_of(root)
    assert [(loop.status, loop.outcome) for loop in state.loops.values()] == [
        ("ended", "interrupted"), ("skipped", None),
    ]  # fmt: skip
    assert state.finished is not None
    text = "0 of 2 objectives completed, $1.00 of $0.50 used, $0.50 more than the budget"
    assert state.finished.reason == text
    assert state.finished.spent_usd == pytest.approx(1.0, abs=0.01)
    lines, shown = watched.stdout, here("fleet", "status", cwd=root).stdout
    assert "the fleet has used 100 % of its budget, $1.00 of $0.50" in lines
    assert lines.splitlines()[-1].endswith(f"the fleet ended: limit reached: {text}")
    assert shown.splitlines()[0] == f"fleet-001  limit reached: {text}"
    assert shown.count("stopped: the fleet's budget is used up") == 1
    assert shown.count("it did not run: the fleet has used 100 % of its budget") == 1
    assert nothing_is_left(root)

    journal = find_fleet(root).journal
    *before, last = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(before) + '{"fake\n' + last)
    broken = here("fleet", "attach", cwd=root)
    assert (broken.returncode, broken.stdout) == (1, lines.rpartition(lines.splitlines()[-1])[0])
    assert f"the journal breaks off after event {len(before)}" in broken.stderr
