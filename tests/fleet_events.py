"""A plan of a few loops, and random events of a fleet that runs it."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from ralph_tui.fleet import events as ev
from ralph_tui.fleet.events import FleetEvent
from ralph_tui.fleet.plan import Plan
from ralph_tui.ports.clones import Choice, Loop

START = datetime(2026, 1, 1, tzinfo=UTC)
HOSTS = ("one", "two", "three")
IDS = ("1", "2", "3a", "3b", "3c", "4")

ids = st.sampled_from(IDS)
hosts = st.sampled_from(HOSTS)
times = st.integers(0, 10_000).map(lambda s: START + timedelta(seconds=s))
dollars = st.none() | st.floats(0, 50)
points = st.none() | st.floats(0, 1)
words = st.sampled_from(("", "a reason"))


def a_loop(name: str, **more: object) -> Loop:
    """One loop with a command of its own; `more`: fields of `Loop`."""
    fields = {"id": name, "objective": f"Objective {name}", "command": "true", **more}
    return Loop.model_validate(fields)


def three_tries(choice: Choice = "first", **more: object) -> tuple[Loop, ...]:
    """3a, 3b and 3c."""
    return tuple(a_loop(f"3{one}", tries_at="3", choice=choice, **more) for one in "abc")


def a_plan(*loops: Loop, **more: object) -> Plan:
    """`more`: fields of `Plan`."""
    return Plan.model_validate({"loops": loops, "start_every_s": 0.0, **more})


def started(plan: Plan) -> ev.FleetStarted:
    """The first event of a fleet's journal."""
    return ev.FleetStarted(fleet_id="f", name="fleet-001", root="/r", commit="c0", plan=plan)


def stamped(events: list[FleetEvent], first: int = 1) -> list[FleetEvent]:
    """Number and time events as in a journal, a second apart."""
    return [
        event.model_copy(update={"seq": number, "at": START + timedelta(seconds=number)})
        for number, event in enumerate(events, first)
    ]


SIX = a_plan(a_loop("1"), a_loop("2", account="work"), *three_tries(), a_loop("4", after=("1",)))

outcomes = st.sampled_from(("completed", "limit_reached", "aborted", "failed", "interrupted"))

an_event: st.SearchStrategy[FleetEvent] = st.one_of(
    st.builds(ev.FleetResumed, by=st.just("you")),
    st.builds(ev.HostJoined, host=hosts, slots=st.integers(1, 3), machine=hosts),
    st.builds(ev.HostRefused, host=hosts, reason=words),
    st.builds(ev.HostLost, host=hosts, reason=words, left=st.booleans()),
    st.builds(ev.HostLeaving, host=hosts, reason=words),
    st.builds(
        ev.LoopPlaced, loop=ids, attempt=st.integers(1, 3), host=hosts, branch=ids,
        budget_usd=dollars, resumed=st.booleans(),
    ),
    st.builds(ev.LoopStage, loop=ids, stage=st.sampled_from(("cloning", "setup"))),
    st.builds(
        ev.LoopBegan, loop=ids, run_id=ids, run=st.just("task-001/001"), folder=ids,
        ports=st.none() | st.just((9000, 9009)),
    ),
    st.builds(
        ev.LoopProgressed, loop=ids, phase=st.sampled_from(("agent", "limited", "paused")),
        waits_for=st.sampled_from(("", "usage_limit", "disk_full")), iteration=st.integers(0, 9),
        completion=points, best=points, cost_usd=dollars, question=words, until=st.none() | times,
    ),
    st.builds(ev.LoopLost, loop=ids, until=times),
    st.builds(ev.LoopAdopted, loop=ids, host=hosts, known=st.integers(0, 9)),
    st.builds(ev.LoopRetried, loop=ids),
    st.builds(ev.LoopStopAsked, loop=ids, reason=words, now=st.booleans()),
    st.builds(
        ev.LoopEnded, loop=ids, outcome=outcomes, reason=words, iterations=st.integers(0, 9),
        completion=points, cost_usd=dollars, never_began=st.booleans(),
    ),
    st.builds(ev.LoopRequeued, loop=ids, reason=words, resume=st.booleans()),
    st.builds(ev.LoopSkipped, loop=ids, reason=words),
    st.builds(ev.TreeRemoved, loop=ids),
    st.builds(ev.CollectionAsked, loop=ids),
    st.builds(ev.ResultCollected, loop=ids, branch=ids, commit=ids, files=st.integers(0, 9)),
    st.builds(ev.CollectionFailed, loop=ids, reason=words, final=st.booleans()),
    st.builds(
        ev.AttemptKept, loop=ids, attempt=st.integers(1, 3), host=ids, branch=ids | st.just(""),
    ),
    st.builds(
        ev.ConflictsFound, branch=ids,
        others=st.dictionaries(ids, st.just(("a.py", "b.py")), max_size=2), unknown=words,
    ),
    st.builds(ev.VerificationBegan, loop=ids),
    st.builds(ev.WinnerVerified, loop=ids, passed=st.booleans(), reason=words),
    st.builds(
        ev.WinnerChosen, tries_at=st.just("3"), loop=st.sampled_from(("3a", "3b", "")),
        reason=words,
    ),
    st.builds(
        ev.AccountHeld, account=st.sampled_from(("", "work")), until=st.none() | times,
        cause=st.sampled_from(("", "usage_limit", "outage")), reason=words,
    ),
    st.builds(ev.AccountReleased, account=st.sampled_from(("", "work")), loop=ids),
    st.builds(
        ev.BudgetReached, percent=st.sampled_from((90, 100)), spent_usd=st.just(9.0),
        budget_usd=st.just(10.0),
    ),
    st.builds(ev.CommandGiven, loop=ids | st.just(""), name=st.sampled_from(("abort", "pause"))),
    st.builds(ev.FleetNoticed, text=words),
    st.builds(ev.StopAsked, by=st.just("you"), now=st.booleans(), abort=st.booleans()),
    st.builds(ev.FleetFinished, outcome=outcomes, reason=words),
)  # fmt: skip
"""Any kind except the first, in no sensible order."""


@st.composite
def a_journal(draw: st.DrawFn, plan: Plan = SIX) -> list[FleetEvent]:
    """The first event, and any others behind it."""
    return stamped([started(plan), *draw(st.lists(an_event, max_size=40))])
