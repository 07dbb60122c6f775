"""The overseer in the loop: its questions, the effect of silence, and of every answer."""

import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.cli.status_words import status_text
from ralph_tui.commands import Abort, Answer, Command, Extend, Hold, Pause, Restore, Stop, Unpause
from ralph_tui.config.settings import Settings
from ralph_tui.events.agent import SessionOutcome
from ralph_tui.events.oversight import Health, HealthTotals
from ralph_tui.events.run import Mode
from ralph_tui.layers.oversight import Finding, Oversight, OversightSettings, Situation, beside
from ralph_tui.ports.host import Accepted, CommandRequest, Refused
from ralph_tui.state import RunState
from tests.examples import FEWER
from tests.unit.loop.invariants import check
from tests.world import FakeSession, World, promise
from tests.world.agents import report
from tests.world.owner import answer, first

STUCK = [0, 3]
"""30 % after iteration 1, and no more: stuck at 4."""


def levels(world: World) -> list[tuple[int, str, str]]:
    """Every intervention beyond a warning."""
    return [
        (e.iteration, e.level, e.about)
        for e in world.all(ev.InterventionMade)
        if e.level not in ("LOG", "WARN")
    ]


def last(world: World) -> tuple[str, str]:
    return world.end.outcome, world.end.reason


# -- REDIRECT --------------------------------------------------------------------------------------


def test_silence_approves_a_redirect_when_the_countdown_ends() -> None:
    world = World([*STUCK, 3, 3, 3, 10], mode="attended").run()
    asked, answered = world.only(ev.QuestionAsked), world.only(ev.QuestionAnswered)
    assert (asked.topic, asked.about, asked.default) == ("redirect", "stuck", "approve")
    assert (answered.at - asked.at).total_seconds() == 120
    assert answered.by == "the default"
    assert last(world)[0] == "completed"


def test_without_a_terminal_a_redirect_is_approved_at_once() -> None:
    world = World([*STUCK, 3, 3, 3, 10]).run()
    asked, answered = world.only(ev.QuestionAsked), world.only(ev.QuestionAnswered)
    assert answered.at == asked.at
    assert world.only(ev.RedirectDecided).approved is True


def test_approved_instructions_stand_in_the_prompts_until_there_is_a_new_best() -> None:
    edited = "Only look at the lexer."
    world = World([*STUCK, 3, 3, 3, 3, 6, 6, 10], mode="attended")
    world.play(answer("approve", text=edited))
    carried = [edited in prompt for prompt in world.agent.prompts]
    assert carried == [False] * 4 + [True, True, False, False]
    assert world.all(ev.HealthChecked)[5].ended == "stuck"


def test_the_effect_is_told_two_iterations_later() -> None:
    world = World([*STUCK, 3, 3, 3, 4, 6, 10], mode="attended")
    world.play(answer("approve"))
    effect = world.only(ev.EffectObserved)
    assert (effect.of, effect.iteration, effect.points) == (4, 6, 30.0)
    episode, *_ = [entry for entry in world.state.log.entries if entry.kind == "episode"]
    assert "after 2 iterations: +30 points" in [row.text for row in episode.follow]


def test_after_a_restore_the_effect_counts_from_the_files_that_were_restored() -> None:
    world = World([0, 7, 6, 5, 8, 10], mode="attended")
    world.play(answer("roll_back"))
    assert world.all(ev.WorktreeRestored)
    effect = world.only(ev.EffectObserved)
    timeline = world.state.timeline
    since = [timeline.gain(span) for span in timeline.spans if span.number > effect.of]
    assert (effect.of, effect.points, since) == (3, 30.0, [10.0, 20.0])  # from 70, not from 50


def test_a_declined_redirect_changes_nothing_and_a_pause_follows() -> None:
    world = World([*STUCK, *[3] * 9], mode="attended")

    def reply(asked: ev.QuestionAsked) -> Command:
        if asked.topic == "redirect":
            return Answer(question_id=asked.question_id, answer="decline")
        return Answer(question_id=asked.question_id, answer="abort", by="me")

    world.play(reply)
    assert levels(world)[:2] == [(4, "REDIRECT", "stuck"), (6, "PAUSE", "stuck")]
    assert not any("# Redirect" in prompt for prompt in world.agent.prompts)
    assert last(world) == ("aborted", "aborted by me")
    assert world.only(ev.RedirectDecided).instructions == ""


def test_a_held_countdown_never_ends() -> None:
    world = World([*STUCK, *[3] * 3, 10], mode="attended")
    for event in world.steps():
        if isinstance(event, ev.QuestionAsked):
            question = event.question_id
            world.host.inbox.append(Hold(question_id=question))
            world.host.idle.extend([None] * 5000)
            world.host.idle.append(Answer(question_id=question, answer="decline"))
    asked, answered = world.only(ev.QuestionAsked), world.only(ev.QuestionAnswered)
    assert (answered.at - asked.at).total_seconds() > 4000
    assert asked.severity == "high"
    # Without an answer for ten minutes, one notification was sent.
    raised = world.only(ev.EscalationRaised)
    assert (raised.at - asked.at).total_seconds() == pytest.approx(600, abs=2)


