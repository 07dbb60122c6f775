"""A replay notices and reports that its journal has changed, and never jumps."""

from pathlib import Path

import pytest

from ralph_tui.adapters.records.lazy import GONE, TRUNCATED
from ralph_tui.runtime.sources.recorded import opened
from ralph_tui.runtime.sources.replay import LOOK_S, Replay
from tests.tui.driving import Driver, drive, story

EVENTS = story("stuck")
LINES = [event.model_dump_json().encode() + b"\n" for event in EVENTS]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "001" / "events.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(LINES[:60]))
    return path


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def player(driver: Driver) -> Replay:
    assert isinstance(driver.source, Replay)
    return driver.source


async def looked(driver: Driver) -> str:
    """Return the screen after the next check of the record."""
    driver.watch.now += LOOK_S + 0.1
    driver.cockpit.tick()
    await driver.pilot.pause()
    return "\n".join(driver.text())


@pytest.mark.parametrize("at", [20, 60])
def test_a_run_that_goes_on_is_noticed_and_nothing_jumps(journal: Path, at: int) -> None:
    async def look(driver: Driver) -> None:
        playback = player(driver)
        playback.seek(at)
        before = await looked(driver)
        assert "no end was recorded" in before or at == 20
        append(journal, b"".join(LINES[60:72]))
        screen = await looked(driver)
        assert (playback.position, playback.length, playback.new) == (at, 72, 12)
        assert "+12 new" in screen
        assert f"{at}/72" in screen
        assert driver.text()[:20] == before.split("\n")[:20], "the displayed text stays"
        append(journal, b"".join(LINES[72:74]))
        assert "+14 new" in await looked(driver)
        await driver.press("end")
        assert (playback.position, playback.new) == (74, 0)
        assert "new" not in driver.text()[-3]

    drive(Driver(opened(journal)), look)


def test_playing_goes_on_into_what_has_come(journal: Path) -> None:
    async def look(driver: Driver) -> None:
        playback = player(driver)
        append(journal, b"".join(LINES[60:]))
        await looked(driver)
        await driver.press("space")
        assert playback.playing, "not from the beginning: there is more"
        assert playback.position >= 60
        while player(driver).playing:
            await looked(driver)
        assert playback.position == len(EVENTS)
        assert driver.cockpit.state.run.finished is not None

    drive(Driver(opened(journal)), look)


def test_a_half_written_line_is_no_event_until_it_is_whole(journal: Path) -> None:
    append(journal, LINES[60][:-20])

    async def look(driver: Driver) -> None:
        assert "cut off" in "\n".join(driver.text())
        append(journal, LINES[60][-20:])
        screen = await looked(driver)
        assert "cut off" not in screen
        assert player(driver).length == 61

    drive(Driver(opened(journal)), look)


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (lambda path: path.unlink(), GONE),
        (lambda path: path.write_bytes(b"".join(LINES[:10])), TRUNCATED),
        (lambda path: path.write_bytes(b"something else\n" * 9999), TRUNCATED),
    ],
    ids=["deleted", "truncated", "replaced"],
)
def test_what_was_read_of_a_lost_journal_is_shown(journal: Path, harm: object, says: str) -> None:
    async def look(driver: Driver) -> None:
        assert callable(harm)
        if says == TRUNCATED:
            copy = journal.with_name("copy")
            harm(copy)
            copy.replace(journal)
        else:
            harm(journal)
        assert says[:40] in await looked(driver)
        for key, position in (("home", 1), ("right", 2), ("end", 60), ("left", 59)):
            await driver.press(key)
            assert player(driver).position == driver.cockpit.state.seq == position

    drive(Driver(opened(journal)), look)


def test_a_bad_line_ends_the_record_where_it_is_met(journal: Path) -> None:
    bad = LINES[50].replace(b'"kind"', b'"kind":"agent_spoke","was"', 1)
    journal.write_bytes(b"".join([*LINES[:50], bad, *LINES[51:]]))

    async def look(driver: Driver) -> None:
        await driver.until(lambda: player(driver).length == 50)
        assert player(driver).position == driver.cockpit.state.seq == 50
        assert ":51 cannot be read" in driver.source.note
        assert driver.cockpit.note.has_class("-shown")
        await driver.press("end")
        assert "already at the last event" in driver.cockpit.footer.notice

    drive(Driver(opened(journal)), look)
