"""The plan's next item is noticed during work, and gets a fresh session if necessary."""

from itertools import pairwise

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.records.summary import context_status
from ralph_tui.config.settings import Settings
from ralph_tui.events.context import ItemTaken
from ralph_tui.layers.context.sizes import Basis
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.layers.settings import ContextSettings
from ralph_tui.loop.steps.plan_items import LOOK_S
from ralph_tui.ports.knowledge import NoPastRuns
from tests.world import World
from tests.world.faults import GARBAGE, BrokenError, Fault, Part, injected

WINDOW = 200_000


def plan(done: int, *items: str) -> Progress:
    """This many items are done."""
    return Progress(done, len(items), tuple((text, n < done) for n, text in enumerate(items)))


class Work:
    """A working session whose actions come one by one, seconds apart."""

    def __init__(self, world: World, *items: str) -> None:
        self.world = world
        self.items = items
        self.looks = 0
        world.plan = plan(0, *items)
        world.agent.acts.append(lambda _: None)

    def then(self, event: ev.Event, done: int | None = None) -> "Work":
        """After the event this many items are done, and the plan is checked."""

        def come() -> ev.Event:
            if done is not None:
                self.world.plan = plan(done, *self.items)
            return event

        self.world.host.idle.extend([come, *[lambda: None] * 8])
        return self

    def calls(self, percent: float, done: int | None = None) -> "Work":
        """A tool call, after which the window is this full and this many items are done."""
        name = f"t{len(self.world.host.idle)}"
        self.then(ev.ToolStarted(iteration=1, tool_id=name, tool="Edit")).full(percent)
        return self.then(ev.ToolFinished(iteration=1, tool_id=name, ok=True), done)

    def full(self, percent: float) -> "Work":
        """The window is this full."""
        used = int(WINDOW * percent / 100)
        usage = ev.UsageReported(iteration=1, context_tokens=used, context_window=WINDOW)
        return self.then(usage)

    def ends(self) -> World:
        """End its turn, and play the run."""
        self.then(ev.SessionFinished(iteration=1, outcome="success"))
        return self.world.run()


def world(**fields: object) -> World:
    return World([0, 10], plan="PLAN.md", **fields)  # type: ignore[arg-type]


def began(world: World) -> list[tuple[str, str, str]]:
    return [(e.item, e.size, e.basis) for e in world.all(ev.PlanItemBegan)]


def rollovers(world: World) -> list[tuple[str, str]]:
    return [(e.cause, e.reason) for e in world.all(ev.RolloverBegan)]


def test_the_first_open_item_is_told_at_the_start_and_when_it_changes() -> None:
    run = Work(world(), "Read dates [simple]", "Write dates").full(10).calls(20, done=1).ends()
    assert began(run) == [
        ("Read dates [simple]", "simple", "tag"),
        ("Write dates", "medium", "default"),
    ]
    first, second = run.all(ev.PlanItemBegan)
    assert (first.percent, first.done, first.total) == (None, 0, 2)
    assert (second.percent, second.done, second.total) == (20.0, 1, 2)
    assert run.state.plan_items.taken == [("simple", "tag", 10.0)]
    assert not rollovers(run)


def test_what_a_session_ticks_last_is_noticed_when_it_is_over() -> None:
    work = Work(world(), "a [simple]", "b").full(10)

    def ends() -> ev.Event:
        work.world.plan = plan(2, "a [simple]", "b")
        return ev.SessionFinished(iteration=1, outcome="success")

    work.world.host.idle.append(ends)
    run = work.world.run()
    assert [item for item, _, _ in began(run)] == ["a [simple]", ""]
    assert not rollovers(run)


def test_an_item_that_does_not_fit_gets_a_fresh_session() -> None:
    run = Work(world(), "a [simple]", "b [complex]").full(10).calls(55, done=1).ends()
    assert rollovers(run) == [
        ("item", "the next item (complex, up to 60 %) does not fit in the remaining 30 %")
    ]
    assert [e.outcome for e in run.all(ev.SessionFinished)][:2] == ["rolled_over", "success"]
    assert len(began(run)) == 2, "the fresh session begins with the item that is known"


def test_an_item_that_fits_does_not() -> None:
    run = Work(world(), "a [simple]", "b [complex]").full(10).calls(25, done=1).ends()
    assert len(began(run)) == 2
    assert not rollovers(run)


@pytest.mark.parametrize("calls", [False, True])
def test_a_session_that_begins_with_a_large_item_keeps_it(*, calls: bool) -> None:
    """Without a call nothing was done; a fresh session would also begin with the item."""
    work = Work(world(), "b [complex]").full(60)
    run = (work.calls(70) if calls else work).ends()
    assert not rollovers(run)


