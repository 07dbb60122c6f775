"""Every key that is pressed is answered within one paint: done, sent, or why not."""

from typing import Any

import pytest
from textual.screen import Screen

from ralph_tui import events as ev
from ralph_tui.commands import Checkpoint, Command, Extend, Interrupt, Pause
from ralph_tui.tui.modals import modal
from ralph_tui.tui.modals.abort import AbortDialog
from ralph_tui.tui.modals.help import Help
from ralph_tui.tui.modals.leave import Leave
from ralph_tui.tui.modals.question import Question
from ralph_tui.tui.modals.text_dialog import Detail
from tests.tui.driving import Driver, drive, live, replay, story


def answer(driver: Driver) -> str:
    said = driver.cockpit.footer.notice
    assert not said or said in driver.text()[-2], "it is painted"
    return said


WISHES: list[tuple[str, Command, str]] = [
    ("c", Checkpoint(), "c checkpoint: sent; saving a checkpoint"),
    ("i", Interrupt(), "i interrupt: sent; this iteration counts, and its changes are measured"),
    ("plus", Extend(iterations=1), "+ more: sent; one more iteration"),
    ("minus", Extend(iterations=-1), "- fewer: sent; one fewer iteration"),
    ("p", Pause(), "p pause: sent; this iteration ends first"),
]


def test_a_wish_is_answered_at_once() -> None:
    async def look(driver: Driver) -> None:
        for key, sends, says in WISHES:
            await driver.press(key)
            assert answer(driver) == says
            assert driver.sent[-1] == sends

    assert len(drive(live(story("running")), look).sent) == len(WISHES)


LAST = story("running")[-1]
AFTER: dict[str, Any] = {"seq": LAST.seq + 1, "at": LAST.at}
POINT = ev.CheckpointCaptured(**AFTER, iteration=5, number=7, trigger="key", snapshot=9)


@pytest.mark.parametrize(
    ("key", "recorded", "says"),
    [
        ("c", POINT, "c checkpoint: snapshot 9 saved"),
        (
            "c",
            POINT.model_copy(update={"snapshot": None, "error": "disk full"}),
            "c checkpoint: failed: disk full",
        ),
        ("plus", ev.LimitsChanged(**AFTER, max_iterations=11), "+ more: now 11 iterations"),
        ("minus", ev.LimitsChanged(**AFTER, max_iterations=9), "- fewer: now 9 iterations"),
        ("p", ev.Paused(**AFTER), "p pause: the run is paused"),
    ],
)
def test_what_came_of_a_wish_is_said_as_soon_as_it_is_recorded(
    key: str, recorded: ev.Event, says: str
) -> None:
    async def look(driver: Driver) -> None:
        await driver.press(key)
        assert "sent" in answer(driver)
        driver.inbox.append(recorded)
        await driver.until(lambda: driver.cockpit.footer.notice == says)
        await driver.sees(says)
        await driver.press("2")
        assert answer(driver) == "", "another key takes its place"

    drive(live(story("running")), look)


def test_a_wish_that_somebody_else_had_is_no_answer_after_another_key() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("plus", "2")
        driver.inbox.append(ev.LimitsChanged(**AFTER, max_iterations=11))
        await driver.until(lambda: driver.cockpit.state.run.max_iterations == 11)
        assert answer(driver) == ""

    drive(live(story("running")), look)


def test_a_pause_in_a_wait_leaves_the_wait_to_be_read() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("p")
        assert answer(driver) == "p pause: sent; it pauses after the wait"
        driver.inbox.append(ev.PauseRequested(seq=last.seq + 1, at=last.at))
        await driver.sees("then it pauses")
        driver.watch.now += 6.0
        await driver.sees("w retry now")
        assert "waiting: usage limit, retry at" in "\n".join(driver.text())

    last = story("limited")[-1]
    drive(live(story("limited")), look)


def test_a_second_p_is_answered_as_what_it_is() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("p")
        driver.watch.now -= 3.0  # soon after: the first is not recorded yet
        await driver.press("p")
        assert answer(driver) == "p unpause: sent"

    drive(live(story("running")), look)


def test_trying_again_at_once_is_answered() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("w")
        assert answer(driver) == "w retry now: sent; the wait ends"

    assert any(isinstance(event, ev.WaitStarted) for event in story("limited"))
    drive(live(story("limited")), look)


def test_an_older_answer_never_stands_beside_a_newer_key() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("full_stop")
        assert answer(driver) == ". event: only in a replay"
        await driver.press("2")
        assert answer(driver) == "", "the pane shows it"
        await driver.press("full_stop", "c")
        assert answer(driver).startswith("c checkpoint")
        await driver.press("question_mark")
        assert driver.cockpit.footer.notice == ""
        assert isinstance(driver.app.screen, Help)

    drive(live(story("running")), look)


