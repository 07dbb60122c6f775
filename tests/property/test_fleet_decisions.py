"""A fleet's decisions keep its rules whatever happens, and it terminates."""

from datetime import timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.fleet.decisions import decide
from ralph_tui.fleet.decisions.results import objective_outcomes
from ralph_tui.fleet.plan import Plan
from ralph_tui.ports.clones import Loop
from tests.fleet_events import a_loop, a_plan
from tests.fleet_world import PlayedFleet

HOSTS = ("one", "two", "three")
OUTCOMES = ("completed", "completed", "failed", "limit_reached", "aborted", "interrupted")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    loops: list[Loop] = []
    for number in range(1, draw(st.integers(1, 6)) + 1):
        tries = draw(st.integers(1, 3))
        more = {
            "account": draw(st.sampled_from(("", "work", "home"))),
            "after": tuple(
                draw(st.sets(st.sampled_from([str(n) for n in range(1, number)]), max_size=2))
            ) if number > 1 and draw(st.booleans()) else (),
            "choice": draw(st.sampled_from(("first", "all"))),
            "settings": draw(st.sampled_from(({}, {"limits.budget_usd": "3"}))),
        }  # fmt: skip
        names = [f"{number}{letter}" for letter in "abc"[:tries]] if tries > 1 else [str(number)]
        common = str(number) if tries > 1 else ""
        loops += [a_loop(name, tries_at=common, **more) for name in names]
    return a_plan(
        *loops,
        budget_usd=draw(st.none() | st.floats(0.5, 20)),
        accounts=draw(st.sampled_from(({}, {"work": 1}, {"work": 2, "home": 1}))),
        start_every_s=draw(st.sampled_from((0.0, 5.0))),
        lease_s=draw(st.sampled_from((5.0, 600.0))),
    )


def something_happens(fleet: PlayedFleet, chance: Random) -> None:
    state = fleet.state
    placing = [name for name, loop in state.loops.items() if loop.status == "placing"]
    running = [name for name, loop in state.loops.items() if loop.status == "running"]
    here = [name for name, host in state.hosts.items() if host.here]
    away = [name for name in HOSTS if name not in here]
    what = chance.randrange(12)
    if what == 0 and away:
        fleet.join(chance.choice(away), chance.randint(1, 3))
    elif what == 1 and here:
        fleet.lose(chance.choice(here), killed=chance.random() < 0.5)
    elif what == 2 and placing:
        fleet.end(chance.choice(placing), "failed", reason="set-up", never_began=True)
    elif what in (3, 4, 5) and placing:
        fleet.begin(chance.choice(placing))
    elif what in (6, 7) and running:
        spends(fleet, chance.choice(running), chance)
    elif what == 8 and running:
        until = fleet.now + timedelta(seconds=chance.choice((30, 900)))
        fleet.say(chance.choice(running), "limited", waits_for="usage_limit", until=until)
    elif what == 9 and running:
        fleet.process_gone(chance.choice(running))
    elif what == 10 and running:
        fleet.end(chance.choice(running), chance.choice(OUTCOMES), cost_usd=chance.random())  # type: ignore[arg-type]
    else:
        answers(fleet, chance)


def spends(fleet: PlayedFleet, name: str, chance: Random) -> None:
    loop = fleet.state.loops[name]
    most = loop.given_usd if loop.given_usd is not None else 5.0
    cost = max(loop.cost_usd or 0.0, chance.uniform(0, 1.1 * most))
    fleet.say(name, chance.choice(("agent", "verifying", "paused")), cost_usd=cost)


def answers(fleet: PlayedFleet, chance: Random) -> None:
    for name, loop in fleet.state.loops.items():
        host = fleet.state.hosts.get(loop.host)
        if loop.collecting and host is not None and host.here:
            fleet.collect(name, changed_lines=chance.randint(0, 99))
        elif loop.verifying:
            fleet.verify(name, passed=chance.random() < 0.7)


def rest_of_it(fleet: PlayedFleet, chance: Random) -> None:
    """Let every loop finish without further faults."""
    for name, loop in list(fleet.state.loops.items()):
        if loop.status == "placing":
            fleet.begin(name)
        if loop.status == "running" and loop.limited:
            fleet.say(name, "agent", cost_usd=loop.cost_usd)
        elif loop.status == "running":
            fleet.end(name, chance.choice(OUTCOMES))  # type: ignore[arg-type]
    answers(fleet, chance)


@given(
    plans(),
    st.randoms(use_true_random=False),
    st.integers(0, 80),
    st.sampled_from((HOSTS, ("one",))),
)
def test_rules_are_kept_and_every_fleet_ends(
    plan: Plan, chance: Random, steps: int, back: tuple[str, ...]
) -> None:
    fleet = PlayedFleet(plan)
    fleet.join("one")
    for _ in range(steps):
        fleet.settle()
        if fleet.state.finished:
            break
        something_happens(fleet, chance)
        fleet.wait(chance.choice((0, 1, 7, 60, 700)))
    fleet.settle()
    if not fleet.state.finished:
        for name in back:
            host = fleet.state.hosts.get(name)
            if host is None or not host.here:
                fleet.join(name)
    for _ in range(60 * len(plan.loops)):
        fleet.settle()
        if fleet.state.finished:
            break
        rest_of_it(fleet, chance)
        fleet.wait(200)
    finished = fleet.state.finished
    assert finished is not None, fleet.state
    assert decide(fleet.state, fleet.now) == []
    outcomes = set(objective_outcomes(fleet.state).values())
    assert (finished.outcome == "completed") == (outcomes <= {"completed"})
    assert all(loop.over for loop in fleet.state.loops.values())
    assert not [runs for runs in fleet.alive.values() if any(not run.until for run in runs)]
