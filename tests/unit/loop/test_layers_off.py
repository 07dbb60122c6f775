"""Each layer off, alone and with others: the run still ends correctly.

It reports only what the remaining layers know, and so does its resume.
"""

from functools import partial
from itertools import product

from ralph_tui import events as ev
from ralph_tui.config.settings import Settings
from ralph_tui.layers.intelligence import IntelligenceSettings
from ralph_tui.layers.oversight import OversightSettings
from ralph_tui.layers.settings import ControlSettings, MemorySettings
from tests.rows import each_row
from tests.world import owner
from tests.world.faults import Known, busy
from tests.world.world import World

RUNS = {
    "steady": [0, 2, 4, 6, 8, 10],
    "stuck": [3] * 12,
    "oscillating": [2, 4, 6, 4, 6, 4, 6, 4, 6, 4, 6],
}
BELONGS: dict[str, tuple[type[ev.Event], ...]] = {
    "control": (ev.AlarmRaised,),
    "oversight": (ev.HealthChecked, ev.InterventionMade),
    "memory": (ev.LearningsRetrieved, ev.LearningStaged, ev.PlanMade, ev.ReflectionWritten),
    "intelligence": (ev.AssessmentMade, ev.StrategyPlanned, ev.ValidationDone),
}
"""Events that only the layer records."""
ALWAYS: dict[str, tuple[type[ev.Event], ...]] = {
    "control": (),
    "oversight": (ev.HealthChecked,),
    "memory": (ev.LearningsRetrieved, ev.LearningStaged, ev.PlanMade, ev.ReflectionWritten),
    "intelligence": (ev.AssessmentMade, ev.StrategyPlanned, ev.ValidationDone),
}
"""Events that it records in any run."""
HEADINGS = {"control": "# Control", "memory": "Run one test at a time.", "intelligence": "# Strat"}
"""Prompt text that only it writes."""
LAYERS = tuple(BELONGS)
COMBINATIONS = [
    frozenset(name for name, on in zip(LAYERS, chosen, strict=True) if on)
    for chosen in product((True, False), repeat=4)
]
FEW = [layers for layers in COMBINATIONS if len(layers) in (0, 3, 4)]
"""All of them, none, and each one switched off."""


def settings_with(layers: frozenset[str]) -> Settings:
    return Settings(
        control=ControlSettings(enabled="control" in layers),
        oversight=OversightSettings(enabled="oversight" in layers),
        memory=MemorySettings(enabled="memory" in layers),
        intelligence=IntelligenceSettings(enabled="intelligence" in layers),
    )


def check(world: World, layers: frozenset[str]) -> None:
    assert isinstance(world.events[-1], ev.RunFinished)
    assert not [event for event in world.all(ev.Noticed) if event.level == "error"]
    for layer in LAYERS:
        found = {type(event) for kind in BELONGS[layer] for event in world.all(kind)}
        if layer in layers:
            assert found >= set(ALWAYS[layer])
        else:
            assert not found
    for prompt in world.agent.prompts:
        assert "Fix it" in prompt
        assert "pytest -q" in prompt
        assert "<promise>COMPLETE</promise>" in prompt
        for layer, words in HEADINGS.items():
            assert layer in layers or words not in prompt


def in_words(layers: frozenset[str]) -> str:
    return "+".join(name for name in LAYERS if name in layers) or "none"


@each_row(
    ("run", "layers"),
    [
        *(("oscillating", layers) for layers in COMBINATIONS),
        *((run, layers) for run in ("steady", "stuck") for layers in FEW),
    ],
)
def test_a_run_needs_none_of_its_layers(run: str, layers: frozenset[str]) -> None:
    settings = settings_with(layers)
    whole = busy(RUNS[run], settings, max_iterations=10).play(owner.first)
    check(whole, layers)
    hopeless = "aborted" if "oversight" in layers else "limit_reached"
    ends = {"steady": "completed", "stuck": hopeless, "oscillating": "limit_reached"}
    assert whole.end.outcome == ends[run]
    begun = [event.iteration for event in whole.all(ev.IterationStarted)]
    assert [event.iteration for event in whole.all(ev.ReadingTaken)] == [0, *begun]
    assert [event.iteration for event in whole.all(ev.SignalComputed)] == begun
    if run == "oscillating":
        assert bool(whole.all(ev.InterventionMade)) is ("oversight" in layers)


@each_row("layers", FEW)
def test_its_resume_needs_none_of_them_either(layers: frozenset[str]) -> None:
    """Killed right after the measurement of iteration 5, which the resume then evaluates."""
    settings, readings = settings_with(layers), RUNS["oscillating"]
    first = busy(readings, settings, max_iterations=8)
    for event in first.steps():
        if isinstance(event, ev.ReadingTaken) and event.iteration == 5:
            break
    again = busy(readings[6:], settings, max_iterations=8, past=first.events, knowledge=Known())
    again.play(owner.first, partial(again.loop.resume, ev.RunResumed()))
    check(again, layers)
    assert [event.iteration for event in again.all(ev.ReadingTaken)] == list(range(9))
    assert [event.iteration for event in again.all(ev.SignalComputed)] == list(range(1, 9))