def test_no_item_begins_a_few_calls_before_the_checkpoint() -> None:
    """The window has room for its size, but grows too fast."""
    work = Work(world(), "a", "b [trivial]").full(10)
    for percent in (28, 43, 58):
        work.calls(percent)
    run = work.calls(73, done=1).ends()
    assert rollovers(run) == [("item", "the next item would begin 1 tool call before 85 %")]


def test_an_item_begins_where_calls_are_left() -> None:
    work = Work(world(), "a", "b [trivial]").full(10)
    for percent in (62, 65, 68):
        work.calls(percent)
    run = work.calls(71, done=1).ends()
    assert len(began(run)) == 2
    assert not rollovers(run)


def test_an_item_is_no_reason_where_a_fresh_session_has_no_more_room() -> None:
    run = Work(world(), "a", "b [complex]").full(40).calls(44, done=1).ends()
    assert not rollovers(run)


def test_what_must_be_split_is_said_once_and_rolls_over_once() -> None:
    work = Work(world(), "a [simple]", "b [very complex]").full(5).calls(30, done=1)
    run = work.ends()
    said = [e.text for e in run.all(ev.Noticed) if e.source == "context"]
    assert said == [
        "the plan's next item (very complex) takes 60 % of a window or more: split it into "
        "smaller items"
    ]
    assert len(rollovers(run)) == 1


def test_nothing_is_rolled_over_where_that_is_switched_off() -> None:
    settings = Settings(context=ContextSettings(rollover=False))
    run = Work(world(settings=settings), "a", "b [complex]").full(10).calls(55, done=1).ends()
    assert len(began(run)) == 2
    assert not rollovers(run)


def test_a_plan_that_is_just_being_written_is_read_again() -> None:
    work = Work(world(), "a", "b [complex]").full(10)
    whole, torn = work.world.plan, plan(1, "a")
    looks: list[Progress | None] = []

    def read() -> Progress | None:
        """The session's second check comes while the file is being written."""
        if not work.world.agent.sessions:
            return whole
        looks.append(torn if len(looks) == 1 else whole)
        return looks[-1]

    object.__setattr__(work.world.loop._run.ports, "read_plan", read)
    run = work.calls(50).calls(55).ends()
    assert torn in looks
    assert began(run) == [("a", "medium", "default")]


def test_the_plan_is_read_no_more_than_every_few_seconds_and_only_after_a_sign() -> None:
    work = Work(world(), "a")
    at: list[float] = []
    ports = work.world.loop._run.ports
    clock = work.world.host.clock

    def read() -> Progress | None:
        at.append(clock.seconds)
        return work.world.plan

    object.__setattr__(ports, "read_plan", read)
    for n in range(6):
        work.then(ev.AgentSpoke(iteration=1, text=f"word {n}"))
    work.world.host.idle.extend([lambda: None] * 100)
    run = work.ends()
    assert run.end.outcome == "completed"
    # Before the session the baseline reads it; a new item is read twice at once.
    apart = [later - sooner for sooner, later in pairwise(at)]
    assert sum(gap < LOOK_S for gap in apart) <= 4, at
    assert 6 <= len(at) < 14, "a silent agent's plan is not read"


def test_a_plan_on_a_disk_that_hangs_holds_up_nothing() -> None:
    work = Work(world(), "a", "b").full(10)
    begun: list[str] = []

    def hangs(name: str) -> bool:
        """The session's first check hangs."""
        if name != "plan" or not work.world.agent.sessions:
            return False
        begun.append(name)
        return len(begun) == 1

    work.world.host.hangs = hangs
    run = work.calls(20, done=1).ends()
    assert begun
    assert run.end.outcome == "completed"


def test_without_a_plan_nothing_is_read() -> None:
    plain = World([0, 10])
    run = Work(plain, "a", "b").full(10).calls(20, done=1).ends()
    assert not run.all(ev.PlanItemBegan)


def test_a_resumed_run_repeats_nothing() -> None:
    run = Work(world(max_iterations=1), "a", "b [complex]").full(10).calls(20, done=1).ends()
    events = [e for e in run.events if e.kind != "run_finished"]
    again = world(past=events)
    again.plan = plan(1, "a", "b [complex]")
    again.run()
    assert began(again) == [("a", "medium", "default"), ("b [complex]", "complex", "tag")]


def test_what_finished_items_took_is_learned() -> None:
    work = Work(world(), "a", "b", "c", "d", "e").full(10)
    for done, percent in enumerate((15, 21, 26, 31), 1):
        work.calls(percent, done)
    run = work.ends()
    assert began(run)[-1] == ("e", "trivial", "history")
    assert [basis for _, _, basis in began(run)] == ["default"] * 4 + ["history"]


