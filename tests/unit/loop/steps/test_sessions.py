"""Limits, silence, interruptions, budgets: events in a session that cost no iteration."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.base.errors import NoRoomError
from ralph_tui.commands import Abort, Answer, Guide, Hold, Interrupt, RetryNow, SetPermissions
from ralph_tui.config.settings import AgentSettings, Settings
from ralph_tui.loop.steps.service_limits import (
    AFTER_RESET_S,
    FIRST_WAIT_S,
    LONGEST_WAIT_S,
    NEVER_SERVED,
    STALE_RESET_S,
    wait_until,
)
from ralph_tui.loop.steps.sessions import CONTINUE, CONTINUE_SERVED
from tests.world import FakeSession, World, wait

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def limited(
    seconds: float | None = None, kind: str = "usage_limit"
) -> Callable[[FakeSession], None]:
    def act(session: FakeSession) -> None:
        resets = None if seconds is None else NOW + timedelta(seconds=seconds)
        session.emit(
            ev.SessionFinished.model_validate(
                {
                    "iteration": session.iteration,
                    "outcome": "limited",
                    "reason": "the usage limit is reached",
                    "limit": kind,
                    "resets_at": resets,
                    "cost_usd": 0.01,
                }
            )
        )

    return act


# -- limits ------------------------------------------------------------------------------------


def test_a_usage_limit_is_waited_for_and_costs_no_iteration() -> None:
    world = World([2, 10], max_iterations=1)
    world.agent.acts.append(limited(3600))
    world.run()
    assert world.end.outcome == "completed"
    assert world.end.iterations == 1
    started, ended = world.all(ev.WaitStarted)[0], world.all(ev.WaitEnded)[0]
    assert started.resets_at == NOW + timedelta(hours=1)
    assert 3600 <= ended.waited_s <= 3610
    assert len(world.agent.sessions) == 2
    finished = world.all(ev.IterationFinished)[0]
    assert finished.cost_usd == pytest.approx(0.01)


@pytest.mark.parametrize(("seconds", "waited"), [(3600, 3605 + 60), (None, 300)])
def test_a_run_that_is_told_when_to_go_on_does_so_by_itself_at_the_latest(
    seconds: float | None, waited: float
) -> None:
    """Only for a known reset time, when many runs would try at once."""
    world = World([2, 10], settings=Settings(agent=AgentSettings(after_limit_s=60)))
    world.agent.acts.append(limited(seconds))
    world.run()
    started, ended = world.all(ev.WaitStarted)[0], world.all(ev.WaitEnded)[0]
    assert started.until is not None
    assert (started.until - started.at).total_seconds() == waited - (60 if seconds else 0)
    assert waited <= ended.waited_s <= waited + 5


def test_the_owner_may_try_again_at_once() -> None:
    world = World([2, 10])
    world.agent.acts.append(limited(36_000))
    world.host.idle.extend([RetryNow()])
    world.run()
    assert world.all(ev.WaitEnded)[0].by == "you"
    assert world.host.clock.seconds < 60


def test_overload_backs_off_and_a_new_iteration_starts_afresh() -> None:
    world = World([2, 4, 10])
    world.agent.acts.extend(limited(kind="overload") for _ in range(3))
    world.agent.acts.append(FakeSession.finish)
    world.agent.acts.append(limited(kind="overload"))
    world.run()
    waits = [(e.until - e.at).total_seconds() for e in world.all(ev.WaitStarted) if e.until]
    assert waits == [30, 60, 120, 30]


def test_a_run_can_be_aborted_while_it_waits() -> None:
    world = World([2, 4])
    world.agent.acts.append(limited(36_000))
    world.send(Abort())
    world.run()
    assert world.end.outcome == "aborted"
    assert world.state.needs.wait is None


def test_retry_is_refused_when_nothing_is_waited_for() -> None:
    world = World([2, 10])
    world.agent.acts.append(wait)
    world.send(RetryNow())
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    assert [e.reason for e in world.all(ev.CommandRefused)] == [
        "the run is not waiting for a limit or a service"
    ]


@given(
    st.sampled_from(["overload", "usage_limit", "outage"]),
    st.integers(1, 10_000),
    st.none() | st.floats(-1e6, 1e6) | st.floats(-2 * STALE_RESET_S, STALE_RESET_S),
)
def test_a_wait_ends_after_now_and_never_before_a_known_reset(
    cause: Any, attempt: int, reset: float | None
) -> None:
    resets_at = None if reset is None else NOW + timedelta(seconds=reset)
    until = wait_until(NOW, cause, attempt, resets_at)
    assert until > NOW
    if resets_at is not None and resets_at > NOW:
        assert until > resets_at
    elif resets_at is not None and resets_at > NOW - timedelta(seconds=STALE_RESET_S):
        assert until == NOW + timedelta(seconds=AFTER_RESET_S)
    else:
        longest = NOW + timedelta(seconds=LONGEST_WAIT_S[cause])
        assert NOW + timedelta(seconds=FIRST_WAIT_S[cause]) <= until <= longest


# -- outages -------------------------------------------------------------------------------------


def down(session: FakeSession) -> None:
    reason = "The service is down: connection refused."
    session.emit(
        ev.SessionFinished(iteration=session.iteration, outcome="limited", limit="outage",
                        reason=reason)
    )  # fmt: skip


def test_a_night_without_the_service_costs_no_iteration_and_is_no_agent_error() -> None:
    world = World([2, 10], max_iterations=1)
    world.agent.acts.extend([down] * 60)
    world.run()
    assert (world.end.outcome, world.end.iterations) == ("completed", 1)
    assert world.host.clock.seconds > 8 * 3600
    waits = world.all(ev.WaitStarted)
    assert {wait.cause for wait in waits} == {"outage"}
    assert [(wait.until - wait.at).total_seconds() for wait in waits if wait.until][:8] == [
        15, 30, 60, 120, 240, 480, 600, 600,
    ]  # fmt: skip
    assert {wait.since for wait in waits} == {waits[0].at}
    assert len(world.all(ev.ReadingTaken)) == 2, "the baseline, and what the one session has done"


def test_a_service_that_never_answered_in_this_run_is_told_so_at_once() -> None:
    def works_then_is_down(session: FakeSession) -> None:
        session.emit(ev.AgentSpoke(iteration=1, text="I look"))
        down(session)

    world = World([2, 10])
    world.agent.acts.extend([down, works_then_is_down, down])
    world.run()
    doubts = [NEVER_SERVED in wait.reason for wait in world.all(ev.WaitStarted)]
    assert doubts == [True, False, False]


def test_work_between_two_outages_makes_the_second_a_new_one() -> None:
    def works_then_is_down(session: FakeSession) -> None:
        session.emit(ev.AgentSpoke(iteration=1, text="I look"))
        down(session)

    world = World([2, 10])
    world.agent.acts.extend([down, down, works_then_is_down, down])
    world.run()
    waits = world.all(ev.WaitStarted)
    assert [wait.attempt for wait in waits] == [1, 2, 1, 2]
    assert [wait.since == wait.at for wait in waits] == [True, False, True, False]


def test_an_outage_after_a_limit_is_counted_from_its_own_beginning() -> None:
    world = World([2, 10])
    world.agent.acts.extend([limited(kind="overload"), limited(kind="overload"), down])
    world.run()
    last = world.all(ev.WaitStarted)[-1]
    assert (last.cause, last.attempt, last.since) == ("outage", 1, last.at)


# -- going on ------------------------------------------------------------------------------------


def works_then_is_refused(session: FakeSession) -> None:
    session.emit(
        ev.SessionFinished(iteration=1, outcome="limited", limit="usage_limit", tokens=900)
    )


def cannot_resume(session: FakeSession) -> None:
    session.emit(ev.SessionFinished(iteration=1, outcome="unresumable", reason="no such session"))


def test_a_session_that_a_limit_cut_off_is_resumed_also_through_an_outage() -> None:
    world = World([2, 10])
    world.agent.acts.extend([works_then_is_refused, down, down])
    world.send(Guide(text="mind the lexer"))
    world.run()
    later = world.agent.prompts[1:]
    assert len(later) == 3
    assert later[0] == f"{CONTINUE_SERVED}\n\n# Guidance from the user\n\nmind the lexer\n"
    assert later[1:] == [CONTINUE_SERVED] * 2


def test_words_that_a_session_did_not_live_to_hear_are_in_the_whole_prompt() -> None:
    world = World([2, 10])
    world.agent.acts.extend([works_then_is_refused, cannot_resume])
    world.send(Guide(text="mind the lexer"))
    world.run()
    assert world.agent.prompts[2].startswith(world.agent.prompts[0].rstrip())
    assert "mind the lexer" in world.agent.prompts[2]


def test_an_agent_that_cannot_resume_gets_the_whole_prompt() -> None:
    world = World([2, 10])
    world.agent.resumes = False
    world.agent.acts.extend([works_then_is_refused, lambda session: session.stop("silent")])
    world.run()
    assert len({*world.agent.prompts}) == 1


def test_a_session_that_cannot_be_resumed_begins_anew_with_the_whole_prompt() -> None:
    world = World([2, 10], max_iterations=1)
    world.agent.acts.extend([works_then_is_refused, cannot_resume])
    world.run()
    first, resumed, anew = world.agent.prompts
    assert (resumed, anew) == (CONTINUE_SERVED, first)
    assert world.end.outcome == "completed"


def test_a_session_that_never_got_an_answer_begins_anew() -> None:
    world = World([2, 10])
    world.agent.acts.append(down)
    world.run()
    assert world.agent.prompts[0] == world.agent.prompts[1]


# -- what no further iteration can mend ----------------------------------------------------------


@pytest.mark.parametrize("outcome", ["auth", "missing", "unknown_model"])
def test_a_hopeless_end_ends_the_run_at_its_first_sign(outcome: Any) -> None:
    world = World([2, 4])

    def act(session: FakeSession) -> None:
        session.emit(ev.SessionFinished(iteration=1, outcome=outcome, reason="log in first"))

    world.agent.acts.append(act)
    world.run()
    assert (world.end.outcome, world.end.reason) == ("failed", "log in first")
    assert len(world.agent.sessions) == 1


# -- what each session was told ----------------------------------------------------------------


def test_each_session_of_an_iteration_has_a_prompt_of_its_own() -> None:
    """After a limit, with new guidance, after a silence: none is overwritten."""
    settings = Settings(agent=AgentSettings(silence_s=600, silence_answer_s=300))
    world = World([2, 4, 10], settings=settings)
    world.agent.acts.extend([limited(3600), limited(3600), wait, FakeSession.finish])
    world.host.idle.extend([RetryNow(), Guide(text="and look at b.py"), RetryNow()])
    world.run()
    reported = [event.path for event in world.all(ev.PromptPrepared)]
    folder = "results/iter-001/prompt"
    assert reported[:4] == [f"{folder}.md", f"{folder}-2.md", f"{folder}-3.md", f"{folder}-4.md"]
    assert [world.records.files[path] for path in reported[:4]] == world.agent.prompts[:4]
    assert world.agent.prompts[0] == world.agent.prompts[1]
    assert "and look at b.py" in world.agent.prompts[2]
    assert world.agent.prompts[3] == CONTINUE
    assert reported[4] == "results/iter-002/prompt.md"


# -- silence -------------------------------------------------------------------------------------


def silent_world(passed: list[int]) -> World:
    settings = Settings(agent=AgentSettings(silence_s=600, silence_answer_s=300))
    world = World(passed, settings=settings)
    world.agent.acts.append(wait)
    return world


def test_silence_is_asked_about_and_by_default_retried_once() -> None:
    world = silent_world([2, 10])
    world.agent.acts.clear()
    world.agent.acts.extend([wait, wait])
    world.run()
    asked = world.all(ev.QuestionAsked)
    assert [e.default for e in asked] == ["retry", "stop"]
    answered = world.all(ev.QuestionAnswered)
    assert [(e.answer, e.by) for e in answered] == [
        ("retry", "the default"),
        ("stop", "the default"),
    ]
    assert world.agent.prompts[1] == CONTINUE
    assert len(world.agent.sessions) == 2
    assert 1700 < world.host.clock.seconds < 1900


def test_a_sign_of_life_withdraws_the_question() -> None:
    world = silent_world([2, 10])

    def later() -> None:
        if world.state.needs.question is None:
            world.host.idle.append(later)
        else:
            world.host.inbox.append(ev.AgentSpoke(iteration=1, text="still here"))
            world.host.idle.append(lambda: world.agent.sessions[0].finish())

    world.host.idle.append(later)
    world.run()
    assert len(world.all(ev.QuestionWithdrawn)) == 1
    assert not world.all(ev.QuestionAnswered)


@pytest.mark.parametrize(
    ("answer", "sessions", "outcome"),
    [("wait", 1, "completed"), ("retry", 2, "completed"), ("abort", 1, "aborted")],
)
def test_the_owner_decides(answer: str, sessions: int, outcome: str) -> None:
    world = silent_world([2, 10])
    world.agent.acts.clear()
    world.agent.acts.append(wait)

    def later() -> None:
        question = world.state.needs.question
        if question is None:
            world.host.idle.append(later)
            return
        world.host.inbox.append(Answer(question_id=question.question_id, answer=answer))
        if answer == "wait":
            world.host.idle.append(lambda: world.agent.sessions[0].finish())

    world.host.idle.append(later)
    world.run()
    assert len(world.agent.sessions) == sessions
    assert world.end.outcome == outcome
    if answer == "abort":
        assert world.end.reason == "aborted by you, because the agent was silent"
    assert [e.by for e in world.all(ev.QuestionAnswered)] == ["you"]


def test_a_silence_that_was_waited_for_is_told_from_its_beginning() -> None:
    world = silent_world([2, 10])

    def later() -> None:
        question = world.state.needs.question
        if question is not None and question.default == "retry" and len(reported) < 2:
            reported.append(question.text)
            world.host.inbox.append(Answer(question_id=question.question_id, answer="wait"))
        elif len(reported) == 2:
            world.agent.sessions[0].finish()
            return
        world.host.idle.append(later)

    reported: list[str] = []
    world.host.idle.append(later)
    world.run()
    assert reported == [
        f"The agent has produced no output for {minutes} minutes, and no files have changed."
        for minutes in (10, 20)
    ]


def test_a_question_whose_countdown_was_stopped_waits_for_its_owner() -> None:
    world = silent_world([2, 10])
    world.agent.acts.clear()
    world.agent.acts.append(wait)

    def act() -> None:
        question = world.state.needs.question
        if question is not None and question.deadline is not None:
            world.host.inbox.append(Hold(question_id=question.question_id))
        if question is not None and world.host.clock.seconds > 5000:
            world.host.inbox.append(Answer(question_id=question.question_id, answer="retry"))
        else:
            world.host.idle.append(act)

    world.host.idle.append(act)
    world.run()
    assert [e.by for e in world.all(ev.QuestionAnswered)] == ["you"]
    assert world.host.clock.seconds > 5000
    # Any question without an answer for long is escalated.
    assert [e.about for e in world.outreach.sent] == ["question"]


def test_an_answer_to_a_closed_question_changes_nothing() -> None:
    world = silent_world([2, 10])
    world.send(Answer(question_id="gone", answer="abort"))
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    assert world.end.outcome == "completed"
    assert [e.command for e in world.all(ev.CommandRefused)] == ["answer"]


# -- interrupt, permissions, budgets ---------------------------------------------------------------


def test_an_interrupt_ends_the_turn_and_not_the_run() -> None:
    world = World([2, 4, 10])
    world.agent.acts.append(wait)
    world.send(Interrupt())
    world.run()
    assert [e.status for e in world.all(ev.IterationFinished)] == ["interrupted", "completed"]
    assert world.end.outcome == "completed"


def test_changed_permissions_hold_from_the_next_session_on() -> None:
    turns = []
    world = World([2, 4, 10])
    start = world.agent.start

    def remember(turn: Any, emit: Any) -> Any:
        turns.append(turn)
        return start(turn, emit)

    world.agent.start = remember  # type: ignore[method-assign]
    world.agent.acts.append(wait)
    world.send(SetPermissions(mode="skip", allow=("WebFetch",)))
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    assert [turn.permissions.mode for turn in turns] == ["edits", "skip"]
    assert turns[1].permissions.allow == ("WebFetch",)


def test_a_session_over_budget_is_stopped_and_the_overshoot_said() -> None:
    world = World([2, 4, 10], budget_usd=1.0)

    def act(session: FakeSession) -> None:
        session.cost_usd = 1.25
        session.emit(ev.UsageReported(iteration=1, cost_usd=1.25, tokens=10))

    world.agent.acts.append(act)
    world.run()
    assert world.end.outcome == "limit_reached"
    said = [e.text for e in world.all(ev.Noticed)]
    assert any("budget of $1 is used up ($1.25)" in text for text in said)
    assert any("exceeded the run's budget by $0.25" in text for text in said)


# -- a full disk -----------------------------------------------------------------------------------


def test_a_full_disk_at_a_snapshot_is_waited_for() -> None:
    world = World([2, 10])

    def act(session: FakeSession) -> None:
        world.workspace.error = NoRoomError("no space left; free some")
        session.finish()

    def free() -> None:
        world.workspace.error = None

    world.agent.acts.append(act)
    world.host.idle.append(free)
    world.run()
    assert world.end.outcome == "completed"
    assert [e.cause for e in world.all(ev.WaitStarted)] == ["disk_full"]


def test_an_agent_stopped_by_a_full_disk_works_on_in_the_same_iteration() -> None:
    world = World([2, 10])
    world.agent.acts.append(lambda session: session.finish("stopped"))
    world.run()
    assert world.end.iterations == 1
    assert len(world.agent.sessions) == 2


# -- what the owner says while a session is waited for ---------------------------------------------


def test_words_said_while_a_limit_is_waited_for_reach_the_next_session() -> None:
    world = World([2, 10])
    world.agent.acts.append(limited(3600))
    world.send(Guide(text="mind the lexer"), Guide(text="and the parser"))
    world.run()
    assert "mind the lexer" not in world.agent.prompts[0]
    assert world.agent.prompts[1].startswith(world.agent.prompts[0].rstrip())
    assert "mind the lexer\n\nand the parser" in world.agent.prompts[1]
    assert world.records.prompts[1] == world.agent.prompts[1], "kept as sent"
    assert {item.status for item in world.state.guidance.items.values()} == {"delivered"}


def test_words_that_reach_nobody_are_told_at_the_end() -> None:
    world = World([2, 10])
    world.agent.acts.append(wait)
    world.send(Guide(text="too late"))
    world.host.idle.append(lambda: world.agent.sessions[0].finish())
    world.run()
    assert any(
        "before the agent got this guidance: too late" in e.text for e in world.all(ev.Noticed)
    )


def test_trying_again_by_hand_does_not_lengthen_the_next_wait() -> None:
    world = World([2, 10])
    world.agent.acts.extend(limited(kind="overload") for _ in range(3))
    world.host.idle.extend([RetryNow(), RetryNow()])
    world.run()
    assert [e.attempt for e in world.all(ev.WaitStarted)] == [1, 1, 1]


def test_an_agent_that_fails_three_times_alike_and_does_nothing_ends_the_run() -> None:
    world = World([2, 2, 2, 2, 2])
    world.workspace.changed = []

    def act(session: FakeSession) -> None:
        session.emit(
            ev.SessionFinished(
                iteration=session.iteration, outcome="error", reason="no such model."
            )
        )

    world.agent.acts.extend([act] * 5)
    world.run()
    assert world.end.outcome == "aborted"
    assert world.end.iterations == 3
    assert "no such model" in world.end.reason


def test_an_aborted_iteration_keeps_what_it_has_cost() -> None:
    world = World([2, 4])
    world.agent.acts.append(limited(36_000))
    world.send(Abort())
    world.run()
    assert world.all(ev.IterationFinished)[0].cost_usd == pytest.approx(0.01)
