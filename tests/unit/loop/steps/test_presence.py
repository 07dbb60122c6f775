"""Each question has its default; a user at a screen of the run holds the countdown."""

from datetime import timedelta

import pytest

from ralph_tui.commands import Answer, Command, Present
from ralph_tui.config.settings import Settings
from ralph_tui.events import CommandRefused, QuestionAnswered, QuestionAsked, QuestionPostponed
from ralph_tui.events.run import Mode
from ralph_tui.events.waiting import SILENCE
from ralph_tui.layers.oversight import OversightSettings
from tests.world.agents import FakeSession, promise
from tests.world.owner import answer
from tests.world.world import World

FLAT = [3] * 30
PRESENCE = timedelta(minutes=10)
PAUSE = timedelta(minutes=30)


def pauses(world: World) -> list[QuestionAsked]:
    return [asked for asked in world.all(QuestionAsked) if asked.topic == "pause"]


@pytest.mark.parametrize("mode", ["attended", "detached", "headless"])
def test_however_it_was_started_a_pause_that_nobody_answers_ends_the_run(mode: Mode) -> None:
    world = World(FLAT, mode=mode).run()

    (asked,) = pauses(world)
    assert asked.deadline == asked.at + PAUSE
    assert asked.default == "abort"
    decided = world.all(QuestionAnswered)[-1]
    assert (decided.by, decided.at) == (SILENCE, asked.deadline)
    assert (world.end.outcome, world.end.reason) == ("aborted", "no answer in time")


def test_a_criterion_that_nobody_judges_is_not_met() -> None:
    world = World([], mode="attended", criterion="it reads well", max_iterations=2)
    world.agent.acts.extend([promise, promise])
    world.run()

    assert [asked.default for asked in world.all(QuestionAsked)] == ["no", "no"]
    assert world.end.outcome == "limit_reached"


def test_who_presses_a_key_holds_the_countdown_and_no_command_is_recorded() -> None:
    world = World(FLAT, mode="attended")
    keys = 0
    for event in world.steps():
        if isinstance(event, QuestionAsked) and event.topic == "redirect":
            world.host.inbox.append(Answer(question_id=event.question_id, answer="approve"))
        elif isinstance(event, QuestionAsked):
            world.host.idle.extend([*[None] * 1500, Present()])
            keys += 1

    (asked,) = pauses(world)
    (moved,) = world.all(QuestionPostponed)
    assert asked.deadline is not None
    assert keys == 1
    assert moved.deadline > asked.deadline
    assert moved.deadline == moved.at + PRESENCE + PAUSE
    assert world.all(QuestionAnswered)[-1].at == moved.deadline
    assert not world.all(CommandRefused)


def test_who_was_there_a_moment_ago_is_given_longer_from_the_start() -> None:
    def reply(asked: QuestionAsked) -> Command | None:
        return answer("approve")(asked) if asked.topic == "redirect" else None

    world = World(FLAT, mode="attended")

    def last_act(session: FakeSession) -> None:
        world.host.inbox.append(Present())
        session.finish()

    world.agent.acts.extend([last_act] * 20)
    world.play(reply)

    (asked,) = pauses(world)
    assert asked.deadline == asked.at + PRESENCE + PAUSE


def test_without_presence_keys_hold_nothing() -> None:
    settings = Settings(oversight=OversightSettings(presence_s=0, pause_timeout_s=60))
    world = World(FLAT, mode="attended", settings=settings)
    world.agent.acts.append(FakeSession.finish)
    world.run()

    assert pauses(world)[0].deadline == pauses(world)[0].at + timedelta(seconds=60)


def test_only_a_person_can_be_present() -> None:
    assert Present().empowers
