"""The engine of a fleet: journal first, limited trust in hosts."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.journal import Journal, read_journal
from ralph_tui.adapters.records.runs import STATUS_VERSION
from ralph_tui.adapters.remote.requests import Request
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.commands import Abort, Command, Guide, Pause, RetryNow, Stop
from ralph_tui.events import Event, Noticed, RunStarted, WaitStarted
from ralph_tui.fleet import decisions
from ralph_tui.fleet import events as ev
from ralph_tui.fleet import ports as seen
from ralph_tui.fleet.loop_state import LoopState
from ralph_tui.fleet.plan import HERE, Plan
from ralph_tui.fleet.records import Mirror, read_fleet
from ralph_tui.fleet.runtime import engine as engine_module
from ralph_tui.fleet.runtime.engine import EngineParts, FleetEngine
from ralph_tui.fleet.state import FleetState
from ralph_tui.ports.clones import Base, Collected, Earlier, Place, Source
from ralph_tui.ports.host import Accepted, Refused
from ralph_tui.runtime.clock import SystemClock
from tests.doubles.played_hosts import PlayedHosts
from tests.fleet_events import a_loop, a_plan, started, three_tries
from tests.rows import each_row
from tests.waiting import PATIENCE_S, until

SOURCE = Source(commit="c0", path="/r", machine="m")


class Played:
    """Fake collection of work for the engine."""

    copied: dict[str, str] = {}

    def __init__(self) -> None:
        self.verified: dict[str, bool] = {}
        self.kept_of = ""
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def receive(
        self, collected: Collected, run_id: str, earlier: Earlier | None
    ) -> list[ev.FleetEvent]:
        assert self.may_go_on.wait(PATIENCE_S)
        if not collected.bundle:
            return [ev.CollectionFailed(loop=collected.loop, reason="no bundle")]
        branch = collected.branch
        return [ev.ResultCollected(loop=collected.loop, branch=branch, commit=run_id, files=1)]

    def keep(self, collected: Collected, host: str, run_id: str) -> ev.AttemptKept:
        self.kept_of = run_id
        if collected.bundle == b"refused":
            raise WorkspaceError("the disk is full")
        branch = "kept" if collected.bundle else ""
        loop, attempt = collected.loop, collected.attempt
        return ev.AttemptKept(loop=loop, attempt=attempt, host=host, branch=branch)

    def conflicts(self, loops: Sequence[LoopState]) -> list[ev.ConflictsFound]:
        return [ev.ConflictsFound(branch=one.branch) for one in loops]

    def verify(self, loop: LoopState) -> ev.FleetEvent:
        passed = self.verified.get(loop.spec.id, True)
        return ev.WinnerVerified(loop=loop.spec.id, passed=passed)

    def bundle_base(self, commit: str) -> bytes:
        return b"all of " + commit.encode()

    def cancel(self) -> None:
        self.may_go_on.set()


class Fleet:
    """A running engine and its recorded events."""

    def __init__(self, folder: Path, hosts: PlayedHosts, state: FleetState | None = None) -> None:
        self.folder, self.hosts, self.results = folder, hosts, Played()
        self._mirrors: dict[tuple[str, int], Mirror] = {}
        last = {"seq": state.seq, "last_at": state.at} if state else {}
        clock = SystemClock()
        journal = Journal(folder / "events.jsonl", clock, **last)  # type: ignore[arg-type]
        outside = EngineParts(hosts, SOURCE, self.mirror, self.results)
        self.engine = FleetEngine(journal, clock, outside, state)
        self.events: list[ev.FleetEvent] = []
        self.engine.subscribe(self.events.append)

    def mirror(self, loop: str, attempt: int) -> Mirror:
        key = (loop, attempt)
        if key not in self._mirrors:
            self._mirrors[key] = Mirror(self.folder / "loops" / loop / f"{attempt:03}")
        return self._mirrors[key]

    def wait_for(self, kind: type[ev.FleetEvent], **fields: object) -> Any:
        def found() -> ev.FleetEvent | None:
            for event in list(self.events):
                if isinstance(event, kind) and all(
                    getattr(event, name) == value for name, value in fields.items()
                ):
                    return event
            return None

        return until(found)

    def ask(self, command: Command, loop: str = "") -> Accepted | Refused:
        answers: list[Accepted | Refused] = []
        self.engine.request(Request(command, loop), answers.append)
        return until(lambda: answers)[0]

    def end(self) -> ev.FleetFinished:
        finished: ev.FleetFinished = self.wait_for(ev.FleetFinished)
        assert self.engine.join(PATIENCE_S)
        return finished


@contextmanager
def running(
    folder: Path, plan: Plan, *playing: Callable[[PlayedHosts, str, seen.Order], None]
) -> Iterator[Fleet]:
    fleet = Fleet(folder, PlayedHosts(*playing))
    fleet.engine.begin(started(plan))
    try:
        yield fleet
    finally:
        if not fleet.engine.join(0):
            fleet.ask(Abort())
            for host in fleet.hosts.joined:
                fleet.hosts.observe(seen.Disconnected(host=host))
            assert fleet.engine.join(PATIENCE_S)


def obliging(hosts: PlayedHosts, _: str, order: seen.Order) -> None:
    """Every run begins and completes at once."""
    if isinstance(order, Place):
        begin(hosts, order)
        hosts.observe(over(order, "completed"))
    if isinstance(order, seen.Collect):
        hosts.observe(work_of(order))


def steady(hosts: PlayedHosts, _: str, order: seen.Order) -> None:
    """Every run begins, and continues until it is ended."""
    if isinstance(order, Place):
        begin(hosts, order)
    if isinstance(order, seen.Collect):
        hosts.observe(work_of(order))


def begin(hosts: PlayedHosts, place: Place) -> None:
    name = place.loop.id
    hosts.observe(
        seen.Began(
            loop=name, attempt=place.attempt, run_id=f"r{name}", run="task-001/001", folder="/t"
        )
    )


def over(place: Place | seen.Adopt, outcome: Any, **more: Any) -> seen.Ended:
    loop = place.loop if isinstance(place, seen.Adopt) else place.loop.id
    return seen.Ended(loop=loop, attempt=place.attempt, outcome=outcome, **more)


def work_of(order: seen.Collect) -> Collected:
    branch = f"ralph/fleet-001/{order.loop}"
    return Collected(
        loop=order.loop, attempt=order.attempt, branch=branch, commit="c1", bundle=b"b"
    )


def lines(*events: Event, first: int = 1) -> tuple[str, ...]:
    numbered = enumerate(events, first)
    return tuple(one.model_copy(update={"seq": seq}).model_dump_json() for seq, one in numbered)


RUN = RunStarted(
    run_id="r1", root="/t", objective="o", agent="a", max_iterations=3, session_timeout_s=1,
    task="task-001", attempt="001",
)  # fmt: skip


def test_all_loops_run_are_collected_and_their_trees_removed(tmp_path: Path) -> None:
    with running(tmp_path, a_plan(a_loop("1"), a_loop("2"), a_loop("3")), obliging) as fleet:
        fleet.hosts.join("h", slots=2)
        assert fleet.end().outcome == "completed"
    assert fleet.hosts.stopped
    assert [order.loop for order in fleet.hosts.of(seen.Remove)] == ["1", "2", "3"]
    state = read_fleet(tmp_path / "events.jsonl").state()
    assert [loop.commit for loop in state.loops.values()] == ["r1", "r2", "r3"]


def test_a_decision_is_in_the_journal_before_a_host_hears_of_it(tmp_path: Path) -> None:
    known: list[bool] = []

    def look(hosts: PlayedHosts, _: str, order: seen.Order) -> None:
        if isinstance(order, Place):
            state = read_fleet(tmp_path / "events.jsonl").state()
            known.append(state.loops[order.loop.id].status == "placing")

    with running(tmp_path, a_plan(a_loop("1"), a_loop("2")), look, obliging) as fleet:
        fleet.hosts.join("h")
        fleet.end()
    assert known == [True, True]


def test_no_more_loops_are_placed_than_a_host_has_slots(tmp_path: Path) -> None:
    with running(tmp_path, a_plan(a_loop("1"), a_loop("2"), a_loop("3")), steady) as fleet:
        fleet.hosts.join("h", slots=2)
        first, second = fleet.hosts.wait_for(Place, 2)
        fleet.wait_for(ev.LoopBegan, loop=second.loop.id)
        assert len(fleet.hosts.of(Place)) == 2
        fleet.hosts.observe(over(first, "failed", reason="no"))
        assert fleet.hosts.wait_for(Place, 3)[2].loop.id == "3"


def test_a_gap_is_asked_for_and_what_came_twice_is_kept_once(tmp_path: Path) -> None:
    notes = [Noticed(level="log", source="s", text=f"{n}") for n in range(3)]
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h")
        fleet.wait_for(ev.LoopBegan)

        def say(first: int, *events: Event) -> None:
            recorded_lines = lines(*events, first=first)
            fleet.hosts.observe(seen.Recorded(loop="1", attempt=1, seq=first, lines=recorded_lines))

        say(1, RUN)
        say(3, notes[1])
        assert fleet.hosts.wait_for(seen.Adopt)[0].seen == 1
        say(1, RUN, *notes)
        say(3, notes[1], notes[2])
        until(lambda: fleet.mirror("1", 1).seq == 4)
    mirrored = read_journal(tmp_path / "loops/1/001/events.jsonl").events
    assert [event.seq for event in mirrored] == [1, 2, 3, 4]


def test_what_a_run_records_is_no_reason_to_decide_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = 0

    def counted(state: FleetState, now: datetime) -> list[ev.FleetEvent]:
        nonlocal decided
        decided += 1
        return decisions.decide(state, now)

    monkeypatch.setattr(engine_module, "decide", counted)
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h")
        fleet.wait_for(ev.LoopBegan)
        before = decided
        for number in range(1, 101):
            event = RUN if number == 1 else Noticed(level="log", source="s", text="x")
            one = lines(event, first=number)
            fleet.hosts.observe(seen.Recorded(loop="1", attempt=1, seq=number, lines=one))
            until(lambda n=number: fleet.mirror("1", 1).seq == n)  # type: ignore[misc]
        assert decided - before < 50, "the clock alone asks, once a second"


def test_a_line_that_is_no_event_is_told_once_and_ends_no_fleet(tmp_path: Path) -> None:
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h")
        place = fleet.hosts.wait_for(Place)[0]
        for _ in range(2):
            bad = seen.Recorded(loop="1", attempt=1, seq=1, lines=("\x1b[2J{}",))
            fleet.hosts.observe(bad)
        fleet.hosts.observe(over(place, "completed"))
        fleet.end()
    notices = [one for one in fleet.events if isinstance(one, ev.FleetNoticed)]
    assert len(notices) == 1
    assert "breaks off after event 0" in notices[0].text
    assert "\x1b" not in notices[0].text


def test_what_a_loop_asks_is_a_line_once(tmp_path: Path) -> None:
    """Without a screen the user would not notice it."""
    asks = {"version": STATUS_VERSION, "run_id": "r1", "phase": "paused", "iteration": 3}
    asks["question"] = {"text": "Continue?", "question_id": "q1"}
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h")
        place = fleet.hosts.wait_for(Place)[0]
        for cost in (1.0, 2.0):
            status = {**asks, "cost_usd": cost}
            fleet.hosts.observe(seen.StatusChanged(loop="1", attempt=1, status=status))
        fleet.hosts.observe(over(place, "completed"))
        fleet.end()
    notices = [one.text for one in fleet.events if isinstance(one, ev.FleetNoticed)]
    assert notices == ["loop 1 asks: Continue? (ralph-tui fleet decide 1)"]


def test_progress_is_recorded_where_something_changed(tmp_path: Path) -> None:
    def status(**fields: object) -> seen.StatusChanged:
        whole = {"version": STATUS_VERSION, "run_id": "r1", "phase": "agent", **fields}
        return seen.StatusChanged(loop="1", attempt=1, status=whole)

    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h")
        place = fleet.hosts.wait_for(Place)[0]
        for one in (
            status(iteration=1),
            status(iteration=1, updated="later"),
            status(iteration=2, completion=50.0, completions=[50.0], cost_usd=1.5),
            status(iteration="many"),
            seen.StatusChanged(loop="1", attempt=1, status={"phase": "agent"}),
        ):
            fleet.hosts.observe(one)
        fleet.hosts.observe(over(place, "completed"))
        fleet.end()
    progress = [one for one in fleet.events if isinstance(one, ev.LoopProgressed)]
    assert [(one.iteration, one.completion) for one in progress] == [(1, None), (2, 0.5)]
    ended = next(one for one in fleet.events if isinstance(one, ev.LoopEnded))
    assert (ended.completion, ended.cost_usd) == (0.5, 1.5)


def test_the_fleets_own_host_has_no_lease(tmp_path: Path) -> None:
    """It ends with the fleet, and may sleep with it for a night."""
    with running(tmp_path, a_plan(a_loop("1"), a_loop("2"), lease_s=90.0), steady) as fleet:
        fleet.hosts.join(HERE, slots=1, home="here")
        fleet.hosts.join("far", slots=1, home="far")
        fleet.hosts.wait_for(Place, 2)
        placed = {host: one.lease_s for host, one in fleet.hosts.orders if isinstance(one, Place)}
        assert placed == {HERE: None, "far": 90.0}


def test_a_loop_without_room_waits_although_its_status_cannot_be_written(tmp_path: Path) -> None:
    full = WaitStarted(iteration=1, cause="disk_full", reason="no space left on device")
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h")
        fleet.wait_for(ev.LoopBegan)
        fleet.hosts.observe(seen.Recorded(loop="1", attempt=1, seq=1, lines=lines(RUN, full)))
        waits = fleet.wait_for(ev.LoopProgressed)
        assert (waits.phase, waits.waits_for) == ("limited", "disk_full")
        assert waits.verdict == "waiting: its disk is full"


def test_what_is_said_of_another_attempt_changes_nothing(tmp_path: Path) -> None:
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h")
        fleet.wait_for(ev.LoopBegan)
        fleet.hosts.observe(seen.Ended(loop="1", attempt=7, outcome="failed"))
        fleet.hosts.observe(seen.Ended(loop="9", attempt=1, outcome="failed"))
        assert isinstance(fleet.ask(Pause(), "9"), Refused)  # everything earlier was processed
        assert fleet.engine.state.loops["1"].status == "running"


def test_a_host_that_comes_back_is_asked_for_what_was_missed(tmp_path: Path) -> None:
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h")
        fleet.wait_for(ev.LoopBegan)
        fleet.hosts.observe(seen.Recorded(loop="1", attempt=1, seq=1, lines=lines(RUN)))
        fleet.hosts.observe(seen.Disconnected(host="h", reason="cut"))
        fleet.wait_for(ev.LoopLost)
        fleet.hosts.join(
            "h",
            seen.LoopSummary(loop="1", attempt=1, alive=True, seq=5),
            seen.LoopSummary(loop="1", attempt=9, alive=True),
            seen.LoopSummary(loop="77", attempt=1, alive=False),
        )
        assert fleet.wait_for(ev.LoopAdopted).known == 1
        assert fleet.hosts.wait_for(seen.Adopt)[0].seen == 1
        assert [(o.loop, o.attempt) for o in fleet.hosts.wait_for(seen.End)] == [("1", 9)]
        assert [(o.loop, o.attempt) for o in fleet.hosts.wait_for(seen.Remove, 2)] == [
            ("1", 9),
            ("77", 1),
        ]
        assert len(fleet.hosts.of(Place)) == 1, "it is never run twice"


def test_another_host_of_its_machine_says_nothing_of_a_lost_loop(tmp_path: Path) -> None:
    """It has other worktrees: the loop may continue in its own, and be found there again."""
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h", home="one")
        fleet.wait_for(ev.LoopBegan)
        fleet.hosts.observe(seen.Disconnected(host="h", reason="cut"))
        fleet.wait_for(ev.LoopLost)
        fleet.hosts.join("other", home="two")
        fleet.wait_for(ev.HostJoined, host="other")
        fleet.hosts.join("h", seen.LoopSummary(loop="1", attempt=1, alive=True, seq=1), home="one")
        fleet.wait_for(ev.LoopAdopted)
        assert len(fleet.hosts.of(Place)) == 1, "it is never run twice"


def test_who_takes_the_name_of_a_host_has_not_its_loops(tmp_path: Path) -> None:
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h", home="one")
        fleet.wait_for(ev.LoopBegan)
        fleet.hosts.observe(seen.Disconnected(host="h", reason="cut"))
        fleet.hosts.join("h", home="two")
        lost = fleet.wait_for(ev.LoopLost)
        joined = fleet.wait_for(ev.HostJoined, home="two")
        assert (lost.until - joined.at).total_seconds() > 600  # the lease, and a margin
        fleet.hosts.observe(seen.Disconnected(host="h", reason="cut"))
        fleet.hosts.join("h", home="one")
        assert "was gone" in fleet.wait_for(ev.LoopEnded).reason
        assert fleet.hosts.wait_for(Place, 2)[1].resume


def test_a_run_whose_process_was_killed_goes_on_in_its_tree_twice_at_most(tmp_path: Path) -> None:
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h")
        for time in (1, 2, 3):
            place = fleet.hosts.wait_for(Place, time)[-1]
            assert (place.attempt, place.resume) == (1, time > 1)
            fleet.hosts.observe(over(place, "interrupted", reason="killed"))
        assert fleet.end().outcome == "failed"


def test_of_several_tries_the_first_that_is_confirmed_wins_and_the_rest_is_stopped(
    tmp_path: Path,
) -> None:
    with running(tmp_path, a_plan(*three_tries()), steady) as fleet:
        fleet.results.verified["3a"] = False
        fleet.hosts.join("h", slots=3)
        places = {order.loop.id: order for order in fleet.hosts.wait_for(Place, 3)}
        fleet.hosts.observe(over(places["3a"], "completed"))
        fleet.wait_for(ev.WinnerVerified, loop="3a", passed=False)
        fleet.hosts.observe(over(places["3b"], "completed"))
        assert fleet.wait_for(ev.WinnerChosen).loop == "3b"
        assert [order.loop for order in fleet.hosts.wait_for(seen.End)] == ["3c"]
        fleet.hosts.observe(over(places["3c"], "interrupted"))
        assert fleet.end().outcome == "completed"
        assert sorted(order.loop for order in fleet.hosts.of(seen.Remove)) == ["3a", "3b", "3c"]


class TestCommands:
    """User commands to loops and to the fleet."""

    def test_a_loops_run_is_told_and_answers(self, tmp_path: Path) -> None:
        def hear(hosts: PlayedHosts, _: str, order: seen.Order) -> None:
            if isinstance(order, seen.SendCommand):
                refused = "" if order.command["name"] == "pause" else "no session is running"
                accepted = None if refused else 12
                hosts.observe(seen.CommandAnswered(id=order.id, accepted=accepted, refused=refused))

        with running(tmp_path, a_plan(a_loop("1")), steady, hear) as fleet:
            fleet.hosts.join("h")
            fleet.wait_for(ev.LoopBegan)
            assert fleet.ask(Pause(by="me"), "1") == Accepted(12)
            assert fleet.ask(Guide(text="x", by="me"), "1") == Refused("no session is running")
            assert fleet.hosts.of(seen.SendCommand)[0].command["by"] == "me"
        given = [one for one in fleet.events if isinstance(one, ev.CommandGiven)]
        assert [(one.name, one.by, one.refused) for one in given[:2]] == [
            ("pause", "me", ""),
            ("guide", "me", "no session is running"),
        ]

    @each_row(
        ("command", "loop", "why"),
        [
            (Pause(), "9", "this fleet has no loop '9'; loops: 1, 2"),
            (Pause(), "2", "loop 2 is waiting for a slot; until it runs you can only abort it"),
            (RetryNow(), "", "retry is for loops: name one, or pass all"),
            (Stop(mode="taken_back"), "", "you cannot undo a stop"),
        ],
    )
    def test_what_cannot_be_is_refused_in_one_sentence(
        self, tmp_path: Path, command: Command, loop: str, why: str
    ) -> None:
        with running(tmp_path, a_plan(a_loop("1"), a_loop("2")), steady) as fleet:
            fleet.hosts.join("h", slots=1)
            fleet.wait_for(ev.LoopBegan)
            answer = fleet.ask(command, loop)
            assert isinstance(answer, Refused)
            assert answer.reason.startswith(why)

    def test_who_waits_for_a_host_that_is_lost_is_told_so(self, tmp_path: Path) -> None:
        with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
            fleet.hosts.join("h")
            fleet.wait_for(ev.LoopBegan)
            answers: list[Accepted | Refused] = []
            fleet.engine.request(Request(Pause(), "1"), answers.append)
            fleet.hosts.wait_for(seen.SendCommand)
            fleet.hosts.observe(seen.Disconnected(host="h"))
            assert isinstance(until(lambda: answers)[0], Refused)

    def test_a_loop_that_waits_is_aborted_without_a_host(self, tmp_path: Path) -> None:
        with running(tmp_path, a_plan(a_loop("1"), a_loop("2")), steady) as fleet:
            fleet.hosts.join("h", slots=1)
            place = fleet.hosts.wait_for(Place)[0]
            assert isinstance(fleet.ask(Abort(by="me"), "2"), Accepted)
            assert fleet.wait_for(ev.LoopSkipped, loop="2").reason == "aborted by me"
            fleet.hosts.observe(over(place, "completed"))
            assert fleet.end().outcome == "aborted"

    def test_a_loop_whose_tree_is_being_made_is_ended_as_aborted(self, tmp_path: Path) -> None:
        with running(tmp_path, a_plan(a_loop("1"))) as fleet:
            fleet.hosts.join("h")
            place = fleet.hosts.wait_for(Place)[0]
            assert isinstance(fleet.ask(Abort(), "1"), Accepted)
            fleet.hosts.wait_for(seen.End)
            fleet.hosts.observe(over(place, "interrupted", never_began=True))
            assert fleet.end().outcome == "aborted"

    def test_a_stop_waits_for_iterations_and_its_loops_can_go_on(self, tmp_path: Path) -> None:
        with running(tmp_path, a_plan(a_loop("1"), a_loop("2")), steady) as fleet:
            fleet.hosts.join("h", slots=1)
            place = fleet.hosts.wait_for(Place)[0]
            fleet.wait_for(ev.LoopBegan)
            assert isinstance(fleet.ask(Stop(mode="after_iteration")), Accepted)
            assert isinstance(fleet.ask(Stop(mode="after_iteration")), Refused)
            command = fleet.hosts.wait_for(seen.SendCommand)[0]
            assert command.command["mode"] == "after_iteration"
            fleet.hosts.observe(over(place, "interrupted"))
            assert fleet.end().outcome == "interrupted"
        assert fleet.hosts.of(seen.Remove) == [], "it may go on in its tree"
        assert len(fleet.hosts.of(Place)) == 1

    def test_nobody_waits_for_an_answer_of_a_fleet_that_is_over(self, tmp_path: Path) -> None:
        with running(tmp_path, a_plan(a_loop("1")), obliging) as fleet:
            fleet.hosts.join("h")
            fleet.end()
            assert fleet.ask(Pause(), "1") == Refused("the fleet has ended")


def test_the_end_waits_for_what_is_being_collected(tmp_path: Path) -> None:
    with running(tmp_path, a_plan(a_loop("1")), obliging) as fleet:
        fleet.results.may_go_on.clear()
        fleet.hosts.join("h")
        fleet.hosts.wait_for(seen.Collect)
        assert not any(isinstance(one, ev.FleetFinished) for one in list(fleet.events))
        fleet.results.may_go_on.set()
        fleet.end()
    kinds = [type(one) for one in fleet.events]
    assert kinds.index(ev.ResultCollected) < kinds.index(ev.FleetFinished)


def test_a_host_without_the_commit_is_sent_it(tmp_path: Path) -> None:
    with running(tmp_path, a_plan(a_loop("1")), steady) as fleet:
        fleet.hosts.join("h")
        fleet.hosts.observe(seen.NeedsBase(host="h", commit="unknown"))
        fleet.hosts.observe(seen.NeedsBase(host="h", commit="c0"))
        base = fleet.hosts.wait_for(Base)
        assert [(one.commit, one.bundle) for one in base] == [("c0", b"all of c0")]


def test_a_bug_is_journalled_and_ends_the_fleet_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "decide", lambda *_: 1 // 0)
    with running(tmp_path, a_plan(a_loop("1"))) as fleet:
        fleet.hosts.join("h")
        finished = fleet.end()
    assert finished.outcome == "failed"
    assert "ZeroDivisionError" in finished.reason
    assert fleet.hosts.stopped
    notices = [one.text for one in fleet.events if isinstance(one, ev.FleetNoticed)]
    assert "Traceback" in notices[-1]


def test_another_process_goes_on_where_the_journal_ends(tmp_path: Path) -> None:
    with running(tmp_path, a_plan(a_loop("1"), a_loop("2")), steady) as fleet:
        fleet.hosts.join("h", slots=1)
        fleet.wait_for(ev.LoopBegan)
        # As when it is killed: nothing more is recorded.
        state = read_fleet(tmp_path / "events.jsonl").state()
        again = Fleet(tmp_path, PlayedHosts(obliging), state)
        again.engine.begin(ev.FleetResumed(by="me"))
        again.hosts.join("h", slots=1)
        first = again.hosts.wait_for(Place)[0]
        assert (first.loop.id, first.attempt, first.resume) == ("1", 1, True)
        assert again.end().outcome == "completed"
