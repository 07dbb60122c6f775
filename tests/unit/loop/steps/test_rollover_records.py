"""Records of a handoff, also through kills: reports, handoffs, commits, comments."""

from typing import Any

from ralph_tui import events as ev
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.commands import Answer, RollOver
from ralph_tui.config.settings import Settings
from ralph_tui.layers.memory.issues import recurring_issues
from ralph_tui.layers.settings import ContextSettings
from ralph_tui.ports.worktree import Committed
from ralph_tui.state.actions import Derivation
from tests.unit.loop.invariants import check
from tests.unit.loop.steps.rollovers import Act, begins, ends, fills, notices, outcomes, worlds
from tests.unit.loop.test_recovery import go_on
from tests.world import FakeSession, World

# -- what counts of its sessions -------------------------------------------------------------------


def reports(session: FakeSession, **fields: Any) -> None:
    session.emit(ev.AgentReported(iteration=session.iteration, **fields))


def test_the_last_report_counts_and_learnings_and_blockers_add_up() -> None:
    def first(session: FakeSession) -> None:
        session.emit(ev.PromiseMade(iteration=1))
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
    """A run whose first iteration has three sessions; the user spoke to the first."""

    def first(session: FakeSession) -> None:
        fills(40, 86)(session)

    return worlds(first, fills(50, 88), passed=[3, 6, 6, 10]).run()


def test_a_run_that_breaks_off_anywhere_in_a_rollover_goes_on_whole() -> None:
    whole = hands_over_twice()
    first = next(e.seq for e in whole.all(ev.ContextLevelReached))
    second = next(e.seq for e in whole.events if e.kind == "iteration_finished")
    assert len(whole.all(ev.RolloverBegan)) == 2
    for number in range(first, second, 2):
        later = go_on(whole, number)
        check(later)
        cut = whole.events[:number]
        measured = any(e.kind == "reading_taken" and e.iteration == 1 for e in cut)  # type: ignore[attr-defined]
        ended = [e for e in cut if isinstance(e, ev.SessionFinished)]
        complete = bool(ended) and ended[-1].outcome == "success"
        record = later.all(ev.IterationFinished)[0]
        kept = measured or complete
        assert record.status == ("incomplete" if kept else "interrupted"), number
        assert later.end.outcome == "completed", number
        numbers = [e.number for e in later.all(ev.SnapshotTaken)]
        assert len(set(numbers)) == len(numbers)
        begun = [e for e in cut if isinstance(e, ev.RolloverBegan)]
        resumes = "continue from here" in later.agent.prompts[0]
        assert resumes == (bool(begun) and not kept), number
        if resumes:  # also where it had not been written yet
            left = [e for e in later.events if isinstance(e, ev.HandoffWritten)][len(begun) - 1]
            assert left.number == begun[-1].number
            assert left.read_at in later.agent.prompts[0]
        assert not any("continue from here" in prompt for prompt in later.agent.prompts[1:])


def test_a_question_about_a_handoff_is_asked_again() -> None:
    def send(asked: ev.QuestionAsked) -> Answer:
        text = "# Handoff\n\nMind the gap." if later_began else ""
        return Answer(question_id=asked.question_id, answer="send", text=text)

    later_began = False
    whole = World([3, 6, 10], mode="attended")
    whole.agent.acts.append(fills(40, 86))
    whole.play(send)
    asked = whole.only(ev.QuestionAsked)
    later_began = True
    later = go_on(whole, asked.seq, send)
    first, again = later.all(ev.QuestionAsked)
    assert (again.topic, again.proposal) == ("handoff", first.proposal)
    assert later.records.written["results/iter-001/handoff-1.md"] == "# Handoff\n\nMind the gap.\n"
    assert "edited by the user" in later.agent.prompts[0]
    assert later.end.outcome == "completed"


def test_an_overflow_that_was_to_hand_over_is_not_taken_for_the_end() -> None:
    def overflows(session: FakeSession) -> None:
        begins(session, "a")
        ends(session, "a")
        session.finish("context_full")

    whole = worlds(overflows, passed=[3, 10]).run()
    began = whole.all(ev.RolloverBegan)[0].seq
    later = go_on(whole, began)
    assert later.all(ev.IterationFinished)[0].status == "interrupted"


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
    world = World([3, 6, 10], settings=Settings(context=context), commits=keeper)
    world.agent.acts.extend(acts)
    return world.run()


