"""A replay shows each moment without later events, though the files hold them."""

from pathlib import Path

import pytest

from ralph_tui.events import HandoffWritten
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.state import RunState
from ralph_tui.tui.cockpit import layout
from ralph_tui.tui.panes.details import DetailsPane
from tests.tui.driving import Driver, drive, replay, story
from tests.world.windows import folder

SIZE = (100, 30)
WALKED = {"stuck": (3,), "rolled_over": (3,), "taught": (3,), "rolled_back": (5,)}
"""Stories, each with the points (in sixths of its events) at which it is checked."""


def shown(driver: Driver) -> list[str]:
    """The screen without scrubber and footer, which differ because the record is longer."""
    return driver.text()[:-3]


async def each_pane(driver: Driver) -> dict[str, list[str]]:
    """Every pane alone on the screen."""
    seen = {}
    for name in layout.ORDER:
        driver.cockpit.body.zoomed = name
        driver.cockpit.show_pane(name)
        driver.cockpit.tick()
        await driver.pilot.pause()
        seen[name] = shown(driver)
    return seen


@pytest.mark.parametrize(("name", "parts"), WALKED.items())
def test_every_pane_shows_what_a_record_shows_that_ends_there(
    name: str, parts: tuple[int, ...], tmp_path: Path
) -> None:
    events, place = story(name), folder(tmp_path)
    positions = [len(events) * part // 6 for part in parts]
    fields: dict[int, dict[str, list[str]]] = {}

    async def back_from_the_end(driver: Driver) -> None:
        await each_pane(driver)  # whatever a pane keeps, it has seen the end
        for position in reversed(positions):
            driver.source.player.seek(position)  # type: ignore[union-attr]
            fields[position] = await each_pane(driver)

    drive(Driver(Replay(events, place)), back_from_the_end, SIZE)
    for position in positions:

        async def end(driver: Driver, position: int = position) -> None:
            for pane, rows in (await each_pane(driver)).items():
                assert fields[position][pane] == rows, (position, pane)

        drive(Driver(Replay(events[:position], place)), end, SIZE)


def test_a_handoff_that_was_edited_later_is_read_as_it_was_made(tmp_path: Path) -> None:
    place = folder(tmp_path)
    events = story("rolled_over")
    number, made = next((n, e) for n, e in enumerate(events) if isinstance(e, HandoffWritten))
    file = place / made.path
    first = file.read_text()
    file.with_name(f"{file.stem}-as-made.md").write_text(first)
    file.write_text("You have decided otherwise.\n")
    edited = made.model_copy(update={"seq": made.seq + 1, "edited_by": "you"})

    def pane_text(*more: HandoffWritten) -> str:
        pane = DetailsPane(Replay(events, place))
        pane.state = RunState().apply_all([*events[: number + 1], *more])
        pane.changed()
        return "\n".join("".join(text for text, _ in row) for row in pane.build(80, 40))

    assert first.splitlines()[0] in pane_text()
    assert "decided otherwise" not in pane_text()
    assert "decided otherwise" in pane_text(edited)


def test_the_whole_run_s_files_are_shown_at_its_end_alone() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("4", "end", "enter", "enter")
        files = driver.cockpit.body.panes["files"]
        assert "whole run" in "\n".join(driver.text())
        driver.source.player.seek(60)  # type: ignore[union-attr]
        driver.cockpit.tick()
        await driver.pilot.pause()
        assert "whole run" not in str(files.build(40, 10)) + str(files.headline(40))  # type: ignore[attr-defined]

    drive(replay(story("stuck")), look, SIZE)


def test_the_film_stands_while_something_is_opened_and_goes_on_behind_it() -> None:
    async def look(driver: Driver) -> None:
        player = driver.source.player
        assert player is not None
        player.seek(5)
        await driver.press("space", "question_mark")
        here = player.position
        for _ in range(5):
            driver.watch.now += 1.0
            driver.cockpit.tick()
        assert player.playing
        assert player.position == here
        await driver.press("escape")
        driver.watch.now += 1.0
        driver.cockpit.tick()
        assert player.position > here

    drive(replay(story("stuck")), look)
