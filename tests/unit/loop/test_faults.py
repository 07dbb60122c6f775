"""A fault in any part of a layer costs only that layer's advice in that iteration."""

from collections.abc import Callable
from functools import cache, partial
from pkgutil import resolve_name

import pytest

from ralph_tui import events as ev
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.commands import Abort
from ralph_tui.config.settings import Settings
from ralph_tui.layers.control.law import PROFILES
from ralph_tui.layers.intelligence import IntelligenceSettings
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.loop.waiting.scheduler import ENDING_S
from tests.rows import Test, each_row
from tests.world import owner
from tests.world.faults import (
    ALL,
    CONTROL,
    GARBAGE,
    HELP,
    INTELLIGENCE,
    MEMORY,
    OVERSIGHT,
    PROMPT,
    RECORDS,
    SENSOR,
    SWINGS,
    BrokenError,
    Fault,
    Part,
    busy,
    injected,
)
from tests.world.world import World

ASKING = Settings(
    intelligence=IntelligenceSettings(
        model_prompts=True, model_assessment=True, model_reflections=True
    )
)
COMPLETED = [2, 4, 6, 4, 6, 8, 10]
PROMISE = "<promise>COMPLETE</promise>"


def named(parts: list[Part]) -> Callable[[Test], Test]:
    return each_row("part", parts)


def world_for(part: Part, most: int = 8) -> World:
    """A busy run in which this part has work."""
    passed, rules = (COMPLETED, ASKING) if part in HELP else (SWINGS, None)
    return busy(passed, rules, max_iterations=most)


def run_with(fault: Fault, most: int = 8) -> tuple[World, int]:
    """Run with this fault; the user takes every first option. Also return the fault's count."""
    world = world_for(fault.part, most)
    with injected(world, fault) as met:
        world.play(owner.first)
    return world, met[fault]


@cache
def always(part: Part) -> World:
    """A run in which this part raises on every call."""
    world, met = run_with(Fault(part))
    check(world)
    assert met, "a fault that never came true shows nothing"
    return world


@cache
def once(part: Part, at: int = 3) -> World | None:
    """A run in which this part raises in this iteration; none if it has no work then."""
    world, met = run_with(Fault(part, at=[at]))
    return world if met else None


def third(part: Part) -> World:
    """A run in which this part raises in the third iteration."""
    world = once(part)
    assert world, "a fault that never came true shows nothing"
    return world


@cache
def sound() -> World:
    """A run without any fault."""
    return busy().play(owner.first)


def failures(world: World) -> list[ev.Noticed]:
    return [event for event in world.all(ev.Noticed) if event.level == "error"]


def check(world: World) -> None:
    """Invariants of every run, whatever fails in it."""
    assert world.end.outcome in ("limit_reached", "completed", "aborted"), world.end.reason
    begun = [event.iteration for event in world.all(ev.IterationStarted)]
    assert begun == list(range(1, len(begun) + 1))
    assert [event.iteration for event in world.all(ev.ReadingTaken)] == [0, *begun]
    assert [event.iteration for event in world.all(ev.SignalComputed)] == begun
    for prompt in world.agent.prompts:
        assert "Fix it" in prompt
        assert "pytest -q" in prompt
        assert PROMISE in prompt


ONCE = ("baseline", "learn_from_run", "reflect", "reflection_question", "plan")
"""Done once in a run; of the two called `plan`, the fold's is checked below."""
LASTING = [part for part in ALL if part.name != "run"]
"""Without a baseline there is no run."""


@named(LASTING)
def test_a_part_that_raises_and_gives_garbage_ends_no_run(part: Part) -> None:
    kinds = ["raise", *GARBAGE]
    reported: list[ev.Noticed] = []
    while kinds:  # one run where it is called often enough
        world, met = run_with(Fault(part, kinds), 8 if part in OVERSIGHT else 6)
        assert met, "a fault that never came true shows nothing"
        check(world)
        reported = reported or [event for event in failures(world) if event.source == part.layer]
        kinds = kinds[met:]
    broken = [event for event in reported if f"BrokenError: inside {part}" in event.text]
    assert broken
    assert all("Traceback" in event.detail for event in broken)