class Earlier(NoPastRuns):
    """An earlier run, whose items were small and whose windows filled up."""

    def __init__(self, *peaks: float, basis: Basis = "default", points: float = 6.0) -> None:
        self.peaks = [*peaks]
        self.taken = [ItemTaken(size="medium", basis=basis, points=points)] * 3

    def windows(self) -> ev.EarlierWindowsRead:
        return ev.EarlierWindowsRead(runs=1, items=self.taken, peaks=self.peaks)


def test_the_prompt_says_how_many_items_to_take_on_and_in_which_order() -> None:
    small = [f"{n} [trivial]" for n in range(9)]
    (prompt,) = Work(world(), *small).ends().agent.prompts
    assert "8 items fit into 85 % of a context window" in prompt
    (prompt,) = Work(world(), *small, "last [complex]").ends().agent.prompts
    assert "1. last [complex]" in prompt
    assert "2. 0 [trivial]" in prompt
    assert "take the first 3 below, in this order unless one depends on another." in prompt
    assert "Open items in this order" in prompt
    (prompt,) = Work(world(), *small, "x", "y", "z").ends().agent.prompts
    assert "and 2 more" in prompt
    learned = Work(world(past_runs=Earlier()), *map(str, range(9))).ends().agent.prompts[0]
    assert "0 (trivial, 6 % of a window)" in learned
    assert "9 items fit into 85 % of a context window" in learned

    def advised(size: str, past_runs: NoPastRuns | None = None) -> str:
        runs = world(past_runs=past_runs) if past_runs else world()
        (prompt,) = Work(runs, *(f"{n} [{size}]" for n in range(6))).ends().agent.prompts
        return prompt.partition("By their expected sizes, ")[2].partition(" of a context")[0]

    assert advised("simple") == "4 items fit into 85 %"
    assert advised("medium") == "2 items fit into 85 %"
    assert advised("complex") == "one item fits into 85 %"
    assert advised("medium", Earlier(basis="tag", points=22)) == "3 items fit into 85 %"


def test_sizes_are_learned_from_earlier_runs() -> None:
    run = Work(world(past_runs=Earlier(88, 90)), "a", "b").full(10).calls(20, done=1).ends()
    assert began(run) == [("a", "trivial", "history"), ("b", "trivial", "history")]
    assert "a (trivial, 6 % of a window)" in run.agent.prompts[0]
    assert "Context windows fill up here" in run.agent.prompts[0]
    assert "15 % for reviewing code" in run.agent.prompts[0]
    assert context_status(run.state)["taken"] == [
        {"size": "trivial", "basis": "history", "points": 10.0}
    ]


def test_delegation_is_advised_once_a_window_was_more_than_60_percent_full() -> None:
    def advises(prompt: str) -> bool:
        return (
            "If you have subagents, delegate heavy reading to them and use their summaries. As a "
            "rule of thumb, that saves 20 % of a window for exploring files, 15 % for reviewing "
            "code, 15 % for going through test results and 10 % for documentation"
        ) in prompt

    def is_advised(*peaks: float) -> bool:
        run = Work(world(past_runs=Earlier(*peaks)), "a").full(10).calls(20, done=1).ends()
        return advises(run.agent.prompts[0])

    assert [is_advised(60), is_advised(61)] == [False, True]
    assert [is_advised(61, *[10] * 4), is_advised(61, *[10] * 5)] == [True, False]
    own = Work(World([0, 3, 10], plan="PLAN.md"), "a").full(61).ends()
    assert [advises(prompt) for prompt in own.agent.prompts] == [False, True]


@pytest.mark.parametrize("kind", ["raise", *GARBAGE])
def test_an_item_whose_size_cannot_be_told_is_a_medium_one(kind: str) -> None:
    work = Work(world(), "a [simple]", "b [complex]").full(10).calls(30, done=1)
    part = Part("context", "ralph_tui.loop.steps.plan_items", "estimate")
    with injected(work.world, Fault(part, kind)) as met:
        run = work.ends()
    assert all(met.values())
    assert [size for _, size, _ in began(run)] == ["medium", "medium"]
    reported = [e for e in run.all(ev.Noticed) if e.level == "error"]
    assert len(reported) == 2
    assert all(e.source == "context" and "Traceback" in e.detail for e in reported)


def test_a_plan_that_cannot_be_understood_is_not_read_again_and_again() -> None:
    work = Work(world(), "a", "b").full(10)

    def read() -> Progress | None:
        if work.world.agent.sessions and not work.world.all(ev.SessionFinished):
            raise BrokenError("the plan")
        return work.world.plan

    object.__setattr__(work.world.loop._run.ports, "read_plan", read)
    run = work.calls(20).calls(30).ends()
    assert [e.source for e in run.all(ev.Noticed) if e.level == "error"] == ["sensor"]
    assert run.end.outcome == "completed"
