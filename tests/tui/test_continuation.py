"""Actions offered at the end: the report, and the command printed on exit."""

from pathlib import Path

import pytest

from ralph_tui.events import IterationStarted, RunStarted
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.modals.choice_dialog import Confirm
from ralph_tui.tui.modals.report import Report
from ralph_tui.tui.modals.scroll_text import ScrollText
from tests.tui.driving import Driver, drive, live, replay, story
from tests.tui.test_end import changed
from tests.unit.adapters.search.journals import attempt, write

AGAIN = ("run", "Fix the failing parser tests", "-c", "python -m pytest -q", "--agent", "claude")


def with_record(driver: Driver, root: Path, name: str) -> Driver:
    driver.source.record = RunRecord(write(attempt(root), story(name)))
    return driver


@pytest.mark.parametrize(
    ("key", "words"), [("u", ("resume", "task-001/001", "--max-iterations", "15")), ("N", AGAIN)]
)
@pytest.mark.parametrize("kind", [live, replay])
def test_the_screen_ends_with_the_command_that_stands_there(
    tmp_path: Path, key: str, words: tuple[str, ...], kind: type
) -> None:
    driver = with_record(kind(story("stuck")), tmp_path, "stuck")

    async def look(driver: Driver) -> None:
        await driver.sees("u resume")
        await driver.sees("N run again")
        await driver.press(key)
        await driver.until(lambda: isinstance(driver.app.screen, Confirm))
        await driver.sees("in this terminal?")
        await driver.sees("this screen closes, then in")
        await driver.sees(str(tmp_path.parents[1]))
        await driver.press("escape")
        assert driver.app.next_command is None
        await driver.press(key, "y")
        await driver.until(lambda: driver.app.next_command is not None)

    drive(driver, look)
    assert driver.app.next_command is not None
    said, worktree = driver.app.next_command
    assert said[: len(words)] == words
    assert worktree == tmp_path
    assert driver.sent == []


@pytest.mark.parametrize(
    ("name", "fields", "key", "why"),
    [
        ("running", {}, "u", "the run is still running"),
        ("running", {}, "o", "available once the run has ended"),
        ("steady", {}, "u", "it is already completed; N runs it again"),
        ("stuck", {"scenario": "stuck", "root": "/tmp/ralph-tui-demo-1/calculator"}, "u",
         "its folder is deleted when you leave"),
        ("stuck", {"command": "TOKEN=[redacted] pytest"}, "N", "the record omits a secret"),
        ("stuck", {"watched": True}, "N", "hooks recorded it"),
    ],
)  # fmt: skip
def test_why_not_is_said_at_once(
    tmp_path: Path, name: str, fields: dict[str, object], key: str, why: str
) -> None:
    driver = with_record(live(changed(name, **fields)), tmp_path, name)

    async def look(driver: Driver) -> None:
        await driver.press(key)
        assert why in driver.cockpit.footer.notice
        assert driver.app.screen is driver.cockpit

    drive(driver, look)


def test_a_record_that_lies_in_no_worktree_names_the_command_alone() -> None:
    async def look(driver: Driver) -> None:
        assert "u resume" not in "\n".join(driver.text())
        await driver.press("u")
        assert "ralph-tui resume task-001/001" in driver.cockpit.footer.notice

    drive(live(story("stuck")), look)


@pytest.mark.parametrize("broken", [False, True])
def test_a_run_whose_process_is_gone_can_be_resumed_from_its_screen(
    tmp_path: Path,
    broken: bool,  # noqa: FBT001
) -> None:
    driver = with_record(live(story("running")), tmp_path, "running")
    driver.source.lost = driver.source.elsewhere = True
    driver.source.broken = broken

    async def look(driver: Driver) -> None:
        await driver.sees("u resume")
        await driver.press("u", "y")
        await driver.until(lambda: driver.app.next_command is not None)

    drive(driver, look)
    assert driver.app.next_command is not None
    kept = ["--from", str(len(story("running")))] if broken else []
    assert list(driver.app.next_command[0]) == ["resume", "task-001/001", *kept]


@pytest.mark.parametrize("kind", [live, replay])
def test_a_run_that_was_killed_has_an_end_as_well(tmp_path: Path, kind: type) -> None:
    driver = with_record(kind(story("running")), tmp_path, "running")
    if isinstance(driver.source, Replay):
        driver.source.gone = lambda _: True
    else:
        driver.source.lost = driver.source.elsewhere = True

    async def look(driver: Driver) -> None:
        await driver.sees("─ the end ─")
        await driver.sees("u resume")
        await driver.sees("ralph-tui resume task-001/001")
        await driver.sees("died: its process is gone")
        await driver.press("o")
        await driver.until(lambda: isinstance(driver.app.screen, Report))
        await driver.press("escape", "f")
        await driver.sees("changes of the whole run")

    drive(driver, look)


