"""The files of a live run follow it: its status at once, its actions within seconds."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ralph_tui import events as ev
from ralph_tui.adapters.records.attempts import AttemptFolder
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.sensor.categories import files_changed
from ralph_tui.runtime.upkeep import Upkeep
from ralph_tui.state import RunState
from tests.rows import each_row
from tests.waiting import until
from tests.world.host import FakeClock

START = ev.RunStarted(
    run_id="r",
    task="task-001",
    attempt="001",
    root="/r",
    objective="x",
    command="false",
    agent="fake",
    max_iterations=3,
    session_timeout_s=60,
)
ITERATION = ev.IterationStarted(iteration=1, max_iterations=3)
USED = (
    ev.ToolStarted(iteration=1, tool_id="1", tool="Read", summary="a.py"),
    ev.ToolFinished(iteration=1, tool_id="1", ok=True, summary="3 lines"),
)
UNTOLD = ev.SessionStarted(iteration=1, session_id="s", agent="command", tells_tools=False)
CHANGED = files_changed(
    1, [FileChange(path="a.py", status="modified", category="source", added=1)], live=False
)
ASKED = ev.QuestionAsked(iteration=1, question_id="q", topic="pause", text="Why?", options=[])
ANSWERED = ev.QuestionAnswered(question_id="q", answer="continue")


class Kept:
    """An attempt's folder under upkeep, without an engine."""

    def __init__(self, root: Path) -> None:
        self.clock = FakeClock()
        self.attempt = AttemptFolder.create(root, "x", datetime.now(UTC))
        self.upkeep = Upkeep(self.attempt, self.clock)
        self.state = RunState()
        self.happen(START, ITERATION)

    def happen(self, *events: ev.Event) -> None:
        for event in events:
            stamped = event.model_copy(update={"seq": self.state.seq + 1, "at": self.clock.now()})
            with self.attempt.journal.open("a") as journal:
                journal.write(stamped.model_dump_json() + "\n")
            self.state.apply(stamped)
            self.upkeep.note(stamped)

    def status(self) -> str:
        return str(self.read(self.attempt.folder / "attempt.json")["status"])

    def read(self, path: Path) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(path.read_text())
        return content

    def actions(self) -> Sequence[str]:
        path = self.attempt.folder / "actions.jsonl"
        return path.read_text().splitlines() if path.exists() else []


@each_row(
    ("begins", "ends"),
    [
        (ASKED, ANSWERED),
        (ASKED, ev.QuestionWithdrawn(question_id="q", reason="obsolete")),
        (ev.Paused(), ev.Unpaused()),
    ],
)
def test_a_question_or_pause_and_its_end_are_in_the_files_at_once(
    tmp_path: Path, begins: ev.Event, ends: ev.Event
) -> None:
    kept = Kept(tmp_path)
    kept.happen(begins)
    kept.upkeep.tick(kept.state)
    until(lambda: kept.status() == "paused")
    index = tmp_path / ".aiwg/ralph/index/by-status.json"
    until(lambda: kept.read(index).get("paused") == ["task-001"])
    task = tmp_path / ".aiwg/ralph/tasks/task-001/metadata.json"
    until(lambda: kept.read(task)["status"] == "paused")
    kept.happen(ends)

    def is_running() -> bool:
        kept.upkeep.tick(kept.state)  # the earlier write may not be over
        return kept.read(index).get("running") == ["task-001"]

    until(is_running)
    assert kept.status() == "running"


@each_row(("acted", "number", "lines"), [(USED, 1, 1), (USED[:1], 1, 0), ((UNTOLD, CHANGED), 1, 1)])
def test_actions_follow_within_seconds(
    tmp_path: Path, acted: Sequence[ev.Event], number: int, lines: int
) -> None:
    """A call counts once it begins; its line is written when it ends."""
    kept = Kept(tmp_path)
    kept.happen(*acted)
    kept.upkeep.tick(kept.state)
    assert kept.actions() == []
    kept.clock.seconds += 4.5
    kept.upkeep.tick(kept.state)
    record = kept.attempt.folder / "attempt.json"
    until(lambda: kept.read(record)["execution"]["actions_performed"] == number)
    until(lambda: len(kept.actions()) == lines)


def test_an_older_projection_replaces_no_newer_one(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.happen(ASKED)
    older = kept.attempt.project(kept.state)
    kept.happen(ANSWERED)
    kept.attempt.write_projections(kept.attempt.project(kept.state))
    kept.attempt.write_projections(older)
    assert kept.status() == "running"
