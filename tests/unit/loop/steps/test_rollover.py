"""A session whose window fills hands over, and a fresh one of the same iteration goes on."""

from collections.abc import Callable
from typing import Any

import pytest

from ralph_tui.commands import Abort, Guide, Pause, RetryNow, RollOver, Stop, Unpause
from ralph_tui.errors import WorkspaceError
from ralph_tui.events import (
    AgentReported,
    BackgroundAwaited,
    CommandRefused,
    ContextCompacted,
    ContextLevelReached,
    HandoffWritten,
    IterationFinished,
    Noticed,
    PromiseMade,
    RolloverBegan,
    SessionFinished,
    SessionStarted,
    SnapshotTaken,
    ToolFinished,
    ToolStarted,
    UsageReported,
    WaitStarted,
    WorkCommitted,
)
from ralph_tui.events.agent import BackgroundTask
from ralph_tui.layers.context.settings import ContextSettings
from ralph_tui.layers.memory.issues import standing
from ralph_tui.loop.run import Rules
from ralph_tui.ports import Committed
from ralph_tui.state.actions import Derivation
from tests.unit.loop.invariants import check
from tests.unit.loop.test_recovery import go_on
from tests.world import FakeSession, World, wait

WINDOW = 200_000
Act = Callable[[FakeSession], None]


def used(session: FakeSession, percent: float, window: int | None = WINDOW) -> None:
    """The session tells how full its window is."""
    tokens = int(WINDOW * percent / 100)
    k = session.iteration
    session.emit(UsageReported(iteration=k, context_tokens=tokens, context_window=window))


def begins(session: FakeSession, *tools: str) -> None:
    for tool in tools:
        session.emit(ToolStarted(iteration=session.iteration, tool_id=tool, tool="Edit"))


def ends(session: FakeSession, *tools: str) -> None:
    for tool in tools:
        session.emit(ToolFinished(iteration=session.iteration, tool_id=tool, ok=True))


def fills(*percents: float) -> Act:
    """An act: the window is so full, message by message, each of which uses a tool; then wait."""

    def act(session: FakeSession) -> None:
        for number, percent in enumerate(percents):
            used(session, percent)
            begins(session, f"t{number}")
            ends(session, f"t{number}")

    return act


def worlds(*acts: Act, passed: list[int] | None = None, **settings: Any) -> World:
    context = ContextSettings.model_validate(settings)
    world = World(passed or [3, 6, 10], rules=Rules(context=context))
    world.agent.acts.extend(acts)
    return world


def outcomes(world: World) -> list[str]:
    return [end.outcome for end in world.all(SessionFinished)]


def told(world: World, source: str = "context") -> list[str]:
    return [e.text for e in world.all(Noticed) if e.source == source]


def test_a_full_window_hands_over_within_the_iteration() -> None:
    world = worlds(fills(40, 71, 86)).run()
    levels = [(e.level, round(e.percent)) for e in world.all(ContextLevelReached)]
    assert levels == [("L1", 71), ("L2", 86)]
    assert outcomes(world)[:2] == ["rolled_over", "success"]
    (began,) = world.all(RolloverBegan)
    assert (began.iteration, began.number, began.cause) == (1, 1, "L2")
    (left,) = world.all(HandoffWritten)
    assert left.path.endswith("results/iter-001/handoff-1.md")
    assert "go on from here" not in world.agent.prompts[0]
    assert left.read_at in world.agent.prompts[1]
    assert [e.iteration for e in world.all(IterationFinished)][:2] == [1, 2]


def test_a_level_that_is_leapt_over_is_not_told() -> None:
    world = worlds(fills(40, 96)).run()
    assert [e.level for e in world.all(ContextLevelReached)] == ["L3"]


# -- what runs ends first --------------------------------------------------------------------------


