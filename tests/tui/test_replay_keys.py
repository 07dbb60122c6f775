"""A replay: the same keys from every pane, the scrubber by mouse, and no key of a live run."""

import pytest

from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.tui.cockpit import layout
from ralph_tui.tui.cockpit.scrubber import Scrubber
from ralph_tui.tui.modals.modal import Modal
from tests.tui.driving import Driver, drive, live, replay, story
from tests.tui.test_mouse import click

DIGITS = [str(number % 10) for number in range(1, len(layout.ORDER) + 1)]
SAME = {"less_than_sign": "shift+left", "greater_than_sign": "shift+right"}


def player(d: Driver) -> Replay:
    assert isinstance(d.source, Replay)
    return d.source


@pytest.mark.parametrize("zoomed", [False, True])
def test_every_key_means_the_same_from_every_pane(zoomed: bool) -> None:  # noqa: FBT001
    async def look(d: Driver) -> None:
        playback = player(d)
        length, middle = playback.length, playback.length // 2
        expected: dict[str, int] = {}
        for digit in DIGITS[:: 4 if zoomed else 2]:
            await d.press(digit)
            if zoomed and d.cockpit.body.zoomed is None:
                await d.press("z")
            pane = d.cockpit.focused
            for key in (
                *("left", "right", "shift+left", "shift+right", "home", "end", "m", "M"),
                *("less_than_sign", "greater_than_sign"),
            ):
                playback.seek(middle)
                await d.press(key)
                name = SAME.get(key, key)
                assert playback.position == expected.setdefault(name, playback.position), (
                    digit,
                    key,
                )
                assert not playback.playing
            assert expected["left"] == middle - 1
            assert expected["right"] == middle + 1
            assert (expected["home"], expected["end"]) == (1, length)
            assert expected["shift+left"] < expected["left"] < expected["right"]
            assert expected["right"] < expected["shift+right"]
            assert expected["M"] < middle < expected["m"]
            playback.seek(middle)
            speed = playback.speed
            await d.press("left_square_bracket")
            assert playback.speed == speed // 2, digit
            await d.press("right_square_bracket")
            assert playback.speed == speed, digit
            played = []
            for _ in range(2):
                await d.press("space")
                played.append(playback.playing)
            assert played == [True, False], digit
            if not d.cockpit.body.ended:
                assert d.cockpit.focused is pane, "the keys take the focus from no pane"

    drive(replay(story("stuck")), look)


def test_the_scrubber_goes_where_it_is_clicked_and_follows_a_drag() -> None:
    async def look(d: Driver) -> None:
        playback = player(d)
        bar = d.cockpit.scrubber
        assert bar is not None
        d.draw()
        y, first, last = bar.region.y, bar._begins, bar._begins + bar._room - 1
        await d.pilot.click(offset=(first, y))
        assert playback.position == 1
        await d.pilot.click(offset=(last, y))
        assert playback.position == playback.length
        half = (first + last) // 2
        await d.pilot.click(offset=(half, y))
        assert abs(playback.position / playback.length - 0.5) < 0.03
        here = playback.position
        await d.pilot.mouse_down(offset=(half, y))
        await d.pilot.hover(offset=(half + 10, y - 4))  # a drag may leave the row
        assert playback.position > here
        await d.pilot.mouse_up(offset=(half + 10, y - 4))
        there = playback.position
        await d.pilot.hover(offset=(half - 10, y))
        assert playback.position == there, "the button is let go"
        assert d.app.mouse_captured is None
        await d.pilot.click(offset=(1, y))  # its sign
        assert playback.playing

    drive(replay(story("stuck")), look)


def test_a_key_ends_what_the_pointer_was_told() -> None:
    async def look(d: Driver) -> None:
        bar = d.cockpit.scrubber
        assert bar is not None
        await d.press("end")
        here = d.text()[bar.region.y]
        await d.pilot.hover(offset=(bar._begins + bar._room // 2, bar.region.y))
        await d.until(lambda: d.text()[bar.region.y] != here)
        await d.press("end")
        await d.until(lambda: d.text()[bar.region.y] == here)

    drive(replay(story("stuck")), look)


@pytest.mark.parametrize("name", ["redirect", "limited", "steady"])
def test_a_replay_offers_no_key_of_a_live_run(name: str) -> None:
    async def look(d: Driver) -> None:
        playback, seen = player(d), set[str]()
        assert d.cockpit.scrubber is not None
        for position in range(1, playback.length + 1, max(1, playback.length // 12)):
            playback.seek(position)
            d.cockpit.tick()
            await d.pilot.pause()
            seen.update(d.text()[:3])
            for words in ("press p", "w retries", "d decides", "i ends it", " p to go on"):
                assert words not in "\n".join(d.text()), (position, words)
            if " 100 % " in d.text()[1]:
                assert " more" not in d.text()[2], "nothing is missing any more"
        assert any("REPLAY" in row for row in seen)

    drive(replay(story(name)), look)


def test_a_click_on_an_answer_in_the_footer_presses_no_key() -> None:
    async def look(d: Driver) -> None:
        await click(d, "p pause")
        sent = list(d.sent)
        assert d.cockpit.footer.notice
        for x in range(0, 80, 3):
            await d.pilot.click(offset=(x, 22))
        assert d.sent == sent
        assert d.app.screen is d.cockpit
        d.watch.now += 6.0
        await click(d, "a abort")
        assert d.app.screen is not d.cockpit

    drive(live(story("running")), look)


def test_the_scrubber_is_where_a_replay_begins() -> None:
    async def look(d: Driver) -> None:
        assert isinstance(d.cockpit.focused, Scrubber)
        await d.press("3", "shift+tab", "shift+tab", "shift+tab")
        assert isinstance(d.cockpit.focused, Scrubber)

    drive(replay(story("stuck")), look)


REPLAY_KEYS = ("space", "left", "right", "shift+left", "shift+right", "left_square_bracket",
               "right_square_bracket", "home", "end", "m", "M", "less_than_sign",
               "greater_than_sign")  # fmt: skip


@pytest.mark.parametrize(
    "opens",
    [("question_mark",), ("2", "k", "enter"), ("3", "enter"), ("end", "f")],
    ids=["help", "evidence", "changes", "whole change"],
)
def test_in_a_dialog_each_key_is_its_own_and_answered(opens: tuple[str, ...]) -> None:
    async def look(d: Driver) -> None:
        await d.press("end", *opens)
        assert d.app.screen is not d.cockpit, opens
        here = player(d).position
        for key in REPLAY_KEYS:
            dialog = d.app.screen
            assert isinstance(dialog, Modal)
            dialog.clear_notice()  # an answer may be the same as that to the key before
            await d.pilot.pause()
            before = d.text()
            await d.press(key)
            assert d.app.screen is dialog
            assert d.text() != before, f"{key} is not answered"
            assert (player(d).position, player(d).playing) == (here, False)

    drive(replay(story("stuck" if opens[0] == "end" else "taught")), look, (100, 30))


def test_in_the_text_field_of_the_palette_they_are_text() -> None:
    async def look(d: Driver) -> None:
        here = player(d).position
        await d.press("colon", "m", "space", "M", "less_than_sign", "left_square_bracket")
        assert "m M<[" in "\n".join(d.text())
        assert player(d).position == here

    drive(replay(story("stuck")), look)
