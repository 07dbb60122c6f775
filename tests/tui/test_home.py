"""Home: its rows at each size, its keys, and the files it reads."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

import pytest
from textual import events

from ralph_tui.text.terms import OUTCOMES, PHASES
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.home.form import NewRun
from ralph_tui.tui.home.screen import BATCH, EAGER, HomeScreen
from ralph_tui.tui.home.table import COLUMNS
from tests.rows import each_row
from tests.tui.homes import DIED, DONE, LIVE, NOW, USED_UP, HomeDriver, at_home

# rows ---------------------------------------------------------------------------------------------


@each_row("width", range(4, 200, 7))
def test_a_row_is_as_wide_as_there_is_room_and_no_column_moves(width: int) -> None:
    lines = [COLUMNS.line_of(row, NOW, width) for row in (DONE, LIVE, DIED)]
    for line in (*lines, COLUMNS.titles(width)):
        assert cells(line) <= width
    assert sum(room for _, room in COLUMNS.at(width)) <= width


@pytest.mark.parametrize(
    ("width", "wanted"),
    [
        (177, ("✓ completed", "Fix the failing parser tests", "5/10", "100 %", "2", "$1.82",
               "41m", "2026-01-06")),
        (137, ("✓ completed", "Fix the failing parser tests", "5/10", "100 %", "2", "$1.82",
               "41m", "3d ago")),
        (97, ("✓ completed", "Fix the failing", "5/10", "100 %", "2", "$1.82", "41m", "3d ago")),
        (77, ("✓ completed", "Fix the failing", "5/10", "100 %", "2", "$1.82", "41m", "3d ago")),
        (57, ("✓ completed", "Fix the fail", "5/10", "100 %", "$1.82", "3d ago")),
        (20, ("✓", "Fix the", "100 %")),
    ],
)  # fmt: skip
def test_what_is_told_at_each_width(width: int, wanted: tuple[str, ...]) -> None:
    text = "".join(part for part, _ in COLUMNS.line_of(DONE, NOW, width))
    at = -1
    for word in wanted:
        assert word in text[at + 1 :]
        at = text.index(word, at + 1)


@each_row("state", [*OUTCOMES, "died", "a_new_state"])
def test_every_state_of_a_past_run_has_glyph_and_word(state: str) -> None:
    text = "".join(part for part, _ in COLUMNS.line_of(replace(DONE, status=state), NOW, 177))
    word = OUTCOMES[state].label if state in OUTCOMES else state.replace("_", " ")
    assert word in text


@each_row("phase", PHASES)
def test_every_state_of_a_live_run_has_glyph_and_word(phase: str) -> None:
    row = replace(LIVE, status=phase)
    wide = "".join(part for part, _ in COLUMNS.line_of(row, NOW, 177))
    assert PHASES[phase].label in wide or f"{PHASES[phase].short_label} " in wide or "live" in wide
    narrow = "".join(part for part, _ in COLUMNS.line_of(row, NOW, 77))
    assert narrow.startswith(PHASES[phase].glyph)
    assert " now" in narrow
    asking = "".join(part for part, _ in COLUMNS.line_of(replace(row, question=True), NOW, 77))
    assert asking.startswith("! needs you")


def test_a_live_run_is_as_old_as_now() -> None:
    assert "21m" in "".join(part for part, _ in COLUMNS.line_of(LIVE, NOW, 77))


@pytest.mark.parametrize("width", [177, 100, 77, 60, 40])
def test_a_completion_before_files_were_restored_has_their_sign(width: int) -> None:
    def text(completion: float, *, stale: bool) -> str:
        row = replace(DONE, completions=(completion,), stale=stale)
        return "".join(part for part, _ in COLUMNS.line_of(row, NOW, width))

    assert "100 %↶" in text(1.0, stale=True)
    assert "62 % ↶" in text(0.62, stale=True)
    assert "99.7%↶" in text(0.997, stale=True)
    assert "↶" not in text(1.0, stale=False)
    assert len(text(1.0, stale=True)) == len(text(1.0, stale=False))


def test_what_was_not_counted_is_not_none() -> None:
    uncounted = replace(DONE, interventions=None, cost_usd=None, completions=())
    text = "".join(part for part, _ in COLUMNS.line_of(uncounted, NOW, 177))
    assert text.count("—") == 3


# the screen ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(140, 45), (60, 15), (8, 2)])
def test_it_is_calm_at_every_size(size: tuple[int, int]) -> None:
    async def look(home: HomeDriver) -> None:
        await home.until(lambda: len(home.listing.rows) == 3)
        assert all(cells([(row, "")]) <= size[0] for row in home.rows())
        if size[1] >= 6:
            assert "Fix the" in home.page

    at_home(look, HomeDriver(LIVE, DONE, DIED), size=size)


def test_head_detail_and_footer_say_where_one_is_and_what_enter_types() -> None:
    async def look(home: HomeDriver) -> None:
        await home.until(lambda: "1 live" in home.page and "started" in home.rows()[-3])
        rows = home.rows()
        assert rows[0].startswith(" ralph-tui  ~/parser  ")
        assert rows[0].endswith("  3 runs, 1 live")
        assert "▸ ● live" in rows[2]
        assert "task-002/001 · claude · started" in rows[-3]
        assert rows[-1].startswith(" enter ralph-tui attach task-002/001  n new run")
        await home.press("down")
        assert home.rows()[-1].startswith(" enter ralph-tui replay task-001/001  n new run")
        await home.press("down")
        assert "u resume" in home.rows()[-1]

    at_home(look, HomeDriver(LIVE, DONE, DIED))


def test_a_question_that_waits_is_said_first() -> None:
    async def look(home: HomeDriver) -> None:
        await home.until(lambda: "waits" in home.page)
        assert home.rows()[1].startswith(" ! task-002/001 waits for your answer: Move the storage")

    at_home(look, HomeDriver(DONE, replace(LIVE, question=True)))


@pytest.mark.parametrize(
    ("keys", "command"),
    [
        (("enter",), ["attach", "task-002/001"]),
        (("down", "enter"), ["replay", "task-001/001"]),
        (("end", "u"), ["resume", "task-003/001"]),
        (("end", "up", "u"), ["resume", "task-004/001", "--max-iterations", "15"]),
        (("D",), ["demo"]),
        (("q",), None),
        (("ctrl+c",), None),
        (("ctrl+q",), None),
    ],
)
def test_it_ends_with_a_command_line(keys: tuple[str, ...], command: list[str] | None) -> None:
    async def press(home: HomeDriver) -> None:
        await home.until(lambda: len(home.listing.rows) == 4)
        await home.press(*keys)

    home = at_home(press, HomeDriver(LIVE, DONE, USED_UP, DIED))
    assert home.chosen == command
    assert not home.app.is_running


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("up",), "nothing more in that direction"),
        (("x",), "x does nothing here; ? lists the keys"),
        (("escape",), "esc: nothing is open; q leaves"),
        (("u",), "resume: it is running; press enter to open it"),
        (("down", "u"), "resume: it is already completed"),
        (("t",), "theme: ralph-light"),
    ],
)
def test_a_key_that_opens_nothing_is_answered(keys: tuple[str, ...], answer: str) -> None:
    async def press(home: HomeDriver) -> None:
        await home.until(lambda: len(home.listing.rows) == 3)
        await home.press(*keys)
        assert answer in home.rows()[-2]
        assert "? help" in home.rows()[-1]
        await home.press("down")
        assert answer not in home.page  # an older answer is never shown beside a newer key

    at_home(press, HomeDriver(LIVE, DONE, DIED))


def test_the_help_has_every_key_and_leads_back() -> None:
    async def press(home: HomeDriver) -> None:
        await home.press("question_mark")
        await home.until(lambda: "find a run" in home.page)
        for words in (
            "start a new run (form)",
            "search all runs here",
            "⊗        aborted",
            "live, with its state",
        ):
            assert words in home.page
        await home.press("end")
        await home.until(lambda: "see ralph-tui status" in home.page)
        for words in (
            "number of interventions",
            "see ralph-tui status",
            "limit reached",
            "twice opens",
        ):
            assert words in home.page
        home.watch.now += 1  # no key is too early
        await home.press("escape")
        await home.until(lambda: "new run" in home.rows()[-1])

    at_home(press, HomeDriver(DONE))


def test_what_is_typed_behind_n_stands_in_the_form() -> None:
    async def press(home: HomeDriver) -> None:
        await home.until(lambda: home.listing.row)
        await home.press("n", "q", "d", "r")  # none of them leaves, plays or resumes
        await home.until(lambda: "qdr" in home.page)
        await home.press("escape")
        await home.until(lambda: "enter ralph-tui replay" in home.page)

    home = at_home(press, HomeDriver(DONE))
    assert home.chosen is None


def test_the_form_ends_home_with_the_command_line_of_a_run() -> None:
    async def press(home: HomeDriver) -> None:
        await home.until(lambda: home.listing.row)
        await home.press("n", *"Fix", "tab", "tab", *"make")
        await home.until(lambda: "make" in home.page)
        await home.press("ctrl+s")

    home = at_home(press, HomeDriver(DONE))
    assert home.chosen is not None
    assert home.chosen[:4] == ["run", "Fix", "-c", "make"]


def test_the_search_stands_beside_and_leads_back() -> None:
    async def press(home: HomeDriver) -> None:
        await home.press("slash")
        await home.until(lambda: "all runs of this repository" in home.page)
        await home.press("escape")
        await home.until(lambda: "new run" in home.rows()[-1])

    at_home(press, HomeDriver(DONE))


def test_the_mouse_selects_opens_and_scrolls() -> None:
    many = [replace(DONE, name=f"task-{n:03}/001") for n in range(100, 0, -1)]

    async def point(home: HomeDriver) -> None:
        await home.until(lambda: home.listing.row)
        table = home.app.screen.query_one("#runs")
        table.post_message(_wheel(table))
        await home.until(lambda: home.listing.selected == 3)
        await home.pilot.click("#runs", offset=(10, 6))
        assert home.listing.selected == 5
        await home.pilot.click("#home-foot", offset=(2, 1))

    home = at_home(point, HomeDriver(*many))
    assert home.chosen == ["replay", "task-095/001"]


def _wheel(widget: Any) -> Any:
    from textual.events import MouseScrollDown

    return MouseScrollDown(widget, 5, 5, 0, 1, 0, False, False, False)


# what changes while one looks ---------------------------------------------------------------------


def test_a_run_that_ends_or_dies_while_one_looks_shows_so() -> None:
    driver = HomeDriver(LIVE, DONE)

    async def look(home: HomeDriver) -> None:
        await home.until(lambda: "● live" in home.page)
        driver.runs.rows[LIVE.name] = replace(LIVE, live=False, status="died")
        await home.until(lambda: "◇ died" in home.page)
        assert home.listing.name == LIVE.name
        assert "live" not in home.rows()[0]

    at_home(look, driver)


def test_a_new_run_comes_first_and_the_selected_one_stays_selected() -> None:
    driver = HomeDriver(DONE, DIED)

    async def look(home: HomeDriver) -> None:
        await home.until(lambda: len(home.listing.rows) == 2)
        await home.press("down")
        selected = home.listing.name
        driver.runs.rows = {LIVE.name: LIVE, **driver.runs.rows}
        await home.until(lambda: " 3 runs" in home.page)
        await home.until(lambda: home.listing.names[0] == LIVE.name)
        assert home.listing.name == selected

    at_home(look, driver)


def test_a_run_that_is_taken_away_is_there_no_more() -> None:
    driver = HomeDriver(LIVE, DONE)

    async def look(home: HomeDriver) -> None:
        await home.until(lambda: len(home.listing.rows) == 2)
        del driver.runs.rows[LIVE.name]
        await home.until(lambda: " 1 run\n" in home.page)

    at_home(look, driver)


def test_records_that_cannot_be_listed_are_told_and_looked_at_again() -> None:
    driver = HomeDriver(DONE)
    driver.runs.problem = "the runs cannot be listed: Permission denied; make the folder readable"

    async def look(home: HomeDriver) -> None:
        await home.until(lambda: "make the folder readable" in home.page)
        driver.runs.problem = ""
        await home.until(lambda: "✓ completed" in home.page)

    at_home(look, driver)


def test_where_no_run_is_recorded_it_says_what_to_do_first() -> None:
    driver = HomeDriver()

    async def look(home: HomeDriver) -> None:
        await home.until(lambda: "No run is recorded in ~/parser yet." in home.page)
        await home.until(lambda: "n new run  D demo" in home.rows()[-1])
        await home.press("enter")
        await home.until(lambda: "no run is recorded here yet" in home.rows()[-2])
        driver.runs.rows = {DONE.name: DONE}
        await home.until(lambda: "✓ completed" in home.page)
        await home.until(lambda: "No run is recorded" not in home.page)

    at_home(look, driver)


def test_it_begins_where_it_was_left_and_says_what_failed() -> None:
    first = at_home(
        lambda home: home.press("down", "enter"), HomeDriver(replace(DONE, live=True), DIED)
    )
    assert first.chosen == ["replay", DIED.name]

    async def look(home: HomeDriver) -> None:
        assert home.listing.name == DIED.name
        assert "▲ no run 'task-003/001' here" in home.page
        await home.press("x")
        assert "there is no run" not in home.page

    at_home(look, HomeDriver(DONE, DIED, listing=first.listing, said="no run 'task-003/001' here"))


def test_a_run_that_went_on_while_home_was_left_is_read_again() -> None:
    async def leave(home: HomeDriver) -> None:
        await home.until(lambda: "limit reached" in home.page)
        await home.press("u")

    first = at_home(leave, HomeDriver(USED_UP))
    went_on = replace(USED_UP, status="completed")

    async def look(home: HomeDriver) -> None:
        await home.until(lambda: "completed" in home.page)
        assert "limit reached" not in home.page

    at_home(look, HomeDriver(went_on, listing=first.listing))


def test_a_look_that_brings_nothing_draws_nothing_but_ages_go_on() -> None:
    async def look(home: HomeDriver) -> None:
        screen = cast("HomeScreen", home.app.screen)
        drawn: list[datetime] = []
        screen.table.show = lambda now, sentence="": drawn.append(now)  # type: ignore[method-assign]

        async def looked(times: int) -> None:
            wanted = home.runs.looks + times
            while home.runs.looks < wanted:
                screen.on_screen_resume()
                await home.pilot.pause()

        await looked(2)
        drawn.clear()
        await looked(3)
        assert not drawn

        home.now += timedelta(days=2)
        await looked(2)
        assert drawn

    at_home(look, HomeDriver(DONE))


def test_of_ten_thousand_runs_those_are_read_that_are_looked_at() -> None:
    many = [replace(DONE, name=f"task-{n:05}/001") for n in range(10_000, 0, -1)]
    driver = HomeDriver(*many)

    async def look(home: HomeDriver) -> None:
        await home.until(lambda: len(home.listing.rows) >= EAGER)
        assert len(driver.runs.read_names) <= EAGER + BATCH
        await home.press("end")
        await home.until(lambda: home.listing.row is not None)
        assert home.listing.name == "task-00001/001"
        assert len(driver.runs.read_names) <= EAGER + 2 * BATCH
        assert "10000 runs" in home.page

    at_home(look, driver)


def test_what_cannot_be_read_is_named_in_a_line() -> None:
    broken = replace(DONE, objective="", status="died", problem="state.json cannot be used: empty")
    home = HomeDriver(broken, DIED)
    home.runs.lost_runs = ["here lies a run: its state.json is missing", "there, too"]

    async def story(home: HomeDriver) -> None:
        await home.sees("▲ here lies a run: its state.json is missing (and 1 more place)")
        await home.sees("◇ died  ▲ state.json cannot be used: empty")
        await home.press("down")
        await home.until(lambda: "state.json cannot be used" not in home.page)

    at_home(story, home)


def test_it_is_said_at_once_that_the_form_opens_and_what_is_typed_behind_it_is_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, seen = HomeDriver(DONE), list[str]()

    def opened(*arguments: Any) -> NewRun:
        seen.append(home.page)
        for key in ("n", "q"):  # while it loads
            home.app.post_message(events.Key(key, key))
        return NewRun(*arguments)

    monkeypatch.setattr("ralph_tui.tui.home.form.NewRun", opened)

    async def story(home: HomeDriver) -> None:
        await home.press("n")
        await home.until(lambda: isinstance(home.app.screen, NewRun))
        form = home.app.screen
        assert isinstance(form, NewRun)
        await home.until(lambda: form.page.objective.text == "nq")
        assert " opening the form…" in seen[0]
        await home.press("escape")
        await home.until(lambda: "n new run" in home.page)

    at_home(story, home)
    assert len(seen) == 1


def test_keys_typed_at_once_after_the_key_of_the_form_reach_the_form() -> None:
    async def type_at_once(home: HomeDriver) -> None:
        for key in ("n", "q", "u", "D", "tab", "tab", "x"):
            home.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await home.until(lambda: isinstance(home.app.screen, NewRun))
        form = cast("NewRun", home.app.screen)
        await home.until(lambda: form.page.command.value.endswith("x"))
        assert form.page.objective.text == "quD"
        assert home.chosen is None

    at_home(type_at_once, HomeDriver(DONE))