def test_the_tools_that_run_end_first() -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)  # with the first words of the message; its tools follow
        begins(session, "a", "b")

    world = worlds(act)
    for tool in ("a", "b"):
        world.host.idle.append(None)
        world.host.idle.append(lambda tool=tool: ToolFinished(iteration=1, tool_id=tool, ok=True))
    asked: list[tuple[str, bool]] = []
    for event in world.steps():
        if isinstance(event, ToolFinished):
            asked.append((event.tool_id, world.agent.sessions[0].stopped))
        if event.kind == "rollover_began":
            break
    assert asked == [("a", False), ("b", False)]
    assert world.host.clock.seconds == 4


def test_a_tool_of_a_subagent_is_none_that_runs() -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)
        begins(session, "a")
        inner = ToolStarted(iteration=1, tool_id="i", tool="Read", parent="a")
        session.emit(inner)
        ends(session, "a")

    world = worlds(act)
    for event in world.steps():
        if event.kind == "rollover_began":
            break
    assert world.host.clock.seconds == 0


def test_a_tool_that_goes_on_is_waited_for_as_long_as_it_may_take() -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)
        begins(session, "a")

    for seconds in (60.0, 5.0):
        world = worlds(act, tool_wait_s=seconds)
        steps = world.steps()
        for event in steps:
            if event.kind == "context_level_reached":
                break
        reached = world.host.clock.seconds
        for event in steps:
            if event.kind == "session_finished":
                break
        assert seconds <= world.host.clock.seconds - reached <= seconds + 2
        assert outcomes(world) == ["rolled_over"]


def test_at_l3_nothing_is_waited_for() -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)
        begins(session, "a")
        used(session, 96)

    world = worlds(act)
    for event in world.steps():
        if event.kind == "rollover_began":
            break
    assert world.host.clock.seconds == 0
    assert world.all(RolloverBegan)[0].cause == "L3"
    assert not world.all(ToolFinished)


def test_what_comes_before_a_session_is_told_of_is_not_about_it() -> None:
    world = worlds(fills(40, 97), wait)
    world.host.idle.extend([None] * 3)
    world.host.idle.append(lambda: SessionFinished(iteration=1, outcome="success"))
    start = world.agent.start

    def begin(turn: Any, emit: Any) -> FakeSession:
        emit(Noticed(source="workspace", text="a file has changed"))
        return start(turn, emit)

    world.agent.start = begin  # type: ignore[method-assign]
    world.run()
    assert outcomes(world)[:2] == ["rolled_over", "success"]
    assert len(world.all(RolloverBegan)) == 1


def test_an_agent_that_ends_by_itself_has_ended() -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)
        session.emit(PromiseMade(iteration=session.iteration))
        session.finish()

    world = worlds(act).run()
    assert outcomes(world)[0] == "success"
    assert not world.all(RolloverBegan)
    assert [e.level for e in world.all(ContextLevelReached)] == ["L2"]


def test_what_works_in_the_background_is_not_ended_for_the_context() -> None:
    def act(session: FakeSession) -> None:
        used(session, 86)
        k = session.iteration
        task = BackgroundTask(what="make test")
        session.emit(BackgroundAwaited(iteration=k, tasks=[task]))

    world = worlds(act)
    world.host.idle.extend([None] * 200)
    world.host.idle.append(lambda: SessionFinished(iteration=1, outcome="success"))
    world.run()
    assert outcomes(world)[0] == "success"
    assert not world.all(RolloverBegan)


# -- how often -------------------------------------------------------------------------------------


def test_a_fourth_session_runs_to_its_own_end() -> None:
    def last(session: FakeSession) -> None:
        fills(40, 86, 90)(session)
        session.finish()

    world = worlds(*[fills(86)] * 3, last).run()
    assert outcomes(world)[:4] == ["rolled_over"] * 3 + ["success"]
    assert [e.number for e in world.all(RolloverBegan)] == [1, 2, 3]
    assert told(world) == [
        "iteration 1 has had 3 rollovers: its session runs to its own end, or until its context is "
        "95 % full"
    ]


