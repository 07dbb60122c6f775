"""The screen as a whole: keys, places, dialogs, leaving."""

import re
from collections.abc import Callable
from itertools import count

import pytest
from textual.widgets import TextArea

from ralph_tui.commands import (
    Abort,
    Checkpoint,
    Command,
    Guide,
    Interrupt,
    Pause,
    RetryNow,
    Stop,
    Unpause,
)
from ralph_tui.events import RunFinished
from ralph_tui.text.keys import DEFAULTS
from ralph_tui.tui.actions import ACTIONS, is_offered
from ralph_tui.tui.cockpit import layout
from ralph_tui.tui.cockpit.help import PAIRED
from ralph_tui.tui.modals.abort import AbortDialog
from ralph_tui.tui.modals.guide import Guide as GuideDialog
from ralph_tui.tui.modals.help import Help
from ralph_tui.tui.modals.leave import Leave
from tests.tui.driving import Driver, drive, live, replay, story
from tests.world.stories import STORIES

SIZES = [(60, 15), (99, 60), (200, 20), (300, 100)]


def frames(rows: list[str]) -> None:
    """Every frame is closed: nothing wraps, nothing overprints."""
    body = [row for row in rows if row[:1] in "╭│╰"]
    for row in body:
        assert row[-1] in "╮│┃╯", row
    for opened, closed in (("╭", "╮"), ("╰", "╯"), ("╭", "╰")):
        text = "\n".join(rows)
        assert text.count(opened) == text.count(closed)


@pytest.mark.parametrize("name", ["hostile", "empty"])
def test_nothing_wraps_or_overprints(name: str) -> None:
    async def look(driver: Driver) -> None:
        for size in SIZES:
            await driver.resize(size)
            frames(driver.text())

    drive(live(story(name)), look, SIZES[-1])


@pytest.mark.parametrize("name", STORIES)
def test_every_story_keeps_its_frames(name: str) -> None:
    async def look(driver: Driver) -> None:
        frames(driver.text())
        if driver.app.screen is not driver.cockpit:
            await driver.press("escape")
        for digit in "237":
            await driver.press(digit)
            frames(driver.text())

    # Only the source differs: by turns is enough to see that both will do.
    source = replay if list(STORIES).index(name) % 2 else live
    drive(source(story(name)), look)


@pytest.mark.parametrize(("source", "name"), [(live, "running"), (replay, "steady")])
def test_a_zoomed_pane_has_the_whole_place(source: Callable[..., Driver], name: str) -> None:
    async def look(driver: Driver) -> None:
        body = driver.cockpit.query_one("#body")
        await driver.press("2", "z")
        for size in ((80, 24), (110, 20)):
            await driver.resize(size)
            for digit, pane in enumerate(layout.ORDER, start=1):
                driver.cockpit.action_pane(pane)
                await driver.pilot.pause()
                assert driver.cockpit.body.panes[pane].region == body.region, (size, digit)
                assert body.region.width == size[0]

    drive(source(story(name)), look)


def test_below_60x15_there_is_one_line() -> None:
    async def look(driver: Driver) -> None:
        rows = [row for row in driver.text() if row.strip()]
        assert len(rows) == 1
        assert "7/12" in rows[0]
        assert "48 %" in rows[0]

    drive(live(story("running")), look, (59, 24))
    drive(live(story("running")), look, (120, 14))


def test_a_resize_brings_other_places() -> None:
    async def look(driver: Driver) -> None:
        await driver.sees("6 agent  2 log")
        await driver.pilot.resize_terminal(140, 45)
        await driver.sees("4 files  5 learnings ─")
        frames(driver.text())
        await driver.pilot.resize_terminal(40, 10)
        await driver.until(lambda: sum(bool(row.strip()) for row in driver.text()) == 1)
        await driver.pilot.resize_terminal(100, 30)
        await driver.sees("4 files  7 tests")
        frames(driver.text())

    drive(live(story("running")), look)


def test_a_resize_on_a_busy_machine_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count(1)

    async def look(driver: Driver) -> None:
        # 9 ms between any two looks at the clock: longer than the timer that Textual sets.
        monkeypatch.setattr("textual.timer._time.get_time", lambda: next(looks) * 0.009)
        await driver.resize((140, 45))
        await driver.resize((80, 24))

    drive(live(story("running")), look)


