"""Search all runs from a cockpit, and open a result while the run continues."""

import pytest
from textual import events

from ralph_tui.commands import Stop
from ralph_tui.events import AgentSpoke, Event
from ralph_tui.tui.app import RECORDED, SEARCH
from ralph_tui.tui.cockpit.recorded import RecordedScreen
from ralph_tui.tui.cockpit.screen import CockpitScreen
from ralph_tui.tui.modals.leave import Leave
from ralph_tui.tui.search.screen import EMPTY, SearchScreen
from tests.tui.archive import FOUND, OneRun, beside
from tests.tui.driving import Driver, drive, live, replay, story
from tests.world.stories import HOSTILE, silence
from tests.world.taught import taught


def searching(name: str = "running", archive: OneRun | None = None) -> Driver:
    return live(story(name), beside=beside(archive or OneRun(story("stuck"))))


def screen(driver: Driver) -> SearchScreen:
    found = driver.app.screen
    assert isinstance(found, SearchScreen)
    return found


async def looks_for(driver: Driver, words: str, sees: str) -> None:
    await driver.press("slash")
    await driver.until(lambda: isinstance(driver.app.screen, SearchScreen))
    await types(driver, words, sees)


async def types(driver: Driver, words: str, sees: str) -> None:
    await driver.press(*(("space" if c == " " else c) for c in words))
    # Part of the words may have been looked for before, and found as many places.
    search = driver.app.screen
    assert isinstance(search, SearchScreen)
    await driver.until(lambda: search.settled == words)
    await driver.sees(sees)


def spoke(driver: CockpitScreen, text: str) -> Event:
    return AgentSpoke(seq=driver.state.seq + 1, at=driver.state.at, iteration=7, text=text)


def test_words_are_looked_for_as_they_are_typed() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("slash")
        await driver.sees("Type words you remember from an earlier run")
        await driver.press(*"test")
        await driver.sees("4 places")
        await driver.sees("▸ learning    Run one failing test first")
        await driver.sees("task-001/001 · iteration 2 · 2026-03-13")
        await driver.sees("no longer in any run's record")
        await driver.press("space", *"token")
        await driver.sees("1 place")
        await driver.press(*"zzz")
        await driver.sees("No results for “test tokenzzz”: try other words; prompts, test")
        await driver.press(*["backspace"] * 20)
        await driver.sees(EMPTY[:40])

    drive(searching(), look)


def test_what_is_typed_on_is_not_lost() -> None:
    async def look(driver: Driver) -> None:
        for key, character in (("slash", "/"), *((c, c) for c in "token")):
            driver.app.post_message(events.Key(key, character))
        await driver.sees("1 place")
        assert screen(driver).words.value == "token"

    drive(searching(), look)


def test_what_is_found_opens_at_its_moment_and_esc_leads_back_to_the_run() -> None:
    async def look(driver: Driver) -> None:
        cockpit = driver.cockpit
        await looks_for(driver, "test", "4 places")
        await driver.press("down", "enter")
        await driver.until(lambda: isinstance(driver.app.screen, RecordedScreen))
        await driver.sees("opened from a search: esc goes back")
        opened = driver.cockpit
        await driver.until(lambda: opened.state.seq == FOUND[1].seq)
        await driver.press("right")
        await driver.until(lambda: opened.state.seq == FOUND[1].seq + 1)
        driver.inbox.append(spoke(cockpit, "meanwhile"))
        await driver.until(lambda: not driver.inbox)
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is cockpit)
        await driver.sees("meanwhile")
        await driver.until(lambda: not opened.is_running)
        assert driver.sent == []
        await driver.press("p")
        assert len(driver.sent) == 1

    drive(searching(), look)


def test_the_search_stands_as_it_was_left() -> None:
    async def look(driver: Driver) -> None:
        cockpit = driver.cockpit
        await looks_for(driver, "test", "4 places")
        await driver.press("down", "escape")
        await driver.until(lambda: driver.app.screen is cockpit)
        await driver.press("slash")
        await driver.sees("▸ action")
        await driver.press("enter")
        await driver.until(lambda: driver.app.current_mode == RECORDED)
        first = driver.app.screen
        await driver.press("slash")
        await driver.until(lambda: driver.app.current_mode == SEARCH)
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is first)
        await driver.press("slash")
        await driver.until(lambda: driver.app.current_mode == SEARCH)
        await driver.press("up", "enter")
        await driver.until(
            lambda: isinstance(driver.app.screen, RecordedScreen) and driver.app.screen is not first
        )
        await driver.until(lambda: not first.is_running)

    drive(searching(), look)


