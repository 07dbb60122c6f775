"""Record what the user has seen, and summarise the rest on their return."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.lock import acquire
from ralph_tui.events import RunStarted
from ralph_tui.runtime.sources.recorded import opened, was_left_early
from ralph_tui.runtime.sources.replay import LOOK_S, Replay
from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.state.last_seen import LastSeen
from ralph_tui.tui.app import RalphApp
from ralph_tui.tui.cockpit.away_summary import AwayCockpit, AwayReplay, AwaySummary
from tests.rows import each_row
from tests.tui.driving import Driver, drive, live, replay, story
from tests.unit.adapters.search.journals import attempt, write


def record(root: Path, name: str = "stuck") -> RunRecord:
    if not (attempt(root) / "events.jsonl").exists():
        write(attempt(root), story(name))
    return RunRecord(attempt(root) / "events.jsonl")


def seen(root: Path) -> LastSeen:
    found = record(root).seen()
    assert found is not None
    return found


def back(driver: Driver, root: Path) -> Driver:
    """Somebody comes back to it."""
    driver.source.record = record(root)
    screen = partial(AwayCockpit, driver.source)
    driver.app = RalphApp(screen, monotonic=driver.watch)
    return driver


async def leaves(driver: Driver) -> None:
    driver.app.exit()


def test_it_was_looked_at_until_its_screen_was_left_also_where_nothing_came(tmp_path: Path) -> None:
    driver = live(story("redirect"))
    driver.source.record = kept = record(tmp_path, "redirect")
    pressed: list[LastSeen | None] = []

    async def look(driver: Driver) -> None:
        await driver.press("2")
        await driver.until(lambda: kept.seen() is not None)
        pressed.append(kept.seen())
        driver.app.exit()

    drive(driver, look)
    (first,) = pressed
    assert first is not None
    assert seen(tmp_path).at > first.at
    assert seen(tmp_path) == replace(first, at=seen(tmp_path).at)


def test_a_screen_that_is_left_was_looked_at_until_then(tmp_path: Path) -> None:
    events = story("stuck")
    driver = live(events[:60])
    driver.source.record = record(tmp_path)
    drive(driver, leaves)
    assert seen(tmp_path).seq == 60

    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, AwaySummary))
        await driver.sees("since you last looked, ")
        await driver.sees("limit reached")
        await driver.press("enter")
        await driver.sees("─ the end ─")

    drive(back(live(events), tmp_path), look)
    assert seen(tmp_path).seq == len(events)

    async def nothing(driver: Driver) -> None:
        await driver.sees("─ the end ─")
        assert driver.app.screen is driver.cockpit

    drive(back(live(events), tmp_path), nothing)


def test_behind_a_closed_terminal_the_last_key_counts(tmp_path: Path) -> None:
    events = story("stuck")
    driver = live(events[:40])
    driver.source.record = record(tmp_path)

    async def look(driver: Driver) -> None:
        await driver.press("2")
        driver.inbox.extend(events[40:80])
        await driver.until(lambda: driver.cockpit.state.seq == 80)
        driver.cockpit.hang_up("SIGHUP")
        driver.app.exit()

    drive(driver, look)
    assert seen(tmp_path).seq == 40


def test_who_saw_the_end_on_an_open_screen_is_not_told_of_it_elsewhere(tmp_path: Path) -> None:
    """The screen is still open when the user opens the run in another terminal."""
    events = story("stuck")
    driver = live(events[:-5])
    kept = driver.source.record = record(tmp_path)

    async def look(driver: Driver) -> None:
        await driver.press("2")
        driver.inbox.extend(events[-5:])
        await driver.until(lambda: (said := kept.seen()) is not None and said.over)
        driver.app.exit()

    drive(driver, look)


def test_a_replay_at_its_end_tells_and_one_from_the_beginning_puts_nothing_down(
    tmp_path: Path,
) -> None:
    driver = replay(story("stuck"))
    driver.source.record = record(tmp_path)
    drive(driver, leaves)
    assert record(tmp_path).seen() is None

    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, AwaySummary))
        await driver.press("escape", "home")
        await driver.until(lambda: driver.cockpit.state.seq == 1)

    drive(back(replay(story("stuck")), tmp_path), look)
    assert seen(tmp_path).seq == len(story("stuck"))


def test_a_run_that_was_killed_says_that_it_is_gone(tmp_path: Path) -> None:
    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, AwaySummary))
        await driver.sees("gone")
        await driver.press("enter")

    drive(back(replay(story("running")), tmp_path), look)
    assert seen(tmp_path).lost

    async def nothing(driver: Driver) -> None:
        driver.cockpit.tick()
        await driver.pilot.pause()
        assert driver.app.screen is driver.cockpit

    drive(back(replay(story("running")), tmp_path), nothing)


def test_of_a_killed_run_its_last_sign_is_what_it_wrote_last(tmp_path: Path) -> None:
    kept = record(tmp_path, "asked")
    wrote = datetime.now(UTC) - timedelta(minutes=7)
    status = attempt(tmp_path) / "status.json"
    status.write_text("{}")
    os.utime(status, (wrote.timestamp(), wrote.timestamp()))
    assert kept.last_sign() == wrote

    async def look(driver: Driver) -> None:
        await driver.sees("last activity: ")
        await driver.sees(", 7m")

    drive(back(replay(story("asked")), tmp_path), look)


def test_at_the_end_of_its_record_a_killed_run_is_shown_to_be_lost(tmp_path: Path) -> None:
    record(tmp_path, "asked")
    journal = attempt(tmp_path) / "events.jsonl"
    started = story("asked")[0]
    assert isinstance(started, RunStarted)
    lock = acquire(ralph_folder(tmp_path) / "lock", "task-001/001", started.run_id, "now")

    async def look(driver: Driver) -> None:
        await driver.sees("! asked")
        lock.release()
        driver.watch.now += LOOK_S
        await driver.sees("its process is gone; ralph-tui resume continues it")
        assert "! asked" not in "\n".join(driver.text())
        await driver.press("left")
        await driver.until(lambda: not driver.source.lost)

    drive(Driver(opened(journal)), look)


def test_of_a_record_that_was_moved_away_nobody_knows(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    write(folder, story("asked"))

    async def look(driver: Driver) -> None:
        driver.watch.now += LOOK_S
        await driver.sees("! asked")
        assert not driver.source.lost

    drive(Driver(opened(folder / "events.jsonl")), look)


@each_row(
    "content",
    ["", "{", "[1]", '{"run": 3}', "[" * 5000, '{"run":"x","seq":1,"at":"x"}', "x" * 20000],
)
def test_a_file_that_is_none_of_ours_is_nothing_seen(tmp_path: Path, content: str) -> None:
    kept = record(tmp_path)
    driver = live(story("stuck"))
    driver.source.record = kept
    drive(driver, leaves)
    (path,) = (tmp_path / ".aiwg/ralph/seen").rglob("*.json")
    assert path.name == "task-001-001.json"
    path.write_text(content)
    assert kept.seen() is None


@pytest.mark.parametrize("what", ["a file", "a link"])
def test_where_nothing_can_be_put_down_no_screen_fails(tmp_path: Path, what: str) -> None:
    kept = record(tmp_path)
    place = tmp_path / ".aiwg/ralph/seen"
    if what == "a file":
        place.write_text("")
    else:
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    driver = live(story("stuck"))
    driver.source.record = kept

    async def look(driver: Driver) -> None:
        await driver.press("2", "3")

    drive(driver, look)
    assert kept.seen() is None
    assert not [*(tmp_path / "elsewhere").glob("*")]


def detached(root: Path, name: str, at: int | None = None) -> Replay:
    """A recorded background run that no one has opened."""
    first, *events = story(name)
    write(attempt(root), [first.model_copy(update={"mode": "detached"}), *events][:at])
    return opened(attempt(root) / "events.jsonl")


def filmed(source: Replay) -> Driver:
    driver = Driver(source)
    screen = partial(AwayReplay, source, source.begin)
    driver.app = RalphApp(screen, monotonic=driver.watch)
    return driver


def test_before_the_film_of_a_run_that_was_left_it_is_told_once(tmp_path: Path) -> None:
    source = detached(tmp_path, "stuck")
    whole = source.length
    assert was_left_early(source)

    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, AwaySummary))
        await driver.sees("limit reached")
        assert not source.playing
        await driver.press("enter")
        await driver.until(lambda: source.playing and driver.cockpit.state.seq < whole / 2)
        driver.app.exit()

    drive(filmed(source), look)
    assert seen(tmp_path).over
    assert seen(tmp_path).seq == whole
    assert not was_left_early(opened(attempt(tmp_path) / "events.jsonl"))


def test_a_key_of_the_replay_closes_what_is_told_and_is_obeyed(tmp_path: Path) -> None:
    source = detached(tmp_path, "stuck")

    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, AwaySummary))
        await driver.press("m")
        await driver.until(lambda: driver.cockpit.state.seq == source.marks[0].position)
        assert not source.playing

    drive(filmed(source), look)


def test_of_a_run_that_goes_on_the_film_is_all_there_is(tmp_path: Path) -> None:
    source = detached(tmp_path, "running")
    source.gone = lambda _: False

    async def look(driver: Driver) -> None:
        await driver.until(lambda: source.playing)
        assert driver.app.screen is driver.cockpit
        driver.app.exit()

    drive(filmed(source), look)
    assert record(tmp_path).seen() is None


def test_a_run_that_was_killed_is_told_before_its_film(tmp_path: Path) -> None:
    source = detached(tmp_path, "asked")

    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, AwaySummary))
        rows = "\n".join(driver.text())
        assert rows.index("◇ ") < rows.index("! a question was left open, asked ")
        await driver.press("enter")
        await driver.until(lambda: source.playing)

    drive(filmed(source), look)


def test_a_pipe_in_the_place_of_what_was_seen_holds_up_nobody(tmp_path: Path) -> None:
    kept = record(tmp_path)
    place = ralph_folder(tmp_path) / "seen" / str(os.getuid()) / "task-001-001.json"
    place.parent.mkdir(parents=True)
    os.mkfifo(place)
    assert kept.seen() is None
    driver = live(story("stuck"))
    driver.source.record = kept
    drive(driver, leaves)
    assert seen(tmp_path).over