@pytest.mark.parametrize("size", [(80, 24), (140, 45)])
def test_every_pane_is_reachable_by_number_and_by_tab(size: tuple[int, int]) -> None:
    async def look(driver: Driver) -> None:
        for digit, name in enumerate(layout.ORDER, start=1):
            await driver.press(str(digit % 10))
            pane = driver.cockpit.body.panes[name]
            assert pane.has_focus
            assert pane.display
            driver.draw()
            lit = [
                p.key
                for p in driver.cockpit.body.panes.values()
                if p._rows and "focus" in p._rows[0][0]
            ]
            assert lit == [name], "the frame shows which pane has the focus"
            assert pane.size.height > 2
        visited = []
        for _ in layout.ORDER:
            await driver.press("tab")
            visited.append(driver.cockpit.focused.id if driver.cockpit.focused else None)
        assert sorted(filter(None, visited)) == sorted(layout.ORDER)
        await driver.press("shift+tab")
        assert driver.cockpit.body.panes[layout.ORDER[-2]].has_focus

    drive(live(story("running")), look, size)


def test_zoom_shows_the_focused_pane_alone_and_escape_brings_all_back() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("1", "z")
        await driver.sees("kp·P + ki·I + kd·D")
        assert "2 log" not in "\n".join(driver.text())
        await driver.press("4")
        assert driver.cockpit.body.zoomed == "files"
        await driver.press("escape")
        await driver.sees("1 progress")
        await driver.press("z", "z")
        assert driver.cockpit.body.zoomed is None

    drive(live(story("running")), look)


KEYS: list[tuple[str, str, list[Command]]] = [
    ("running", "p", [Pause()]),
    ("paused", "p", [Unpause()]),
    ("running", "c", [Checkpoint()]),
    ("running", "i", [Interrupt()]),
    ("limited", "w", [RetryNow()]),
]


@pytest.mark.parametrize(("name", "key", "commands"), KEYS)
def test_a_key_sends_its_command(name: str, key: str, commands: list[Command]) -> None:
    async def look(driver: Driver) -> None:
        await driver.press(key)

    assert drive(live(story(name)), look).sent == commands


def test_a_second_p_need_not_wait_until_the_first_is_recorded() -> None:
    async def look(driver: Driver) -> None:
        driver.watch.now += 10
        await driver.pilot.press("p", "p", "p")
        await driver.until(lambda: len(driver.sent) == 3)
        await driver.press("p")

    assert drive(live(story("running")), look).sent == [Pause(), Unpause(), Pause(), Pause()]


def test_abort_asks_first() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("a")
        await driver.sees("Abort this run?")
        await driver.press("n")
        assert driver.sent == []
        await driver.press("a", "escape")
        assert driver.sent == []
        await driver.press("a", "y")

    assert drive(live(story("running")), look).sent == [Abort()]


def test_an_ignored_key_says_why() -> None:
    async def look(driver: Driver) -> None:
        for key in "pgaciw":
            await driver.press(key)
            assert re.search(rf" {key} [\w ]+: the run has ended", driver.text()[-2])
            assert "? help" in driver.text()[-1], "the keys are never covered"
        driver.watch.now += 10
        await driver.until(lambda: not driver.text()[-2].strip())

    assert drive(live(story("steady")), look).sent == []


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("limited", {"i": "no session is running", "c": "no session is running"}),
        ("running", {"w": "the run is not waiting", "d": "no question is open"}),
    ],
)
def test_a_key_out_of_its_time_says_why(name: str, reasons: dict[str, str]) -> None:
    async def look(driver: Driver) -> None:
        for key, reason in reasons.items():
            await driver.press(key)
            assert f" {key} " in driver.text()[-2]
            assert reason in driver.text()[-2]

    assert drive(live(story(name)), look).sent == []


def test_the_footer_names_what_is_urgent_first() -> None:
    async def look(driver: Driver) -> None:
        for width in (60, 80, 100):
            await driver.resize((width, 24))
            keys = driver.text()[-1]
            assert keys.startswith(" w retry now  p pause")
            assert keys.rstrip().endswith("q leave" if width > 60 else "q")

    drive(live(story("limited")), look)


def test_guidance_is_sent_with_enter_and_kept_by_escape() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("g")
        await driver.sees("into the running session")
        await driver.press("h", "i", "ctrl+j", "q", "escape")
        assert driver.sent == []
        await driver.press("g")
        assert driver.app.screen.query_one(TextArea).text == "hi\nq"
        await driver.press("!", "enter")
        await driver.until(lambda: driver.sent)
        await driver.press("g")
        assert driver.app.screen.query_one(TextArea).text == ""
        await driver.press("enter")

    assert drive(live(story("running")), look).sent == [Guide(text="hi\nq!")]


def test_guidance_beyond_its_limit_is_kept_and_told() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("g")
        driver.app.screen.query_one(TextArea).text = "x" * 100_001
        await driver.press("enter")
        await driver.sees("guidance is limited")
        await driver.press("g")
        assert len(driver.app.screen.query_one(TextArea).text) == 100_001

    assert drive(live(story("running")), look).sent == []


