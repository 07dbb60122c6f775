"""Home among strange things: texts that would draw elsewhere, a flood of text, another home."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual import events

from ralph_tui.runtime.sources.run_list import ListedRuns
from ralph_tui.tui.home.form_fields import LONGEST_VALUE
from ralph_tui.tui.home.table import Listing
from tests.tui.homes import DONE, HomeDriver, at_home
from tests.tui.new_runs import FormDriver, drive
from tests.unit.adapters.search.journals import a_run, attempt, write

STRANGE = "Fix \x1b[31mred\x1b[0m \u202egnp.exe\u2066 \x07\x9b2J\r\n\ttab " + "long " * 60


class Real(ListedRuns):
    problem = ""


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (140, 45)])
def test_an_objective_draws_in_its_own_cells_alone(tmp_path: Path, size: tuple[int, int]) -> None:
    write(attempt(tmp_path), a_run(STRANGE))
    home = HomeDriver()
    home.runs = Real(tmp_path)  # type: ignore[assignment]

    async def look(home: HomeDriver) -> None:
        await home.sees("Fix red")
        assert not {"\x1b", "\x07", "\x9b", "\r", "\t", "\u202e", "\u2066"} & set(home.page)
        assert "✓ completed" in home.page
        assert [len(row) for row in home.text()] == [size[0]] * size[1]

    at_home(look, home, size=size)


def test_a_megabyte_that_is_pasted_is_refused_or_cut_in_a_moment() -> None:
    async def paste(driver: FormDriver) -> None:
        driver.app.post_message(events.Paste("some words of a log\n" * 50_000))
        await driver.sees("text of 1,000,000 characters not inserted: at most 100,000 fit here")
        await driver.press("x")
        assert driver.form.page.objective.text == "x"
        await driver.to("command")
        driver.app.post_message(events.Paste("y" * 1_000_000))
        await driver.until(lambda: driver.form.page.command.value)
        assert len(driver.form.page.command.value) == LONGEST_VALUE
        await driver.sees("at most 10,000 characters; the rest of the pasted text was cut")

    drive(FormDriver(), paste)


def test_two_homes_see_the_same_runs_come_and_go(tmp_path: Path) -> None:
    first, second = ListedRuns(tmp_path), ListedRuns(tmp_path)
    assert [each.names() for each in (first, second)] == [[], []]
    write(attempt(tmp_path), a_run())
    for each in (first, second, first, second):
        names = each.names()
        assert names is None or list(names) == ["task-001/001"]
        assert each.read(["task-001/001"])["task-001/001"].objective
    attempt(tmp_path).joinpath("events.jsonl").unlink()
    for each in (first, second):
        assert each.read(["task-001/001"]) == {}


def test_a_click_selects_and_two_open(tmp_path: Path) -> None:
    home = HomeDriver(DONE, replace(DONE, name="task-009/001"), listing=Listing())

    async def look(home: HomeDriver) -> None:
        await home.pilot.click("#runs", offset=(10, 2))
        await home.until(lambda: home.listing.selected == 1)
        await home.pilot.click("#runs", offset=(10, 2), times=2)
        await home.until(lambda: home.chosen)

    at_home(look, home)
    assert home.chosen == ["replay", str(home.listing.name)]


def test_all_that_can_be_chosen_is_in_view_on_a_small_screen() -> None:
    async def look(driver: FormDriver) -> None:
        page = driver.form.page
        await driver.sees("○ asks before anything else ○ unrestricted")
        for choice in (page.by, page.agent, page.permissions):
            words = sum(len(word) + 2 for _, word in choice.options)
            assert words + 3 * (len(choice.options) - 1) <= choice.size.width

    drive(FormDriver(), look)