def test_l3_ends_a_fourth_session_and_the_iteration() -> None:
    world = worlds(*[fills(86)] * 3, fills(86, 97), passed=[3, 6, 6, 10]).run()
    assert outcomes(world)[:4] == ["rolled_over"] * 3 + ["context_full"]
    assert len(world.all(RolloverBegan)) == 3
    first, second = world.all(IterationFinished)[:2]
    assert (first.iteration, first.status) == (1, "incomplete")
    assert second.iteration == 2


def test_what_the_last_session_of_an_iteration_was_at_is_left_to_the_next_one() -> None:
    world = worlds(*[fills(86)] * 3, fills(86, 97), passed=[3, 6, 6, 10]).run()
    left = world.all(HandoffWritten)
    assert [(e.iteration, e.number, e.cause) for e in left] == [
        (1, 1, "L2"), (1, 2, "L2"), (1, 3, "L2"), (1, 4, "L3"),
    ]  # fmt: skip
    assert left[-1].snapshot is not None
    told = world.agent.prompts[4]
    assert "Context checkpoint" in told
    assert left[-1].read_at in told
    assert "was measured before that work" not in told, "it was measured after it"
    assert "was measured before that work" in world.agent.prompts[3]
    assert "Context checkpoint" not in world.agent.prompts[5]


def test_nothing_is_left_where_no_session_is_ended_for_its_context() -> None:
    def act(session: FakeSession) -> None:
        begins(session, "a")
        ends(session, "a")
        session.finish("context_full")

    world = worlds(act, rollover=False).run()
    assert not world.all(HandoffWritten)


def test_a_window_that_overflows_counts_as_l3() -> None:
    def overflows(session: FakeSession) -> None:
        begins(session, "a")
        ends(session, "a")
        session.finish("context_full")

    world = worlds(*[overflows] * 5).run()
    assert outcomes(world)[:5] == ["context_full"] * 4 + ["context_full"]
    mine = [e for e in world.all(RolloverBegan) if e.iteration == 1]
    assert [(e.cause, e.number) for e in mine] == [("L3", 1), ("L3", 2), ("L3", 3)]
    assert [e.level for e in world.all(ContextLevelReached)][:4] == ["L3"] * 4


def test_a_prompt_that_overflows_by_itself_is_not_sent_again() -> None:
    world = worlds(lambda session: session.finish("context_full")).run()
    assert not world.all(RolloverBegan)
    assert [e.iteration for e in world.all(IterationFinished)][:2] == [1, 2]


@pytest.mark.parametrize("percents", [(86,), (97,)])
def test_no_session_is_ended_where_that_is_set(percents: tuple[float, ...]) -> None:
    def act(session: FakeSession) -> None:
        fills(*percents)(session)
        session.finish()

    world = worlds(act, rollover=False).run()
    assert not world.all(RolloverBegan)
    assert outcomes(world)[0] == "success"
    assert world.all(ContextLevelReached)


# -- numbers ---------------------------------------------------------------------------------------


def test_odd_numbers_are_safe() -> None:
    def act(session: FakeSession) -> None:
        k = session.iteration
        used(session, 50)
        session.emit(UsageReported(iteration=k, context_tokens=0, context_window=WINDOW))
        session.emit(UsageReported(iteration=k, context_tokens=-5, context_window=WINDOW))
        session.emit(UsageReported(iteration=k, context_tokens=None, context_window=None))
        session.emit(UsageReported(iteration=k, context_tokens=5, context_window=0))
        session.emit(UsageReported(iteration=k, context_tokens=5, context_window=-1))
        used(session, 72)
        used(session, 30)  # backwards, without a compaction
        used(session, 73)
        session.finish()

    world = worlds(act).run()
    assert [(e.level, e.percent) for e in world.all(ContextLevelReached)] == [("L1", 72.0)]
    assert world.state.context.history[0].peak_percent == 73.0


def test_more_than_the_window_holds_is_full() -> None:
    world = worlds(fills(40, 500)).run()
    (level,) = world.all(ContextLevelReached)
    assert (level.level, level.percent, level.tokens) == ("L3", 100.0, 1_000_000)
    assert world.all(RolloverBegan)[0].percent == 100.0


