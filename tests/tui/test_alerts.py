"""The user is alerted once: bell, title, and a desktop notification the terminal supports."""

import pytest

from ralph_tui.state import RunState
from ralph_tui.tui.app import desktop_notification
from ralph_tui.tui.cockpit.question_presenter import alert_text
from tests.tui.driving import Driver, drive, live, story


def test_the_dialect_is_the_terminals() -> None:
    assert desktop_notification("continue?", {"TERM": "xterm-256color"}) == (
        "\x1b]9;ralph-tui needs you: continue?\x07"
    )
    for environ in ({"TERM": "foot"}, {"TERM": "rxvt-unicode"}, {"VTE_VERSION": "7600"}):
        assert desktop_notification("continue?", environ) == (
            "\x1b]777;notify;ralph-tui needs you;continue?\x07"
        )


def test_tmux_hands_it_on() -> None:
    inside = desktop_notification("continue?", {"TERM": "tmux-256color", "TMUX": "/tmp/s,1,0"})
    assert inside == "\x1bPtmux;\x1b\x1b]9;ralph-tui needs you: continue?\x07\x1b\\"


def test_foreign_text_ends_no_sequence() -> None:
    nasty = "a\x07b\x1b\\c\x1b]0;title\x07\nd\x9ce" + "x" * 10_000
    sequence = desktop_notification(nasty, {})
    assert sequence.count("\x1b") == 1
    assert sequence.count("\x07") == 1
    assert not {"\n", "\x9c"} & set(sequence)
    assert len(sequence) < 300


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("asked", "has produced no output"),
        ("steady", "completed: "),
        ("crashed", "failed because of a bug"),
    ],
)
def test_it_says_why(name: str, words: str) -> None:
    assert words in alert_text(RunState().apply_all(story(name)))


def test_the_end_of_a_run_alerts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    events = story("steady")
    driver = live(events[:-1])
    alerts: list[bool] = []
    monkeypatch.setattr(driver.app, "alert_user", lambda text, over=False: alerts.append(True))
    monkeypatch.setattr(driver.app, "clear_alert", lambda: alerts.append(False))

    async def look(driver: Driver) -> None:
        assert alerts == []
        driver.inbox.append(events[-1])
        await driver.until(lambda: alerts)
        for _ in range(3):
            driver.cockpit.tick()
        assert alerts == [True]

    drive(driver, look)
    assert alerts == [True, False]


def test_a_run_that_had_already_ended_alerts_no_one(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = live(story("steady"))
    alerts: list[bool] = []
    monkeypatch.setattr(driver.app, "alert_user", lambda text, over=False: alerts.append(True))
    monkeypatch.setattr(driver.app, "clear_alert", lambda: alerts.append(False))

    async def look(driver: Driver) -> None:
        driver.cockpit.tick()

    drive(driver, look)
    assert alerts == []
