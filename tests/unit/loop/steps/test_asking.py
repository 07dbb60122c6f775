"""An agent's questions, one after the other; only the agent waits for the answer."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.agents.requests import asked, choice
from ralph_tui.commands import (
    Answer,
    Checkpoint,
    Command,
    Guide,
    Hold,
    Interrupt,
    Pause,
    Restore,
    Stop,
    refusal,
)
from ralph_tui.config.settings import CheckpointSettings, PermissionSettings, Settings
from ralph_tui.events.run import Mode
from ralph_tui.ports.agents import AgentAnswer
from tests.world import World
from tests.world.agents import FakeSession

PUSH = asked(1, "r1", "Bash", input="git push origin main", why="to share", rule="Bash(git push *)")
FETCH = asked(1, "r2", "WebFetch", input="https://example.org")
COLOURS = asked(
    1,
    "r3",
    "AskUserQuestion",
    choices=[
        choice("Which colour?", "Colour", [("Blue", "calm"), ("Red", "loud")]),
        choice("Which sizes?", "Sizes", [("S", ""), ("L", "")], multiple=True),
    ],
)
SETTINGS = Settings()


def asks(*requests: ev.AgentAsked) -> Callable[[FakeSession], None]:
    """Act: ask everything at once, and end the turn when all is answered."""

    def act(session: FakeSession) -> None:
        left = {request.request_id for request in requests}

        def on_answer(of: FakeSession, request_id: str) -> None:
            left.remove(request_id)
            if not left:
                of.finish()

        session.on_answer = on_answer
        for request in requests:
            session.emit(request)

    return act


def asking(
    *requests: ev.AgentAsked,
    mode: Mode = "attended",
    settings: Settings = SETTINGS,
    passed: Sequence[int] = (2, 10),
) -> World:
    world = World(list(passed), mode=mode, settings=settings)
    world.agent.acts.append(asks(*requests))
    return world


def answering(*replies: Mapping[str, object]) -> Callable[[ev.QuestionAsked], Command]:
    left = list(replies)

    def reply(question: ev.QuestionAsked) -> Command:
        return Answer.model_validate({"question_id": question.question_id, **left.pop(0)})

    return reply


def answers(world: World) -> list[tuple[str, AgentAnswer]]:
    return world.agent.sessions[0].answers


def test_the_owner_is_told_who_asks_for_what_and_why() -> None:
    world = asking(PUSH.model_copy(update={"parent": "a1"}))
    world.play(answering({"answer": "once"}))
    question = world.only(ev.QuestionAsked)
    assert question.text == "a subagent of fake asks for Bash: git push origin main"
    assert question.request is not None
    assert (question.request.why, question.request.rule) == ("to share", "Bash(git push *)")
    assert [(o.key, o.answer) for o in question.options] == [
        ("y", "once"), ("s", "session"), ("n", "refuse"), ("g", "refuse")
    ]  # fmt: skip
    assert question.options[1].verb.endswith(": Bash(git push *)")
    assert (question.topic, question.default) == ("permission", "refuse")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"answer": "once"}, AgentAnswer("once")),
        ({"answer": "session"}, AgentAnswer("session")),
        ({"answer": "refuse"}, AgentAnswer("refuse", "The user refused it. Continue without it.")),
        (
            {"answer": "refuse", "text": "open a pull request"},
            AgentAnswer("refuse", "The user refused it: open a pull request"),
        ),
    ],
)
def test_the_agent_gets_the_answer(said: dict[str, object], answer: AgentAnswer) -> None:
    assert answers(asking(PUSH).play(answering(said))) == [("r1", answer)]


def test_of_choices_the_agent_gets_the_labels_in_order() -> None:
    said = {"answer": "choose", "choices": [["Red"], ["S", "an own word"]]}
    world = asking(COLOURS).play(answering(said))
    assert answers(world) == [("r3", AgentAnswer("once", "", (("Red",), ("S", "an own word"))))]
    assert world.only(ev.QuestionAsked).text == "fake asks: Which colour? (and 1 more)"


def test_choices_can_be_left_to_the_agent() -> None:
    world = asking(COLOURS).play(answering({"answer": "leave"}))
    reported = answers(world)[0][1]
    assert reported == AgentAnswer(
        "refuse", "The user leaves the decision to you. Decide yourself."
    )


def test_nothing_is_allowed_for_a_session_where_no_rule_was_shown() -> None:
    world = asking(FETCH)
    world.play(lambda q: Answer(question_id=q.question_id, answer="session"))
    assert answers(world)[0][1].decision == "refuse"
    assert world.kinds("command_refused")


def test_without_an_answer_it_is_refused_after_five_minutes() -> None:
    world = asking(PUSH).run()
    words = "The user did not answer within 5 min; continue without it."
    assert answers(world) == [("r1", AgentAnswer("refuse", words))]
    assert world.only(ev.QuestionAnswered).by == "the default"
    assert 300 <= world.host.clock.seconds < 330
    assert world.end.outcome == "completed"


@pytest.mark.parametrize(
    "settings", [SETTINGS, Settings(permissions=PermissionSettings(answer_s=0))]
)
def test_nobody_is_waited_for_where_nobody_is(settings: Settings) -> None:
    world = asking(
        PUSH, COLOURS, mode="headless" if settings is SETTINGS else "attended", settings=settings
    )
    world.run()
    assert [reported.words for _, reported in answers(world)] == [
        "No user is available to answer. Continue without it.",
        "No user is available to answer. Decide yourself.",
    ]
    assert world.host.clock.seconds < 30


def test_several_are_asked_one_after_the_other() -> None:
    world = asking(PUSH, FETCH, COLOURS)
    world.play(answering({"answer": "once"}, {"answer": "refuse"}, {"answer": "leave"}))
    assert [request for request, _ in answers(world)] == ["r1", "r2", "r3"]
    order = world.kinds("question_asked", "question_answered")
    assert order == ["question_asked", "question_answered"] * 3


def again(*requests: ev.AgentAsked, often: int) -> Callable[[FakeSession], None]:
    """Act: ask all of them `often` times, one after the other, whatever the answer."""
    left = [
        request.model_copy(update={"request_id": f"{request.request_id}-{turn}"})
        for turn in range(often)
        for request in requests
    ]

    def on_answer(of: FakeSession, request_id: str) -> None:
        left.pop(0)
        if left:
            of.emit(left[0])
        else:
            of.finish()

    def act(session: FakeSession) -> None:
        session.on_answer = on_answer
        session.emit(left[0])

    return act


@pytest.mark.parametrize("said", [{"answer": "refuse", "text": "never"}, {"answer": "refuse"}])
def test_what_was_refused_is_refused_in_the_same_words_without_a_question(
    said: dict[str, object],
) -> None:
    world = World([2, 10], mode="attended", settings=SETTINGS)
    world.agent.acts.append(again(PUSH, often=31))
    world.play(answering(said))
    assert len(world.all(ev.QuestionAsked)) == 1
    assert len(answers(world)) == 31
    assert len({lines for _, lines in answers(world)}) == 1
    assert [event.times for event in world.all(ev.AgentRefusedAgain)] == list(range(1, 31))
    assert world.state.asking.waiting == {}
    lines = [row.text for row in world.state.log.rows if "asked again" in row.text]
    assert lines == ["asked again 30 times in the same session: same answer, without asking you"]


def test_only_the_very_same_call_is_refused_without_a_question() -> None:
    other = PUSH.model_copy(update={"request_id": "r4", "input": "git push origin other"})
    world = World([2, 10], mode="attended", settings=SETTINGS)
    world.agent.acts.append(again(PUSH, other, COLOURS, often=2))
    world.play(
        answering(
            {"answer": "refuse"}, {"answer": "once"}, {"answer": "leave"}, {"answer": "refuse"}
        )
    )
    questions = world.all(ev.QuestionAsked)
    ids = [asked.request and asked.request.request_id for asked in questions]
    assert ids == ["r1-0", "r4-0", "r3-0", "r4-1"]
    assert len(world.all(ev.AgentRefusedAgain)) == 2


def test_calls_that_tell_nothing_of_themselves_are_each_asked_about() -> None:
    world = World([2, 10], mode="attended", settings=SETTINGS)
    world.agent.acts.append(again(asked(1, "r1", "Edit"), often=2))
    world.play(answering({"answer": "refuse"}, {"answer": "once"}))
    assert [reported.decision for _, reported in answers(world)] == ["refuse", "once"]


def test_another_session_asks_anew() -> None:
    world = World([2, 4, 10], mode="attended", settings=SETTINGS)
    world.agent.acts.extend([again(PUSH, often=2), again(PUSH, often=2)])
    world.play(answering({"answer": "refuse"}, {"answer": "refuse", "text": "still not"}))
    assert [event.times for event in world.all(ev.AgentRefusedAgain)] == [1, 1]
    lines = [row.text for row in world.state.log.rows if "asked again" in row.text]
    assert len(lines) == 2


def later(world: World, *acts: Callable[[], object]) -> None:
    """Once a question is open, apply these one after the other."""

    def look() -> object:
        if world.state.needs.question is None:
            world.host.idle.append(look)
            return None
        world.host.idle.extend(acts)
        return None

    world.host.idle.append(look)


def test_what_the_agent_takes_back_needs_no_answer() -> None:
    world = asking(PUSH, FETCH)
    later(
        world,
        lambda: ev.AgentAskedNoMore(iteration=1, request_id="r2", reason=""),
        lambda: ev.AgentAskedNoMore(
            iteration=1, request_id="r1", reason="the agent was interrupted"
        ),
        lambda: world.agent.sessions[0].finish(),
    )
    world.run()
    assert world.only(ev.QuestionWithdrawn).reason == "the agent was interrupted"
    assert len(world.all(ev.QuestionAsked)) == 1
    assert not answers(world)


def test_an_agent_that_asks_and_dies_leaves_no_question() -> None:
    world = asking(PUSH)
    later(world, lambda: world.agent.sessions[0].finish("crashed"))
    world.run()
    assert world.only(ev.QuestionWithdrawn).reason == "the session ended"
    assert world.state.needs.question is None


def test_what_is_asked_twice_is_asked_once() -> None:
    world = asking(PUSH)
    later(world, lambda: PUSH, lambda: Answer(question_id=question(world), answer="once"))
    world.run()
    assert len(world.all(ev.QuestionAsked)) == 1
    assert len(answers(world)) == 1


def question(world: World) -> str:
    assert world.state.needs.question is not None
    return world.state.needs.question.question_id


def test_while_it_is_open_the_watchdog_stands_still_and_checkpoints_go_on() -> None:
    settings = Settings(checkpoints=CheckpointSettings(interval_s=1000))
    world = asking(PUSH, settings=settings)
    nothing = [lambda: None] * 1500
    later(
        world,
        lambda: Hold(question_id=question(world)),
        lambda: Checkpoint(note="mine"),
        lambda: Guide(text="hurry"),
        *nothing,
        lambda: Answer(question_id=question(world), answer="once"),
    )
    world.run()
    assert [asked.topic for asked in world.all(ev.QuestionAsked)] == ["permission"]
    assert answers(world) == [("r1", AgentAnswer("once"))]
    assert [taken.reason for taken in world.all(ev.SnapshotTaken)].count("timer") == 1
    assert world.all(ev.CheckpointCaptured)
    assert world.all(ev.GuidanceQueued)
    assert world.all(ev.EscalationRaised), (
        "a question without a timeout is sent elsewhere like any other"
    )


def test_other_signs_of_the_agent_do_not_withdraw_it() -> None:
    world = asking(PUSH)
    later(
        world,
        lambda: ev.AgentSpoke(iteration=1, text="a subagent works beside it"),
        lambda: Answer(question_id=question(world), answer="once"),
    )
    world.run()
    assert not world.all(ev.QuestionWithdrawn)
    assert answers(world) == [("r1", AgentAnswer("once"))]


def test_it_comes_before_the_question_of_a_silent_agent() -> None:
    world = World([2, 10], mode="attended", settings=SETTINGS)
    world.agent.acts.append(lambda session: None)

    def ask() -> object:
        session = world.agent.sessions[0]
        session.on_answer = lambda of, _: of.finish()
        return PUSH

    later(world, ask)
    world.play(
        lambda q: (
            Answer(question_id=q.question_id, answer="once") if q.topic == "permission" else None
        )
    )
    assert [asked.topic for asked in world.all(ev.QuestionAsked)] == ["silence", "permission"]
    assert world.only(ev.QuestionWithdrawn).reason == "the agent asked a question"
    assert answers(world) == [("r1", AgentAnswer("once"))]


def test_a_pause_waits_for_the_iteration_and_an_interrupt_does_not() -> None:
    world = asking(PUSH, passed=(2, 4, 10))
    later(world, Pause, Interrupt)
    for event in world.steps():
        if isinstance(event, ev.Paused):
            world.send(Stop())
    kinds = world.kinds("pause_requested", "interrupt_requested", "session_finished", "paused")
    assert kinds[:4] == ["pause_requested", "interrupt_requested", "session_finished", "paused"]
    assert world.only(ev.QuestionWithdrawn).reason == "the session ended"


def test_a_run_that_is_stopped_leaves_the_question_unanswered() -> None:
    world = asking(PUSH)
    later(world, Stop)
    world.run()
    assert world.end.outcome == "interrupted"
    assert world.all(ev.SessionFinished)[0].outcome == "stopped"
    assert not world.all(ev.QuestionAnswered)
    assert world.state.needs.question is None
    assert world.state.asking.waiting == {}


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ((), "you answered 0 of 2 questions; answer each one"),
        ((("Blue", "Red"), ("S",)), "choose only one answer for: Which colour?"),
        ((("Blue",), (" ",)), "empty answer to: Which sizes?"),
        ((("Blue",), ("S", "L")), None),
    ],
)
def test_choices_that_are_none_are_refused(
    choices: tuple[tuple[str, ...], ...], why: str | None
) -> None:
    world = asking(COLOURS)
    for event in world.steps():
        if isinstance(event, ev.QuestionAsked):
            break
    command = Answer(question_id=question(world), answer="choose", choices=choices)
    assert refusal(command, world.state) == why


def test_only_a_person_allows_and_anybody_of_yours_refuses() -> None:
    assert Answer(question_id="q", answer="once").empowers
    assert Answer(question_id="q", answer="session").empowers
    assert not Answer(question_id="q", answer="refuse", text="no").empowers
    assert not Answer(question_id="q", answer="choose", choices=(("Blue",),)).empowers


def test_the_files_of_an_agent_that_waits_are_in_use() -> None:
    world = asking(PUSH)
    for event in world.steps():
        if isinstance(event, ev.QuestionAsked):
            break
    why = refusal(Restore(snapshot=1), world.state)
    assert why == "the files are in use; pause the run, then restore"


@pytest.mark.parametrize(
    ("permissions", "mode", "expected"),
    [
        ("ask", "attended", "use the tool and the user is asked. If it is refused, do without"),
        ("ask", "headless", "the user does not see your questions until you stop"),
        ("edits", "attended", "the user does not see your questions until you stop"),
    ],
)
def test_the_agent_is_told_whether_somebody_answers(
    permissions: str, mode: Mode, expected: str
) -> None:
    world = World([2, 10], mode=mode, settings=SETTINGS, permissions=permissions).run()
    assert expected in world.agent.system_contexts[0]
