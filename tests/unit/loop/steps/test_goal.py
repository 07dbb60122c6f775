"""A completion command that passes before any work: what then completes the run."""

import json
from typing import Any

import pytest

from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.next_steps import explain_refusal, next_steps
from ralph_tui.cli.status_words import next_step
from ralph_tui.commands import Command
from ralph_tui.events import QuestionAsked, ReadingTaken, ReflectionWritten
from ralph_tui.events.waiting import SILENCE
from ralph_tui.layers.intelligence.sections import PROMISE
from ralph_tui.layers.sensor.passing import refused
from tests.world.agents import FakeSession, promise
from tests.world.owner import answer
from tests.world.world import World

GREEN = [10] * 12


def test_headless_it_fails_before_anything_is_spent_and_says_what_to_add() -> None:
    world = World(GREEN).run()

    assert (world.end.outcome, world.end.iterations) == ("failed", 0)
    assert "pytest -q" in world.end.reason
    assert "--criterion" in world.end.reason
    assert "--until-promise" in world.end.reason
    assert world.agent.prompts == []
    assert refused(world.state)
    steps = {step.name: step.command for step in next_steps(world.state)}
    assert "resume" not in steps
    assert steps["again"].endswith(" --until-promise")
    assert "already passes" in str(explain_refusal("resume", world.state))
    assert next_step(json.loads(json.dumps(summarize(world.state))), "") == steps["again"]


def test_who_is_there_is_asked_once_before_iteration_1() -> None:
    world = World(GREEN, mode="attended")
    world.agent.acts.extend([FakeSession.finish, promise])
    world.play(answer("promise"))

    asked = world.only(QuestionAsked)
    assert (asked.topic, asked.iteration) == ("goal", 0)
    assert [option.answer for option in asked.options] == ["criterion", "promise", "abort"]
    assert (world.end.outcome, world.end.iterations) == ("completed", 2)
    first = world.agent.prompts[0]
    assert "you promise completion" in first
    assert "work is done when this command exits" not in first
    assert f"{PROMISE}. Without that line the loop continues." in first


@pytest.mark.parametrize(("reply", "by"), [("abort", "you"), (None, SILENCE)])
def test_cancel_and_silence_end_it_before_anything_is_spent(reply: str | None, by: str) -> None:
    world = World(GREEN, mode="attended")
    world.play(answer(reply) if reply else lambda _: None)

    assert world.end.outcome == "aborted"
    assert world.end.reason == ("aborted by you" if by == "you" else "no answer in time")
    assert world.agent.prompts == []


def test_a_criterion_completes_and_the_command_guards() -> None:
    world = World([10, 10, 9, 10], mode="attended")
    world.agent.acts.extend([FakeSession.finish, promise, promise])

    def reply(asked: QuestionAsked) -> Command | None:
        return (
            answer("criterion", text="twice as fast")(asked)
            if asked.topic == "goal"
            else (answer("yes")(asked))
        )

    world.play(reply)

    topics = [asked.topic for asked in world.all(QuestionAsked)]
    assert topics == ["goal", "criterion"], "a promise with a failing command asks no one"
    assert (world.end.outcome, world.end.iterations) == ("completed", 3)
    assert "twice as fast" in world.all(QuestionAsked)[1].text
    first = world.agent.prompts[0]
    assert first.index("twice as fast") < first.index("This command must also pass")
    assert all(reading.source != "tests" for reading in world.all(ReadingTaken))


def test_a_command_and_a_criterion_may_be_given_together() -> None:
    world = World([9, 10, 10], mode="attended", criterion="twice as fast", command="pytest -q")
    world.agent.acts.extend([FakeSession.finish, promise])
    world.play(answer("yes"))

    assert [asked.topic for asked in world.all(QuestionAsked)] == ["criterion"]
    assert (world.end.outcome, world.end.iterations) == ("completed", 2)


@pytest.mark.parametrize(
    ("goal", "missing"),
    [
        ({"until_promise": True}, "the run ends only after a promise and a changed file"),
        ({"criterion": "twice as fast"}, "the run ends only when its criterion is met"),
    ],
)
def test_at_the_limit_the_missing_word_is_named_and_a_resume_is_offered(
    goal: dict[str, Any], missing: str
) -> None:
    world = World(GREEN, max_iterations=2, command="pytest -q", **goal)
    world.agent.acts.extend([FakeSession.finish] * 2)
    world.run()

    assert world.end.outcome == "limit_reached"
    assert world.end.reason.endswith(f"; {missing}")
    learned = world.only(ReflectionWritten)
    assert learned.learning == f"The completion command passes: {missing}."
    assert "iterations more" not in learned.model_dump_json()
    assert "resume" in {step.name for step in next_steps(world.state)}
    assert explain_refusal("resume", world.state) is None
    status = json.loads(json.dumps(summarize(world.state)))
    assert next_step(status, "") == "ralph-tui resume --max-iterations 7"


def test_where_work_is_left_a_resume_with_more_iterations_is_offered() -> None:
    world = World([10, 10, 9], max_iterations=2, until_promise=True)
    world.agent.acts.extend([FakeSession.finish] * 2)
    world.run()

    (resume,) = [step.command for step in next_steps(world.state) if step.name == "resume"]
    assert resume.endswith(" --max-iterations 7")
    status = json.loads(json.dumps(summarize(world.state)))
    assert next_step(status, "") == "ralph-tui resume --max-iterations 7"


def test_what_was_chosen_is_known_when_the_run_is_resumed() -> None:
    world = World(GREEN, mode="attended")
    world.agent.acts.extend([FakeSession.finish] * 3)
    world.max_iterations = 2
    world.play(answer("promise"))
    later = World(GREEN, past=world.events)

    assert later.state.run.started is not None
    assert later.state.run.started.until_promise