def test_leaving_a_live_run_asks() -> None:
    async def look(driver: Driver) -> None:
        for key in ("q", "ctrl+q", "ctrl+c"):
            await driver.press(key)
            await driver.until(lambda: isinstance(driver.app.screen, Leave))
            await driver.press("escape")
            assert driver.app._exit is False
        await driver.press("q", "i")
        assert driver.sent == [Stop(mode="after_iteration")]
        assert driver.app._exit is False

    drive(live(story("running")), look)


def test_stop_now_leaves_when_the_end_is_recorded() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("q", "s")
        assert driver.sent == [Stop(mode="now")]
        await driver.pilot.pause()
        assert driver.app._exit is False
        driver.inbox.append(
            RunFinished(outcome="interrupted", reason="you left", iterations=6, completion=48)
        )
        await driver.until(lambda: driver.app._exit)

    drive(live(story("running")), look)


def test_a_run_that_does_not_end_holds_the_screen_for_eight_seconds() -> None:
    async def look(driver: Driver) -> None:
        driver.app.on_hangup()
        await driver.pilot.pause()
        assert driver.sent == [Stop(mode="now", by="signal")]
        driver.watch.now += 7.5
        await driver.pilot.pause()
        assert driver.app._exit is False
        driver.watch.now += 1.0
        await driver.until(lambda: driver.app._exit)

    drive(live(story("running")), look)


def test_a_second_interrupt_stops_now() -> None:
    async def look(driver: Driver) -> None:
        await driver.pilot.press("ctrl+c")
        driver.watch.now += 0.1
        await driver.pilot.press("ctrl+c")
        await driver.until(lambda: driver.sent)

    assert drive(live(story("running")), look).sent == [Stop(mode="now")]


def test_a_late_second_interrupt_does_not() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("ctrl+c", "ctrl+c")
        assert isinstance(driver.app.screen, Leave)

    assert drive(live(story("running")), look).sent == []


def test_interrupt_works_above_any_dialog() -> None:
    async def look(driver: Driver) -> None:
        for opener, dialog in (("g", GuideDialog), ("?", Help), ("a", AbortDialog)):
            await driver.press(opener)
            assert isinstance(driver.app.screen, dialog)
            await driver.press("ctrl+q")
            assert isinstance(driver.app.screen, Leave)
            await driver.press("escape", "escape")

    drive(live(story("running")), look)


def test_a_dialog_is_blind_at_first() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("a")
        await driver.pilot.press("y")
        await driver.pilot.pause()
        assert isinstance(driver.app.screen, AbortDialog)
        await driver.sees("y ignored: pressed too early")
        driver.watch.now += 0.5
        await driver.pilot.press("y")  # half of what was typed is no answer
        await driver.pilot.pause()
        assert isinstance(driver.app.screen, AbortDialog)
        driver.watch.now += 1.5
        await driver.pilot.press("y")
        await driver.until(lambda: driver.sent)

    assert drive(live(story("running")), look).sent == [Abort()]


def test_a_replay_leaves_at_once_and_takes_no_commands() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("p", "a", "g", "c")
        assert len(driver.app.screen_stack) == 1
        await driver.press("q")
        await driver.until(lambda: driver.app._exit)

    drive(replay(story("running")), look)


def test_a_replay_moves_by_its_keys() -> None:
    async def look(driver: Driver) -> None:
        player = driver.cockpit.source.player
        assert player is not None
        assert driver.cockpit.scrubber is not None
        assert driver.cockpit.scrubber.has_focus
        length = player.length
        await driver.press("left")
        await driver.until(lambda: driver.cockpit.state.seq == length - 1)
        await driver.press("home")
        await driver.until(lambda: driver.cockpit.state.seq == 1)
        await driver.press("right", "full_stop", "comma")
        await driver.until(lambda: driver.cockpit.state.seq == 2)
        await driver.press("shift+right", "greater_than_sign")
        await driver.until(lambda: driver.cockpit.state.run.iteration == 2)
        await driver.press("less_than_sign")
        await driver.until(lambda: driver.cockpit.state.run.iteration == 1)
        await driver.press("m")
        await driver.until(lambda: driver.cockpit.state.control.alarms)
        await driver.press("]", "[", "[")
        assert player.speed == 4
        await driver.press("end")
        await driver.until(lambda: driver.cockpit.state.seq == length)
        await driver.press("space")
        assert player.playing
        await driver.press("2", "comma")
        assert not player.playing

    drive(replay(story("stuck")), look, (100, 30))


