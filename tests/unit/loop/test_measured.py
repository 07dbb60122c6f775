"""Broken builds, silent commands, missing tests, and mere growth of tests."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.analysis.verdict import verdict
from ralph_tui.config.settings import Settings
from ralph_tui.events.run import Mode
from ralph_tui.events.waiting import SILENCE
from ralph_tui.layers.inputs import budget_of
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.loop.run import Layers
from ralph_tui.state import RunState
from ralph_tui.tui.draw.course import ahead_of
from ralph_tui.tui.panes.header_fields import measures
from tests.world import owner
from tests.world.agents import FakeSession, promise
from tests.world.world import World


def named(passed: int, *failing: str) -> GateResult:
    counts = Counts("pytest", passed, len(failing), failing=failing)
    return GateResult(ok=not failing, exit_code=int(bool(failing)), counts=counts)


KILLED = GateResult(ok=False, exit_code=137, tail="Killed\n")
BROKEN = GateResult(
    ok=False,
    exit_code=2,
    counts=Counts("cargo", 0, 0, 1, failing=("calc",), broken="error: expected `;`"),
)


def played(
    gates: Sequence[GateResult],
    reply: owner.Reply = owner.first,
    *,
    mode: Mode = "headless",
    **fields: int,
) -> World:
    world = World([], max_iterations=fields.get("max_iterations", len(gates) - 1), mode=mode)
    left = deque(gates)
    world.gate.measure = lambda: left.popleft() if len(left) > 1 else left[0]
    return world.play(reply)


def at(world: World, iteration: int) -> RunState:
    """The state after an iteration's measurement was evaluated."""
    state = RunState()
    for event in world.events:
        state.apply(event)
        if event.kind == "signal_computed" and getattr(event, "iteration", 0) == iteration:
            break
    return state


def says(state: RunState) -> str:
    return verdict(state, state.at, keys=None).text


def header(state: RunState) -> str:
    left, _ = measures(state, state.at, 100, 96)
    return "".join(text for text, _ in left)


def test_a_broken_build_is_regressing_after_two_readings_and_comes_first_in_the_prompt() -> None:
    ten = named(12, *"abcdefgh")
    world = played([named(10, *"abcdefghij"), ten, ten, *[BROKEN] * 3, ten], max_iterations=8)

    raised = next(one for one in world.all(ev.AlarmRaised) if one.alarm == "REGRESSING")
    assert raised.iteration == 4
    assert [one.text for one in world.all(ev.Noticed) if one.source == "sensor"] == [
        "build broken: error: expected `;`"
    ]
    assert says(at(world, 3)) == "build broken since iteration 3: error: expected `;`"
    assert "0/20 tests" in header(at(world, 3))
    prompt = world.agent.prompts[4]
    assert "the build is broken; 20 tests are expected" in prompt
    assert "1. the build has been broken since iteration 3: error: expected `;`" in prompt
    assert "- calc" not in prompt
    assessed = {made.iteration: made for made in world.all(ev.AssessmentMade)}
    assert assessed[4].summary.startswith("The build has been broken since iteration 3")
    assert assessed[4].next_step == "Repair the build: error: expected `;`"
    mended = assessed[6]
    assert not any("passes now" in done.text for done in mended.accomplishments)
    assert "did not before" not in mended.summary
    assert [one.novel for one in world.all(ev.ReadingTaken)] == [0, 2, *[0] * 7]
    planned = next(one for one in world.all(ev.StrategyPlanned) if one.iteration == 4)
    assert "continue" not in planned.reasoning


def test_three_verifications_without_counts_are_a_pause_of_their_own() -> None:
    sixty = named(12, *"abcdefgh")
    world = played([sixty, sixty, KILLED, KILLED, KILLED, sixty, sixty], max_iterations=6)

    paused = next(one for one in world.all(ev.InterventionMade) if one.level == "PAUSE")
    assert (paused.iteration, paused.about) == (4, "unmeasured")
    assert "the completion command gives no counts: exit code 137, last line: Killed" in (
        paused.reason
    )
    (warned,) = [one.text for one in world.all(ev.Noticed) if one.source == "sensor"]
    assert warned.startswith("Not measured since iteration 1: ")
    assert says(at(world, 3)).startswith("not measured since iteration 1: ")
    assert at(world, 3).gate.origin == "not measured since iteration 1"
    assert "unmeasured" in header(at(world, 3))
    for prompt in world.agent.prompts[2:5]:
        assert "not measured since iteration 1" in prompt
        assert "Nothing could be measured after the last iteration: find out why first." in prompt
        assert "1. the completion command gives no counts: exit code 137, last line: Kil" in prompt
        assert "At this pace" not in prompt
        assert "Trend" not in prompt
        assert "Completion has" not in prompt, "an unmeasured iteration is not idle"
    kept = [span.number for span in world.state.timeline.spans if span.kept]
    assert kept == [2, 3, 4]
    assert [world.state.timeline.gain(span) for span in world.state.timeline.spans][2:5] == [
        None,
        None,
        None,
    ]
    assert [one.completion for one in world.all(ev.ReadingTaken)] == [60.0] * 7
    assert [one.iteration for one in world.all(ev.ReadingTaken) if one.regained] == [5]