def test_oscillation_damps_the_gains_until_the_episode_ends() -> None:
    world = World([0, 4, 6, 4, 6, 4, 6, 4], mode="attended", max_iterations=8)
    world.play(first)
    profiles = [e.profile for e in world.all(ev.SignalComputed)]
    assert levels(world)[0] == (5, "REDIRECT", "oscillating")
    assert "kp 0.3" in world.all(ev.QuestionAsked)[0].gains
    assert profiles[4] != "damped"
    assert profiles[5:7] == ["damped", "damped"]


# -- rolling back ----------------------------------------------------------------------------------


def regressing() -> World:
    return World([0, 7, 6, 5, 8, 10], mode="attended")


def test_a_regression_offers_the_way_back_and_says_what_it_would_change() -> None:
    world = regressing().play(answer("roll_back"))
    asked = world.only(ev.QuestionAsked)
    assert asked.rollback is not None
    assert (asked.about, asked.rollback.iteration) == ("regressing", 1)
    assert asked.rollback.paths == ["a.py"]
    kinds = world.kinds("question_answered", "snapshot_taken", "worktree_restored")
    start = kinds.index("question_answered")
    assert kinds[start : start + 4] == [
        "question_answered",
        "snapshot_taken",
        "worktree_restored",
        "snapshot_taken",
    ]
    restored = world.only(ev.WorktreeRestored)
    point = world.state.timeline.snapshots[asked.rollback.snapshot]
    assert world.workspace.restored == [point.tree]
    assert restored.present == restored.snapshot + 3
    assert world.only(ev.RedirectDecided).approved is True
    assert "restored to their state after iteration 1" in world.agent.prompts[3]


def prompt_after_a_roll_back(world: World) -> str:
    """The prompt of the iteration that begins on an earlier one's files."""
    return world.play(answer("roll_back")).agent.prompts[3]


def test_after_a_roll_back_the_prompt_tells_of_the_files_that_are_there() -> None:
    """Iteration 1 left 3 of 10 tests failing, iteration 3 five of them."""
    prompt = prompt_after_a_roll_back(regressing())
    assert "Completion: 70 % (from the tests)." in prompt
    assert "The command reported 7 passed, 3 failed." in prompt
    assert re.findall(r"^- (test_\d)$", prompt, re.M) == ["test_7", "test_8", "test_9"]
    assert "Failing now" not in prompt
    assert "not measured since" not in prompt


def test_instructions_do_not_ask_for_what_a_roll_back_has_done() -> None:
    world = World([0, 7, 6, 5, 7, 7, 10], mode="attended")
    prompt = prompt_after_a_roll_back(world)
    assert "restore what worked" in prompt
    then = "Then the files were restored to their state after iteration 1"
    assert then in prompt
    assert "anything they ask you to undo is already undone" in prompt
    assert then in world.agent.prompts[4]
    approved = regressing().play(answer("approve")).agent.prompts[3]
    assert "restore what worked" in approved
    assert "files were restored" not in approved


def test_what_an_undone_iteration_meant_to_do_next_is_not_passed_on() -> None:
    world = regressing()
    world.agent.acts.extend([report("one"), report("two"), report("three")])
    assert "three" not in prompt_after_a_roll_back(world)


def test_a_roll_back_that_was_undone_is_none() -> None:
    world = regressing()

    def reply(asked: ev.QuestionAsked) -> Command:
        last = world.state.timeline.spans[-1].boundary
        assert last is not None
        assert asked.rollback is not None
        world.host.inbox += [
            Restore(snapshot=asked.rollback.snapshot),
            Restore(snapshot=last.number),
        ]
        return Answer(question_id=asked.question_id, answer="approve")

    prompt = world.play(reply).agent.prompts[3]
    assert len(world.all(ev.WorktreeRestored)) == 2
    assert "The command reported 5 passed, 5 failed." in prompt
    assert "files were restored" not in prompt
    # The agent's later gain counts: from 50 to 80.
    assert world.all(ev.SignalComputed)[3].derivative == pytest.approx(-0.3)


@pytest.mark.parametrize("undone", [True, False])
def test_an_answer_that_rolls_back_does_so_whatever_was_restored_before_it(undone: bool) -> None:  # noqa: FBT001
    world = regressing()

    def reply(asked: ev.QuestionAsked) -> Command:
        last = world.state.timeline.spans[-1].boundary
        assert last is not None
        world.host.inbox += [Restore(snapshot=1), *([Restore(snapshot=last.number)] * undone)]
        return Answer(question_id=asked.question_id, answer="roll_back")

    world.play(reply)
    asked, restored = world.only(ev.QuestionAsked), world.all(ev.WorktreeRestored)
    assert asked.rollback is not None
    assert len(restored) == 2 + undone
    assert restored[-1].snapshot == asked.rollback.snapshot
    assert restored[-1].seq > world.only(ev.QuestionAnswered).seq


