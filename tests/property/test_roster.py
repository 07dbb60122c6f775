"""Which of several agents works: rules for every order, refusal and time."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.loop.steps.agents import (
    STARTS,
    Refusals,
    UseAgent,
    WaitForAgent,
    choose_first,
    choose_next,
    free_at,
)
from ralph_tui.state.roster import Cause, Refusal

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ORDER = ("a", "b", "c")
CAUSES: tuple[Cause, ...] = (
    "usage_limit", "overload", "outage", "auth", "missing", "not_started", "unknown_model",
)  # fmt: skip

seconds = st.integers(-20_000, 20_000).map(lambda s: NOW + timedelta(seconds=s))


@st.composite
def a_refusal(draw: st.DrawFn) -> Refusal:
    at = NOW - timedelta(seconds=draw(st.integers(0, 10_000)))
    since = at - timedelta(seconds=draw(st.integers(0, 10_000)))
    cause = draw(st.sampled_from(CAUSES))
    resets = draw(st.none() | seconds)
    return Refusal(cause, "", at, since, draw(st.integers(0, 9)), resets)


some = st.dictionaries(st.sampled_from(ORDER), a_refusal())


def is_free(refusals: Refusals, name: str, now: datetime = NOW) -> bool:
    if name not in refusals:
        return True
    at = free_at(refusals[name])
    return at is not None and at <= now


@given(some)
def test_an_iteration_begins_with_the_first_that_is_free(refusals: Refusals) -> None:
    name = choose_first(ORDER, refusals, NOW)
    free = [one for one in ORDER if is_free(refusals, one)]
    assert name == (free[0] if free else name)
    assert name in ORDER


@given(some, a_refusal(), st.sampled_from(ORDER), st.floats(0, 20_000))
def test_nobody_works_who_is_refused_and_nobody_is_left_idle(
    refusals: dict[str, Refusal], own: Refusal, current: str, patience_s: float
) -> None:
    refusals = refusals | {current: own}
    step = choose_next(ORDER, refusals, current, NOW, patience_s)
    others = [name for name in ORDER if name != current and is_free(refusals, name)]
    ends = [at for name in ORDER if name in refusals if (at := free_at(refusals[name]))]
    match step:
        case UseAgent(agent) if own.cause == "not_started" and own.tries < STARTS:
            assert agent == current
        case UseAgent(agent):
            assert agent == others[0]
        case WaitForAgent(agent, until):
            assert until == free_at(refusals[agent])
            at = free_at(own)
            short = at is not None and (at - own.since).total_seconds() <= patience_s
            assert (agent == current and short) or (not others and until == min(ends))
        case None:
            assert not others
            assert not ends


@given(st.lists(st.tuples(st.sampled_from(CAUSES),
                          st.none() | st.integers(60, 50_000)), max_size=30),
       st.floats(0, 5_000))  # fmt: skip
def test_it_ends_with_somebody_at_work_or_nobody_able(
    refused: list[tuple[Cause, int | None]], patience_s: float
) -> None:
    refusals: dict[str, Refusal] = {}
    now, steps, left = NOW, 0, list(refused)
    current = choose_first(ORDER, refusals, now)
    while left:
        cause, resets = left.pop()
        before = refusals.get(current)
        again = before if before is not None and before.cause == cause else None
        until = None if resets is None else now + timedelta(seconds=resets)
        refusals[current] = Refusal(
            cause,
            "", now, again.since if again else now, again.tries + 1 if again else 1, until,
        )  # fmt: skip
        step = choose_next(ORDER, refusals, current, now, patience_s)
        if step is None:
            assert all(one.limit is None for one in refusals.values())
            assert set(refusals) == set(ORDER)
            return
        if isinstance(step, WaitForAgent):
            assert step.until >= now
            now = max(now, step.until)
        else:
            own = refusals[current]
            once_more = own.cause == "not_started" and own.tries < STARTS
            assert step.agent == current if once_more else is_free(refusals, step.agent, now)
        current, steps = step.agent, steps + 1
    assert steps == len(refused)
    if current in refusals and refusals[current].cause == "not_started":
        del refusals[current]  # it starts this time
    # Somebody works; once all limits are over, the first that may work is back.
    later = now + timedelta(days=2)
    able = [name for name in ORDER if name not in refusals or refusals[name].limit]
    assert choose_first(ORDER, refusals, later) == able[0]