def test_a_command_that_counts_nothing_names_no_source() -> None:
    failing = GateResult(ok=False, exit_code=1, tail="no\n")
    world = played([failing, failing], max_iterations=1)
    assert at(world, 1).gate.origin in ("command fails", "from estimate")

    passing = GateResult(ok=True, exit_code=0)
    world = played([passing, passing], max_iterations=1)
    assert at(world, 1).gate.origin == "command passes"
    assert "passes" in header(at(world, 1))
    assert "tests" not in header(at(world, 1))


def test_growth_beside_the_same_failures_is_no_gain() -> None:
    same = ("a", "b", "c")
    grown = [named(29 + 12 * k, *same) for k in range(7)]
    world = played([*grown[:1], *grown], max_iterations=7)

    assert [one.added for one in world.all(ev.ReadingTaken)] == [0, 0, 12, 12, 12, 12, 12, 12]
    assert says(at(world, 3)) == "no gain: 53/56, 12 new, the same 3 fail"
    assert ahead_of(at(world, 3)) is None
    assert next(one for one in world.all(ev.InterventionMade)).about == "stuck"


def test_on_track_needs_a_new_best_within_two_readings() -> None:
    steps = [named(n, *[f"t{k}" for k in range(100 - n)]) for n in (0, 20, 40, 40, 40)]
    world = played(steps, max_iterations=12)

    assert says(at(world, 3)).startswith("on track")
    assert says(at(world, 4)).startswith("no gain since iteration 2")
    assert ahead_of(at(world, 3)) is not None
    assert ahead_of(at(world, 4)) is None


GONE = [named(12, *"abcdefgh"), named(12, *"abc"), named(15)]


def test_tests_that_are_gone_keep_a_passing_command_from_completing_the_run() -> None:
    world = played([*GONE, named(15)], owner.answer("no"), mode="attended")

    assert "12 pass; 20 are expected (5 are gone: d, e, f, g, h)" in world.agent.prompts[1]
    asked = world.all(ev.QuestionAsked)[0]
    assert asked.topic == "removal"
    assert asked.text.startswith("Accept 5 missing tests? The command passes: 15 pass; 20 are ")
    assert world.end.outcome != "completed"
    assert max(one.completion for one in world.all(ev.ReadingTaken)) == 75.0


@pytest.mark.parametrize(("mode", "waits"), [("headless", False), ("attended", True)])
def test_a_headless_run_waits_for_nobody_about_missing_tests(mode: Mode, *, waits: bool) -> None:
    world = World([], max_iterations=2, mode=mode)
    world.gate.measure = deque([*GONE, named(15)]).popleft
    world.run()

    asked, given = world.all(ev.QuestionAsked)[0], world.all(ev.QuestionAnswered)[0]
    assert (asked.topic, given.answer, given.by) == ("removal", "no", SILENCE)
    assert (asked.deadline is not None and asked.deadline > asked.at) == waits
    assert world.end.reason.endswith("; 5 tests are gone, and you have not accepted that")


def test_at_the_limit_it_is_the_missing_tests_that_are_named() -> None:
    world = played([*GONE, named(15)], owner.answer("no"), mode="attended")

    assert world.end.outcome == "limit_reached"
    assert world.end.reason.endswith("; 5 tests are gone, and you have not accepted that")
    assert "promise" not in world.end.reason


def test_the_user_may_accept_that_tests_are_gone() -> None:
    world = played(GONE, owner.answer("yes"), mode="attended")

    assert world.end.outcome == "completed"
    last = world.all(ev.ReadingTaken)[-1]
    assert (last.completion, last.expected, last.missing) == (100.0, 15, 0)
    assert last.note.startswith("accepted by ")


def test_a_removal_is_asked_about_before_the_criterion_is_judged() -> None:
    world = World(
        [], max_iterations=3, mode="attended", criterion="twice as fast", command="pytest -q"
    )
    left = deque([*GONE, named(15)])
    world.gate.measure = left.popleft
    world.agent.acts.extend([FakeSession.finish, promise, promise])
    answers = {"removal": deque(["yes"]), "criterion": deque(["yes"])}
    world.play(lambda asked: owner.answer(answers[asked.topic].popleft())(asked))

    assert [one.topic for one in world.all(ev.QuestionAsked)] == ["removal", "criterion"]
    assert world.all(ev.ReadingTaken)[-1].completion == 100.0
    assert (world.end.outcome, world.end.iterations) == ("completed", 2)