def test_the_way_back_says_that_the_instructions_go_with_it() -> None:
    redirect = regressing().play(answer("abort")).only(ev.QuestionAsked)
    assert [o.verb for o in redirect.options if o.key == "r"] == [
        "restore iteration 1 (70 %), which changes 1 file, and send the instructions"
    ]
    pauses = World([0, 7, *[6] * 19], mode="attended", max_iterations=20).play(
        lambda asked: answer("decline" if asked.topic == "redirect" else "abort")(asked)
    )
    pause = pauses.all(ev.QuestionAsked)[-1]
    assert pause.topic == "pause"
    assert [o.verb for o in pause.options if o.key == "r"] == [
        "restore iteration 1 (70 %), which changes 1 file, and continue"
    ]


def test_a_redirect_counts_all_failing_tests_and_names_some_of_them() -> None:
    """29 fail; an event names 20 of them, a sentence five."""
    world = World([], mode="attended")
    world.gate.total, world.gate.last = 29, 0
    asked = world.play(answer("abort")).all(ev.QuestionAsked)[0]
    assert asked.evidence[-1] == ("failing now: test_0, test_1, test_2, test_3, test_4 and 24 more")
    assert "- test_0\n" in asked.proposal
    assert "- test_9\n" in asked.proposal
    assert "- test_10\n" not in asked.proposal
    assert " more\n" in asked.proposal
    assert "- test_19\n- and 9 more, not named" in world.agent.prompts[1]


def test_a_step_caused_by_a_rollback_counts_for_nothing() -> None:
    world = regressing().play(answer("roll_back"))
    after = world.all(ev.SignalComputed)[3]
    assert after.derivative == 0
    assert [e.volatility for e in world.all(ev.SignalComputed)][3] < 0.5


def test_a_restore_is_recommended_only_where_the_files_are_not_the_best() -> None:
    """Otherwise no key restores, and nothing would change."""
    world = World([0, 5, 0, 5, 0, 5, 5, 5, 5, 5, 5, 5], mode="attended")
    world.play(lambda asked: answer("decline" if asked.topic == "redirect" else "abort")(asked))
    asked = world.all(ev.QuestionAsked)
    made = [one for one in world.all(ev.InterventionMade) if one.about == "oscillating"]
    assert [one.topic for one in asked] == ["redirect", "pause"]
    for question, acts, lies_back in zip(asked, made, (True, False), strict=True):
        offered = "roll_back" in [option.answer for option in question.options]
        assert offered == ("Restore the best iteration." in acts.recommendations) == lies_back
        if question.topic == "pause":
            assert ("recommended: Restore the best iteration." in question.evidence) == lies_back


def test_what_was_undone_slows_no_pace() -> None:
    """48 64 52 64 52, back to 64, then 72 and 80: nothing is slow, a new best each time."""
    world = World([12, 16, 13, 16, 13, 18, 20, 22, 25], mode="attended")
    world.gate.total = 25
    world.play(answer("roll_back"))
    assert [e.about for e in world.all(ev.InterventionMade)] == ["oscillating", "budget"]


def test_a_restore_that_fails_is_told_and_the_run_goes_on() -> None:
    world = regressing()

    def reply(asked: ev.QuestionAsked) -> Command:
        world.workspace.error = OSError(5, "Input/output error", "x")
        world.host.idle.append(None)
        return Answer(question_id=asked.question_id, answer="roll_back")

    for event in world.steps():
        if isinstance(event, ev.QuestionAsked):
            world.host.inbox.append(reply(event))
        elif event.kind == "noticed":
            world.workspace.error = None
    texts = [row.text for row in world.state.log.rows]
    assert any("the restore failed before it started" in text for text in texts)
    assert last(world)[0] == "completed"


def test_files_are_restored_only_while_nobody_uses_them() -> None:
    answers: list[Accepted | Refused] = []
    world = World([0, 5, 10], mode="attended")
    order = CommandRequest(Restore(snapshot=1), answers.append)

    def busy(session: FakeSession) -> None:
        world.host.inbox.append(order)
        world.host.idle.append(lambda: session.finish())

    world.agent.acts.append(busy)
    for event in world.steps():
        if event.kind == "session_finished" and len(world.agent.sessions) == 1:
            world.host.inbox.append(Pause())
        elif event.kind == "paused":
            world.host.inbox.extend([order, CommandRequest(Restore(snapshot=99), answers.append)])
            world.host.idle.extend([None, Unpause()])
    assert isinstance(answers[0], Refused)
    assert "pause the run" in answers[0].reason
    assert isinstance(answers[1], Accepted)
    assert answers[2] == Refused("no snapshot 99 in this run")
    assert world.workspace.restored == ["t1"]


def test_of_a_command_that_passed_before_anything_was_done_the_question_says_so() -> None:
    world = World([10, 10, 10, 10, 10, 10, 10], mode="attended", until_promise=True)
    world.play(lambda asked: answer("abort")(asked))
    asked = world.all(ev.QuestionAsked)[-1]
    needed = "the run ends only after a promise and a changed file"
    assert asked.text.endswith(f"; the completion command already passes: {needed}")


