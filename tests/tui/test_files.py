"""Changed files: names first, counts per category, and the total of a whole run."""

import gc
import warnings

import pytest
from textual.worker import WorkerCancelled

from ralph_tui.events import FilesChanged, IterationStarted
from ralph_tui.events.workspace import CategoryTotal, FileChange
from ralph_tui.state import RunState
from ralph_tui.tui.draw.cutting import middle, name_of_test, path_on
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.panes.files import FilesPane
from tests.rows import each_row
from tests.tui.driving import Driver, drive, live, story
from tests.tui.fake_files import FakeFiles, change
from tests.world.stories import HOSTILE


def text_of(row: Line) -> str:
    return "".join(text for text, _ in row).rstrip()


def shown(changes: list[FileChange], totals: dict[str, int]) -> FilesPane:
    pane = FilesPane()
    for event in (
        IterationStarted(iteration=4, max_iterations=10),
        FilesChanged(
            iteration=4,
            live=True,
            totals=[
                CategoryTotal.model_validate({"category": category, "files": number})
                for category, number in totals.items()
            ],
            changes=changes,
        ),
    ):
        pane.state.apply(event.model_copy(update={"seq": pane.state.seq + 1}))
    return pane


CHANGES = [
    change("parser.py", "modified", "source", 12, 3),
    change("tests/test_parser.py", "added", "test", 41, 0),
    change("old.py", "deleted", "source", 0, 7),
    change(".aiwg/notes.md", "modified", "aiwg", 1, 0),
]


def test_a_row_per_file_and_a_count_per_category() -> None:
    pane = shown(CHANGES, {"source": 2, "test": 1, "aiwg": 1})
    assert [text_of(row) for row in pane.build(60, 12)] == [
        "tests/test_parser.py  +41     new",
        "parser.py             +12 −3",
        "old.py                −7      deleted",
        ".aiwg/notes.md        +1",
    ]
    assert text_of(pane.subtitle(60)) == "tests 1 · source 2 · run records 1"
    assert text_of(pane.headline(60)) == "iteration 4"


def test_files_that_are_not_named_are_counted() -> None:
    pane = shown(CHANGES, {"source": 9_998, "test": 1, "aiwg": 1})
    assert text_of(pane.build(60, 12)[-1]) == "and 9996 more, not listed"
    assert text_of(pane.subtitle(60)) == "tests 1 · source 9998 · run records 1"


def test_a_category_has_one_colour_in_its_rows_and_below() -> None:
    pane = shown(CHANGES, {"source": 2, "test": 1, "aiwg": 1})
    styles = {text: style for row in pane.build(60, 12) for text, style in row}
    below = dict(pane.subtitle(60))
    assert styles["parser.py"] == below["source 2"]
    assert styles["test_parser.py"] == below["tests 1"]
    assert styles["parser.py"] != styles["test_parser.py"]


def test_nothing_is_said_of_categories_without_a_change() -> None:
    pane = shown([], {})
    rows = [text_of(row) for row in pane.build(40, 12)]
    assert rows == ["no files changed in this iteration yet"]
    assert pane.subtitle(40) == []


LONG = "src/" + "deep/" * 40 + "the_name_of_the_file.py"


@each_row("width", [8, 20, 29, 44, 80])
def test_of_a_long_path_the_name_of_the_file_stays(width: int) -> None:
    pane = shown([change(LONG, "modified", "source", 1, 0)], {"source": 1})
    (row,) = pane.build(width, 9)
    assert cells(row) <= width
    if width > 28:
        assert "…/the_name_of_the_file.py" in text_of(row)
    if width > 30:
        assert text_of(row).startswith("src/…/")


@pytest.mark.parametrize("width", [6, 12, 29, 60])
@pytest.mark.parametrize(
    "name", [HOSTILE, "x" * 200, "日本語" * 70, "a/" * 100, "/", "\u202eb/\x1b[0mc"]
)
def test_any_name_keeps_to_its_row(name: str, width: int) -> None:
    clean = FileChange(path=name, status="added", category="source", added=10**9)
    for row in shown([clean] * 3, {"source": 3}).build(width, 9):
        text = text_of(row)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\n" not in text
    assert cells([(path_on(clean.path, width), "")]) <= width
    assert cells([(middle(clean.path, width), "")]) <= width


