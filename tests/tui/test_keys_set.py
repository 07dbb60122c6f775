"""Keys that a user has set: they do it, and every row and sentence names them."""

from pathlib import Path

import pytest

from ralph_tui.commands import Pause
from ralph_tui.text.keys import Keys
from ralph_tui.tui.modals.guide import Guide
from ralph_tui.tui.modals.help import Help
from tests.tui.driving import Driver, drive, live, replay, story
from tests.tui.homes import DONE, HomeDriver, at_home
from tests.tui.test_continuation import with_record

CHOSEN = Keys({
    "pause": "f5", "guide": "G,ctrl+g", "decide": "f6", "restore": "R", "help": "f2",
    "export": "f4", "again": "f7", "home_new": "f9", "search": "f3", "leave": "x", "play": "f10",
    "back": "B", "forward": "F",
})  # fmt: skip


def test_a_set_key_acts_and_the_old_one_does_not() -> None:
    driver = live(story("running"), keys=CHOSEN)

    async def look(driver: Driver) -> None:
        await driver.sees("f5 pause")
        await driver.sees("G guide")
        await driver.press("p")
        assert driver.cockpit.footer.notice == "p does nothing; f2 lists the keys"
        assert driver.sent == []
        await driver.press("f5")
        assert driver.sent == [Pause()]
        assert driver.cockpit.footer.notice.startswith("f5 pause: sent")
        await driver.press("R")
        assert (
            "R restore: the files are in use; press f5 to pause first"
            in driver.cockpit.footer.notice
        )
        shown = {offer.text.split()[0]: offer.key for offer in driver.cockpit.dialogs.offers()}
        assert (shown["pause"], shown["send"], shown["abort"]) == ("f5", "G", "a")
        await driver.press("f2")
        assert isinstance(driver.app.screen, Help)
        await driver.sees("f5       pause or unpause the run")
        await driver.press("escape")
        await driver.press("ctrl+g")
        await driver.until(lambda: isinstance(driver.app.screen, Guide))

    drive(driver, look, (140, 45))


@pytest.mark.parametrize(("name", "says"), [
    ("paused", "press f5 to unpause"), ("asked", "press f6"),
])  # fmt: skip
def test_the_verdict_names_it(name: str, says: str) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("escape")
        await driver.sees(says)

    drive(live(story(name), keys=CHOSEN), look)


def test_the_diff_keeps_its_key_where_the_answers_key_is_set() -> None:
    async def look(driver: Driver) -> None:
        await driver.sees("f diff")
        await driver.press("f6")
        assert driver.cockpit.footer.notice == "f6 answer: the run has ended"

    drive(live(story("stuck"), keys=CHOSEN), look, (140, 45))


def test_at_the_end_its_card_names_it(tmp_path: Path) -> None:
    async def look(driver: Driver) -> None:
        await driver.sees("f7 run again")
        await driver.press("u")
        assert driver.cockpit.footer.notice == "u resume: it is already completed; f7 runs it again"

    drive(with_record(live(story("steady"), keys=CHOSEN), tmp_path, "steady"), look)


def test_a_replay_moves_by_it() -> None:
    async def look(driver: Driver) -> None:
        await driver.sees("B F event")
        player = driver.source.player
        assert player is not None
        before = player.position
        await driver.press("B")
        assert player.position == before - 1
        await driver.press("left")
        assert player.position == before - 1, "the pane's, by now"
        await driver.press("home", "f10")
        assert player.playing

    drive(replay(story("stuck"), keys=CHOSEN), look, (140, 45))


def test_home_has_it_too() -> None:
    async def look(home: HomeDriver) -> None:
        await home.sees("f9 new run")
        await home.press("n")
        await home.sees("n does nothing here; f2 lists the keys")
        await home.press("f2")
        await home.sees("x        leave this screen")
        await home.press("escape", "escape")
        await home.sees("x leaves")

    at_home(look, HomeDriver(DONE, keys=CHOSEN))