def test_what_cannot_be_opened_or_searched_says_why() -> None:
    async def look(driver: Driver) -> None:
        await looks_for(driver, "broken", "the index cannot be read: ralph-tui rebuild")
        await driver.press("enter")
        await driver.sees("nothing to open")
        await driver.press(*["backspace"] * 6)
        await types(driver, "test", "4 places")
        await driver.press("down", "down", "enter")
        await driver.sees("no run's record contains it any more")
        await driver.press("down", "enter")
        await driver.sees("task-004/002 is not there any more")
        await driver.press("down")
        await driver.sees("nothing more in that direction")

    drive(searching(), look)


def test_a_question_calls_from_behind_and_opens_when_one_is_back() -> None:
    async def look(driver: Driver) -> None:
        cockpit = driver.cockpit
        await looks_for(driver, "test", "4 places")
        question = silence("q9", cockpit.state.at)
        driver.inbox.append(
            question.model_copy(update={"seq": cockpit.state.seq + 1, "at": cockpit.state.at})
        )
        await driver.sees("! your run needs you")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, RecordedScreen))
        await driver.sees("! your run needs you")
        await driver.press("escape")
        await driver.until(lambda: driver.app.current_mode == driver.app.DEFAULT_MODE)
        await driver.until(lambda: len(driver.app.screen_stack) == 2)

    drive(searching(), look)


@pytest.mark.parametrize(("where", "key"), [("search", "ctrl+c"), ("recorded", "ctrl+q")])
def test_keys_that_end_a_run_lead_back_to_it_and_ask(where: str, key: str) -> None:
    async def look(driver: Driver) -> None:
        await looks_for(driver, "test", "4 places")
        if where == "recorded":
            await driver.press("enter")
            await driver.until(lambda: isinstance(driver.app.screen, RecordedScreen))
        await driver.press(key)
        await driver.until(lambda: isinstance(driver.app.screen, Leave))
        assert driver.sent == []
        await driver.press("n")
        assert driver.sent == [] or isinstance(driver.sent[0], Stop)

    drive(searching(), look)


def test_leaving_a_found_run_leaves_no_more_than_it() -> None:
    async def look(driver: Driver) -> None:
        cockpit = driver.cockpit
        await looks_for(driver, "test", "4 places")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, RecordedScreen))
        await driver.press("z")
        await driver.press("escape")
        assert isinstance(driver.app.screen, RecordedScreen)
        await driver.press("q")
        await driver.until(lambda: driver.app.screen is cockpit)
        assert driver.app.is_running

    drive(searching(), look)


def test_another_size_meanwhile_is_the_cockpits_too() -> None:
    async def look(driver: Driver) -> None:
        cockpit = driver.cockpit
        await looks_for(driver, "test", "4 places")
        await driver.resize((140, 45))
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is cockpit)
        await driver.until(lambda: cockpit.has_class("-wide"))
        await driver.sees("2 what happened")
        assert len(driver.text()) == 45

    drive(searching(), look)


def test_a_replay_can_be_searched_from_too() -> None:
    async def look(driver: Driver) -> None:
        cockpit = driver.cockpit
        await looks_for(driver, "test", "4 places")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, RecordedScreen))
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is cockpit)

    drive(replay(taught(), beside=beside(OneRun(story("stuck")))), look)


def test_a_screen_of_one_run_alone_says_how_else() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("slash")
        await driver.sees("ralph-tui search covers all")

    drive(live(story("running")), look)


def test_hostile_places_stay_on_their_rows() -> None:
    from ralph_tui.text.sanitize import plain

    text = plain(HOSTILE + "x" * 10_000)
    bad = [
        FOUND[0].__class__(what=text, run=text, text=f"test {text}", objective=text, iteration=n)
        for n in range(50)
    ]

    async def look(driver: Driver) -> None:
        await driver.press("slash")
        await driver.until(lambda: isinstance(driver.app.screen, SearchScreen))
        await driver.press(*"test")
        await driver.until(lambda: screen(driver).results.found)
        await driver.press("pagedown", "down", "pageup", "up")
        for size in ((20, 6), (140, 45)):
            await driver.resize(size)
            await driver.press("down")
            assert all(len(row) <= size[0] for row in driver.text())

    drive(searching(archive=OneRun(story("stuck"), bad)), look)


def test_the_end_of_a_run_is_no_need() -> None:
    events = story("steady")
    driver = live(events[:-1], beside=beside(OneRun(story("stuck"))))

    async def look(driver: Driver) -> None:
        await looks_for(driver, "test", "4 places")
        driver.inbox.append(events[-1])
        await driver.sees("your run has ended: ")
        assert "needs you" not in "\n".join(driver.text())

    drive(driver, look)
