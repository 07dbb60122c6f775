"""A fleet watched from another process: it reads journals and sends to the socket."""

import argparse
import socket
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from ralph_tui.adapters.records.journal import Journal
from ralph_tui.adapters.records.lock import Lock
from ralph_tui.adapters.remote.requests import Request
from ralph_tui.adapters.remote.server import Reply, hearing_fleet, serving
from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.cli.commands import attach
from ralph_tui.cli.exit_codes import NextCommand
from ralph_tui.cli.live import find_live
from ralph_tui.commands import Pause, Unpause
from ralph_tui.events import Event
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.cli.showing import find_shown
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.records import FleetFolder, create_fleet, take_lock
from ralph_tui.fleet.sources.fleet import Fleet, FollowedFleet
from ralph_tui.fleet.sources.loop import FleetLoop, open_loop
from ralph_tui.fleet.wording import lost_words
from ralph_tui.ports.host import Accepted, Refused
from ralph_tui.runtime.clock import SystemClock
from ralph_tui.runtime.sources.find_run import find_ours
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.state import RunState
from ralph_tui.state.fleet_work import FleetWork
from ralph_tui.text.keys import DEFAULTS
from ralph_tui.text.terms import OUTCOMES
from ralph_tui.tui.home import bars as home_bars
from tests.e2e.cli import here
from tests.tui.driving import Driver, drive, story
from tests.tui.fleets import BEGINS, began, collected, ended, joined, works
from tests.waiting import until

LOOKS = count(100)
"""Clock shared by all tests, so that time never repeats."""
RUN_ID = "0d4f2a51-4a54-4fbb-9f0e-3f4f7d5a1f11"


class Elsewhere:
    """A fleet that seems to live in another process: its lock, its journal, its mirrors."""

    def __init__(self, root: Path) -> None:
        self.lock: Lock | None = take_lock(root, BEGINS.fleet_id, "now")
        self.folder: FleetFolder = create_fleet(root)
        self.lock.rename(self.folder.name)
        self.journal = Journal(self.folder.journal, SystemClock())
        self.records(BEGINS, joined("local", 4))

    def records(self, *events: FleetEvent) -> None:
        for event in events:
            self.journal.append(event)

    def mirrors(self, loop: str, *events: Event, attempt: int = 1) -> Journal:
        """Write a loop's record as the fleet does."""
        folder = self.folder.mirror(loop, attempt)
        journal = Journal(folder / "events.jsonl", SystemClock())
        for event in events:
            journal.append(event)
        return journal

    def dies(self) -> None:
        if self.lock is not None:
            self.lock.release()
            self.lock = None


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    fleet = Elsewhere(tmp_path)
    yield fleet
    fleet.dies()
    fleet.journal.close()


def _looked(fleet: Fleet, looks: int = 100) -> Fleet:
    for _ in range(looks):
        fleet.poll(10.0 * next(LOOKS))
    return fleet


def _shown(loop: FleetLoop, state: RunState | None = None) -> RunState:
    state = state or RunState()
    for number in range(200):  # a look takes what it can within its time
        state = loop.poll(state, 100.0 + number)
    return state


def test_the_journal_is_folded_as_it_grows(elsewhere: Elsewhere) -> None:
    fleet = Fleet(elsewhere.folder)
    assert (fleet.live, fleet.loaded) == (False, False)
    _looked(fleet)
    assert (fleet.live, fleet.loaded) == (True, True)
    elsewhere.records(*began("1"), *works("1", 0.5))
    assert _looked(fleet).state.loops["1"].completions == [0.5]
    fleet.stop()


def test_a_process_that_is_gone_is_noticed_and_a_fleet_that_is_over_is_not_lost(
    elsewhere: Elsewhere,
) -> None:
    fleet = _looked(Fleet(elsewhere.folder))
    elsewhere.dies()
    assert _looked(fleet).lost
    assert not fleet.live
    assert fleet.clock() == fleet.state.at
    elsewhere.records(ev.FleetFinished(outcome="aborted"))
    assert not _looked(fleet).lost
    fleet.stop()


def test_a_loop_without_a_record_stands_as_its_fleet_has_left_it(elsewhere: Elsewhere) -> None:
    elsewhere.records(*began("1"))
    elsewhere.mirrors("1").close()
    fleet = _looked(Fleet(elsewhere.folder))
    loop = FleetLoop(fleet, "1")
    elsewhere.dies()
    _looked(fleet)
    _shown(loop)
    assert loop.note == "loop 1: it may keep running on local, for up to 10m after the fleet's end"
    loop.stop()
    fleet.stop()


