"""Preloading while idle, so that the first dialog opens as fast as later ones."""

from ralph_tui.tui.cockpit import preloading
from tests.tui.driving import Driver, drive, live, story


def test_each_first_dialog_finds_its_style_rules_parsed() -> None:
    async def scenario(driver: Driver) -> None:
        stylesheet, seen = driver.app.stylesheet, driver.text()
        before = set(stylesheet.source)
        for _ in preloading.steps(driver.app):
            await driver.pilot.pause()
        loaded = set(stylesheet.source)
        assert loaded > before
        assert driver.text() == seen

        for key in ("question_mark", "g", "a", "q", "colon"):
            await driver.press(key)
            assert len(driver.app.screen_stack) == 2
            assert set(stylesheet.source) == loaded
            await driver.press("escape")

    drive(live(story("running")), scenario, (100, 30))