@each_row(
    ("name", "width", "expected"),
    [
        ("test_open", 40, "test_open"),
        ("tests/test_quotes.py::test_open", 60, "test_open (tests/test_quotes.py)"),
        ("tests/test_quotes.py::test_open", 28, "test_open (…/test_quotes.py)"),
        ("tests/test_quotes.py::Of::test_open[a::b]", 28, "test_open[a::b] (…es.py::Of)"),
        (
            "test_division_by_zero (tests.test_evaluator.Arithmetic.test_division_by_zero)",
            50,
            "test_division_by_zero (…test_evaluator.Arithmetic)",
        ),
        ("tests/x.py::test_" + "long" * 120, 20, "test_long…gl"),
    ],
)
def test_of_a_test_its_own_name_stays(name: str, width: int, expected: str) -> None:
    assert cells([(name_of_test(name, width), "")]) <= width
    assert name_of_test(name, width)[:10] == expected[:10]
    if len(name) < 400:
        assert name_of_test(name, width) == expected


def test_ten_thousand_files_are_drawn_at_once() -> None:
    many = [change(f"src/file{n}.py", "modified", "source", 1, 1) for n in range(10_000)]
    pane = shown(many, {"source": 10_000})
    assert pane.row_count(60, 12) == 10_000
    assert text_of(pane.row(9_999, 60, 12)).startswith("src/file9999.py")


def test_when_the_run_is_over_its_net_change_is_shown() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("4")
        await driver.sees("whole run, net: tests 1 · source 1 · docs 1 · other 1")
        text = "\n".join(driver.text())
        assert "ralph_parser/lexer.py  +5 −2" in text
        assert "tests/test_old.py      −3     deleted" in text
        await driver.press("enter")
        await driver.sees("iteration 6: tests 1 · source 2 · config 1")
        assert "pyproject.toml" in "\n".join(driver.text())
        await driver.press("enter")
        await driver.sees("whole run, net")

    drive(live(story("steady"), files=FakeFiles()), look)


def test_without_its_repository_the_files_of_all_iterations_are_named() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("4")
        await driver.sees("whole run: tests 1 · source 2 · config 1")
        assert "pyproject.toml" in "\n".join(driver.text())

    drive(live(story("steady"), files=FakeFiles(gone="/x is gone")), look)


def test_while_the_run_goes_on_it_says_when_the_whole_is_shown() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("4", "enter")
        await driver.sees("the whole run's files are shown once it has ended")

    drive(live(story("running"), files=FakeFiles()), look)


def test_a_jump_back_in_a_replay_shows_the_iteration_again() -> None:
    state = RunState().apply_all(story("steady")[:60])
    pane = FilesPane()
    pane.sync(state, state.at)
    pane.state = state
    assert not pane.whole


def test_two_blanks_in_a_name_are_two() -> None:
    name = "docs/two  blanks.md"
    pane = shown([change(name, "added", "docs", 3, 0)], {"docs": 1})
    assert [text_of(row) for row in pane.build(60, 5)] == ["docs/two  blanks.md  +3  new"]


def test_a_cockpit_left_before_the_net_change_is_read_prints_no_warning() -> None:
    async def leave(driver: Driver) -> None:
        await driver.press("4")
        await driver.sees("whole run, net")
        pane = driver.app.screen.query_one(FilesPane)
        pane._asked.clear()
        with warnings.catch_warnings(record=True) as printed:
            warnings.simplefilter("always")
            pane.changed()
            with pytest.raises(WorkerCancelled):
                await pane.workers.wait_for_complete(pane.workers.cancel_node(pane))
            gc.collect()
        assert [str(one.message) for one in printed] == []

    drive(live(story("steady"), files=FakeFiles()), leave)