SUMS = (
    "completion", "proportional", "integral", "integral_mean", "derivative", "velocity",
    "volatility", "issue_load", "forecast", "fits", "trend",
)  # fmt: skip


@named([part for part in LASTING if part.name not in ONCE and part not in PROMPT])
def test_the_next_iteration_tries_again_and_later_signals_are_those_of_a_sound_run(
    part: Part,
) -> None:
    """Everything except the gains after a failed control law.

    Gains follow the default ones gradually, as always, so that 0.3 of the difference remains each
    time.
    """
    at, world = next((k, world) for k in (3, 4, 5, 6, 7) if (world := once(part, k)))
    check(world)
    reported = failures(world)
    assert 1 <= len(reported) <= 4
    later = max(event.seq for event in reported)
    begun = [event.iteration for event in world.all(ev.IterationStarted) if event.seq > later]
    assert begun == list(range(at + 1, world.end.iterations + 1))
    if at > 3 or part not in (*CONTROL, *OVERSIGHT, *MEMORY, *INTELLIGENCE, *RECORDS):
        return  # a redirect that is not proposed is not followed
    expected = {event.iteration: event for event in sound().all(ev.SignalComputed)}
    for signal in world.all(ev.SignalComputed):
        k, twin = signal.iteration, expected[signal.iteration]
        if k == at and part in CONTROL:
            continue
        for name in SUMS:
            assert getattr(signal, name) == pytest.approx(getattr(twin, name)), (k, name)
        left = 0.5 * 0.3 ** (k - at) if part in CONTROL and k > at else 1e-9
        assert abs(signal.kp - twin.kp) <= left
        assert abs(signal.output - twin.output) <= 2 * left


# -- what stands in for each layer ---------------------------------------------------------------


@named([part for part in CONTROL if part.name not in ("conditions", "watch", "add")])
def test_without_the_control_law_default_gains_answer(part: Part) -> None:
    world = third(part)
    signal = next(e for e in world.all(ev.SignalComputed) if e.iteration == 3)
    assert signal.profile == "focused"
    assert (signal.kp, signal.ki, signal.kd) == tuple(PROFILES["focused"])
    assert signal.proportional == pytest.approx(1 - 0.4)
    assert signal.output == pytest.approx(0.7 * signal.proportional)
    (reported,) = failures(world)
    assert reported.text.endswith("default gains apply to this measurement")


@named([part for part in CONTROL if part.name != "add"])
def test_a_failing_control_law_leaves_oversight(part: Part) -> None:
    world = always(part)
    assert [e.iteration for e in world.all(ev.HealthChecked)] == list(range(1, 9))
    asked = bool(world.all(ev.RedirectDecided))
    assert asked is (part.name not in ("conditions", "watch")), (
        "without conditions nothing can be up"
    )
    assert not [e for e in world.all(ev.EscalationRaised) if e.about == "oversight"]


def test_a_history_that_cannot_take_a_reading_takes_it_with_the_next() -> None:
    add = next(part for part in CONTROL if part.name == "add")
    world = third(add)
    assert world.loop.iteration.governor.history.count == 8
    assert [e.iteration for e in world.all(ev.HealthChecked)] == [1, 2, 4, 5, 6, 7, 8]


@named(OVERSIGHT)
def test_a_failing_overseer_is_told_to_people_once_and_takes_no_signal(part: Part) -> None:
    world = always(part)
    assert [e.iteration for e in world.all(ev.SignalComputed)] == list(range(1, 9))
    reported = [e for e in world.all(ev.EscalationRaised) if e.about == "oversight"]
    if part.name == "health_of":  # what is asked is asked; the check alone is missing
        assert {event.status for event in world.all(ev.HealthChecked)} == {"paused"}
    else:
        assert len(reported) == 1
        assert reported[0].level == "critical"
        assert reported[0] in world.outreach.sent or reported[0].escalation_id in [
            sent.escalation_id for sent in world.outreach.sent
        ]


def test_a_redirect_that_cannot_be_proposed_is_not_approved() -> None:
    propose = next(part for part in OVERSIGHT if part.name == "redirect_words")
    world = always(propose)
    assert world.all(ev.RedirectDecided)
    assert not any(event.approved for event in world.all(ev.RedirectDecided))
    assert world.state.oversight.undecided is None


