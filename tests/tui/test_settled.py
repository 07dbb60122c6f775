"""A dialog stands as it will stay from its first paint on: drawn once more, nothing changes."""

from pathlib import Path

import pytest

from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.tui.modals.choice_dialog import ChoiceDialog
from ralph_tui.tui.modals.scroll_text import ReadDialog, ScrollText
from tests.tui.driving import Driver, drive, live, story

SCROLLS = ("↑", "")


@pytest.mark.parametrize(
    ("name", "keys"),
    [("marked", ("5", "enter")), ("running", ("E",)), ("running", ("a",)), ("running", ("q",))],
    ids=["learning", "export", "abort", "leave"],
)
def test_its_first_keys_are_its_keys(name: str, keys: tuple[str, ...]) -> None:
    async def look(driver: Driver) -> None:
        cockpit, shown = driver.cockpit, list[object]()
        # Stop the screens below from redrawing: only the dialogs' own drawing counts.
        cockpit.tick = lambda: None  # type: ignore[method-assign]
        await driver.press(*keys)
        dialog = driver.app.screen
        assert isinstance(dialog, ChoiceDialog | ReadDialog)
        await driver.until(lambda: dialog.keys_row.pairs)
        await driver.pilot.pause()
        shown.append(list(dialog.keys_row.pairs))
        dialog.lay()
        assert list(dialog.keys_row.pairs) == shown[0]
        hidden = dialog.query(ScrollText).first().hidden
        assert (SCROLLS in dialog.keys_row.pairs) == (hidden > 0)

    driver = live(story(name))
    driver.source.record = RunRecord(Path("events.jsonl"))
    drive(driver, look)
