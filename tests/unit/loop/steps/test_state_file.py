"""A run's state file in the loop: when it is written, and that nothing depends on it."""

import json
from typing import Any

import pytest

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.commands import RollOver
from ralph_tui.events import Noticed, PlanItemBegan, UsageReported
from ralph_tui.layers.context.loop_state import items_of
from ralph_tui.layers.context.state_file import parse
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.layers.settings import ContextSettings
from ralph_tui.loop.steps.state_file import LAST_S
from tests.unit.loop.invariants import check
from tests.world import FakeSession, World
from tests.world.owner import answer
from tests.world.records import FakeStateFile


@pytest.fixture
def file() -> FakeStateFile:
    return FakeStateFile()


def series(file: FakeStateFile, name: str) -> list[Any]:
    """Successive values of a field, without repetitions."""
    found: list[Any] = []
    for fields in file.kept:
        if not found or found[-1] != fields.get(name):
            found.append(fields.get(name))
    return found


def warned(world: World) -> list[str]:
    return [e.text for e in world.all(Noticed) if e.level == "warn" and e.source == "context"]


def test_it_follows_the_run_from_its_first_iteration_to_its_end(file: FakeStateFile) -> None:
    world = World([2, 5, 10], state_file=file).run()
    assert series(file, "iteration") == [1, 2]
    assert series(file, "status") == ["running", "completed"]
    last = file.kept[-1]
    assert (last["objective"], last["max_iterations"]) == ("Fix it", 10)
    assert (last["driven_by"], last["run_id"]) == ("ralph-tui", "run")
    assert last["last_diff_hash"]
    parsed = parse(json.dumps(last).encode())
    assert not parsed.problems
    check(world)


@pytest.mark.parametrize(
    ("passed", "options", "status"),
    [([2, 3, 5], {"max_iterations": 2}, "limit_reached"), ([2, 10], {}, "completed")],
)
def test_its_last_word_is_how_the_run_ended(
    file: FakeStateFile, passed: list[int], options: dict[str, Any], status: str
) -> None:
    World(passed, state_file=file, **options).run()
    assert file.kept[-1]["status"] == status


def test_the_circuit_breaker_is_named_when_it_ended_the_run(file: FakeStateFile) -> None:
    world = World([3], max_iterations=20, state_file=file, mode="attended")
    world.workspace.changed = []
    world.play(answer("abort"))
    assert series(file, "no_change_count") == [0, 1, 2, 3]
    assert file.kept[-1]["status"] == "circuit_breaker"


def test_a_rollover_is_a_checkpoint_that_is_active_until_a_session_takes_over(
    file: FakeStateFile,
) -> None:
    world = World([2, 10], state_file=file)

    def full(session: FakeSession) -> None:
        usage = {"tokens": 9000, "context_tokens": 8700, "context_window": 10_000}
        session.emit(UsageReported.model_validate({"iteration": 1, **usage}))
        world.host.inbox.append(RollOver(by="you"))

    world.agent.acts.extend([full])
    world.run()
    active = [
        fields["context_checkpoint"]["active"]
        for fields in file.kept
        if "context_checkpoint" in fields
    ]
    assert active[0] is True
    assert active[-1] is False
    checkpoint = file.kept[-1]["context_checkpoint"]
    assert checkpoint["percent_at_checkpoint"] == 87
    assert checkpoint["handoff_file"].endswith("handoff-1.md")
    assert file.kept[-1]["context_history"][0] == {
        "iteration": 1,
        "peak_percent": 87,
        "checkpoint": True,
    }


def test_a_plan_that_moves_on_is_written_while_the_session_works(file: FakeStateFile) -> None:
    world = World([2, 10], state_file=file)
    written: list[int] = []

    def work(session: FakeSession) -> None:
        written.append(len(file.kept))
        session.emit(PlanItemBegan(iteration=1, item="two"))
        world.host.idle.append(lambda: written.append(len(file.kept)))
        world.host.idle.append(lambda: session.finish())

    world.agent.acts.extend([work])
    world.run()
    assert written[1] > written[0]


def test_what_cannot_be_written_is_said_once_and_again_after_it_could(file: FakeStateFile) -> None:
    refused = WorkspaceError("the state file x cannot be written: check who may write there")
    file.errors.extend([refused] * 4)
    world = World([2, 3, 4, 5, 6, 10], state_file=file).run()
    assert world.end.outcome == "completed"
    assert warned(world) == [f"{refused}; the run continues without it"]
    assert file.kept[-1]["status"] == "completed"


def test_what_was_set_aside_is_told(file: FakeStateFile) -> None:
    file.problems = ["x was no state file: it is kept as y"]
    world = World([10], state_file=file).run()
    assert "x was no state file: it is kept as y" in warned(world)


def test_a_disk_that_hangs_holds_up_nothing_but_the_end_for_a_moment(file: FakeStateFile) -> None:
    world = World([2, 5, 10], state_file=file)
    world.host.hangs = lambda name: name == "state file"
    began = world.host.clock.monotonic()
    world.run()
    assert world.end.outcome == "completed"
    assert LAST_S <= world.host.clock.monotonic() - began < LAST_S + 5
    assert warned(world)[-1].startswith("the state file was not written within 10 s")


def test_without_one_nothing_is_written() -> None:
    world = World([10]).run()
    assert not warned(world)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/ralph-state.json",
        "../ralph-state.json",
        ".git/ralph-state.json",
        "package.json",
        "a\0/ralph-state.json",
        "~/ralph-state.json",
    ],
)
def test_only_a_file_of_that_name_in_the_repository_is_taken(path: str) -> None:
    with pytest.raises(ValueError, match=r"inside the repository"):
        ContextSettings(state_file=path)


def test_nothing_of_it_is_asked_of_a_plan_without_items() -> None:
    assert items_of(None) == {}
    plan = Progress(1, 2, (("one", True), ("two  \n words", False)))
    assert items_of(plan) == {"todo_items": ["two words"], "completed_items": ["one"]}
