"""The palette: every command by its name, and permissions for the next session."""

import pytest

from ralph_tui.commands import Pause, SetPermissions
from ralph_tui.events import PermissionsChanged, ToolDenied
from ralph_tui.tui.actions import ACTIONS, BY_NAME, is_offered
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.modals.choice_dialog import Confirm
from ralph_tui.tui.modals.palette import Palette
from tests.tui.driving import Driver, drive, live, replay, story
from tests.tui.test_mouse import click
from tests.world.stories import HOSTILE


async def search(driver: Driver, words: str, best: str) -> None:
    """Open the palette, type words, and wait for the best match."""
    await driver.press("colon")
    await driver.until(lambda: isinstance(driver.app.screen, Palette))
    await driver.press(*words)

    def found() -> bool:
        palette = driver.app.screen
        assert isinstance(palette, Palette)
        return bool(palette.found) and best in palette.found[0].text

    await driver.until(found)


def test_every_action_sends_a_command_or_does_something() -> None:
    async def look(driver: Driver) -> None:
        assert driver.cockpit.effects.keys() == {a.name for a in ACTIONS if a.sends is None}

    drive(live(story("running")), look)


@pytest.mark.parametrize("is_live", [True, False])
def test_every_action_is_offered(is_live: bool) -> None:  # noqa: FBT001
    async def look(driver: Driver) -> None:
        shown = "\n".join(offer.text for offer in driver.cockpit.dialogs.offers())
        reasons = {offer.text: offer.refused for offer in driver.cockpit.dialogs.offers()}
        if is_live:
            assert "question" not in str(reasons[BY_NAME["diff"].help]), "the reason is its own"
        for action in ACTIONS:
            wanted = is_offered(action, live=is_live) and action.name != "palette"
            assert (action.help in shown.splitlines()) == wanted
        assert ("permissions" in shown) == is_live

    drive((live if is_live else replay)(story("running")), look)


@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
def test_a_command_is_found_and_done(key: str) -> None:
    async def look(driver: Driver) -> None:
        await driver.press(key)
        await driver.sees("Search commands")
        await driver.press("escape")
        await search(driver, "pause", "pause or unpause the run")
        await driver.press("enter")
        await driver.until(lambda: driver.sent)

    assert drive(live(story("running")), look).sent == [Pause()]


def test_what_cannot_be_done_now_says_why() -> None:
    async def look(driver: Driver) -> None:
        await search(driver, "retrynow", "retry now without waiting")
        await driver.sees("(the run is not waiting")
        await driver.press("enter")
        await driver.sees("w retry now: the run is not waiting")

    assert drive(live(story("running")), look).sent == []


def test_a_denied_tool_is_permitted() -> None:
    async def look(driver: Driver) -> None:
        await search(driver, "permit rm", "permit Bash(rm:*) (denied 2 times)")
        await driver.press("enter")
        await driver.until(lambda: driver.sent)

    commands = drive(live(story("limited")), look).sent
    assert commands == [SetPermissions(mode="edits", allow=("Bash(rm:*)",))]


def test_everything_is_permitted_only_after_a_question() -> None:
    async def look(driver: Driver) -> None:
        for key in ("n", "y"):
            assert driver.sent == []
            await search(driver, "unrestr", "permissions: unrestricted (asks you to confirm)")
            await driver.press("enter")
            await driver.until(lambda: isinstance(driver.app.screen, Confirm))
            await driver.press(key)

    assert drive(live(story("limited")), look).sent == [SetPermissions(mode="skip")]


def test_what_holds_already_is_not_offered() -> None:
    last = story("limited")[-1]
    changed = PermissionsChanged(seq=last.seq + 1, at=last.at, mode="edits", allow=["Bash(rm:*)"])
    free = PermissionsChanged(seq=last.seq + 2, at=last.at, mode="skip", allow=["Bash(rm:*)"])

    async def look(driver: Driver) -> None:
        commands = [offer.text for offer in driver.cockpit.dialogs.offers()]
        kinds = [text for text in commands if text.startswith("perm")]
        asks = "permissions: may edit files; asks before anything else"
        permit = "permit Bash(curl:*) (denied 1 time)"
        assert kinds == [permit, asks, "permissions: unrestricted (asks you to confirm)"]
        driver.inbox.append(free)
        await driver.until(lambda: driver.cockpit.state.needs.mode == "skip")
        commands = [offer.text for offer in driver.cockpit.dialogs.offers()]
        kinds = [text for text in commands if "perm" in text[:8]]
        assert kinds == ["permissions: may edit files only", asks]
        await search(driver, "files only", "permissions: may edit files only")
        await driver.press("enter")
        await driver.until(lambda: driver.sent)

    commands = drive(live([*story("limited"), changed]), look).sent
    assert commands == [SetPermissions(mode="edits", allow=("Bash(rm:*)",))]


def test_foreign_words_are_text() -> None:
    last = story("limited")[-1]
    denied = [
        ToolDenied(seq=last.seq + i, at=last.at, iteration=3, tool="Bash", permit=line)
        for i, line in enumerate((HOSTILE, "[/foo]", "x" * 100_000), start=1)
    ]

    async def look(driver: Driver) -> None:
        await search(driver, "permit foo", "permit [/foo] [red]red")
        await driver.sees("permit [/foo] (denied 1 time)")
        await driver.press(*["backspace"] * 10)
        await driver.sees("permit Bash(rm:*)")
        await driver.press("escape", "2", "up", "up", "enter")
        await driver.sees("[/foo]")

    drive(live([*story("limited"), *denied]), look)


def test_the_evidence_of_a_denial_lists_all_of_them() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("2", "up", "up", "up", "enter")
        await driver.sees("DENIED")
        await driver.sees("2 × Bash(rm:*)")
        await driver.sees("1 × Bash(curl:*)")

    drive(live(story("limited")), look)


@pytest.mark.parametrize("size", [(60, 15), (140, 45)])
def test_a_command_is_one_line_with_its_key_at_the_right(size: tuple[int, int]) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("colon")
        palette = driver.app.screen
        assert isinstance(palette, Palette)
        rows = palette._list.rows
        assert len(rows) == len(palette.found)
        ends = {cells(row) for row, offer in zip(rows, palette.found, strict=True) if offer.key}
        assert len(ends) == 1, "the keys stand below one another"
        await driver.sees("pause or unpause the run")
        line = next(row for row in driver.text() if "pause or unpause" in row)
        assert line.split("the run")[1].strip(" │┃").startswith("p")

    drive(live(story("running")), look, size)


def test_a_command_can_be_clicked() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("colon")
        await click(driver, "pause or unpause the run")
        await driver.until(lambda: driver.sent)

    assert drive(live(story("running")), look).sent == [Pause()]


def test_what_is_typed_at_once_is_searched() -> None:
    async def look(driver: Driver) -> None:
        await driver.pilot.press(":", *"zoom")
        await driver.until(lambda: isinstance(driver.app.screen, Palette))
        palette = driver.app.screen
        assert isinstance(palette, Palette)
        await driver.until(lambda: palette.found[0].text.startswith("zoom "))
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.cockpit.body.zoomed)

    drive(live(story("running")), look)


def test_words_that_fit_nothing_say_so() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("colon", *"xyzzy")
        await driver.sees("no matching command")
        await driver.press("enter")
        await driver.sees("no matching command; esc closes")
        await driver.press("escape")
        assert driver.app.screen is driver.cockpit

    drive(live(story("running")), look)
