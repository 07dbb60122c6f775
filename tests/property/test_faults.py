"""Whatever fails in the layers of a run, and however: it ends properly, and loses no words of its
owner.
"""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.commands import Guide, Instruct
from ralph_tui.config.settings import Settings
from ralph_tui.layers.intelligence import IntelligenceSettings
from tests.examples import FEWER
from tests.world import owner
from tests.world.faults import ALL, GARBAGE, Fault, busy, injected

SETTINGS = Settings(
    intelligence=IntelligenceSettings(
        model_prompts=True, model_assessment=True, model_reflections=True
    )
)
LASTING = [part for part in ALL if part.name != "run"]
KINDS = ["raise", *(name for name in GARBAGE if name != "long")]
INSTRUCTION, GUIDANCE = "Touch no file below vendor.", "Begin with the lexer."
faults = st.lists(
    st.builds(
        Fault,
        st.sampled_from(LASTING),
        st.sampled_from(KINDS),
        st.frozensets(st.integers(0, 6), min_size=1, max_size=3),
    ),
    max_size=4,
    unique_by=lambda fault: fault.part,
)


@given(faults)
@FEWER
def test_any_faults_end_no_run_and_lose_no_word(chosen: list[Fault]) -> None:
    world = busy([2, 4, 6, 4, 6, 4, 6], SETTINGS, max_iterations=6)
    world.host.inbox.extend([Instruct(text=INSTRUCTION), Guide(text=GUIDANCE)])
    with injected(world, *chosen):
        world.play(owner.first)
    assert isinstance(world.events[-1], ev.RunFinished)
    assert world.end.outcome in ("limit_reached", "aborted"), world.end.reason
    assert [event.iteration for event in world.all(ev.ReadingTaken)] == list(range(7))
    assert [event.iteration for event in world.all(ev.SignalComputed)] == list(range(1, 7))
    assert all(0 <= event.completion < 100 for event in world.all(ev.ReadingTaken))
    for prompt in world.agent.prompts:
        assert "Fix it" in prompt
        assert INSTRUCTION in prompt
    assert GUIDANCE in world.agent.prompts[0]
    queued = {event.guidance_id for event in world.all(ev.GuidanceQueued)}
    assert queued <= {event.guidance_id for event in world.all(ev.GuidanceDelivered)}
    assert len(world.all(ev.IterationStarted)) == 6