@named(PROMPT)
def test_without_the_prompts_parts_what_the_owner_has_said_is_sent(part: Part) -> None:
    world = third(part)
    check(world)
    prepared = world.all(ev.PromptPrepared)
    origins = {event.iteration: event.origin for event in prepared}
    assert origins.pop(3) == "fallback"
    assert set(origins.values()) == {"template"}, "the next iteration tries again"


@pytest.mark.parametrize("name", ["assess", "gather"])
def test_without_an_assessment_the_phase_is_unknown(name: str) -> None:
    part = next(part for part in INTELLIGENCE if part.name == name)
    made = third(part).all(ev.AssessmentMade)
    assert [e.iteration for e in made if e.phase == "unknown"] == [3]


def test_without_a_strategy_the_others_are_planned() -> None:
    part = next(part for part in INTELLIGENCE if part.name == "next_strategy")
    world = third(part)
    assert [e.iteration for e in world.all(ev.StrategyPlanned)] == [1, 2, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("name", ["retrieve", "candidates"])
def test_without_memory_the_prompt_has_no_learnings(name: str) -> None:
    part = next(part for part in MEMORY if part.name == name)
    world = third(part)
    found = {event.iteration: event.learnings for event in world.all(ev.LearningsRetrieved)}
    assert found[3] == []
    assert "Run one test at a time." not in world.agent.prompts[2]
    assert "Run one test at a time." in world.agent.prompts[3]


def test_what_fails_before_it_is_staged_is_staged_by_the_next_report() -> None:
    part = next(part for part in MEMORY if part.name == "learn_from_report")
    world = third(part)
    staged = [e.iteration for e in world.all(ev.LearningStaged) if e.learning.confidence == 0.6]
    assert 3 not in staged
    assert {2, 4} <= set(staged)


@named([part for part in SENSOR if part.name in ("read", "share_of_tests", "tampering")])
def test_without_the_sensor_the_last_value_is_held(part: Part) -> None:
    world = third(part)
    readings = {event.iteration: event for event in world.all(ev.ReadingTaken)}
    assert readings[3].held
    assert readings[3].completion == readings[2].completion
    assert not readings[4].held
    assert [event.source for event in failures(world)] == ["sensor"]


def test_without_the_sensor_the_exit_code_alone_ends_the_run() -> None:
    read = next(part for part in SENSOR if part.name == "read")
    world = busy([2, 10])
    with injected(world, Fault(read)):
        world.play(owner.first)
    assert world.end.outcome == "completed"
    assert (
        world.all(ev.ReadingTaken)[-1].note
        == "the completion command passed, by its exit code alone"
    )


def test_a_gate_that_cannot_be_measured_is_told_and_measured_again() -> None:
    part = next(part for part in SENSOR if part.name == "run")
    world = third(part)
    gates = {event.iteration: event for event in world.all(ev.GateFinished)}
    assert "could not be measured" in gates[3].error
    assert not gates[4].error


def test_a_prompt_that_cannot_be_kept_ends_the_run_with_a_sentence() -> None:
    world = busy()
    keep = Part("records", "tests.world.records:FakeRecords", "write_prompt")
    with injected(world, Fault(keep, at=[3])):
        world.play(owner.first)
    assert world.end.outcome == "failed"
    assert world.end.reason == "the prompt of iteration 3 could not be saved; see the log"
    assert failures(world)[0].source == "records"


@named([CONTROL[0], OVERSIGHT[2], INTELLIGENCE[2], SENSOR[0]])
def test_a_run_whose_layer_still_fails_can_be_resumed(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise BrokenError(f"inside {part}")

    monkeypatch.setattr(resolve_name(part.owner), part.name, broken)
    first = busy()
    for event in first.steps():
        if isinstance(event, ev.ReadingTaken) and event.iteration == 5:
            break
    again = busy([4, 6, 4, 6], past=first.events)
    again.play(owner.first, partial(again.loop.resume, ev.RunResumed()))
    check(again)
    assert again.all(ev.Noticed)


# -- what never ends -----------------------------------------------------------------------------

HANGING = {
    "knowledge": "memory",
    "staging": "memory",
    "credits": "memory",
    "promotion": "memory",
    "search index": "memory",
    "plan": "sensor",
    "traces": "intelligence",
    "test files": "intelligence",
    "question": "model help",
}


@pytest.mark.parametrize("name", HANGING)
def test_what_hangs_is_let_go_after_its_time(name: str) -> None:
    world = busy(settings=ASKING if name == "question" else None, plan="PLAN.md")
    world.plan = Progress(1, 2, (("a", True), ("b", False)))
    world.host.hangs = lambda job: job == name and world.state.run.iteration >= 2
    world.play(owner.first)
    check(world)
    warned = [event for event in world.all(ev.Noticed) if event.level == "warn"]
    assert [event for event in warned if event.source == HANGING[name]]
    if name == "question":
        assert all(e.error for e in world.all(ev.ModelAnswered) if e.iteration >= 2)


def test_memory_that_hangs_is_waited_for_once_and_used_again_when_it_answers() -> None:
    world = busy()
    hanging = True
    world.host.hangs = lambda job: hanging and job == "knowledge"
    for event in world.steps():
        if isinstance(event, ev.IterationStarted) and event.iteration == 4:
            hanging = False
            job = world.loop.iteration.memory._hanging
            assert job is not None
            world.host.inbox.append(job)
        if hanging:
            assert world.host.clock.seconds < 400
    assert next(e.iteration for e in world.all(ev.LearningsRetrieved)) in (4, 5)


def test_a_gate_past_its_time_is_a_reading_that_is_held() -> None:
    world = busy([2, 4, 6, 10])
    gate, real = world.gate, world.gate.run

    def slow(log: object) -> GateResult:
        result = real(log)  # type: ignore[arg-type]
        if world.state.run.iteration == 2:
            return GateResult(ok=False, exit_code=None, timed_out=True, duration_s=1800.0)
        return result

    gate.run = slow  # type: ignore[method-assign]
    world.play(owner.first)
    assert world.end.outcome == "completed"
    assert [e.iteration for e in world.all(ev.ReadingTaken) if e.held] == [2]


def test_git_past_its_time_costs_a_snapshot_and_not_the_run() -> None:
    world = busy()
    take = Part("workspace", "tests.world.worktree:FakeWorkspace", "snapshot")

    def late(*_: object) -> None:
        raise WorkspaceError("git took too long")

    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(GARBAGE, "late", late)
        with injected(world, Fault(take, "late", at=[3])):
            world.play(owner.first)
    check(world)
    assert any("no snapshot taken" in event.text for event in failures(world))


# -- who counts the tests ------------------------------------------------------------------------


def test_counts_of_impossible_numbers_are_no_reading() -> None:
    world = busy([2, 4, 6])
    real = world.gate.run

    def odd(log: object) -> GateResult:
        result = real(log)  # type: ignore[arg-type]
        if world.state.run.iteration == 2:
            return GateResult(False, 1, counts=Counts("pytest", -5, 3), tail="x" * 4000)
        return result

    world.gate.run = odd  # type: ignore[method-assign]
    world.play(owner.first)
    check(world)
    assert all(0 <= event.completion <= 100 for event in world.all(ev.ReadingTaken))


@pytest.mark.parametrize("name", HANGING)
def test_an_abort_does_not_wait_for_what_hangs(name: str) -> None:
    world = busy(settings=ASKING if name == "question" else None, plan="PLAN.md")
    world.plan = Progress(1, 2, (("a", True), ("b", False)))
    world.host.hangs = lambda job: job == name and world.state.run.iteration >= 2
    asked: list[float] = []

    def abort() -> Abort:
        asked.append(world.host.clock.monotonic())
        return Abort()

    for event in world.steps():
        if isinstance(event, ev.IterationStarted) and event.iteration == 2:
            world.host.idle.append(abort)
    assert world.end.outcome == "aborted"
    took = world.host.clock.monotonic() - asked[0]
    assert took <= 3 * ENDING_S, "the hanging time, plus the time for the end itself"
