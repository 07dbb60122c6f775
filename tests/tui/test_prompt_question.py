"""The question about a prompt: a long text at 80x24, read to its end, edited once, and sent."""

from ralph_tui.commands import Answer, Hold
from ralph_tui.events import Event
from ralph_tui.events.waiting import Topic
from ralph_tui.loop.steps.offers import ABORT
from ralph_tui.loop.steps.prompting import EDIT, SEND
from tests.tui.driving import Driver, drive, live
from tests.tui.test_decisions import area, opened
from tests.world.decisions import question
from tests.world.recorder import Recorder

LONG = "# Objective\n\nMake nested groups parse\n\n" + "\n".join(
    f"- test_{number} fails with a sentence of some length, so that it is wrapped at 80 columns"
    for number in range(900)
)


def asked(topic: Topic = "prompt") -> list[Event]:
    run = Recorder(10)
    run.baseline(0)
    run.iterations(30)
    run.open(2)
    run.step(2, 9)
    run.add(
        question(
            run.at,
            2,
            topic,
            text="The prompt of iteration 2 is ready. Send it, or edit it first?",
            proposal=LONG,
            options=[SEND, EDIT, ABORT],
            default="send",
        )
    )
    return run.events


def test_a_long_prompt_is_read_to_its_end_and_sent_as_it_is() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        shown = "\n".join(driver.text())
        assert "the prompt" in shown
        assert "in every prompt from here on" not in shown
        assert all(option.verb in shown for option in (SEND, EDIT, ABORT))
        await driver.press("end")
        assert "test_899" in "\n".join(driver.text())
        await driver.press("y")
        assert driver.sent == [Answer(question_id="q1", answer="send")]

    drive(live(asked()), look)


def test_it_is_edited_and_sent_with_what_was_written() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("e", "A")
        assert area(driver).text == f"{LONG}A"
        assert str(area(driver).border_title).strip() == "the prompt"
        await driver.press("enter")
        assert "the prompt, edited by you" in "\n".join(driver.text())
        await driver.press("y")
        assert driver.sent == [
            Hold(question_id="q1"),
            Answer(question_id="q1", answer="send", text=f"{LONG}A"),
        ]

    drive(live(asked()), look)


def test_a_handoff_is_shown_and_edited_in_the_same_way() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        shown = "\n".join(driver.text())
        assert "Handoff in iteration 2" in shown
        assert "the handoff" in shown
        assert "in every prompt from here on" not in shown
        await driver.press("e", "A")
        assert str(area(driver).border_title).strip() == "the handoff"
        await driver.press("enter")
        assert "the handoff, edited by you" in "\n".join(driver.text())
        await driver.press("y")
        assert driver.sent[-1] == Answer(question_id="q1", answer="send", text=f"{LONG}A")

    drive(live(asked("handoff")), look)