def test_of_a_record_that_breaks_off_nobody_knows_how_the_fleet_ended(elsewhere: Elsewhere) -> None:
    elsewhere.records(*began("1"))
    elsewhere.mirrors("1", *story("running")[:50]).close()
    with elsewhere.folder.journal.open("ab") as file:
        file.write(b'{"fake\n')
    fleet = _looked(Fleet(elsewhere.folder))
    assert (fleet.lost, fleet.live) == ("", True), "its process knows more than the record"
    elsewhere.dies()
    assert _looked(fleet).lost == "unheard"
    replay = open_loop(fleet, fleet.state.loops["1"])
    assert isinstance(replay, Replay)
    assert replay.why_lost == lost_words("unheard")
    fleet.stop()


def test_a_command_names_its_loop_and_a_refusal_comes_back(elsewhere: Elsewhere) -> None:
    heard: list[Request] = []

    def hear(request: Request, reply: Reply) -> None:
        heard.append(request)
        reply(Refused("it is paused already") if len(heard) > 2 else Accepted(7))

    elsewhere.records(*began("1"))
    fleet = _looked(Fleet(elsewhere.folder, "the terminal pts/7"))
    fleet.start()
    with serving(hearing_fleet(hear, lambda _: None), BEGINS.fleet_id) as path:
        assert elsewhere.lock is not None
        elsewhere.lock.rename(elsewhere.folder.name, str(path))
        fleet.send("3a", Pause())
        fleet.send("all", Pause())
        until(lambda: fleet.refused)
    assert [(request.loop, request.command.name) for request in heard] == [
        ("3a", "pause"), ("", "pause"), ("1", "pause"),
    ], "for all: the fleet holds its queue and notifies each running loop"  # fmt: skip
    asked, why = fleet.refused.popleft()
    assert (asked.loop, why) == ("1", "it is paused already")
    fleet.stop()


def test_all_loops_pause_but_those_that_will_anyway(elsewhere: Elsewhere) -> None:
    heard: list[str] = []

    def hear(request: Request, reply: Reply) -> None:
        heard.append(f"{request.command.name} {request.loop or 'the fleet'}")
        reply(Accepted(7))

    pending, paused = ev.CommandGiven(loop="1", name="pause"), works("4", 0.5, phase="paused")
    elsewhere.records(*began("1"), *began("2"), *began("4"), pending, *paused)
    fleet = _looked(Fleet(elsewhere.folder, "the terminal pts/7"))
    fleet.start()
    with serving(hearing_fleet(hear, lambda _: None), BEGINS.fleet_id) as path:
        assert elsewhere.lock is not None
        elsewhere.lock.rename(elsewhere.folder.name, str(path))
        fleet.send("all", Unpause())
        fleet.send("all", Pause())
        fleet.send("1", Pause())
        until(lambda: len(heard) == 5)
    assert heard == ["unpause 1", "unpause 4", "pause the fleet", "pause 2", "pause 1"]
    assert not fleet.refused
    fleet.stop()


def test_a_loop_has_one_name_for_all_commands(
    elsewhere: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Request] = []

    def hear(request: Request, reply: Reply) -> None:
        heard.append(request)
        reply(Accepted(7))

    events = story("running")[:50]
    for attempt in (1, 2):
        elsewhere.mirrors("3a", *events, attempt=attempt).close()
    monkeypatch.chdir(tmp_path)
    run = find_ours(tmp_path, "fleet-001/3a")
    assert run.folder == elsewhere.folder.mirror("3a", 2), "the newest attempt"
    with serving(hearing_fleet(hear, lambda _: None), BEGINS.fleet_id) as path:
        assert elsewhere.lock is not None
        elsewhere.lock.rename(elsewhere.folder.name, str(path))
        live = find_live("fleet-001/3a")
        live.request("pause")
        assert here("fleet", "guide", "fleet-001/3a", "Be brief", cwd=tmp_path).returncode == 0
        screen = argparse.Namespace(run="fleet-001/3a", json=False)
        monkeypatch.setattr(attach, "on_terminal", lambda: True)
        with pytest.raises(NextCommand) as instead:
            attach.run(screen)
    assert instead.value.words == ("fleet", "attach", "fleet-001/3a")
    assert [(one.loop, one.command.name) for one in heard] == [("3a", "pause"), ("3a", "guide")]
    assert (live.name, live.status["run"]) == ("fleet-001/3a", "fleet-001/3a")
    shown = here("replay", "fleet-001/3a", "--headless", cwd=tmp_path).stdout
    assert "run fleet-001/3a: " in shown.splitlines()[0]
    told = here("status", "fleet-001/4", cwd=tmp_path).stderr
    assert told.startswith(
        "ralph-tui: no run 'fleet-001/4' here; 'ralph-tui fleet status fleet-001'"
    )
    assert told.endswith("known runs: fleet-001/3a\n")
    assert "'ralph-tui fleet resume'" in here("resume", "fleet-001/3a", cwd=tmp_path).stderr