def test_a_window_that_is_not_told_is_not_that_of_another_model() -> None:
    def act(session: FakeSession) -> None:
        used(session, 60)
        used(session, 90, window=0)  # another model answers
        session.finish()

    world = worlds(act).run()
    assert not world.all(ContextLevelReached)


def test_after_a_compaction_the_context_falls_and_the_levels_stay() -> None:
    def act(session: FakeSession) -> None:
        used(session, 75)
        k = session.iteration
        session.emit(ContextCompacted(iteration=k, before=150_000, after=20_000, window=WINDOW))
        used(session, 75)
        session.finish()

    world = World([3, 6, 10])
    world.agent.acts.append(act)
    percents = []
    for event in world.steps():
        if event.kind == "context_compacted":
            percents.append(world.state.context.percent)
    assert percents == [10.0]
    assert [e.level for e in world.all(ContextLevelReached)] == ["L1"]


def test_how_full_it_is_is_not_known_once_in_a_run() -> None:
    def silent(session: FakeSession) -> None:
        session.emit(SessionStarted(
            iteration=session.iteration, session_id="s", agent="command", tells_context=False
        ))  # fmt: skip

    world = worlds(silent, silent)
    world.send(RollOver(by="ann"))
    world.run()
    assert told(world) == [
        "how full the context of a session is is not known, because this agent does not tell what "
        "is in it: no session hands over by itself, only when you ask for it"
    ]
    assert outcomes(world)[0] == "rolled_over", "asked for, it hands over"
    assert world.all(RolloverBegan)[0].percent is None


def test_a_session_that_tells_nothing_for_a_minute_is_told_of() -> None:
    world = worlds(wait)
    world.host.idle.extend([None] * 90)
    world.host.idle.append(Stop(mode="now"))
    world.run()
    assert len(told(world)) == 1


# -- what comes meanwhile --------------------------------------------------------------------------


def test_one_that_is_asked_for_comes_when_the_tool_has_ended() -> None:
    def act(session: FakeSession) -> None:
        used(session, 10)
        begins(session, "a")

    world = worlds(act)
    world.host.idle.extend([RollOver(by="ann"), None, None, None])
    world.host.idle.append(lambda: ToolFinished(iteration=1, tool_id="a", ok=True))
    world.run()
    (began,) = world.all(RolloverBegan)
    assert (began.cause, began.by, began.reason) == ("asked", "ann", "asked by ann")
    assert world.kinds("tool_finished", "session_finished")[:2] == [
        "tool_finished",
        "session_finished",
    ]


def test_while_a_limit_is_waited_for_it_is_refused() -> None:
    def limited(session: FakeSession) -> None:
        session.emit(SessionFinished(
            iteration=1, outcome="limited", limit="overload", tokens=5, reason="Overloaded."
        ))  # fmt: skip

    world = worlds(limited)
    world.send(RollOver(by="ann"), RetryNow())
    world.run()
    assert world.only(CommandRefused).reason == "no session runs"
    assert not world.all(RolloverBegan)


@pytest.mark.parametrize("outcome", ["limited", "silent"])
def test_one_that_a_limit_came_before_is_made_up_for(outcome: str) -> None:
    def act(session: FakeSession) -> None:
        used(session, 90)
        begins(session, "a")
        session.emit(SessionFinished.model_validate(
            {"iteration": 1, "outcome": outcome, "tokens": 5, "limit": "overload"}
        ))  # fmt: skip

    world = worlds(act).run()
    assert len(world.all(WaitStarted)) == (outcome == "limited")
    (began,) = world.all(RolloverBegan)
    assert began.cause == "L2"
    assert "go on from here" in world.agent.prompts[1]


