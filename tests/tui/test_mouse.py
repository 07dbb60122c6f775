"""A click on a key's label presses the key, wherever its line has moved."""

from ralph_tui.commands import Pause
from ralph_tui.tui.draw.spans import CLICK, clickable, clip_line, spread
from tests.tui.driving import Driver, drive, live, story


async def click(d: Driver, words: str) -> None:
    """Click the first place on the screen where these words stand."""
    d.watch.now += 6.0  # an answer to the click before gives way to the keys
    await d.sees(words)
    y, x = next((y, row.index(words)) for y, row in enumerate(d.text()) if words in row)
    await d.pilot.click(offset=(x, y))
    await d.pilot.pause()


def test_what_can_be_clicked_moves_with_its_line() -> None:
    key = clickable([("p", "key"), (" pause", "")], "p")
    assert key == [("p", f"key {CLICK}p"), (" pause", f"{CLICK}p")]
    assert spread([("left", "")], key, 20)[-2:] == key
    assert clip_line(key, 4) == [("p", f"key {CLICK}p"), (" p…", f"{CLICK}p")]


def test_a_key_of_the_footer_can_be_clicked() -> None:
    async def scenario(d: Driver) -> None:
        await click(d, "p pause")
        assert [type(command) for command in d.sent] == [Pause]
        await click(d, "g guide")
        await d.sees("esc close, keep the text")

    drive(live(story("running")), scenario, (120, 30))


def test_a_click_beside_a_key_does_nothing() -> None:
    async def scenario(d: Driver) -> None:
        row = d.text()[-1]
        await d.pilot.click(offset=(row.index("p pause") - 1, 29))
        await d.pilot.click(offset=(0, 29))
        await d.pilot.pause()
        assert not d.sent
        assert not d.cockpit.footer.notice

    drive(live(story("running")), scenario, (120, 30))


def test_the_help_says_how_text_is_selected_while_the_mouse_is_ours() -> None:
    async def scenario(d: Driver) -> None:
        await d.press("question_mark")
        await d.sees("click; shift+drag selects")

    drive(live(story("running")), scenario, (120, 60))
