"""A prompt carries the learnings found for it, whatever changes afterwards."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.events.memory import Change, Learning, Retrieved
from ralph_tui.state import RunState

NAMES = ["learn-a", "learn-b", "learn-c"]
names = st.sampled_from(NAMES)
texts = st.sampled_from(["Run one test.", "Mock the clock.", "Read the lexer."])


@st.composite
def learnings(draw: st.DrawFn) -> Learning:
    return Learning(
        learning_id=draw(names),
        type="strategy",
        task_type="general",
        text=draw(texts),
        confidence=0.8,
    )


@st.composite
def look_ups(draw: st.DrawFn) -> ev.LearningsRetrieved:
    found = draw(st.lists(learnings(), unique_by=lambda one: one.learning_id))
    retrieved = [
        Retrieved(**one.model_dump(), why="w", in_prompt=draw(st.booleans())) for one in found
    ]
    return ev.LearningsRetrieved(
        iteration=draw(st.integers(1, 3)), task_type="general", learnings=retrieved
    )


happenings: st.SearchStrategy[ev.Event] = st.one_of(
    look_ups(),
    st.builds(ev.LearningStaged, iteration=st.just(1), learning=learnings()),
    st.builds(
        ev.LearningPromoted,
        iteration=st.just(1),
        staged_id=names,
        learning=learnings(),
        because=st.just("b"),
    ),
    st.builds(
        ev.LearningCredited, iteration=st.integers(1, 3), learning_id=names, success=st.booleans()
    ),
    st.builds(
        ev.LearningChanged, learning_id=names, change=st.sampled_from(get_args(Change)), text=texts
    ),
)


@given(st.lists(happenings, max_size=25))
def test_what_was_sent_stays_until_the_next_look_up(events: list[ev.Event]) -> None:
    state = RunState()
    looked_up: list[Retrieved] = []
    sent: dict[int, dict[str, str]] = {}
    credited: dict[str, set[int]] = {}
    for event in events:
        state.apply(event)
        if isinstance(event, ev.LearningsRetrieved):
            looked_up = event.learnings
            reported = {one.learning_id: one.text for one in looked_up if one.in_prompt}
            sent[event.iteration] = sent.get(event.iteration, {}) | reported
        memory = state.memory
        assert [one.looked_up for one in memory.current] == looked_up
        carried = [one for one in looked_up if one.in_prompt]
        assert [one.looked_up for one in memory.in_prompt] == carried
        assert all(key == one.learning.learning_id for key, one in memory.seen.items())
        for iteration, reported in sent.items():
            assert {one.sent[iteration] for one in memory.carried(iteration)} >= set(
                reported.values()
            )
        if isinstance(event, ev.LearningCredited):
            credited.setdefault(event.learning_id, set()).add(event.iteration)
        if isinstance(event, ev.LearningPromoted):  # the result under its first name stays, too
            before = credited.get(event.staged_id, set())
            credited.setdefault(event.learning.learning_id, set()).update(before)
        for one in memory.current:
            assert one.looked_up is not None
            # Its result stays with it.
            name = one.looked_up.learning_id
            assert name != one.learning.learning_id or credited.get(name, set()) >= set(one.credits)