def test_a_budget_that_is_used_up_begins_no_fresh_session() -> None:
    world = World([3, 6, 10], budget_usd=1.0)

    def act(session: FakeSession) -> None:
        session.cost_usd = 2.0
        fills(40, 86)(session)

    world.agent.acts.append(act)
    world.run()
    assert outcomes(world) == ["rolled_over"]
    assert not world.all(RolloverBegan)
    assert world.end.outcome == "limit_reached"
    assert world.only(IterationFinished).status == "incomplete"


def test_a_budget_does_not_kill_a_session_that_is_handing_over() -> None:
    stops: list[str] = []

    class Slow(FakeSession):
        def stop(self, outcome: str = "stopped") -> None:
            stops.append(outcome)

    world = World([3, 6, 10], budget_usd=1.0)
    start = world.agent.start

    def begin(turn: Any, emit: Any) -> FakeSession:
        session = start(turn, emit)
        slow = Slow(session.iteration, emit)
        return slow if not stops else session

    world.agent.start = begin  # type: ignore[method-assign]

    def act(session: FakeSession) -> None:
        fills(40, 86)(session)
        session.emit(UsageReported(iteration=1, cost_usd=2.0, tokens=1))

    world.agent.acts.append(act)
    world.host.idle.extend([None] * 5)
    world.host.idle.append(lambda: SessionFinished(iteration=1, outcome="rolled_over"))
    world.run()
    assert stops == ["rolled_over"]


def test_guidance_reaches_the_session_that_takes_over() -> None:
    world = worlds(fills(40, 86))
    for event in world.steps():
        if event.kind == "rollover_began":
            world.host.inbox.append(Guide(text="mind the brackets"))
    assert "mind the brackets" in world.agent.prompts[1]
    assert "mind the brackets" not in world.agent.prompts[0]


def test_a_pause_and_a_stop_after_the_iteration_hold_behind_it() -> None:
    world = worlds(fills(40, 86), passed=[3, 5, 6, 10])
    for event in world.steps():
        if event.kind == "rollover_began":
            world.host.inbox.append(Pause())
        if event.kind == "paused":
            world.host.inbox.append(Unpause())
            world.host.inbox.append(Stop(mode="after_iteration"))
    order = world.kinds("session_started", "paused", "iteration_started", "run_finished")
    assert order == [
        "iteration_started",
        "session_started",
        "session_started",
        "paused",
        "iteration_started",
        "session_started",
        "run_finished",
    ]


@pytest.mark.parametrize("command", [Abort(), Stop(mode="now")])
def test_the_run_ends_in_the_middle_of_it(command: Abort | Stop) -> None:
    world = worlds(fills(40, 86))
    for event in world.steps():
        if event.kind == "rollover_began":
            world.host.inbox.append(command)
    assert len(world.agent.sessions) == 1
    assert world.end.outcome in ("aborted", "interrupted")


# -- what counts of its sessions -------------------------------------------------------------------


def reports(session: FakeSession, **fields: Any) -> None:
    session.emit(AgentReported(iteration=session.iteration, **fields))


def test_the_last_report_counts_and_learnings_and_blockers_add_up() -> None:
    def first(session: FakeSession) -> None:
        session.emit(PromiseMade(iteration=1))
        reports(
            session, next="the old", learnings=["always run make first"], blockers=["no network"]
        )
        fills(40, 86)(session)

    def second(session: FakeSession) -> None:
        reports(session, next="the new", learnings=["use tabs"], blockers=["disk is slow"])
        session.finish()

    world = worlds(first, second, passed=[3, 6, 6, 10]).run()
    made = next(e for e in world.events if e.kind == "assessment_made" and e.iteration == 1)  # type: ignore[attr-defined]
    blockers = [blocker.text for blocker in made.blockers]  # type: ignore[attr-defined]
    assert blockers == ["no network", "disk is slow"]
    assert made.learnings == ["always run make first", "use tabs"]  # type: ignore[attr-defined]
    assert "the new" in world.agent.prompts[2]
    assert "the old" not in world.agent.prompts[2]


# -- a kill in the middle of it --------------------------------------------------------------------