# -- PAUSE -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("topic", ["redirect", "pause"])
@pytest.mark.parametrize("before", [True, False])
def test_who_stops_after_the_iteration_is_not_waited_for_at_a_question(
    topic: str, *, before: bool
) -> None:
    """No agent is working, and an answer would start unwanted work."""
    world = World([*STUCK, 3, 3, 3, 3, 3, 3, 3, 3], mode="attended")
    stop = Stop(mode="after_iteration")
    sent: list[Stop] = []
    for event in world.steps():
        wanted = isinstance(event, ev.IterationStarted) and event.iteration == 4 and before
        if isinstance(event, ev.QuestionAsked):
            wanted = event.topic == topic
            if not wanted:
                world.host.inbox.append(answer("approve")(event))
        if wanted and not sent:
            sent.append(stop)
            world.host.inbox.append(stop)
    asked = world.all(ev.QuestionAsked)[-1]
    assert last(world) == ("interrupted", "stopped while it waited for an answer, as requested")
    assert world.end.at - asked.at < timedelta(minutes=1), "no countdown was awaited"
    assert world.state.run.iteration == asked.iteration
    assert all(session.stopped is False for session in world.agent.sessions)


def flat(mode: Mode = "attended", max_iterations: int = 20) -> World:
    return World([*STUCK, *[3] * 300], mode=mode, max_iterations=max_iterations)


def test_a_headless_run_ends_when_nobody_answers_a_pause() -> None:
    world = flat("headless").run()
    pause = world.all(ev.QuestionAsked)[1]
    assert pause.deadline is not None
    assert (world.events[-1].at - pause.at).total_seconds() >= 1800
    assert last(world) == ("aborted", "no answer in time")


def test_an_attended_pause_that_was_held_waits_for_days() -> None:
    world = flat()
    for event in world.steps():
        if isinstance(event, ev.QuestionAsked) and event.topic == "redirect":
            world.host.inbox.append(Answer(question_id=event.question_id, answer="approve"))
        elif isinstance(event, ev.QuestionAsked):
            sessions = len(world.agent.sessions)
            world.host.inbox.append(Hold(question_id=event.question_id))
            world.host.idle.extend([None] * 200_000)
            world.host.idle.append(Abort())
    assert len(world.agent.sessions) == sessions
    assert last(world)[0] == "aborted"


def test_an_escalation_says_what_was_detected_and_what_blocks() -> None:
    def act(session: FakeSession) -> None:
        blocked = ev.AgentReported(iteration=session.iteration, blockers=["no network"])
        session.emit(blocked)
        session.finish()

    world = World([*STUCK, *[3] * 7], mode="attended", max_iterations=10)
    world.agent.acts += [act] * 10
    world.play(lambda asked: Answer(question_id=asked.question_id, answer="continue"))
    raised = [e for e in world.all(ev.EscalationRaised) if e.about == "stuck"]
    pauses = [e for e in world.all(ev.QuestionAsked) if e.topic == "pause"]
    assert raised
    assert pauses
    for event in raised:
        assert event.severity == "high"
        assert "stuck" in [one.name for one in event.detections]
        assert event.strategy
        assert event.blockers == ["no network"]
    assert {e.severity for e in pauses} <= {"high", "critical"}


def test_the_check_says_paused_while_a_pause_is_open() -> None:
    seen: list[tuple[Health, list[Health]]] = []

    def reply(asked: ev.QuestionAsked) -> Command | None:
        if asked.topic == "pause":
            checks = [
                c.status for c in world.all(ev.HealthChecked) if c.iteration == asked.iteration
            ]
            seen.append((world.state.oversight.status, checks))
        return answer("continue" if asked.topic == "pause" else "approve")(asked)

    world = World([*STUCK, 3, 3, 3, 3, 3, 3, 10], mode="attended")
    world.play(reply)
    assert seen
    assert all(reported == ("paused", ["paused"]) for reported in seen)
    checked = [event.iteration for event in world.all(ev.HealthChecked)]
    assert checked == sorted(set(checked)), "one for each iteration"
    after = world.events.index(world.all(ev.QuestionAnswered)[-1])
    assert RunState().apply_all(world.events[: after + 1]).oversight.status == "critical"


def test_a_pause_that_nobody_is_waited_for_in_is_none_of_its_health() -> None:
    """Without a terminal the question about the budget is answered as it is asked."""
    world = World([0, 0, 1, 2, 3, 4, 5, 5, 6, 6, 7]).run()
    assert (9, "PAUSE", "budget") in levels(world)
    assert "paused" not in {event.status for event in world.all(ev.HealthChecked)}


def test_guidance_at_a_pause_is_in_the_next_prompt() -> None:
    world = flat()

    def reply(asked: ev.QuestionAsked) -> Command:
        word = {"redirect": "approve", "pause": "guide"}[asked.topic]
        text = "try the grammar" if word == "guide" else ""
        return Answer(question_id=asked.question_id, answer=word, text=text)

    world.play(reply)
    paused_at = next(k for k, level, _ in levels(world) if level == "PAUSE")
    assert "try the grammar" in world.agent.prompts[paused_at]