def test_a_replay_without_an_end_says_so() -> None:
    async def look(driver: Driver) -> None:
        await driver.sees("no end was recorded")
        await driver.sees("▲ the journal ends at line 312")

    drive(replay(story("running"), note="the journal ends at line 312"), look)


def test_the_theme_walks_and_colours_stay_off() -> None:
    async def look(driver: Driver) -> None:
        seen = [driver.app.theme]
        for _ in range(3):
            await driver.press("t")
            seen.append(driver.app.theme)
        assert seen == ["ralph-dark", "ralph-light", "ralph-terminal", "ralph-dark"]

    drive(live(story("running")), look)


NAMES = {"light": "ralph-light", "ralph-dark": "ralph-dark", "nord": "nord", "nosuch": "ralph-dark"}


@pytest.mark.parametrize("name", [*NAMES, "ansi-light", "textual-light"])
def test_any_theme_of_textual_will_do(name: str) -> None:
    async def look(driver: Driver) -> None:
        assert driver.app.theme == NAMES.get(name, name)
        await driver.press("t")
        assert driver.app.theme.startswith("ralph-")

    drive(live(story("running"), theme=name), look)


def test_no_colour_means_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def look(driver: Driver) -> None:
        await driver.press("t")
        assert driver.app.theme == "ralph-terminal"
        await driver.sees("NO_COLOR is set")
        driver.watch.now += 10
        await driver.sees("? help")
        screen, no_colour = driver.app.screen, driver.app._filters[-1]
        background = screen.background_colors[0]
        strips = [s.apply_filter(no_colour, background) for s in screen._compositor.render_strips()]
        colours = {
            colour.name
            for strip in strips
            for segment in strip
            if segment.style
            for colour in (segment.style.color, segment.style.bgcolor)
            if colour is not None
        }
        assert colours <= {"default"}

    drive(live(story("oscillating")), look, (100, 30))


@pytest.mark.parametrize(
    ("is_live", "size"), [(True, (60, 15)), (True, (200, 60)), (False, (80, 24))]
)
def test_help_explains_every_key_on_one_line(is_live: bool, size: tuple[int, int]) -> None:  # noqa: FBT001
    async def look(driver: Driver) -> None:
        await driver.press("?")
        seen: list[str] = []
        for _ in range(12):
            seen += driver.text()[3:]  # below the header
            await driver.press("pagedown")
        text = "\n".join(seen)
        second = {name for name, _ in PAIRED.values()}
        for action in ACTIONS:
            if is_offered(action, live=is_live) and action.name not in second:
                other, words = PAIRED.get(action.name, (action.name, action.help))
                assert re.search(rf"{re.escape(DEFAULTS.shown(other))} +{re.escape(words)}", text)
        assert second <= {action.name for action in ACTIONS}
        for words in (
            "steer" if is_live else "replay",
            "agent at work",
            "handoff to a fresh session",
        ):
            assert words in text
        assert "…" not in text.replace("y n …", "")

    drive((live if is_live else replay)(story("running")), look, size)


@pytest.mark.parametrize(("name", "first", "then"), [
    ("running", "on this screen", ("p        pause", "i        interrupt", "signs", "! ")),
    ("asked", "in a question", ("y n      yes", "on this screen", "d        answer")),
    ("stuck", "on this screen", ("f        diff", "o        report", "signs")),
])  # fmt: skip
def test_help_explains_first_what_is_on_the_screen(
    name: str, first: str, then: tuple[str, ...]
) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("escape", "?")
        page = driver.text()[4:21]
        assert page[0].startswith(f"│ {first} ")
        left = [row[2:40] for row in page]
        assert all(any(row.startswith(words) for row in left) for words in then), left

    drive(live(story(name)), look, (80, 24))


def test_three_screens_of_80_by_24_hold_the_help() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("?")
        assert isinstance(driver.app.screen, Help)
        text = driver.app.screen.text
        assert len(text.rows) <= 3 * text.size.height

    drive(live(story("running")), look)


def test_the_footer_dims_what_cannot_be_done_and_fits() -> None:
    async def look(driver: Driver) -> None:
        assert driver.text()[-1].startswith(
            " p pause  g guide  a abort  c checkpoint  i interrupt  z"
        )
        assert driver.text()[-1].rstrip().endswith("q leave")

    drive(live(story("running")), look)


def test_screens_below_a_dialog_go_on() -> None:
    async def look(driver: Driver) -> None:
        seq = driver.cockpit.state.seq
        await driver.press("a")
        driver.inbox.extend(story("running")[5:9])
        await driver.until(lambda: driver.cockpit.state.seq != seq)

    drive(live(story("running")), look)
