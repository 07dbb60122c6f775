"""The 17 steps: their order and their effects.

Every step has an effect that a reader of journal, prompt or files would miss. The tests
expect it in a whole run, and expect it to be missing when this step alone does nothing.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest

from ralph_tui import events as ev
from ralph_tui.layers.control import evaluation
from ralph_tui.layers.control.law import Metrics
from ralph_tui.layers.intelligence import Prompt
from ralph_tui.loop.iteration import STEPS
from ralph_tui.loop.steps.assessment import Assessment
from ralph_tui.loop.steps.detection import Detector
from ralph_tui.loop.steps.measurement import Measurement
from ralph_tui.loop.steps.memory import MemoryLayer
from ralph_tui.loop.steps.overseer import Overseer
from ralph_tui.loop.steps.prompt_text import PromptText
from ralph_tui.loop.steps.prompting import PromptWriter
from ralph_tui.loop.steps.recording import IterationRecorder
from ralph_tui.loop.steps.sessions import Sessions
from ralph_tui.loop.steps.strategy import Strategist
from tests.unit.loop.steps.test_memory import Remembered
from tests.world.agents import FakeSession
from tests.world.world import World

SWINGS = [4, 6, 4, 6, 4, 6, 4, 6, 4, 6]
"""Passing tests: OSCILLATING at 4, with an approved REDIRECT and then a PAUSE."""


def learns(session: FakeSession) -> None:
    """A session that reports a learning and a lasting blocker."""
    session.emit(
        ev.AgentReported(
            iteration=session.iteration, learnings=["Quotes carry state."], blockers=["no network"]
        )
    )
    session.finish()


def world() -> World:
    """A run that has work in every step."""
    made = World(SWINGS, max_iterations=8, knowledge=Remembered(promoting=True))
    made.agent.acts.extend([learns] * 8)
    return made


def nothing(*_: object, **__: object) -> None:
    """A step that does nothing."""


def no_words(*_: object) -> PromptText:
    return PromptText(Prompt("", "normal"), "")


def no_record(*_: object) -> ev.Event:
    return ev.Noticed(source="test", text="no record")


def no_metrics(*_: object, **__: object) -> Metrics:
    fields = dict.fromkeys(Metrics._fields, 0.0)
    return Metrics(**{**fields, "forecast": None, "fits": True})  # type: ignore[arg-type]


def always_focused(*_: object, **__: object) -> str:
    return "focused"


def no_output(*_: object, **__: object) -> float:
    return 0.0


def no_conditions(*_: object, **__: object) -> tuple[object, ...]:
    return ()


CARRIED_OUT_BY: dict[int, tuple[type | ModuleType, str, Callable[..., Any]]] = {
    1: (Assessment, "save", nothing),
    2: (MemoryLayer, "retrieve", nothing),
    3: (Strategist, "plan", nothing),
    4: (evaluation, "measure", no_metrics),
    5: (evaluation, "schedule", always_focused),
    6: (evaluation, "output", no_output),
    7: (evaluation, "conditions", no_conditions),
    8: (Strategist, "before", nothing),
    9: (PromptWriter, "write", no_words),
    10: (Sessions, "run", nothing),
    11: (Measurement, "after", nothing),
    12: (Detector, "detect", nothing),
    13: (Overseer, "intervene", nothing),
    14: (Overseer, "check", nothing),
    15: (MemoryLayer, "extract", nothing),
    16: (MemoryLayer, "promote", nothing),
    17: (IterationRecorder, "finished", no_record),
}
"""The function of a step, and its replacement that does nothing."""


def control_section(w: World) -> str:
    """The control section of the prompt after the alarm."""
    return w.agent.prompts[5].partition("# Control\n")[2].partition("\n# ")[0]


def the_assessment_is_kept(w: World) -> None:
    assert "results/iter-001/assessment.json" in w.records.written


def the_prompt_carries_what_was_learned(w: World) -> None:
    assert "Run one test at a time." in w.agent.prompts[0]


def the_prompt_says_the_strategy(w: World) -> None:
    assert "# Strategy" in w.agent.prompts[2]


def the_control_section_knows_how_far_it_is(w: World) -> None:
    signal = w.all(ev.SignalComputed)[2]
    assert signal.proportional == pytest.approx(1 - signal.completion)
    assert signal.output > 0.25
    assert "Urgency: high" in control_section(w)


def the_gains_are_damped_after_the_redirect(w: World) -> None:
    assert w.all(ev.SignalComputed)[-1].profile == "damped"


def the_control_section_says_how_urgent_it_is(w: World) -> None:
    assert [s.output for s in w.all(ev.SignalComputed)] != [0.0] * len(w.all(ev.SignalComputed))
    assert w.all(ev.SignalComputed)[3].band != "near_completion"


def the_control_section_says_the_alarm(w: World) -> None:
    assert w.all(ev.AlarmRaised)
    assert "The redirect above says how to continue" in control_section(w)


def what_does_not_fit_is_said_before_the_session(w: World) -> None:
    assert [done for done in w.all(ev.ValidationDone) if done.when == "before"]


def the_agent_is_told_the_objective(w: World) -> None:
    assert w.all(ev.PromptPrepared)
    assert "Fix it" in w.agent.prompts[0]


def an_agent_works(w: World) -> None:
    assert w.all(ev.SessionStarted)


def the_iteration_is_measured(w: World) -> None:
    assert [reading.iteration for reading in w.all(ev.ReadingTaken)][:3] == [0, 1, 2]


def the_reading_is_judged(w: World) -> None:
    assert w.all(ev.SignalComputed)


def somebody_is_asked(w: World) -> None:
    assert next((made.level for made in w.all(ev.InterventionMade)), "") == "REDIRECT"


def the_health_is_checked(w: World) -> None:
    assert {check.iteration for check in w.all(ev.HealthChecked)} >= {1, 2, 3}


def what_was_learned_is_staged(w: World) -> None:
    second = [e.seq for e in w.all(ev.IterationStarted)][1]
    # Pending items are processed at the run's end.
    assert [staged for staged in w.all(ev.LearningStaged) if staged.seq < second]


def what_is_proven_is_promoted(w: World) -> None:
    assert w.all(ev.LearningPromoted)


def the_iteration_is_recorded(w: World) -> None:
    assert [done.iteration for done in w.all(ev.IterationFinished)][:3] == [1, 2, 3]


EFFECTS: dict[int, Callable[[World], None]] = {
    1: the_assessment_is_kept,
    2: the_prompt_carries_what_was_learned,
    3: the_prompt_says_the_strategy,
    4: the_control_section_knows_how_far_it_is,
    5: the_gains_are_damped_after_the_redirect,
    6: the_control_section_says_how_urgent_it_is,
    7: the_control_section_says_the_alarm,
    8: what_does_not_fit_is_said_before_the_session,
    9: the_agent_is_told_the_objective,
    10: an_agent_works,
    11: the_iteration_is_measured,
    12: the_reading_is_judged,
    13: somebody_is_asked,
    14: the_health_is_checked,
    15: what_was_learned_is_staged,
    16: what_is_proven_is_promoted,
    17: the_iteration_is_recorded,
}


@pytest.fixture(scope="module")
def whole() -> World:
    return world().run()


def test_there_are_17_steps() -> None:
    assert sorted(STEPS) == list(range(18))  # 0 is the preparation
    assert list(EFFECTS) == list(CARRIED_OUT_BY) == list(range(1, 18))


def test_an_iteration_takes_them_in_their_order(whole: World) -> None:
    for k in (1, 2, 3):
        entered = [e.step for e in whole.all(ev.StepEntered) if e.iteration == k]
        assert entered == list(range(1, 18))


def test_what_a_step_records_stands_between_it_and_the_next(whole: World) -> None:
    """The order in the journal, not in the steps' own announcements."""
    belongs = {
        "learnings_retrieved": 2,
        "strategy_planned": 3,
        "prompt_prepared": 9,
        "session_started": 10,
        "gate_started": 11,
        "reading_taken": 11,
        "assessment_made": 11,
        "signal_computed": 12,
        "alarm_raised": 12,
        "intervention_made": 13,
        "learning_staged": 15,
        "learning_promoted": 16,
        "iteration_finished": 17,
    }
    seen, step = set(), 0
    for event in whole.events[:-12]:  # the end of the run records what is left
        if isinstance(event, ev.StepEntered):
            step = event.step
        elif isinstance(event, ev.IterationStarted):
            step = 0
        elif event.kind in belongs and step:
            seen.add(event.kind)
            assert belongs[event.kind] == step, event
    assert seen == set(belongs)


def test_nothing_of_an_iteration_comes_after_its_record(whole: World) -> None:
    kinds = whole.kinds("iteration_started", "iteration_finished")
    assert all(a != b for a, b in pairwise(kinds))


@pytest.mark.parametrize("step", EFFECTS, ids=lambda n: f"{n}-{EFFECTS[n].__name__}")
def test_each_step_has_its_effect(step: int, whole: World) -> None:
    EFFECTS[step](whole)


@pytest.mark.parametrize("step", CARRIED_OUT_BY, ids=lambda n: f"{n}-{EFFECTS[n].__name__}")
def test_without_a_step_its_effect_is_missing(step: int) -> None:
    owner, name, replacement_agent = CARRIED_OUT_BY[step]
    lame = world()
    # Some cannot even continue; their results are checked anyway.
    with patch.object(owner, name, replacement_agent), suppress(AssertionError, LookupError):
        lame.run()
    with pytest.raises((AssertionError, LookupError)):
        EFFECTS[step](lame)