def test_more_iterations_at_a_pause() -> None:
    world = flat(max_iterations=7)

    def reply(asked: ev.QuestionAsked) -> Command:
        if asked.topic == "pause" and world.state.run.max_iterations == 7:
            return Answer(question_id=asked.question_id, answer="extend", iterations=2)
        word = "approve" if asked.topic == "redirect" else "continue"
        return Answer(question_id=asked.question_id, answer=word)

    world.play(reply)
    assert world.only(ev.LimitsChanged).max_iterations == 9
    assert world.state.run.iteration == 9


def test_the_budget_question_is_answered_by_going_on() -> None:
    slow = [0, 0, 1, 2, 3, 4, 5, 5, 6, 6, 7]
    for mode in ("headless", "attended"):
        world = World(slow, mode=mode).run()
        assert (9, "PAUSE", "budget") in levels(world)
        assert last(world)[0] == "limit_reached"


# -- ABORT -----------------------------------------------------------------------------------------


def test_a_run_that_gained_nothing_is_aborted_at_its_limit() -> None:
    world = World([3] * 20, mode="attended", max_iterations=5)
    world.play(first)
    assert levels(world)[-1] == (5, "ABORT", "no_progress")
    outcome, reason = last(world)
    assert outcome == "aborted"
    assert reason.startswith("All 5 iterations are used up, and the best, ")
    # The iteration itself was recorded to its end.
    assert world.kinds("iteration_finished", "run_finished")[-2:] == [
        "iteration_finished",
        "run_finished",
    ]


def test_the_same_error_three_times_ends_the_run() -> None:
    world = World([3] * 10)
    world.workspace.changed = []

    def fail(number: int) -> Callable[[FakeSession], None]:
        def act(session: FakeSession) -> None:
            session.fail(f"cannot open /tmp/x{number}: error {number}7")

        return act

    world.agent.acts.extend(fail(n) for n in range(5))
    world.run()
    assert levels(world)[-1] == (3, "ABORT", "agent_error")
    assert last(world)[0] == "aborted"
    assert len(world.agent.sessions) == 3


def test_an_abort_may_lead_back_to_a_snapshot() -> None:
    answers: list[Accepted | Refused] = []
    world = regressing()

    def act(session: FakeSession) -> None:
        world.host.inbox.append(CommandRequest(Abort(roll_back_to=77), answers.append))
        world.host.inbox.append(CommandRequest(Abort(roll_back_to=1), answers.append))

    world.agent.acts.append(act)
    world.run()
    assert answers[0] == Refused("no snapshot 77 in this run")
    assert isinstance(answers[1], Accepted)
    assert world.workspace.restored == ["t1"]
    assert last(world) == ("aborted", "aborted by you; the work goes back to snapshot 1")
    assert levels(world) == [(1, "ABORT", "owner")]
    assert [event.level for event in world.all(ev.EscalationRaised)] == ["info"]


# -- a criterion in words --------------------------------------------------------------------------


def criterion(*replies: str, mode: Mode = "attended") -> World:
    world = World([], criterion="it reads well", mode=mode, max_iterations=3)
    world.agent.acts.extend([promise] * 3)
    words = list(replies)

    def reply(asked: ev.QuestionAsked) -> Command | None:
        if asked.topic != "criterion" or not words:
            return None
        word = words.pop(0)
        text = "shorter" if word == "guide" else ""
        return Answer(question_id=asked.question_id, answer=word, text=text, by="me")

    return world.play(reply)


def test_a_human_judges_a_promise() -> None:
    world = criterion("no", "guide", "yes")
    assert len(world.all(ev.QuestionAsked)) == 3
    assert last(world) == ("completed", "accepted by me after iteration 3")
    assert world.state.run.completion == 100
    assert "it reads well" in world.agent.prompts[0]
    assert "shorter" in world.agent.prompts[2]
    assert not world.all(ev.GateStarted)


def test_who_judges_a_promise_sees_what_the_agent_says_and_did() -> None:
    def act(session: FakeSession) -> None:
        session.emit(
            ev.AgentReported(
                iteration=session.iteration,
                completion=60,
                summary="wrote half of the notes",
                blockers=["no network"],
            )
        )
        promise(session)

    world = World([], criterion="it reads well", mode="attended")
    world.agent.acts.append(act)
    world.play(answer("yes"))
    assert world.all(ev.QuestionAsked)[0].evidence == [
        "it claims 60 %",
        "it says: wrote half of the notes",
        "blocked by: no network",
        "changed in this iteration: a.py +1 −0",
    ]
    silent = World([], criterion="it reads well", mode="attended")
    silent.agent.acts.append(promise)
    silent.workspace.changed = []
    silent.play(answer("yes"))
    assert silent.all(ev.QuestionAsked)[0].evidence == [
        "the agent left no report",
        "no files changed in this iteration",
    ]


def test_nobody_there_means_no() -> None:
    world = criterion(mode="headless")
    assert {e.answer for e in world.all(ev.QuestionAnswered)} == {"no"}
    assert last(world)[0] in ("limit_reached", "aborted")


# -- two terminals ---------------------------------------------------------------------------------