def test_nobody_hears_a_command_where_the_process_is_gone(elsewhere: Elsewhere) -> None:
    fleet = _looked(Fleet(elsewhere.folder))
    fleet.start()
    elsewhere.dies()
    fleet.send("1", Pause())
    until(lambda: fleet.refused)
    assert "the fleet's process is gone" in fleet.refused[0][1]
    fleet.stop()


def test_a_loop_is_followed_over_its_mirror(elsewhere: Elsewhere) -> None:
    events = story("running")
    elsewhere.records(*began("1"))
    mirror = elsewhere.mirrors("1", *events[:50])
    fleet = _looked(Fleet(elsewhere.folder))
    loop = open_loop(fleet, fleet.state.loops["1"])
    assert isinstance(loop, FleetLoop)
    state = _shown(loop)
    assert state.seq == 50
    assert loop.note == ""
    assert loop.record is not None
    assert loop.record.worktree is None, "no command is typed there"
    for event in events[50:60]:
        mirror.append(event)
    assert _shown(loop, state).seq == 60
    mirror.close()
    loop.stop()
    fleet.stop()


def test_another_attempt_is_another_run(elsewhere: Elsewhere) -> None:
    elsewhere.records(*began("1"))
    first = elsewhere.mirrors("1", *story("running")[:30])
    fleet = _looked(Fleet(elsewhere.folder))
    loop = FleetLoop(fleet, "1")
    state = _shown(loop)
    assert state.seq == 30
    elsewhere.records(*began("1", attempt=2))
    second = elsewhere.mirrors("1", *story("running")[:10], attempt=2)
    assert _shown(loop, state).seq == 10
    for journal in (first, second):
        journal.close()
    loop.stop()
    fleet.stop()


def test_a_loop_that_has_no_place_says_so(elsewhere: Elsewhere) -> None:
    fleet = _looked(Fleet(elsewhere.folder))
    loop = FleetLoop(fleet, "5")
    assert _shown(loop).run.started is None
    assert loop.note == "loop 5: it is waiting until 1 has completed"
    loop.note = "? loop 2 asks"
    assert loop.note == "? loop 2 asks"
    loop.note = ""
    elsewhere.records(ev.LoopSkipped(loop="5", reason="the budget is used up"))
    _looked(fleet)
    with pytest.raises(RalphError, match="loop 5 has no record: it will not run: the budget"):
        open_loop(fleet, fleet.state.loops["5"])
    loop.stop()
    fleet.stop()


def test_a_loop_of_a_fleet_that_is_gone_says_what_goes_on_with_it(elsewhere: Elsewhere) -> None:
    elsewhere.records(*began("1"))
    elsewhere.mirrors("1", *story("running")[:50]).close()
    fleet = _looked(Fleet(elsewhere.folder))
    loop = FleetLoop(fleet, "1")
    elsewhere.dies()
    _looked(fleet)
    _shown(loop)
    assert loop.lost == lost_words("died")
    replay = open_loop(fleet, fleet.state.loops["1"])
    assert isinstance(replay, Replay)
    assert replay.why_lost == lost_words("died")
    loop.stop()
    fleet.stop()


def test_a_loop_that_is_over_is_a_film_of_its_mirror(elsewhere: Elsewhere) -> None:
    events = story("steady")
    elsewhere.records(*began("1"), ended("1"))
    elsewhere.mirrors("1", *events).close()
    fleet = _looked(Fleet(elsewhere.folder))
    replay = open_loop(fleet, fleet.state.loops["1"])
    assert isinstance(replay, Replay)
    assert replay.length == len(events)
    assert replay.folder is None, "its tree is not here"
    assert replay.record is not None
    work = replay.record.fleet
    assert work == FleetWork("fleet-001/1", BEGINS.commit), "nothing is collected"
    elsewhere.records(collected("1"))
    _looked(fleet)
    assert replay.record.fleet == work._replace(branch="ralph/fleet-001/1")
    replay.stop()
    fleet.stop()