def test_what_another_terminal_goes_on_with_is_not_begun_twice(tmp_path: Path) -> None:
    driver = with_record(live(story("stuck")), tmp_path, "stuck")
    text = "it continues in another terminal: ralph-tui attach task-001/001 shows it"

    async def look(driver: Driver) -> None:
        await driver.sees("u resume")
        driver.source.overtaken = driver.source.note = text
        await driver.sees(text)
        await driver.press("u")
        assert driver.cockpit.footer.notice == f"u resume: {text}"
        assert driver.app.next_command is None

    drive(driver, look)


@pytest.mark.parametrize("key", ["u", "N"])
def test_the_question_closes_when_another_terminal_goes_on_with_the_run(
    tmp_path: Path, key: str
) -> None:
    driver = with_record(live(story("stuck")), tmp_path, "stuck")

    async def look(driver: Driver) -> None:
        await driver.press(key)
        await driver.until(lambda: isinstance(driver.app.screen, Confirm))
        driver.source.overtaken = driver.source.note = "it continues in another terminal"
        await driver.until(lambda: driver.app.screen is driver.cockpit)
        assert driver.app.next_command is None

    drive(driver, look)


def test_the_report_is_read_and_written_from_there(tmp_path: Path) -> None:
    driver = with_record(live(story("steady")), tmp_path, "steady")

    async def look(driver: Driver) -> None:
        await driver.press("o")
        await driver.until(lambda: isinstance(driver.app.screen, Report))
        await driver.sees("Report on task-001/001")
        text = driver.app.screen.query_one(ScrollText)
        await driver.until(lambda: text.rows and text.size)
        widest = max(map(cells, text.rows))
        assert widest <= text.size.width - ScrollText.EDGE, "a row is never cut"
        await driver.press("end")
        await driver.sees("Everything else: ralph-tui report task-001/001 --full")
        await driver.press("E")
        await driver.sees("written:")
        (path,) = (tmp_path / ".aiwg").rglob("report.md")
        await driver.press("y")
        assert driver.app.clipboard == str(path)
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.cockpit)

    drive(driver, look)


def test_the_commands_of_a_run_that_is_over_do_what_its_keys_do(tmp_path: Path) -> None:
    driver = with_record(live(story("stuck")), tmp_path, "stuck")
    driver.source.restores_ended = True

    async def look(driver: Driver) -> None:
        able = {
            offer.text.split()[0] for offer in driver.cockpit.dialogs.offers() if not offer.refused
        }
        assert {"restore", "resume", "run", "report", "diff", "export"} <= able
        assert "pause" not in able
        await driver.press("colon", *"restore", "enter")
        await driver.sees("Restore snapshot")

    drive(driver, look)


def test_a_run_is_begun_again_as_it_was(tmp_path: Path) -> None:
    first, *rest = story("stuck")
    assert isinstance(first, RunStarted)
    config = {**first.config, "agent.model": "sonnet"}
    events = [first.model_copy(update={"config": config, "session_timeout_s": 90.0}), *rest]
    driver = with_record(live(events), tmp_path, "stuck")

    async def look(driver: Driver) -> None:
        await driver.press("N", "y")
        await driver.until(lambda: driver.app.next_command is not None)

    drive(driver, look)
    assert driver.app.next_command is not None
    words = " ".join(driver.app.next_command[0])
    assert "--model sonnet" in words
    assert "--timeout 90s" in words


@pytest.mark.parametrize("kind", [live, replay])
def test_the_iteration_in_which_a_run_was_killed_is_said_to_be_cut_off(kind: type) -> None:
    """No part of it counts as finished or as still running."""
    events = story("running")
    start = max(i for i, e in enumerate(events) if isinstance(e, IterationStarted))
    driver = kind(events[: start + 3])
    if isinstance(driver.source, Replay):
        driver.source.gone = lambda _: True
    else:
        driver.source.lost = True
    number = events[start].model_dump()["iteration"]

    async def look(driver: Driver) -> None:
        await driver.sees(f"iteration {number} was cut off and not measured")
        await driver.press("escape", "3", "z")
        await driver.sees("–cut off")
        assert "–now" not in "\n".join(driver.text())
        await driver.sees("was cut off and not measured; it has no snapshot of its own")

    drive(driver, look)
