"""`e`: the screen as it was, the pane, the report and the events, each in a file that is named."""

import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.tui.modals.export import Export
from ralph_tui.tui.modals.scroll_text import ScrollText
from tests.tui.driving import Driver, drive, live, replay, story
from tests.unit.adapters.search.journals import attempt, write

SIZES = [(80, 24), (140, 45)]


def exporting(driver: Driver, root: Path, name: str) -> Path:
    """Give the run a record; return the folder of its exports."""
    journal = write(attempt(root), story(name))
    driver.source.record = RunRecord(journal)
    return journal.parent / "exports"


def path_of(driver: Driver) -> str:
    """The path that the dialog reports."""
    dialog = driver.app.screen
    return dialog._path if isinstance(dialog, Export) else ""


def _ends(driver: Driver, name: str) -> bool:
    return path_of(driver).endswith(name)


def letters(svg: str) -> str:
    """Text of an exported SVG; blanks between styles exist only as positions."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return "".join("".join(text.itertext()) for text in texts).replace("\xa0", " ")


@pytest.mark.parametrize("size", SIZES[-1:])
def test_the_screen_is_taken_without_the_dialog(tmp_path: Path, size: tuple[int, int]) -> None:
    driver = live(story("running"))
    folder = exporting(driver, tmp_path, "running")

    async def look(driver: Driver) -> None:
        before = [row.rstrip() for row in driver.text()]
        await driver.press("E", "1")
        await driver.sees("written:")
        await driver.press("2")
        await driver.until(lambda: path_of(driver).endswith("screen.svg"))
        assert (folder / "screen.txt").read_text().splitlines() == before
        said = letters((folder / "screen.svg").read_text())
        assert "Fix the failing parser tests" in said
        assert "into a file" not in said
        await driver.press("1")
        await driver.until(lambda: path_of(driver).endswith("screen-2.txt"))
        await driver.sees("y copy its path")
        await driver.press("y")
        assert driver.app.clipboard == str(folder / "screen-2.txt")
        rows = driver.app.screen.query_one(ScrollText).rows
        shown = "".join(text for row in rows for text, _ in row)
        assert str(folder / "screen-2.txt") in shown, "a path is never cut"
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.cockpit)

    drive(driver, look, size)


def test_report_events_and_all_rows_of_the_pane(tmp_path: Path) -> None:
    driver = live(story("running"))
    folder = exporting(driver, tmp_path, "running")

    async def look(driver: Driver) -> None:
        await driver.press("2", "E")
        await driver.sees("the pane “what happened”")
        for key, name in (("4", "report.md"), ("5", "events.jsonl"), ("3", "what-happened.txt")):
            await driver.press(key)
            await driver.until(partial(_ends, driver, name))
        assert (folder / "report.md").read_text().startswith("# Report on ")
        lines = (folder / "events.jsonl").read_text().splitlines()
        assert [json.loads(line)["seq"] for line in lines] == [e.seq for e in story("running")]
        pane = driver.cockpit.body.panes["log"]
        rows = (folder / "what-happened.txt").read_text().splitlines()
        assert len(rows) == pane.row_count(pane.inner_width, pane.inner_height)

    drive(driver, look)


def test_an_error_is_a_sentence_and_the_dialog_stays(tmp_path: Path) -> None:
    driver = live(story("running"))
    exporting(driver, tmp_path, "running").write_text("in the way")

    async def look(driver: Driver) -> None:
        await driver.press("E", "1")
        await driver.sees("cannot write")
        await driver.press("2")
        await driver.sees("cannot write")
        assert isinstance(driver.app.screen, Export)

    drive(driver, look)


def test_in_a_replay_all_of_the_run_is_written(tmp_path: Path) -> None:
    driver = replay(story("stuck"))
    folder = exporting(driver, tmp_path, "stuck")

    async def look(driver: Driver) -> None:
        await driver.press("home", "E", "5")
        await driver.sees("written:")
        assert len((folder / "events.jsonl").read_text().splitlines()) == len(story("stuck"))

    drive(driver, look)


def test_before_anything_is_recorded_it_says_so() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("E")
        assert "nothing is recorded yet" in driver.cockpit.footer.notice

    drive(live(story("running")), look)


@pytest.mark.parametrize("size", [(60, 15), (20, 6)])
def test_it_bears_small_screens(tmp_path: Path, size: tuple[int, int]) -> None:
    driver = live(story("running"))
    exporting(driver, tmp_path, "running")

    async def look(driver: Driver) -> None:
        await driver.press("E", "1")
        await driver.until(lambda: path_of(driver))
        await driver.resize((100, 30))
        await driver.sees("written:")

    drive(driver, look, size)


def test_a_replay_says_what_is_of_the_moment_and_what_of_the_whole_run(tmp_path: Path) -> None:
    driver = replay(story("steady"))
    exporting(driver, tmp_path, "steady")
    shown = "screen and pane show this moment; report and events cover the whole run"

    async def look(driver: Driver) -> None:
        await driver.press("E")
        await driver.sees("the events")
        assert shown not in "\n".join(driver.text()), "at its end they are one"
        await driver.press("escape", "left", "E")
        await driver.sees(shown)

    drive(driver, look, (140, 45))