def test_of_a_loop_that_is_over_the_command_that_restores_is_named(elsewhere: Elsewhere) -> None:
    """Its screen restores nothing and offers no key for it."""
    record = ".aiwg/ralph/fleets/fleet-001/loops/1/attempts/001"
    done = ev.ResultCollected(loop="1", branch="", commit=BEGINS.commit, record=record)
    elsewhere.records(*began("1"), ended("1", "limit_reached"), done)
    elsewhere.mirrors("1", *story("stuck")).close()
    fleet = _looked(Fleet(elsewhere.folder))
    driver = Driver(open_loop(fleet, fleet.state.loops["1"]))

    async def look(driver: Driver) -> None:
        await driver.press("end")
        await driver.sees("the end")
        page = [row.strip("│ ") for row in driver.text()]
        (offered,) = (row for row in page if row.startswith("restore "))
        assert "ralph-tui restore --run fleet-001/1" in offered
        assert "restore" not in page[-1]
        await driver.press("r")
        await driver.sees("--run fleet-001/1 in your repository")

    drive(driver, look, size=(160, 45))
    fleet.stop()


def test_the_tree_is_looked_into_where_it_holds_the_very_run(
    elsewhere: Elsewhere, tmp_path: Path
) -> None:
    tree, events = tmp_path / "tree", story("running")[:50]
    attempt = tree / ".aiwg/ralph/tasks/task-001/attempts/001"
    mine = Journal(attempt / "events.jsonl", SystemClock())
    for event in events:
        mine.append(event)
    mine.close()
    machine = socket.gethostname()
    place = {"run": "task-001/001", "folder": str(tree), "machine": machine}
    elsewhere.records(*began("1")[:-1], ev.LoopBegan(loop="1", run_id=RUN_ID, **place))
    elsewhere.records(*began("2")[:-1], ev.LoopBegan(loop="2", run_id="another", **place))
    for name in ("1", "2"):
        elsewhere.mirrors(name, *events).close()
    fleet = _looked(Fleet(elsewhere.folder))
    here, other = FleetLoop(fleet, "1"), FleetLoop(fleet, "2")
    _shown(here)
    _shown(other)
    assert here.folder == attempt
    assert here.files is not None
    assert here.record is not None
    kept = here.record.write("screen.txt", "as seen")
    assert kept.is_relative_to(elsewhere.folder.path), "the tree goes with its collection"
    assert other.folder is None, "a host may name any folder"
    for loop in (here, other):
        loop.stop()
    fleet.stop()


def test_home_is_told_of_the_newest_fleet(elsewhere: Elsewhere, tmp_path: Path) -> None:
    followed = FollowedFleet(tmp_path)
    first = until(followed.glance)
    assert first is not None
    assert (first.name, first.title, first.objectives) == ("fleet-001", "night", 5)
    elsewhere.records(
        *began("1"), *works("1", 0.5, question="Continue?", question_id="q", cost_usd=1.5)
    )
    until(lambda: (seen := followed.glance()) is not None and seen.cost)
    glance = followed.glance()
    assert glance is not None
    assert glance.sentence.startswith("loop 1 is waiting for your answer")
    assert (glance.cost, glance.live) == ("$1.50", True)
    elsewhere.records(ev.FleetFinished(outcome="limit_reached"))
    until(lambda: (seen := followed.glance()) is not None and not seen.live)
    over = followed.glance()
    assert over is not None
    (sign, _), *_ = home_bars.fleet(over, DEFAULTS)[0]
    assert sign.strip() == OUTCOMES["limit_reached"].glyph
    assert FollowedFleet(tmp_path / "nothing").glance() is None


@pytest.mark.parametrize(
    ("name", "loop"), [(None, ""), ("fleet-001", ""), ("3a", "3a"), ("fleet-001/3a", "3a")]
)
def test_what_attach_means(
    elsewhere: Elsewhere, tmp_path: Path, name: str | None, loop: str
) -> None:
    assert find_shown(tmp_path, name) == (elsewhere.folder, loop)


def test_a_loop_that_is_not_there_is_told(elsewhere: Elsewhere, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="fleet-001 has no loop 'x'; loops: 1, 2, 3a"):
        find_shown(tmp_path, "x")


def test_a_fleet_that_is_not_there_is_no_loop(elsewhere: Elsewhere, tmp_path: Path) -> None:
    for name in ("fleet-009", "fleet-009/3a"):
        with pytest.raises(UsageError, match="no fleet 'fleet-009' here; known fleets: fleet-001;"):
            find_shown(tmp_path, name)