def test_of_two_answers_the_first_counts_and_the_other_is_told() -> None:
    answers: dict[str, Accepted | Refused] = {}
    world = World([*STUCK, 3, 3, 3, 10], mode="attended")
    for event in world.steps():
        if isinstance(event, ev.QuestionAsked):
            for by, word in (("left", "decline"), ("right", "approve")):
                command = Answer(question_id=event.question_id, answer=word, by=by)
                world.host.inbox.append(
                    CommandRequest(command, lambda given, by=by: answers.update({by: given}))  # type: ignore[misc]
                )
    answered = world.only(ev.QuestionAnswered)
    assert answered.by == "left"
    assert answers["left"] == Accepted(answered.seq)
    assert answers["right"] == Refused("that question was already answered: decline, by left")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (
            {"answer": "maybe"},
            "maybe is not a valid answer; choose from continue, guide, extend, abort",
        ),
        ({"answer": "guide", "text": " \n"}, "guide needs text; add it"),
        ({"answer": "extend"}, "extend needs a number: iterations"),
        ({"answer": "extend", "iterations": 1, "budget_usd": 2}, "no dollar budget"),
    ],
)
def test_answers_that_do_not_fit_have_no_effect(fields: dict[str, object], why: str) -> None:
    world = flat(max_iterations=7)
    given: list[Accepted | Refused] = []
    for event in world.steps():
        if isinstance(event, ev.QuestionAsked) and event.topic == "redirect":
            world.host.inbox.append(Answer(question_id=event.question_id, answer="approve"))
        elif isinstance(event, ev.QuestionAsked):
            wrong = Answer.model_validate({"question_id": event.question_id, **fields})
            world.host.inbox.extend([CommandRequest(wrong, given.append), Abort()])
    assert isinstance(given[0], Refused)
    assert why in given[0].reason
    assert not world.all(ev.LimitsChanged)


def test_iterations_are_granted_and_taken_back() -> None:
    given: list[Accepted | Refused] = []
    world = World([0, 1, 2, 3, 4, 5, 6], max_iterations=4)

    def act(session: FakeSession) -> None:
        world.host.inbox.extend(
            CommandRequest(command, given.append)
            for command in (Extend(iterations=-4), Extend(iterations=-2), Extend(budget_usd=3))
        )
        world.host.idle.append(lambda: session.finish())

    world.agent.acts.append(act)
    world.run()
    assert isinstance(given[0], Refused)
    assert isinstance(given[1], Accepted)
    assert isinstance(given[2], Refused)
    assert world.state.run.iteration == 2


# -- what holds for every run ----------------------------------------------------------------------


@FEWER
@given(
    passed=st.lists(st.integers(0, 10), min_size=2, max_size=25),
    words=st.lists(
        st.sampled_from(["approve", "decline", "continue", "roll_back", "guide", "extend", ""]),
        max_size=12,
    ),
    mode=st.sampled_from(["attended", "headless"]),
    outcomes=st.lists(st.sampled_from(["success", "error", "crashed"]), max_size=20),
)
def test_whatever_is_answered(
    passed: list[int], words: list[str], mode: Mode, outcomes: list[SessionOutcome]
) -> None:
    world = World(passed, max_iterations=12, mode=mode)
    world.agent.acts.extend(lambda s, o=o: s.finish(o) for o in outcomes)  # type: ignore[misc]
    left = list(words)

    def reply(asked: ev.QuestionAsked) -> Command | None:
        word = left.pop(0) if left else "continue"
        known = {option.answer for option in asked.options}
        if word not in known:
            # A wrong answer, then silence; where silence would wait forever, the user aborts.
            world.host.idle.extend([None] * 2500)
            world.host.idle.append(Abort())
        return Answer(question_id=asked.question_id, answer=word or "?", text="words", iterations=1)

    world.play(reply)
    check(world)


def test_a_flat_run_is_asked_about_at_most_7_times() -> None:
    world = flat(max_iterations=120)
    world.gate.total = 100
    world.play(first)
    assert 5 < len(world.all(ev.QuestionAsked)) <= 7
    check(world)


def test_switched_off_nobody_watches() -> None:
    settings = Settings(oversight=OversightSettings(enabled=False))
    world = World([3] * 12, settings=settings).run()
    assert not world.all(ev.HealthChecked)
    assert not world.all(ev.InterventionMade)
    assert last(world)[0] == "limit_reached"


def test_an_overseer_that_must_not_act_says_what_it_would_do() -> None:
    settings = Settings(oversight=OversightSettings(act=False))
    watched = World([*STUCK, *[3] * 9], mode="attended", settings=settings).run()
    acted = World([*STUCK, *[3] * 9], mode="attended").play(answer("continue"))
    assert not levels(watched)
    assert not watched.all(ev.QuestionAsked)
    assert not watched.all(ev.EscalationRaised)
    made = [e for e in watched.all(ev.InterventionMade) if e.would]
    assert [(e.iteration, e.would, e.about) for e in made][:2] == levels(acted)[:2]
    assert {e.level for e in made} == {"WARN"}
    assert made[0].row().text.startswith("stuck: would redirect: No new best")
    assert any(
        "would redirect: " in row.text for one in watched.state.log.entries for row in one.rows
    )
    assert [c.detections for c in watched.all(ev.HealthChecked)][:6] == [
        c.detections for c in acted.all(ev.HealthChecked)
    ][:6]
    assert not any("# Redirect" in prompt for prompt in watched.agent.prompts)
    assert last(watched)[0] == "limit_reached"
    check(watched)
    useless = World([3] * 20, mode="attended", max_iterations=5, settings=settings).run()
    made = [e for e in useless.all(ev.InterventionMade) if e.would]
    assert [e.would for e in made][-1] == "ABORT"
    assert not levels(useless)
    assert last(useless)[0] == "limit_reached"
    both = (
        Situation("PAUSE", "circuit", "It idles."),
        Situation("REDIRECT", "stuck", "It is stuck."),
    )
    assert beside(Finding(Oversight(), both).as_warning().situations) == [
        "STALLED: would pause: It idles.",
        "STUCK: would redirect: It is stuck.",
    ]


