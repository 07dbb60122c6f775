"""Steps 3, 8 and the validation of step 11 in a run."""

from collections.abc import Callable

import pytest

from ralph_tui.events import (
    AgentReported,
    Event,
    SessionFinished,
    StepEntered,
    StrategyPlanned,
    ValidationDone,
)
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.control import ControlSettings
from ralph_tui.layers.intelligence import IntelligenceSettings
from ralph_tui.layers.oversight import OversightSettings
from ralph_tui.loop.run import Rules
from tests.unit.loop.test_recovery import go_on, world
from tests.world import FakeSession, World, promise, report
from tests.world.owner import first


def blocked(*blockers: str) -> Callable[[FakeSession], None]:
    """An act: report what is in the way, and end the turn."""

    def act(session: FakeSession) -> None:
        session.emit(AgentReported(iteration=session.iteration, blockers=list(blockers)))
        session.finish()

    return act


def failing(calls: int) -> Callable[[FakeSession], None]:
    def act(session: FakeSession) -> None:
        session.emit(
            SessionFinished(
                iteration=session.iteration, outcome="success", tool_calls=9, tool_errors=calls
            )
        )

    return act


def issues(world: World) -> list[tuple[int, str, str, str]]:
    return [
        (done.iteration, done.when, issue.severity, issue.name)
        for done in world.all(ValidationDone)
        for issue in done.issues
    ]


def between(events: list[Event], kind: type[Event]) -> list[tuple[int, int]]:
    """Iteration and step in which each event of a type was recorded."""
    found, at = [], (0, 0)
    for event in events:
        if isinstance(event, StepEntered):
            at = event.iteration, event.step
        elif isinstance(event, kind):
            found.append(at)
    return found


def test_each_iteration_has_its_strategy_at_step_3() -> None:
    world = World([2, 3, 3, 3, 3, 10]).run()
    planned = world.all(StrategyPlanned)
    assert [event.iteration for event in planned] == [1, 2, 3, 4, 5]
    assert between(world.events, StrategyPlanned) == [(k, 3) for k in range(1, 6)]
    assert [(event.approach, event.focus, event.since) for event in planned] == [
        ("persist", "continue", 1),
        ("persist", "continue", 1),
        ("persist", "continue", 1),
        ("persist", "continue", 1),
        ("pivot", "reframe", 5),
    ]
    assert planned[0].priorities == ["test_2", "test_3", "test_4"]
    assert planned[4].priorities == ["test_3", "test_4", "test_5"]
    assert all(event.reasoning for event in planned)


def test_what_the_agent_meant_to_do_is_a_priority() -> None:
    world = World([2, 4, 10])
    world.agent.acts.append(report("look at the lexer"))
    world.run()
    assert world.all(StrategyPlanned)[1].priorities == ["test_4", "test_5", "look at the lexer"]


def test_the_limit_and_what_does_not_fit_a_session_are_validated() -> None:
    world = World([2, 4, 5, 6], max_iterations=3)
    world.agent.acts.extend([promise, failing(6), failing(5)])
    world.workspace.changed = [
        FileChange(path="pyproject.toml", status="modified", category="config", added=1)
    ]
    world.run()
    assert issues(world) == [
        (1, "after", "high", "unproven_promise"),
        (1, "after", "high", "changed_configuration"),
        (2, "after", "medium", "excessive_errors"),
        (2, "after", "high", "changed_configuration"),
        (3, "before", "critical", "near_limit"),
        (3, "after", "high", "changed_configuration"),
    ]
    before = [e for e in world.all(ValidationDone) if e.when == "before"]
    assert before[0].issues[0].text == "Iteration 3 of 3: it is the last one."
    assert between(world.events, ValidationDone) == [(1, 11), (2, 11), (3, 8), (3, 11)]


def test_conflicts_that_are_still_there_are_told_before_the_session() -> None:
    """The owner goes on without having resolved them; in the third iteration they are."""
    run = world([2, 4, 5, 6, 7], max_iterations=4)
    run.workspace.conflicting = ("a.py", "b.py")

    def resolve(session: FakeSession) -> None:
        run.workspace.conflicting = ()
        session.finish()

    run.agent.acts.extend([FakeSession.finish, resolve])
    run.play(first)
    told = [(k, when) for k, when, _, name in issues(run) if name == "unresolved_conflicts"]
    assert told == [(2, "before")]
    assert "in a.py, b.py." in run.all(ValidationDone)[0].issues[0].text


def test_where_the_layer_is_off_nothing_of_it_is_recorded() -> None:
    off = Rules(intelligence=IntelligenceSettings(enabled=False))
    world = World([2, 3, 3, 3, 3, 3], max_iterations=5, rules=off).run()
    assert not world.all(StrategyPlanned)
    assert not world.all(ValidationDone)
    assert world.end.outcome == "aborted" or world.end.iterations == 5


@pytest.mark.parametrize(
    "rules",
    [
        Rules(oversight=OversightSettings(enabled=False)),
        Rules(control=ControlSettings(enabled=False)),
    ],
)
def test_without_another_layer_strategies_are_planned_all_the_same(rules: Rules) -> None:
    world = World([2, 3, 3, 3, 3, 10], rules=rules).run()
    focuses = [event.focus for event in world.all(StrategyPlanned)]
    assert focuses[:5] == ["continue"] * 4 + ["reframe"]


def test_a_resumed_run_records_no_strategy_and_no_issue_twice() -> None:
    """Whatever moment it was cut off at."""
    whole = world([2, 3, 3, 3, 3, 3, 3], max_iterations=5)
    whole.agent.acts.extend([promise] * 5)
    whole.play(first)
    assert len(whole.all(ValidationDone)) >= 5
    for cut in range(1, len(whole.events)):
        again = go_on(whole, cut)
        planned = [event.iteration for event in again.all(StrategyPlanned)]
        assert planned == sorted(set(planned)), cut
        found = [(event.iteration, event.when) for event in again.all(ValidationDone)]
        assert len(found) == len(set(found)), cut