SILENT = [
    (("space",), "space selects or marks an iteration: press 3 first"),
    (("left",), "← selects or marks an iteration: press 3 first"),
    (("f7",), "f7 does nothing; ? lists the keys"),
    (("ctrl+x",), "ctrl+x does nothing; ? lists the keys"),
    (("x",), "x does nothing; ? lists the keys"),
    (("e",), "e edits the next prompt: press 8 first"),
    (("1", "enter"), "enter does nothing; ? lists the keys"),
    (("1", "up"), "nothing more in that direction"),
    (("2", "end", "down"), "nothing more in that direction"),
    (("3", "home", "left"), "nothing more in that direction"),
    (("escape",), "esc: all panes are already shown"),
]


def test_a_key_that_changes_nothing_says_so() -> None:
    async def look(driver: Driver) -> None:
        for keys, says in SILENT:
            await driver.press(*keys)
            assert answer(driver) == says

    drive(live(story("running")), look)


BEGINNING, END = "already at the first event", "already at the last event"


MOVES = [
    (("home", "left"), BEGINNING),
    (("home", "less_than_sign"), BEGINNING),
    (("home", "shift+left"), BEGINNING),
    (("home", "home"), BEGINNING),
    (("end", "right"), END),
    (("end", "greater_than_sign"), END),
    (("end", "end"), END),
    (("home", "M"), "no earlier alarm or question"),
    (("end", "m"), "no later alarm or question"),
    ((*["left_square_bracket"] * 5,), "1x is the slowest speed"),
    ((*["right_square_bracket"] * 8,), "instant is the fastest speed"),
]


def test_a_replay_says_where_it_jumps_and_that_it_cannot_move() -> None:
    async def look(driver: Driver) -> None:
        for keys, says in MOVES:
            await driver.press(*keys)
            assert answer(driver) == says
        await driver.press("home", "m")
        assert answer(driver) == "▲ stuck, iteration 4 · 1 of 2"
        await driver.press("m")
        assert answer(driver) == "▲ limit nearly reached, iteration 9 · 2 of 2"

    drive(replay(story("stuck")), look)


# dialogs ------------------------------------------------------------------------------------------


def in_front(driver: Driver, kind: type[Screen[Any]]) -> bool:
    return isinstance(driver.app.screen, kind)


def test_an_answer_to_a_key_is_not_taken_away_with_an_older_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        monkeypatch.setattr(modal, "NOTICE_S", 0.4)
        await driver.press("z")
        monkeypatch.setattr(modal, "NOTICE_S", 60.0)
        await driver.press("p")
        await driver.sees("p does nothing here")
        await driver.pilot.pause(0.8)  # the first answer has expired
        await driver.sees("p does nothing here")
        await driver.press("q")
        assert isinstance(driver.app.screen, Leave)
        assert "p does nothing here" not in "\n".join(driver.text())

    drive(live(story("redirect")), look, (100, 45))


def test_a_key_that_means_nothing_in_a_question_says_what_to_do() -> None:
    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        for key in ("z", "p", "f7", "9"):
            await driver.press(key)
            await driver.sees(f"{key} does nothing here; answer first, or press esc")
            assert isinstance(driver.app.screen, Question)
        assert driver.sent == []
        await driver.press("space")
        assert len(driver.sent) == 1
        await driver.press("space")
        await driver.sees("space: there is no countdown; the question waits for your answer")
        assert len(driver.sent) == 1

    drive(live(story("redirect")), look, (100, 30))


def test_the_other_dialogs_answer_alike() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("a")
        assert in_front(driver, AbortDialog)
        await driver.press("z")
        await driver.sees("z does nothing here; answer first, or press esc")
        await driver.press("q")
        assert in_front(driver, Leave)
        await driver.press("x")
        await driver.sees("x does nothing here; answer first, or press esc")
        await driver.press("escape", "escape", "2", "enter")
        assert in_front(driver, Detail)
        await driver.press("x")
        await driver.sees("x does nothing here; esc closes")

    drive(live(story("running")), look)


# a recorded run -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "says", "never"),
    [
        ("redirect", "! asked (approves in ", ("press d", "needs you")),
        ("limited", "waiting: usage limit, retry at 10:59", ("press w to retry",)),
        ("paused", "paused: no agent is running", ("press p to unpause",)),
    ],
)
def test_a_replay_says_what_was_asked_and_offers_no_key(
    expected: str, says: str, never: tuple[str, ...]
) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("end")
        assert says in "\n".join(driver.text())
        for size in ((80, 24), (50, 10)):
            await driver.resize(size)
            assert not any(words in "\n".join(driver.text()) for words in never)

    drive(replay(story(expected)), look)