def test_a_critical_detection_pauses_instead_of_redirecting_if_set() -> None:
    settings = Settings(oversight=OversightSettings(pause_on_critical=True))
    world = World([0, 7, 6, 5, 8, 10], mode="attended", settings=settings)
    world.play(answer("continue"))
    assert levels(world)[0] == (3, "PAUSE", "regressing")
    asked = world.all(ev.QuestionAsked)[0]
    assert (asked.topic, asked.about, asked.default) == ("pause", "regressing", "abort")
    assert "REDIRECT" not in {level for _, level, _ in levels(world)}
    flat = World([*STUCK, 3, 3, 3, 10], mode="attended", settings=settings)
    flat.play(answer("approve"))
    assert levels(flat)[0] == (4, "REDIRECT", "stuck"), "STUCK is no critical detection"
    check(world)
    swings = World([0, 4, 6, 4, 6, 4, 10], mode="headless", settings=settings).run()
    assert levels(swings)[0] == (5, "PAUSE", "oscillating")
    assert last(swings) == ("aborted", "no answer in time")

    def pauses(*, at_once: bool) -> list[tuple[int, str]]:
        settings = Settings(oversight=OversightSettings(pause_on_critical=at_once))
        readings = [*[5] * 8, 3, 1, 1, 1, 1, 1]
        world = World(readings, max_iterations=13, mode="attended", settings=settings)
        world.play(lambda q: answer("approve" if q.topic == "redirect" else "continue")(q))
        check(world)
        return [(k, about) for k, level, about in levels(world) if level == "PAUSE"]

    assert pauses(at_once=False) == [(7, "stuck"), (12, "stuck")]
    assert pauses(at_once=True)[:2] == [(7, "stuck"), (9, "regressing")]
    assert 10 not in dict(pauses(at_once=True)), "it is asked about once"


def test_a_pause_for_a_critical_detection_opens_an_episode() -> None:
    settings = Settings(oversight=OversightSettings(pause_on_critical=True))
    world = World([0, 7, 6, 5, 5, 5, 5, 5, 5, 5, 5], mode="attended", settings=settings)
    for event in world.steps():
        if isinstance(event, ev.QuestionAsked):
            world.host.inbox.append(Answer(question_id=event.question_id, answer="continue"))
            assert world.state.oversight.episode is not None
    pauses = [k for k, level, about in levels(world) if about == "regressing"]
    assert pauses[:2] == [3, 8], "the next one keeps to the episode's schedule"


def check_totals(world: World) -> list[ev.HealthChecked]:
    """Return the health checks, after comparing their totals with the events before them."""
    checks = world.all(ev.HealthChecked)
    for number, done in enumerate(checks, 1):
        so_far = Counter(
            one.level for one in world.all(ev.InterventionMade) if one.iteration <= done.iteration
        )
        assert done.totals == HealthTotals(
            checks=number,
            detections=sum(len(one.detections) for one in checks[:number]),
            logs=so_far["LOG"],
            warnings=so_far["WARN"],
            redirects=so_far["REDIRECT"],
            pauses=so_far["PAUSE"],
            aborts=so_far["ABORT"],
        )
    return checks


def test_health_checks_count_checks_detections_and_interventions() -> None:
    world = World([*STUCK, *[3] * 9], mode="attended").play(answer("continue"))
    aborted = World([3] * 20, mode="attended", max_iterations=5).play(first)
    check_totals(aborted)
    assert levels(aborted)[-1][1] == "ABORT"
    assert aborted.state.oversight.totals.aborts == 1
    assert ", 1 abort\n" in status_text({**summarize(aborted.state), "alive": False})
    checks = check_totals(world)
    asked = world.all(ev.QuestionAsked)
    counted = {one.iteration: one.seq for one in checks}
    assert all(counted[one.iteration] < one.seq for one in asked), "before anybody is asked"
    made = Counter(event.level for event in world.all(ev.InterventionMade))
    totals = world.state.oversight.totals
    assert (totals.redirects, totals.pauses) == (made["REDIRECT"], made["PAUSE"])
    assert (totals.warnings, totals.logs, totals.aborts) == (
        made["WARN"], made["LOG"], made["ABORT"],
    )  # fmt: skip
    old = [e.model_copy(update={"totals": None}) if e.kind == "health_checked" else e
           for e in world.events]  # fmt: skip
    assert RunState().apply_all(old).oversight.totals == totals
    status = summarize(world.state)
    assert status["totals"] == totals.model_dump()
    assert status["detections"] == [
        {
            "name": "stuck",
            "severity": "high",
            "reason": "No new best for 9 iterations; the longest gap between gains so far was 1.",
        },
        {
            "name": "budget",
            "severity": "high",
            "reason": "10 of 10 iterations are used, and completion is at 30 %.",
        },
    ]
    assert checks[-2].detections != checks[-1].detections, "the status has the latest ones"
    expected = f"health      warning: stuck, budget; {totals.detections} detections in 10 checks, "
    assert (totals.logs, totals.warnings, totals.redirects, totals.pauses) == (2, 1, 1, 2)
    by_level = "2 notes, 1 warning, 1 redirect, 2 pauses"
    assert f"{expected}{by_level}\n" in status_text({**status, "alive": True})


