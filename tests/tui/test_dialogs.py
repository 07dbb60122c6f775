"""Rules for every dialog: any size, any key, any click."""

from collections.abc import Sequence

import pytest
from textual import events

from ralph_tui.commands import Abort, Answer, Stop
from ralph_tui.events import Event, Paused, RunFinished, StopRequested
from ralph_tui.tui.draw.feedback_rows import LOW
from ralph_tui.tui.modals.guide import TextEntry
from ralph_tui.tui.modals.help import Help
from ralph_tui.tui.modals.leave import Leave
from ralph_tui.tui.modals.modal import Modal
from ralph_tui.tui.modals.question import Question
from tests.steps import counted
from tests.tui.driving import Driver, drive, live, story
from tests.tui.fake_files import FakeFiles
from tests.tui.test_decisions import happens
from tests.tui.test_mouse import click
from tests.world.decisions import redirect, rollback

OPENED: dict[str, tuple[str, Sequence[str]]] = {
    "redirect": ("redirect", ()),
    "restore offered": ("rollback", ()),
    "restore asked": ("rollback", ("r",)),
    "abort asked": ("redirect", ("a",)),
    "edit": ("redirect", ("e",)),
    "pause": ("pause", ()),
    "more": ("pause", ("+",)),
    "criterion": ("criterion", ()),
    "silence": ("asked", ()),
    "handoff": ("handoff_asked", ()),
    "hostile": ("nasty", ()),
    "abort": ("decided", ("a",)),
    "leave": ("running", ("q",)),
    "guide": ("running", ("g",)),
    "help": ("running", ("question_mark",)),
    "palette": ("running", ("colon",)),
    "evidence": ("running", ("2", "enter")),
    "restore": ("paused", ("3", "home", "right", "r")),
    "changes": ("paused", ("3", "home", "right", "enter")),
}
"""Each dialog: the story and the keys that open it."""
SIZES = [(60, 15), (30, 10)]
MORE_SIZES = [*SIZES, (140, 45), (120, 20), (20, 5), (80, 24)]
KEYS = ("z", "f7", "j", "9", "ctrl+x", "up", "home")
ANSWERING = [name for name in OPENED if name not in ("edit", "more", "guide", "palette", "hostile")]


async def open_(driver: Driver, name: str) -> Modal[object]:
    await driver.press(*OPENED[name][1])
    if not OPENED[name][1]:
        await driver.until(lambda: isinstance(driver.app.screen, Question))
    await driver.pilot.pause()
    dialog = driver.app.screen
    assert isinstance(dialog, Modal), name
    return dialog


def opening(name: str) -> Driver:
    return live(story(OPENED[name][0]), files=FakeFiles())


@pytest.mark.parametrize("name", OPENED)
def test_a_dialog_answers_each_key_and_stands_at_every_size(name: str) -> None:
    """Resized while it is open: nothing crashes, and its keys stay in view in the last row."""
    other = name not in ("redirect", "leave", "help", "changes", "hostile")

    async def look(driver: Driver) -> None:
        dialog = await open_(driver, name)
        if name in ANSWERING:
            await no_key_is_silent(driver, dialog, name, KEYS[:2] if other else KEYS)
        for size in SIZES if other else MORE_SIZES:
            await driver.resize(size)
            rows = driver.text()
            assert len(rows) == size[1]
            if size[0] >= 60 and size[1] >= LOW:
                assert "iteration " in rows[0], "the header's rows stay in view"
                assert not any("╭" in row for row in rows[:3])
            assert driver.app.screen is dialog
            keys = [key for key, _ in dialog.pairs()]
            # Of keys that have no room of their own the way back is left.
            first = "esc" if name == "hostile" and size[0] < 60 else keys[0]
            assert rows[-1].startswith((f" {keys[0]} ", f" {first} ")), (size, rows[-1])
            if size[0] >= 60 and name != "hostile":
                assert set(keys) <= set(rows[-1].split()), rows[-1]
            if size[0] >= 80 and name != "hostile":
                shown = "  ".join(f"{key} {verb}".strip() for key, verb in dialog.keys_row.pairs)
                assert rows[-1].split() == shown.split(), "every key keeps its word"
            await driver.press("down", "up")
            dialog.clear_notice()
            await driver.pilot.pause()

    drive(opening(name), look, (80, 24))


async def no_key_is_silent(
    driver: Driver, dialog: Modal[object], name: str, keys: Sequence[str]
) -> None:
    for key in keys:
        before = driver.text()
        await driver.press(key)
        assert driver.app.screen is dialog, key
        assert driver.text() != before, f"{key} is not answered"
        shown = driver.text()[-1]
        assert shown.split()[0] == dialog.pairs()[0][0], "its keys are never covered"
        dialog.clear_notice()
    assert driver.sent == []
    if name != "help":
        await driver.press("question_mark")
        assert isinstance(driver.app.screen, Help)
        await driver.press("escape")
    if name not in ("help", "leave"):
        await driver.press("q")
        assert isinstance(driver.app.screen, Leave)
        await driver.press("escape")
        assert driver.app.screen is dialog


# clicks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "clicks", "sent"),
    [
        ("redirect", ["decline: continue"], [Answer(question_id="q1", answer="decline")]),
        ("restore offered", ["instructions  +31", "restore; current files"],
         [Answer(question_id="q1", answer="roll_back")]),
        ("redirect", ["abort the run", "back to the question", "decline: continue"],
         [Answer(question_id="q1", answer="decline")]),
        ("abort", ["the files stay as they are"], [Abort()]),
        ("abort", ["esc back"], []),
    ],
)  # fmt: skip
def test_an_answer_can_be_clicked(name: str, clicks: list[str], sent: list[object]) -> None:
    async def look(driver: Driver) -> None:
        await open_(driver, name)
        for words in clicks:
            await click(driver, words)
        await driver.until(lambda: driver.sent == sent)
        await driver.until(lambda: driver.app.screen is driver.cockpit or "asked" in name)

    drive(opening(name), look, (80, 24))


