"""An agent's question in the cockpit: a letter allows, a digit chooses."""

import pytest
from textual.widgets import TextArea

from ralph_tui.commands import Answer, Hold
from ralph_tui.events import QuestionWithdrawn
from ralph_tui.tui.modals.choice import ChoiceQuestion
from ralph_tui.tui.modals.question import Question
from tests.tui.driving import Driver, drive, live, story
from tests.tui.test_mouse import click


def sent(driver: Driver) -> list[Answer]:
    return [command for command in driver.sent if isinstance(command, Answer)]


async def opened(driver: Driver, kind: type[Question] = Question) -> None:
    await driver.until(lambda: isinstance(driver.app.screen, kind))
    await driver.sees("refuses in" if kind is Question else "lets the agent decide in")


@pytest.mark.parametrize(
    ("keys", "answer", "text"),
    [("y", "once", ""), ("s", "session", ""), ("n", "refuse", ""), ("gno!", "refuse", "no!")],
)
def test_a_letter_allows_or_refuses(keys: str, answer: str, text: str) -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        for shown in (
            "claude asks for Bash: git push origin main",
            "Share the branch",
            "allowing it for this session permits",
            "Bash(git push *)",
            "allow it once",
            "do not allow it, and give the agent a reason",
        ):
            await driver.sees(shown)
        await driver.press(*keys, *(["enter"] if text else []))

    answers = sent(drive(live(story("permission")), look))
    assert [(one.answer, one.text) for one in answers] == [(answer, text)]


def test_an_edit_is_shown_as_a_diff_with_who_asks() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.sees("! awaiting an answer")
        await driver.sees("a subagent of claude asks for Edit: /srv/shared/config.py")
        await driver.sees("-DEBUG = True")
        await driver.sees("+DEBUG = False")

    drive(live(story("permission_edit")), look)


async def withdraw(driver: Driver) -> None:
    """Let the agent withdraw its question."""
    state = driver.cockpit.state
    assert state.needs.question is not None
    gone = QuestionWithdrawn(
        seq=state.seq + 1,
        at=state.at,
        question_id=state.needs.question.question_id,
        reason="the agent withdrew it",
    )
    driver.inbox.append(gone)
    await driver.sees("question closed: the agent withdrew it")


def test_it_is_told_that_it_was_taken_back() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await withdraw(driver)
        assert not isinstance(driver.app.screen, Question)

    drive(live(story("permission")), look)


def test_hostile_words_are_text() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.sees("Bash([bold]*)")
        await driver.press("n")

    assert sent(drive(live(story("permission_hostile")), look))


def test_choices_are_made_by_digits_one_question_after_the_other() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver, ChoiceQuestion)
        await driver.sees("1 of 2: Quoting")
        await driver.sees("as in CSV")
        await driver.press("2")
        await driver.sees("2 of 2: Files")
        await driver.press("1", "3", "1", "2")
        await driver.sees("enter send")
        await driver.sees("1-3 w choose  enter send  n g answer")
        await driver.press("enter")

    (answer,) = sent(drive(live(story("choices")), look))
    assert answer.answer == "choose"
    assert answer.choices == (("Escaped",), ("the tests", "the parser"))


def test_the_last_row_names_every_key_of_a_choice() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver, ChoiceQuestion)
        await driver.sees("1-3 w choose  n g answer  space stop countdown  esc later")
        await driver.press("space")
        assert "space" not in driver.text()[-1], "nothing is left to stop"

    driver = drive(live(story("choices")), look)
    assert [type(command) for command in driver.sent] == [Hold]


def test_nothing_is_said_twice_where_a_dialog_is_small() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        assert sum("git push origin main" in row for row in driver.text()[:9]) == 1
        await driver.resize((30, 5))
        await driver.sees("claude asks for Bash")
        dialog = driver.app.screen
        assert isinstance(dialog, Question)
        rows = ["".join(text for text, _ in row) for row in dialog.sheet.body.rows]
        assert sum("claude asks for Bash" in row for row in rows) == 1

    drive(live(story("permission")), look, (60, 9))


def test_own_words_are_an_answer_and_escape_leads_back() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver, ChoiceQuestion)
        await driver.press("1")
        await driver.sees("2 of 2: Files")
        await driver.press("escape")
        await driver.sees("1 of 2: Quoting")
        await driver.press("w", *"none")
        await driver.sees("enter choose")
        await driver.press("enter")
        await driver.sees("2 of 2: Files")
        await driver.press("w", *"docs", "enter")
        await driver.sees("docs")
        await driver.press("2", "enter")

    driver = drive(live(story("choices")), look)
    (answer,) = sent(driver)
    assert answer.choices == (("none",), ("docs", "the parser"))
    assert [type(command) for command in driver.sent].count(Hold) == 1, (
        "an active user is not rushed"
    )


@pytest.mark.parametrize("keys", [("w", *"none"), ("w", *"none", "enter")], ids=["typed", "taken"])
def test_own_words_for_a_question_that_closes_are_the_next_draft(keys: tuple[str, ...]) -> None:
    async def look(driver: Driver) -> None:
        await opened(driver, ChoiceQuestion)
        await driver.press(*keys)
        await withdraw(driver)
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.base)
        driver.watch.now += 6.0
        await driver.press("g")
        assert driver.app.screen.query_one(TextArea).text == "none"

    drive(live(story("choices")), look)


def test_nothing_is_sent_while_nothing_is_chosen() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver, ChoiceQuestion)
        await driver.press("enter", "9", "y")
        await driver.sees("y does nothing here; answer first, or press esc")
        await driver.press("n")

    (answer,) = sent(drive(live(story("choices")), look))
    assert answer.answer == "leave"


def test_what_has_a_digit_can_be_clicked() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver, ChoiceQuestion)
        driver.watch.now += 6.0
        await click(driver, "Escaped")
        await driver.sees("2 of 2: Files")
        await click(driver, "the parser")
        await click(driver, "enter send")

    (answer,) = sent(drive(live(story("choices")), look))
    assert answer.choices == (("Escaped",), ("the parser",))