def test_a_quiet_run_has_no_row_about_its_health() -> None:
    assert "\nhealth " not in status_text(
        {**summarize(World([2, 4, 6, 10]).run().state), "alive": False}
    )


def test_conflicts_are_told_and_pause_the_run() -> None:
    world = World([0, 2, 4, 6, 10], mode="attended")
    world.workspace.conflicting = ("a.py",)
    world.play(answer("continue"))
    assert world.all(ev.ConflictsFound)[0].paths == ["a.py"]
    assert levels(world)[0] == (1, "PAUSE", "conflicts")


# -- the circuit breaker ---------------------------------------------------------------------------


def idle(mode: Mode = "attended") -> World:
    """An agent that changes nothing; the user answers every question with *continue*."""
    world = World([3], max_iterations=20, mode=mode)
    world.workspace.changed = []
    return world


def test_an_agent_that_changes_nothing_pauses_the_run_and_is_one_question_at_a_time() -> None:
    world = idle().play(answer("continue"))
    first_ones = levels(world)[:2]
    assert first_ones == [(3, "PAUSE", "circuit"), (8, "PAUSE", "circuit")]
    assert not [made for made in levels(world) if made[1] == "REDIRECT"]
    asked = world.all(ev.QuestionAsked)[0]
    assert (asked.topic, asked.about, asked.default) == ("pause", "circuit", "abort")
    assert "changed no file" in asked.text
    assert world.state.oversight.episode is not None
    assert world.state.oversight.episode.about == "circuit"
    check(world)


def test_what_else_holds_is_told_by_its_name_and_not_by_what_was_not_done() -> None:
    stuck = Situation("REDIRECT", "stuck", "No rise in the first 3 iterations.")
    strayed = Situation("WARN", "objective_deviation", "It works elsewhere.")
    assert beside([stuck, strayed]) == [
        "STUCK: No rise in the first 3 iterations.",
        "OFF THE OBJECTIVE: It works elsewhere.",
    ]


def test_without_anybody_there_it_ends_a_run_that_does_nothing() -> None:
    world = idle("headless").run()
    assert last(world) == (
        "aborted",
        "3 iterations in a row changed no files and brought no new best.",
    )
    assert [e.about for e in world.all(ev.EscalationRaised)] == ["circuit"]
    assert world.state.run.iteration == 3
    assert not world.all(ev.QuestionAsked)
    assert [e.status for e in world.all(ev.HealthChecked)][-1:] == ["aborted"]


def test_a_headless_run_whose_agent_only_promises_ends_as_well() -> None:
    world = World([10], max_iterations=20, mode="headless", until_promise=True)
    world.workspace.changed = []
    world.agent.acts.extend([promise] * 20)
    world.run()
    assert last(world) == (
        "aborted",
        "3 iterations in a row changed no files, and the completion command's output was the same "
        "after each.",
    )
    assert world.state.run.iteration == 3
    assert not world.all(ev.QuestionAsked)


def test_a_headless_run_that_did_something_before_it_stalled_asks() -> None:
    world = idle("headless")
    still, work = world.workspace.changed, [*World([0]).workspace.changed]

    def act(session: FakeSession) -> None:
        world.workspace.changed = work if session.iteration == 1 else still
        session.finish()

    world.agent.acts.extend([act] * 20)
    world.run()
    asked = world.all(ev.QuestionAsked)[-1]
    assert (asked.topic, asked.about, asked.default) == ("pause", "circuit", "abort")


def test_a_file_changed_in_the_second_iteration_keeps_it_closed() -> None:
    world = idle()
    changes, work = world.workspace.changed, [*World([0]).workspace.changed]

    def act(session: FakeSession) -> None:
        world.workspace.changed = work if session.iteration % 3 == 2 else changes
        session.finish()

    world.agent.acts.extend([act] * 20)
    world.play(answer("continue"))
    assert not [made for made in levels(world) if made[2] == "circuit"]


def test_one_who_aborts_from_another_terminal_is_called_as_everywhere() -> None:
    def reply(asked: ev.QuestionAsked) -> Command:
        return Answer(question_id=asked.question_id, answer="abort", by="the terminal pts/8")

    world = idle().play(reply)
    assert last(world) == ("aborted", "aborted by you (terminal pts/8)")
