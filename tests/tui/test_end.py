"""The end summary: the outcome and the actions available now, in place of a pane."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.events.workspace import FileChange
from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.tui.modals.changes import Changes
from ralph_tui.tui.panes.end import is_elsewhere
from tests.tui.driving import Driver, drive, live, replay, story
from tests.tui.test_mouse import click

SIZES = [(80, 24), (60, 15), (110, 20), (140, 45)]
COMMANDS = re.compile(r"(?:ralph-tui|git) [^│]*")


def changed(name: str, **fields: Any) -> list[ev.Event]:
    """A story whose run was started otherwise."""
    first, *rest = story(name)
    assert isinstance(first, ev.RunStarted)
    return [first.model_copy(update=fields), *rest]


@pytest.mark.parametrize(
    ("name", "size"),
    [("steady", (60, 15)), ("steady", (140, 45)), ("stuck", (80, 24)), ("crashed", (110, 20))],
)
def test_the_end_stands_in_a_panes_place_and_nothing_moves(
    name: str, size: tuple[int, int]
) -> None:
    async def look(driver: Driver) -> None:
        body = driver.cockpit.body
        await driver.sees("─ the end ─")
        others = {key: pane.region for key, pane in body.panes.items() if pane.display}
        place = body.end.region
        assert body.end.has_focus
        await driver.press("escape")
        await driver.until(lambda: not body.end.display)
        now = {key: pane.region for key, pane in body.panes.items() if pane.display}
        assert now == others | {"agent": place}
        assert body.panes["agent"].has_focus
        await driver.press("escape")
        await driver.until(lambda: body.end.display)
        await driver.press("6")
        await driver.until(lambda: not body.end.display)

    assert drive(live(story(name)), look, size).sent == []


def test_it_says_from_where_to_where_and_what_to_do() -> None:
    async def look(driver: Driver) -> None:
        seen = "\n".join(driver.text())
        for words in (
            "0 % → 31 %   0 → 20 of 66 tests pass   10 iterations in 34m   $2.60",
            "  resume     ralph-tui resume task-001/001 --max-iterations 15",
            "o report     ralph-tui report task-001/001",
            "f diff       git diff ",
            "r restore    ralph-tui restore --run task-001/001",
        ):
            assert words in seen, seen
        # Said once: by the verdict, and by the footer.
        assert seen.count("10 of 10 iterations are used") == 1
        assert seen.count("q leave") == 1

    driver = live(story("stuck"))
    driver.source.restores_ended = True
    drive(driver, look)


@pytest.mark.parametrize(
    ("name", "said", "unsaid"),
    [
        ("taken_over", "~$0.52 without the cost of codex (api)", ""),
        ("never_reported", "2 iterations in 1m 10s", "$"),
    ],
)
def test_a_cost_that_not_all_have_told_is_none_of_all(name: str, said: str, unsaid: str) -> None:
    async def look(driver: Driver) -> None:
        pane = driver.cockpit.body.end
        await driver.until(lambda: pane.display)
        seen = "\n".join("".join(text for text, _ in row) for row in pane.build(76, 12))
        assert said in seen
        assert not unsaid or unsaid not in seen, seen

    drive(live(story(name)), look)


def test_it_says_that_the_files_are_not_those_that_were_measured() -> None:
    async def look(driver: Driver) -> None:
        pane = driver.cockpit.body.end
        await driver.until(lambda: pane.display)

        def seen() -> str:
            return "\n".join("".join(text for text, _ in row) for row in pane.build(76, 12))

        assert "restored since" not in seen()
        last = driver.cockpit.state
        back = ev.WorktreeRestored(
            iteration=1, seq=last.seq + 1, at=last.at, snapshot=1, present=2, tree="e" * 40, files=1
        )
        driver.inbox.append(back)
        await driver.until(lambda: "files restored since" in seen())

    drive(live(story("steady")), look)


@pytest.mark.parametrize("paused", [False, True])
def test_its_time_says_that_pauses_count(*, paused: bool) -> None:
    *worked, end = story("steady")
    pause = [ev.Paused(), ev.Unpaused()] if paused else []
    events = [*worked, *(each.model_copy(update={"seq": end.seq, "at": end.at}) for each in pause)]
    events.append(end.model_copy(update={"seq": end.seq + len(pause)}))

    async def look(driver: Driver) -> None:
        pane = driver.cockpit.body.end
        await driver.until(lambda: pane.display)
        seen = "\n".join("".join(text for text, _ in row) for row in pane.build(76, 12))
        assert ("6 iterations in 20m, pauses included" in seen) is paused, seen
        assert "6 iterations in 20m" in seen

    drive(live(events), look)


def test_a_run_that_reached_its_goal_is_not_resumed() -> None:
    async def look(driver: Driver) -> None:
        seen = "\n".join(driver.text())
        assert "→ 100 %" in seen
        assert "ralph-tui resume" not in seen
        assert re.search(r"  run again\s+ralph-tui run 'Fix the failing parser tests'", seen)

    drive(live(story("steady")), look)


def test_no_command_is_cut() -> None:
    objective = "Make 'every' test pass, " * 9

    async def look(driver: Driver) -> None:
        end = driver.cockpit.body.end
        for size in SIZES:
            await driver.resize(size)
            width, height = end.inner_width, end.inner_height
            rows = ["".join(text for text, _ in row) for row in end.build(width, height)]
            # An objective alone is shown shorter where all would not fit; what is copied is whole.
            assert not [row for row in rows if "…" in row and "…'" not in row.replace(" ", "")]
            assert "--max-iterations" in "".join(rows)
            (again, *_) = (one for one in end._commands.values() if shlex.quote(objective) in one)
            assert any(row.endswith(again) for row in end.text_rows())

    drive(live(changed("steady", objective=objective)), look)


def test_a_long_objective_pushes_no_key_out_of_the_card() -> None:
    async def look(driver: Driver) -> None:
        end = driver.cockpit.body.end
        rows = ["".join(text for text, _ in row) for row in end.build(end.inner_width, 10)]
        assert len(rows) <= 10
        assert "--max-iterations" in rows[-1] + rows[-2]

    drive(live(changed("steady", objective="Make every test of it pass, " * 20)), look)


def test_a_run_that_changed_no_file_says_so_and_offers_no_diff_with_itself() -> None:
    events = [
        event.model_copy(update={"tree": "a" * 40})
        if isinstance(event, ev.SnapshotTaken)
        else event
        for event in story("stuck")
    ]

    async def look(driver: Driver) -> None:
        await driver.sees("no files differ from the start")
        assert "git diff" not in "\n".join(driver.text())

    drive(live(events), look)


def test_it_says_first_what_could_make_tests_pass_without_the_work() -> None:
    changes = [
        FileChange(path=path, status="modified", category="config", added=1)
        for path in ("check.py", "src/parser.py", "tests/test_parser.py", "conftest.py")
    ]
    events = [
        event.model_copy(update={"changes": changes})
        if isinstance(event, ev.FilesChanged)
        else event
        for event in changed("steady", command="python3 check.py")
    ]

    async def look(driver: Driver) -> None:
        end = driver.cockpit.body.end
        rows = ["".join(t for t, _ in row) for row in end.build(end.inner_width, 30)]
        lines = [row for row in rows if row.startswith("▲")]
        assert lines == [
            "▲ check first: test configuration changed: conftest.py",
            "▲ check first: tests changed: tests/test_parser.py",
            "▲ check first: files named by the completion command changed: check.py",
        ]
        await driver.sees(lines[0])

    drive(live(events), look)


def test_a_demo_says_that_its_folder_goes() -> None:
    root = "/tmp/ralph-tui-demo-x1y2/calculator"

    async def look(driver: Driver) -> None:
        await driver.sees("its folder is deleted when you leave")
        card = "\n".join(driver.text())
        for words in ("ralph-tui report", "git diff", "ralph-tui restore", "u resume"):
            assert words not in card, "its folder goes: a command could not work"
        for words in ("o report", "f diff", "N run again"):
            assert words in card

    driver = live(changed("stuck", root=root, scenario="stuck"))
    driver.source.record = RunRecord(Path("events.jsonl"))
    drive(driver, look)


def test_what_was_asked_and_who_decided_is_told() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("end")
        rows = [row for row in driver.text() if "asked  REDIRECT in iteration" in row]
        assert rows
        assert "approved" in rows[0]

    ended = ev.RunFinished(
        outcome="aborted", reason="aborted by you", iterations=1, completion=60, duration_s=9
    )
    events = story("decided")
    last = ended.model_copy(update={"seq": events[-1].seq + 1, "at": events[-1].at})
    drive(replay([*events, last]), look)


def test_f_and_a_click_show_what_the_whole_run_changed() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("f")
        await driver.until(lambda: isinstance(driver.app.screen, Changes))
        await driver.press("escape")
        await click(driver, "f diff")
        await driver.until(lambda: isinstance(driver.app.screen, Changes))

    drive(live(story("steady")), look)


def test_in_a_replay_it_goes_with_the_way_back_and_comes_again() -> None:
    async def look(driver: Driver) -> None:
        end = driver.cockpit.body.end
        await driver.press("end")
        await driver.until(lambda: end.display)
        await driver.press("left")
        await driver.until(lambda: not end.display)
        await driver.press("right")
        await driver.until(lambda: end.display)

    drive(replay(story("steady")), look)


def test_a_zoom_gives_it_back() -> None:
    async def look(driver: Driver) -> None:
        end = driver.cockpit.body.end
        for keys in (
            ("z", "escape"),
            ("z", "z"),
            ("z", "2", "escape"),
            ("z", "6", "escape"),
            ("P", "escape"),
            ("P", "P"),
        ):
            if not end.display:
                await driver.press("escape")
            await driver.until(lambda: end.display)
            for key in keys:
                await driver.press(key)
                await driver.until(lambda: end.display == (driver.cockpit.body.zoomed is None))
            if not (driver.cockpit.focused and driver.cockpit.focused.display):
                raise AssertionError(keys)

    drive(live(story("steady")), look)


def test_it_bears_any_size_while_it_stands() -> None:
    async def look(driver: Driver) -> None:
        for size in ((20, 6), (30, 40), (200, 60), (1, 1), (100, 30)):
            await driver.resize(size)
        await driver.sees("─ the end ─")

    drive(live(story("stuck")), look)


def test_a_click_on_a_command_copies_it_whole() -> None:
    async def look(driver: Driver) -> None:
        await click(driver, "ralph-tui report task")
        await driver.until(lambda: driver.app.clipboard == "ralph-tui report task-001/001")
        await driver.sees("copied: ralph-tui report task-001/001")
        await click(driver, "git diff")
        await driver.until(lambda: driver.app.clipboard.startswith("git diff "))
        assert driver.app.screen is driver.cockpit, "only a click on its key shows the diff"

    assert drive(live(story("steady")), look).sent == []


def test_y_copies_the_commands_and_says_what_was_copied() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("y")
        assert "ralph-tui report task-001/001" in driver.app.clipboard
        assert "rows of the end" in driver.cockpit.footer.notice

    drive(live(story("steady")), look)


def test_a_current_directory_that_was_deleted_is_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    assert [is_elsewhere(tmp_path), is_elsewhere(tmp_path / "other")] == [False, True]
    (tmp_path / "gone").rmdir()
    assert is_elsewhere(tmp_path)