def test_what_each_session_did_is_committed_where_that_is_set() -> None:
    keeper = Keeper(Committed("c0ffee", 2, ("b.py", "c.py", "d.py", "e.py")))
    world = commits(keeper, fills(40, 86), fills(40, 97), commit_wip=True)
    first, second = keeper.asked
    assert first[2] == "ralph: checkpoint iter 1 (L2 at 86%)"
    assert second[2] == "ralph: checkpoint iter 1 (L3 at 97%)"
    assert first[1] == second[0], "the second session began with what the first one left"
    made = world.all(ev.WorkCommitted)
    assert [(e.iteration, e.commit, e.files) for e in made] == [(1, "c0ffee", 2)] * 2
    assert made[0].message == first[2]
    assert notices(world)[0] == (
        "b.py, c.py, d.py and 1 more: left out of the commit: changed before the session"
    )


def test_a_commit_that_is_refused_does_not_hold_up_the_rollover() -> None:
    keeper = Keeper(WorkspaceError("a merge is in progress in /r: finish it"))
    world = commits(keeper, fills(40, 86), commit_wip=True)
    assert notices(world) == [
        "could not commit the session's work: a merge is in progress in /r: finish it"
    ]
    assert not world.all(ev.WorkCommitted)
    assert outcomes(world)[:2] == ["rolled_over", "success"]


def test_nothing_is_committed_unless_that_is_set() -> None:
    keeper = Keeper(None)
    commits(keeper, fills(40, 86))
    assert keeper.asked == []


def test_the_runs_issue_is_told_of_each_rollover() -> None:
    world = worlds(fills(40, 86), fills(40, 86)).run()
    first, second = world.outreach.comments
    assert (first[0], second[0]) == ("rollover-1-1", "rollover-1-2")
    began = "iteration 1: the session hands off to a fresh one (the context is 86 % full)."
    assert first[1].startswith(began)


def test_handoffs_are_copied_where_that_is_set() -> None:
    given: list[tuple[str, str]] = []

    def copy(text: str, before: str) -> str:
        given.append((text, before))
        return f".claude/handoffs/{len(given)}.md"

    def played(**settings: Any) -> World:
        context = ContextSettings.model_validate(settings)
        world = World([3, 6, 10], settings=Settings(context=context), copy_handoff=copy)
        world.agent.acts.extend([fills(40, 86), fills(40, 86)])
        return world.run()

    assert [e.copy_path for e in played().all(ev.HandoffWritten)] == ["", ""]
    assert given == []
    copied = [e.copy_path for e in played(handoff_copy=True).all(ev.HandoffWritten)]
    assert copied == [".claude/handoffs/1.md", ".claude/handoffs/2.md"]
    assert given[0][0].startswith("# Handoff")


def test_a_folder_that_takes_no_copies_is_told_once() -> None:
    def copy(text: str, before: str) -> str:
        raise PermissionError(13, "Permission denied", "/r/.claude/handoffs")

    settings = Settings(context=ContextSettings(handoff_copy=True))
    world = World([3, 6, 10], settings=settings, copy_handoff=copy)
    world.agent.acts.extend([fills(40, 86), fills(40, 86)])
    world.run()
    (said,) = notices(world)
    assert said.startswith("the handoffs of this run are not copied: copy failed (/r/.claude/")
    assert len(world.all(ev.HandoffWritten)) == 2


def test_to_hand_over_is_no_fault() -> None:
    """Neither for memory, nor in the pane, nor in the log, nor for a blocker."""
    world = worlds(fills(40, 86), fills(40, 86)).run()
    state = world.state
    rows = [row for row in state.agent.rows if row.kind == "session" and not row.ok]
    assert rows == []
    assert recurring_issues(state.timeline.spans) == []
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
    assert ("the session handed off, and no session continued it") in made.summary  # type: ignore[attr-defined]
    reflected = [e for e in world.events if e.kind == "reflection_written"]
    assert not any("did not end normally" in e.model_dump_json() for e in reflected)


def test_an_agent_without_tools_that_is_asked_to_hand_over_has_worked() -> None:
    def silent(session: FakeSession) -> None:
        session.emit(ev.SessionStarted(
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


def test_what_a_session_left_is_held_and_named_once() -> None:
    world = worlds(fills(40, 86)).run()
    taken = [e for e in world.all(ev.SnapshotTaken) if "L2" in e.reason]
    assert [e.reason for e in taken] == ["checkpoint iter 1 (L2 at 86%)"]
    assert "ralph: checkpoint iter 1 (L2 at 86%)" in world.workspace.taken
    points = [e for e in world.all(ev.CheckpointCaptured) if e.iteration == 1]
    assert [(e.trigger, e.note) for e in points] == [("start", ""), ("rollover", ""), ("end", "")]
    assert points[1].snapshot == taken[0].number
    assert world.all(ev.HandoffWritten)[0].snapshot == taken[0].number
