"""The open question opens once unprompted, counts down, is answered once, and closes."""

from datetime import timedelta

import pytest

from ralph_tui.commands import Abort, Answer
from ralph_tui.events import QuestionAnswered, QuestionAsked, QuestionWithdrawn
from ralph_tui.events.waiting import Option
from ralph_tui.runtime.sources.live import Live
from ralph_tui.tui.modals.guide import Guide
from ralph_tui.tui.modals.leave import Leave
from ralph_tui.tui.modals.question import Question
from tests.tui.driving import Driver, drive, live, replay, story
from tests.world.stories import HOSTILE, silence


def is_open(driver: Driver) -> bool:
    return isinstance(driver.app.screen, Question)


async def opened(driver: Driver) -> None:
    await driver.until(lambda: is_open(driver))
    await driver.sees("interrupts in 4m 56s")


@pytest.mark.parametrize(("keys", "answer"), [("y", "wait"), ("i", "retry"), ("ay", "abort")])
def test_it_opens_by_itself_and_a_letter_answers(keys: str, answer: str) -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("j", *keys)
        assert not is_open(driver)

    commands = drive(live(story("asked")), look).sent
    assert commands == [Answer(question_id="q1", answer=answer)]


def test_a_key_that_was_typed_before_it_could_be_seen_answers_nothing() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        driver.watch.now += 0.3
        await driver.pilot.press("i")
        await driver.pilot.pause()
        assert is_open(driver)

    assert drive(live(story("asked")), look).sent == []


def test_words_that_complete_a_run_are_not_called_words_for_the_agent() -> None:
    in_words = Option(key="w", answer="criterion", verb="say it in words", takes="words")
    goal = {"question_id": "q1", "topic": "goal", "options": [in_words], "text": "When?"}
    events = [
        event.model_copy(update=goal) if isinstance(event, QuestionAsked) else event
        for event in story("asked")
    ]

    async def look(driver: Driver) -> None:
        await driver.until(lambda: is_open(driver))
        await driver.press("w")
        await driver.sees("the work is done when")
        assert "for the agent" not in "\n".join(driver.text())

    drive(live(events), look)


def test_escape_leaves_it_open_and_d_brings_it_back() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("escape")
        for _ in range(3):
            driver.cockpit.tick()
            await driver.pilot.pause()
        assert not is_open(driver), "it opens automatically only once"
        await driver.sees("needs you")
        await driver.sees("d answer")
        await driver.press("d")
        await opened(driver)

    assert drive(live(story("asked")), look).sent == []


def test_another_question_opens_again() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("escape")
        last = driver.cockpit.state
        driver.inbox.append(
            QuestionAnswered(seq=last.seq + 1, at=last.at, question_id="q1", answer="wait")
        )
        other = silence("q2", last.at).model_copy(update={"seq": last.seq + 2, "at": last.at})
        driver.inbox.append(other)
        await driver.until(lambda: is_open(driver))
        await driver.press("i")

    commands = drive(live(story("asked")), look).sent
    assert commands == [Answer(question_id="q2", answer="retry")]


@pytest.mark.parametrize(
    ("settled", "how"),
    [
        (QuestionAnswered(question_id="q1", answer="retry", by="pts/3"), "interrupt, by pts/3"),
        (
            QuestionWithdrawn(question_id="q1", reason="the agent is active again"),
            "the agent is active again",
        ),
    ],
)
def test_it_closes_when_it_is_settled_elsewhere(
    settled: QuestionAnswered | QuestionWithdrawn, how: str
) -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        last = driver.cockpit.state
        driver.inbox.append(settled.model_copy(update={"seq": last.seq + 1, "at": last.at}))
        await driver.until(lambda: not is_open(driver))
        await driver.sees(f"question closed: {how}")
        assert "needs you" not in driver.text()[0]

    assert drive(live(story("asked")), look).sent == []


def test_below_another_dialog_it_closes_as_soon_as_it_comes_up_again() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("ctrl+q")
        assert isinstance(driver.app.screen, Leave)
        last = driver.cockpit.state
        driver.inbox.append(
            QuestionWithdrawn(seq=last.seq + 1, at=last.at, question_id="q1", reason="over")
        )
        await driver.until(lambda: driver.cockpit.state.needs.question is None)
        assert isinstance(driver.app.screen, Leave)
        await driver.press("escape")
        await driver.until(lambda: len(driver.app.screen_stack) == 1)

    drive(live(story("asked")), look)


def test_it_does_not_take_the_words_out_of_its_owners_hands() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("g", "h", "i")
        last = driver.cockpit.state
        asked = silence("q1", last.at).model_copy(update={"seq": last.seq + 1, "at": last.at})
        driver.inbox.append(asked)
        await driver.until(lambda: driver.cockpit.state.needs.question)
        await driver.press("!")
        assert isinstance(driver.app.screen, Guide)
        await driver.press("escape")
        await driver.until(lambda: is_open(driver))

    assert drive(live(story("running")), look).sent == []


def test_it_counts_down() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        source = driver.cockpit.source
        assert isinstance(source, Live)
        later = story("asked")[-1].at + timedelta(seconds=290)
        source._wall_clock = lambda: later
        await driver.sees("interrupts in 9s")
        source._wall_clock = lambda: later + timedelta(seconds=60)
        await driver.sees("interrupts in 0s")

    drive(live(story("asked")), look)


def test_the_bell_rings_once(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = live(story("asked"))
    alerts: list[bool] = []
    monkeypatch.setattr(driver.app, "alert_user", lambda text: alerts.append(True))
    monkeypatch.setattr(driver.app, "clear_alert", lambda: alerts.append(False))

    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("escape", "d", "y")
        assert alerts == [True]

    drive(driver, look)
    assert alerts == [True, False], "the title is restored with the screen"


def test_a_recorded_run_asks_nobody() -> None:
    async def look(driver: Driver) -> None:
        await driver.sees(" asked ")
        for _ in range(3):
            driver.cockpit.tick()
            await driver.pilot.pause()
        assert len(driver.app.screen_stack) == 1
        await driver.press("d")
        assert len(driver.app.screen_stack) == 1

    drive(replay(story("asked")), look)


def test_the_run_can_be_given_up_beside_the_question() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("escape", "a", "y")

    assert drive(live(story("asked")), look).sent == [Abort()]


def test_foreign_words_are_text() -> None:
    last = story("asked")[-1]
    assert isinstance(last, QuestionAsked)
    options = [Option(key=HOSTILE, answer=HOSTILE, verb=HOSTILE * 9), *last.options]
    nasty = last.model_copy(
        update={"text": HOSTILE * 2000, "options": options, "default": HOSTILE, "deadline": None}
    )

    async def look(driver: Driver) -> None:
        await driver.until(lambda: is_open(driver))
        await driver.press("y")

    commands = drive(live([*story("asked")[:-1], nasty]), look, (60, 15)).sent
    assert commands == [Answer(question_id="q1", answer="wait")]
