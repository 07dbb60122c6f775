"""Window usage of finished items, for any recorded run."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.layers.context.sizes import BUDGETS, estimate
from ralph_tui.state import RunState

TOKENS = st.one_of(st.none(), st.integers(-10, 2_000_000))
USAGE = st.builds(
    ev.UsageReported, iteration=st.just(1), context_tokens=TOKENS, context_window=TOKENS
)
BEGAN = st.builds(
    ev.PlanItemBegan,
    iteration=st.just(1),
    item=st.sampled_from(["", "a", "b [complex]"]),
    size=st.sampled_from(list(BUDGETS)),
    basis=st.sampled_from(["tag", "history", "default"]),
    done=st.integers(-2, 5),
)
OTHERS: list[ev.Event] = [
    ev.SessionStarted(iteration=1, session_id="s", agent="fake"),
    ev.IterationStarted(iteration=2, max_iterations=5),
]
COMPACTED = st.builds(ev.ContextCompacted, iteration=st.just(1), before=TOKENS, after=TOKENS)
EVENTS = st.lists(st.one_of(USAGE, USAGE, BEGAN, COMPACTED, st.sampled_from(OTHERS)), max_size=40)


@given(EVENTS)
def test_whatever_is_recorded_an_item_took_something_and_its_estimate_keeps_to_the_table(
    events: list[ev.Event],
) -> None:
    state = RunState().apply_all(events)
    taken = state.plan_items.taken
    assert all(points > 0 for _, _, points in taken)
    finished = sum(isinstance(event, ev.PlanItemBegan) for event in events)
    assert len(taken) <= max(0, finished - 1)
    for item in ("a", "b [complex]"):
        known = estimate(item, taken)
        assert BUDGETS[known.size].low <= known.low <= known.high <= BUDGETS[known.size].high


@given(
    st.lists(st.lists(st.integers(0, 20_000), max_size=5), min_size=1, max_size=5),
    st.integers(1_000, 50_000),
)
def test_an_item_takes_what_its_sessions_added_and_not_what_they_began_with(
    sessions: list[list[int]], base: int
) -> None:
    window = 200_000
    state = RunState()
    state.apply(ev.PlanItemBegan(iteration=1, item="a", size="medium", basis="default"))
    for steps in sessions:
        state.apply(ev.SessionStarted(iteration=1, session_id="s", agent="fake"))
        used = base
        for added in [0, *steps]:
            used += added
            state.apply(ev.UsageReported(iteration=1, context_tokens=used, context_window=window))
    state.apply(ev.PlanItemBegan(iteration=1, item="b", size="medium", basis="default", done=2))
    added = sum(map(sum, sessions))
    points = [points for _, _, points in state.plan_items.taken]
    assert [round(each, 6) for each in points] == ([round(50 * added / window, 6)] if added else [])