@pytest.mark.parametrize("goal", [{"until_promise": True}, {"criterion": "twice as fast"}])
@pytest.mark.parametrize(("answer", "outcome"), [("yes", "completed"), ("no", "limit_reached")])
def test_tests_that_a_guarding_command_loses_are_asked_about(
    goal: dict[str, Any], answer: str, outcome: str
) -> None:
    world = World([], max_iterations=2, mode="attended", command="pytest -q", **goal)
    world.gate.measure = deque([named(20), named(15), named(15)]).popleft
    world.agent.acts.extend([promise, promise])
    world.play(lambda asked: owner.answer(answer if asked.topic == "removal" else "yes")(asked))

    asked = world.all(ev.QuestionAsked)
    assert asked[0].text == (
        "Accept 5 missing tests? The command passes: 15 pass; 20 are expected (5 are gone)."
    )
    assert {one.topic for one in asked} <= {"removal", "criterion"}
    assert world.end.outcome == outcome
    assert (max(one.completion for one in world.all(ev.ReadingTaken)) == 100) == (answer == "yes")


def test_an_accepted_loss_is_asked_about_once() -> None:
    world = World(
        [], max_iterations=2, mode="attended", command="pytest -q", criterion="twice as fast"
    )
    world.gate.measure = deque([named(20), named(15), named(15)]).popleft
    world.agent.acts.extend([promise, promise])
    answers = {"removal": deque(["yes"]), "criterion": deque(["no", "yes"])}
    world.play(lambda asked: owner.answer(answers[asked.topic].popleft())(asked))

    assert [one.topic for one in world.all(ev.QuestionAsked)] == [
        "removal",
        "criterion",
        "criterion",
    ]
    assert world.end.outcome == "completed"


def test_tests_that_a_guarding_command_gains_are_not_asked_about() -> None:
    world = World([], max_iterations=2, mode="attended", until_promise=True)
    world.gate.measure = deque([named(20), named(25)]).popleft
    world.agent.acts.append(promise)
    world.play(owner.answer("no"))

    assert (world.all(ev.QuestionAsked), world.end.outcome) == ([], "completed")


def test_a_removal_that_is_refused_is_not_judged() -> None:
    world = World(
        [], max_iterations=2, mode="attended", criterion="twice as fast", command="pytest -q"
    )
    world.gate.measure = deque(GONE).popleft
    world.agent.acts.extend([FakeSession.finish, promise])
    world.play(owner.answer("no"))

    assert [one.topic for one in world.all(ev.QuestionAsked)][:1] == ["removal"]
    assert "criterion" not in [one.topic for one in world.all(ev.QuestionAsked)]
    assert world.end.outcome != "completed"


def test_a_resumed_run_takes_up_what_is_expected() -> None:
    world = played([*GONE[:2], BROKEN, BROKEN])
    layers = Layers.of(Settings(), "pytest -q")
    layers.recall(world.events)

    assert layers.sensor.state == world.layers.sensor.state


def test_the_journal_of_an_older_version_is_judged_as_it_was() -> None:
    """Missing fields do not change the evaluation of its measurements."""
    sixty = named(12, *"abcdefgh")
    world = played([sixty, named(18, "a"), named(19, "a"), KILLED, KILLED, KILLED, KILLED])
    new = ("expected", "broken", "gone", "added", "regained")
    older = [
        one.model_copy(update={name: type(one).model_fields[name].get_default() for name in new})
        if isinstance(one, ev.ReadingTaken)
        else one
        for one in world.events
    ]
    recalled = Layers.of(Settings(), "pytest -q")
    state = recalled.recall(older)

    assert state.gate.unmeasured == 0
    assert not budget_of(state).slow_last


def test_a_count_that_is_doubted_is_ignored_and_reported_once(tmp_path: Path) -> None:
    def claimed(tests: int, more: str = "") -> GateResult:
        command = f"echo '== {tests} passed{more} in 0.12s =='; false"
        gate = ShellGate(command, cwd=tmp_path, run_id="run-1", timeout_s=30)
        return gate.run(tmp_path / "log")

    assert claimed(1_000_000).counts
    assert not claimed(1_000_000, ", 1 skipped").counts
    claims = claimed(1_000_001)
    world = played([claims, claims, claims], max_iterations=2)
    (doubt,) = [event for event in world.all(ev.Noticed) if "1,000,001 tests" in event.text]
    assert doubt.level == "warn"
    assert [done.passed for done in world.all(ev.GateFinished)] == [None] * 3