def hands_over_twice() -> World:
    """A run whose first iteration has three sessions; its owner has spoken to the first."""

    def first(session: FakeSession) -> None:
        fills(40, 86)(session)

    return worlds(first, fills(50, 88), passed=[3, 6, 6, 10]).run()


def test_a_run_that_breaks_off_anywhere_in_a_rollover_goes_on_whole() -> None:
    whole = hands_over_twice()
    begun = next(e.seq for e in whole.all(ContextLevelReached))
    second = next(e.seq for e in whole.events if e.kind == "iteration_finished")
    assert len(whole.all(RolloverBegan)) == 2
    for number in range(begun, second):
        later = go_on(whole, number)
        check(later)
        cut = whole.events[:number]
        measured = any(e.kind == "reading_taken" and e.iteration == 1 for e in cut)  # type: ignore[attr-defined]
        ended = [e for e in cut if isinstance(e, SessionFinished)]
        complete = bool(ended) and ended[-1].outcome == "success"
        record = later.all(IterationFinished)[0]
        kept = measured or complete
        assert record.status == ("incomplete" if kept else "interrupted"), number
        assert later.end.outcome == "completed", number
        numbers = [e.number for e in later.all(SnapshotTaken)]
        assert len(set(numbers)) == len(numbers)
        left = [e for e in cut if isinstance(e, HandoffWritten)]
        tells = "go on from here" in later.agent.prompts[0]
        assert tells == (bool(left) and not kept), number
        if tells:
            assert left[-1].read_at in later.agent.prompts[0]
        assert not any("go on from here" in prompt for prompt in later.agent.prompts[1:])


def test_an_overflow_that_was_to_hand_over_is_not_taken_for_the_end() -> None:
    def overflows(session: FakeSession) -> None:
        begins(session, "a")
        ends(session, "a")
        session.finish("context_full")

    whole = worlds(overflows, passed=[3, 10]).run()
    began = whole.all(RolloverBegan)[0].seq
    later = go_on(whole, began)
    assert later.all(IterationFinished)[0].status == "interrupted"


# -- the work as a commit --------------------------------------------------------------------------


class Keeper:
    """Makes commits, or refuses."""

    def __init__(self, answer: Committed | WorkspaceError | None) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, str]] = []

    def commit(self, since: str, until: str, message: str) -> Committed | None:
        self.asked.append((since, until, message))
        if isinstance(self.answer, WorkspaceError):
            raise self.answer
        return self.answer

    def cancel(self) -> None:
        raise AssertionError("nothing hangs")


def commits(keeper: Keeper, *acts: Act, **settings: Any) -> World:
    context = ContextSettings.model_validate(settings)
    world = World([3, 6, 10], rules=Rules(context=context), commits=keeper)
    world.agent.acts.extend(acts)
    return world.run()


def test_what_each_session_did_is_committed_where_that_is_set() -> None:
    keeper = Keeper(Committed("c0ffee", 2, ("b.py", "c.py", "d.py", "e.py")))
    world = commits(keeper, fills(40, 86), fills(40, 97), commit_wip=True)
    first, second = keeper.asked
    assert first[2] == "ralph: checkpoint iter 1 (L2 at 86%)"
    assert second[2] == "ralph: checkpoint iter 1 (L3 at 97%)"
    assert first[1] == second[0], "the second session began with what the first one left"
    made = world.all(WorkCommitted)
    assert [(e.iteration, e.commit, e.files) for e in made] == [(1, "c0ffee", 2)] * 2
    assert made[0].message == first[2]
    assert told(world)[0] == (
        "b.py, c.py, d.py and 1 more: not in the commit, because there were changes in it before "
        "the session"
    )


def test_a_commit_that_is_refused_does_not_hold_up_the_rollover() -> None:
    keeper = Keeper(WorkspaceError("a merge is under way in /r: finish it"))
    world = commits(keeper, fills(40, 86), commit_wip=True)
    assert told(world) == [
        "the work of the session is not committed: a merge is under way in /r: finish it"
    ]
    assert not world.all(WorkCommitted)
    assert outcomes(world)[:2] == ["rolled_over", "success"]