def test_a_click_comes_too_early_as_a_key_does() -> None:
    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        await driver.sees("decline: continue")
        driver.watch.now += 0.2
        y, row = next((y, r) for y, r in enumerate(driver.text()) if "decline: continue" in r)
        await driver.pilot.click(offset=(row.index("decline"), y))
        await driver.sees("n ignored: pressed too early")
        assert isinstance(driver.app.screen, Question)

    assert drive(live(redirect()), look, (80, 24)).sent == []


def test_who_calls_for_the_question_can_answer_at_once() -> None:
    """The guard applies only to dialogs that open by themselves while the user is typing."""

    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        await driver.press("escape")
        await driver.pilot.press("d", "y")
        await driver.until(lambda: driver.sent)

    commands = drive(live(redirect()), look, (80, 24)).sent
    assert commands == [Answer(question_id="q1", answer="approve")]


# room ---------------------------------------------------------------------------------------------

NINE = "\n".join(
    f"- line {number} of the instructions that are proposed" for number in range(1, 10)
)


def proposing(text: str) -> list[Event]:
    *before, last = rollback()
    return [*before, last.model_copy(update={"proposal": text})]


def test_nine_lines_of_instructions_fit_beside_a_restore() -> None:
    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        await driver.pilot.pause()
        text = "\n".join(driver.text())
        assert all(line in text for line in NINE.split("\n"))
        assert "lost 20 points" in text
        assert "completion 0 70★ 60 50 %" in text
        assert "r  restore iteration 1 (70 %), which changes 23 files, and send" in text
        assert "+31 −214" in text
        assert "approves in 1m 56s unless you press a key" in text

    drive(live(proposing(NINE)), look, (80, 28))


@pytest.mark.parametrize("size", [(120, 20), (60, 15)])
def test_instructions_are_in_view_in_a_low_terminal(size: tuple[int, int]) -> None:
    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        await driver.pilot.pause()
        text = "\n".join(driver.text())
        assert all(line in text for line in NINE.split("\n")[:2])
        assert "approves in 1m 56s" in text
        assert all(f"{key} {word}" in " ".join(text.split()) for key, word in (
            ("y", "approve"), ("n", "decline"), ("r", "restore"), ("a", "abort")))  # fmt: skip

    drive(live(proposing(NINE)), look, size)


# leaving ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("running", "the run continues here as plain lines"),
        ("paused", "the run stays paused"),
        ("redirect", "the question stays open"),
    ],
)
def test_leaving_says_what_becomes_of_the_run(name: str, says: str) -> None:
    async def look(driver: Driver) -> None:
        if name == "redirect":
            await driver.until(lambda: isinstance(driver.app.screen, Question))
        await driver.press("q")
        assert isinstance(driver.app.screen, Leave)
        await driver.sees(says)

    assert any(isinstance(event, Paused) for event in story("paused"))
    drive(live(story(name)), look, (80, 24))


def test_a_stop_that_is_asked_for_is_acknowledged_shown_and_taken_back() -> None:
    """A question that is open does not hide it, also not from a screen that did not ask for it."""

    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        await driver.press("q", "i")
        assert driver.sent[-1] == Stop(mode="after_iteration")
        assert "i stop: sent; the run stops once the question is answered" in driver.text()[-2]
        happens(driver, StopRequested(mode="after_iteration", by="the terminal pts/7"))
        await driver.sees("■ the run stops after this iteration, as requested")
        await driver.sees("then it stops")
        await driver.press("q")
        await driver.sees("keep running after this iteration")
        await driver.press("i")
        assert driver.sent[-1] == Stop(mode="taken_back")
        happens(driver, StopRequested(mode="taken_back"))
        await driver.until(lambda: "as requested" not in "".join(driver.text()))

    drive(live(story("redirect")), look, (100, 30))


# words --------------------------------------------------------------------------------------------


def test_a_paste_of_a_megabyte_is_told_and_not_taken() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("g", *"before")
        area = driver.app.screen.query_one(TextEntry)
        driver.app.post_message(events.Paste("paste me " * 120_000))
        await driver.sees("text of 1,080,000 characters not inserted: at most 100,000 fit here")
        assert area.text == "before"
        driver.app.post_message(events.Paste("x" * 90_000))
        await driver.until(lambda: len(area.text) == 90_006)
        with counted() as steps:
            await driver.press(*"abcde")
        assert steps.count < 5 * 100_000, "a key costs no more than before the paste"
        assert area.text.endswith("abcde")

    assert drive(live(story("running")), look).sent == []


def test_guidance_says_what_became_of_the_words_before() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("g")
        await driver.sees("delivered into the session: “Leave the public names as they are.”")

    drive(live(story("running")), look)


def test_the_question_to_abort_closes_with_the_run_and_takes_typed_keys_with_it() -> None:
    driver = live(story("decided"))

    async def go(driver: Driver) -> None:
        await driver.press("a")
        await driver.sees("Abort this run?")
        end = RunFinished(outcome="completed", reason="done", iterations=1, completion=100)
        driver.inbox.append(end.model_copy(update={"seq": 9999, "at": story("decided")[-1].at}))
        await driver.until(lambda: driver.app.screen is driver.app.base)
        await driver.pilot.press("p")
        await driver.sees("p ignored: a dialog just closed")

    assert drive(driver, go).sent == []
