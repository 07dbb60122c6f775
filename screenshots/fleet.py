"""The README's picture of a fleet: six objectives on the sample project, the demo's agents at work.

The fleet is a real one, recorded while this runs. It is drawn as it stood at one event, by the
screen that follows a live fleet: its journal up to there, in a repository whose lock is held here.
"""

import asyncio
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from ralph_tui import demo
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.records import find_fleet, read_fleet, take_lock
from ralph_tui.fleet.sources.fleet import Fleet
from ralph_tui.fleet.state import FleetState
from ralph_tui.fleet.tui.screen import FleetScreen
from ralph_tui.tui.app import RalphApp, SideScreen

OBJECTIVES = (
    ("Fix the failing tests of the calculator", "steady", 3),
    ("Print numbers as people write them", "regressing", 1),
    ("Give every error its position", "oscillating", 1),
    ("Let powers group from the right", "stuck", 1),
    ("Make the lexer skip comments", "steady", 1),
    ("Write the guide for new users", "steady", 1),
)
"""What each is to reach, the demo's scenario that its agents play, and in how many tries."""
AGENTS = 4
PATIENCE_S = 30.0
CLAUDE = """\
#!/bin/sh
# The demo's agent, which speaks as Claude Code does; the model names its scenario.
case "$1" in --version) echo "2.1.197 (Claude Code)"; exit;; --help) exit;; esac
for word in "$@"; do [ "$last" = --model ] && scenario=$word; last=$word; done
exec {agent} --scenario "$scenario" "$@"
"""


def record(scratch: Path) -> list[FleetEvent]:
    """Run the fleet to its end, some minutes; what its journal says."""
    root = scratch / "fleet" / "calculator"
    demo.prepare(root)
    program = scratch / "bin" / "claude"
    program.parent.mkdir()
    agent = [sys.executable, "-P", "-m", "ralph_tui.demo.agent"]
    program.write_text(CLAUDE.format(agent=shlex.join(agent)))
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    state = str(scratch / "state")
    words = ["run", str(_file(scratch)), "--headless"]
    subprocess.run(
        [sys.executable, "-m", "ralph_tui", "fleet", *words],
        cwd=root,
        env={**os.environ, "PATH": path, "XDG_STATE_HOME": state},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return list(read_fleet(find_fleet(root).journal).events)


def _file(scratch: Path) -> Path:
    fleet = {
        "name": "night",
        "agents": AGENTS,
        "budget_usd": 40.0,
        "start_every": "0s",
        "command": demo.completion_command(),
        "agent": "claude",
        "permissions": "edits",
        "max_iterations": 10,
    }
    tables = ["[fleet]", *(f"{key} = {json.dumps(value)}" for key, value in fleet.items())]
    for text, scenario, tries in OBJECTIVES:
        objective = {"text": text, "model": scenario, "best_of": tries}
        tables += ["[[objective]]", *(f"{key} = {json.dumps(it)}" for key, it in objective.items())]
    file = scratch / "night.toml"
    file.write_text("\n".join(tables) + "\n")
    return file


def moment(events: Sequence[FleetEvent]) -> int:
    """How many events there were when the picture is taken: a winner, and four at work since."""
    state = FleetState()
    for number, event in enumerate(events, 1):
        state.apply(event)
        running = [loop for loop in state.loops.values() if loop.status == "running"]
        worked = [loop for loop in running if len(loop.completions) > 2]
        if state.chosen and len(running) == len(worked) == AGENTS:
            return number
    raise RuntimeError("the fleet was never as the picture shows it")


async def draw(
    events: Sequence[FleetEvent], scratch: Path, began: datetime, size: tuple[int, int]
) -> str:
    """The fleet's screen as an SVG; `began` is when the fleet is said to have begun."""
    by = began - events[0].at
    shown = [moved(event, by) for event in events[: moment(events)]]
    start = shown[0]
    folder = scratch / "shown"
    records = folder / ".aiwg" / "ralph" / "fleets" / "fleet-001"
    records.mkdir(parents=True)
    (records / "events.jsonl").write_text("".join(f"{one.model_dump_json()}\n" for one in shown))
    lock = take_lock(folder, start.fleet_id, began.isoformat(), "fleet-001")  # type: ignore[attr-defined]
    now = shown[-1].at + timedelta(seconds=1)
    fleet = Fleet(find_fleet(folder), wall_clock=lambda: now)
    app = RalphApp(lambda: FleetScreen(fleet, _nothing_beside))
    try:
        async with app.run_test(size=size) as pilot:
            deadline = time.monotonic() + PATIENCE_S
            while fleet.state.seq != len(shown):
                if time.monotonic() > deadline:
                    raise RuntimeError("the picture of the fleet did not come about")
                await pilot.pause(0.01)
            for _ in range(3):
                await pilot.pause(0.1)
            return app.export_screenshot(title="ralph-tui")
    finally:
        fleet.stop()
        lock.release()


def moved(event: FleetEvent, by: timedelta) -> FleetEvent:
    """The event with all times that it tells later by as much."""
    told = {name: getattr(event, name) for name in type(event).model_fields}
    times = {name: time + by for name, time in told.items() if isinstance(time, datetime)}
    return event.model_copy(update=times)


def _nothing_beside(loop: str) -> SideScreen:
    raise LookupError(loop)


def take(scratch: Path, began: datetime) -> str:
    """Record and draw it."""
    return asyncio.run(draw(record(scratch), scratch, began, (100, 30)))