def test_nothing_is_committed_unless_that_is_set() -> None:
    keeper = Keeper(None)
    commits(keeper, fills(40, 86))
    assert keeper.asked == []


def test_the_runs_issue_is_told_of_each_rollover() -> None:
    world = worlds(fills(40, 86), fills(40, 86)).run()
    first, second = world.outreach.comments
    assert (first[0], second[0]) == ("rollover-1-1", "rollover-1-2")
    began = "iteration 1: a session hands over to a fresh one, the context is 86 % full."
    assert first[1].startswith(began)


def test_handoffs_are_copied_where_that_is_set() -> None:
    given: list[tuple[str, str]] = []

    def copy(text: str, before: str) -> str:
        given.append((text, before))
        return f".claude/handoffs/{len(given)}.md"

    def played(**settings: Any) -> World:
        context = ContextSettings.model_validate(settings)
        world = World([3, 6, 10], rules=Rules(context=context), copy_handoff=copy)
        world.agent.acts.extend([fills(40, 86), fills(40, 86)])
        return world.run()

    assert [e.copy_path for e in played().all(HandoffWritten)] == ["", ""]
    assert given == []
    copied = [e.copy_path for e in played(handoff_copy=True).all(HandoffWritten)]
    assert copied == [".claude/handoffs/1.md", ".claude/handoffs/2.md"]
    assert given[0][0].startswith("# Handoff")


def test_a_folder_that_takes_no_copies_is_told_once() -> None:
    def copy(text: str, before: str) -> str:
        raise PermissionError(13, "Permission denied", "/r/.claude/handoffs")

    rules = Rules(context=ContextSettings(handoff_copy=True))
    world = World([3, 6, 10], rules=rules, copy_handoff=copy)
    world.agent.acts.extend([fills(40, 86), fills(40, 86)])
    world.run()
    (said,) = told(world)
    assert said.startswith("the handoffs of this run are not copied: copy failed (/r/.claude/")
    assert len(world.all(HandoffWritten)) == 2


def test_to_hand_over_is_no_fault() -> None:
    """Neither for memory, nor in the pane, nor in the log, nor for a blocker."""
    world = worlds(fills(40, 86), fills(40, 86)).run()
    state = world.state
    rows = [row for row in state.agent.rows if row.kind == "session" and not row.ok]
    assert rows == []
    assert standing(state.timeline.spans) == []
    assert not [e for e in world.events if e.kind == "assessment_made" and e.blockers]  # type: ignore[attr-defined]
    assert state.run.iteration_tool_errors == 0
    made = next(e for e in world.events if e.kind == "assessment_made" and e.iteration == 1)  # type: ignore[attr-defined]
    assert "handed over" not in made.summary  # type: ignore[attr-defined]


def test_an_iteration_whose_last_session_handed_over_says_so() -> None:
    world = World([3, 6, 10], budget_usd=1.0)

    def act(session: FakeSession) -> None:
        session.cost_usd = 2.0
        fills(40, 86)(session)

    world.agent.acts.append(act)
    world.run()
    made = next(e for e in world.events if e.kind == "assessment_made" and e.iteration == 1)  # type: ignore[attr-defined]
    assert "the session handed over, and none went on from it" in made.summary  # type: ignore[attr-defined]
    reflected = [e for e in world.events if e.kind == "reflection_written"]
    assert not any("did not end by itself" in e.model_dump_json() for e in reflected)


def test_an_agent_without_tools_that_is_asked_to_hand_over_has_worked() -> None:
    def silent(session: FakeSession) -> None:
        session.emit(SessionStarted(
            iteration=session.iteration, session_id="s", agent="command", tells_tools=False,
            tells_context=False,
        ))  # fmt: skip

    world = worlds(silent)
    world.send(RollOver(by="ann"))
    derived = []
    log = Derivation()
    for event in world.steps():
        derived += list(log.take(event))
    first = next(action for action in derived if action.kind == "task")
    assert first.ok
