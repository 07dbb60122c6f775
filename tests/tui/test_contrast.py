"""Contrast by computation, as WCAG 2.2 AA has it: of every style on every ground, and of screens.

Text needs 4.5:1 to what is behind it, signs that tell something 3:1. Lines that only part one pane
from another tell nothing: whatever is in a pane has a heading of its own.
"""

from collections.abc import Iterator, Mapping
from itertools import product

import pytest
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

from ralph_tui.text.terms import LEVELS, OUTCOMES, PHASES, Term
from ralph_tui.tui.draw.line_widget import STYLES
from ralph_tui.tui.themes import DARK, LIGHT, contrast, styles_for
from tests.tui.driving import Driver, drive, live, replay, story

TEXT, SIGN = 4.5, 3.0
DECORATION = {"frame", "faint"}
"""Styles of lines and frames: no text is drawn in them."""
LIVE = ("running", "stuck", "oscillating", "regressing", "limited", "paused", "empty")


def test_the_formula_knows_its_ends() -> None:
    assert contrast(Color.parse("#fff"), Color.parse("#000")) == 21
    assert contrast(Color.parse("#777"), Color.parse("#fff")) == pytest.approx(4.48, abs=0.01)


def seen(style: Style) -> tuple[Color, Color]:
    """Foreground and background colours as drawn."""
    assert style.color is not None
    assert style.bgcolor is not None
    front, back = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
    return (back, front) if style.reverse else (front, back)


def is_text(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_every_style_can_be_read_on_every_ground(theme: Theme) -> None:
    name = theme.name.removeprefix("ralph-")
    bad = {}

    async def scenario(driver: Driver) -> None:
        variables = driver.app.theme_variables
        grounds = {
            ground: Style(bgcolor=Color.parse(variables[ground]).rich_color)
            for ground in ("background", "panel", "style-cursor")
        }
        base = Style(color=Color.parse(variables["foreground"]).rich_color)
        for ground, style in product(grounds, set(STYLES) - DECORATION):
            for added in ("", "badge"):
                named = driver.cockpit.named_style(f"{style} {added}".strip())
                whole = base + grounds[ground] + named
                ratio = contrast(*seen(whole))
                if ratio < TEXT:
                    bad[f"{style} {added} on {ground}"] = round(ratio, 2)

    drive(live(story("running"), theme=name), scenario, (80, 24))
    assert bad == {}


def segments(driver: Driver) -> Iterator[tuple[str, Style]]:
    for strip in driver.app.screen._compositor.render_strips():
        for text, style, _ in strip:
            if style is not None and text.strip():
                yield text.strip(), style


def unreadable(driver: Driver) -> dict[str, float]:
    """Pieces of the screen that are too faint, with their contrast."""
    found = {}
    for text, style in segments(driver):
        assert not style.dim, "a terminal may draw it in any way"
        ratio = contrast(*seen(style))
        if ratio < TEXT and is_text(text):
            found[text] = round(ratio, 2)
    return found


@pytest.mark.parametrize("name", LIVE)
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_all_that_is_written_on_a_screen_can_be_read(theme: str, name: str) -> None:
    async def scenario(driver: Driver) -> None:
        assert unreadable(driver) == {}

    drive(live(story(name), theme=theme), scenario, (140, 45))


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_replay_can_be_read(theme: str) -> None:
    async def scenario(driver: Driver) -> None:
        assert unreadable(driver) == {}
        await driver.press("end")
        assert unreadable(driver) == {}

    drive(replay(story("steady"), theme=theme), scenario, (100, 30))


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_dialog_can_be_read(theme: str) -> None:
    async def scenario(driver: Driver) -> None:
        for key in ("", "question_mark", "g", "a", "q", "colon"):  # a question is open first
            if key:
                await driver.press("escape", key)
            await driver.until(lambda: len(driver.app.screen_stack) == 2)
            await driver.pilot.pause()
            dialog = driver.app.screen.query(".dialog").first()
            bad = {}
            for y, strip in enumerate(driver.app.screen._compositor.render_strips()):
                if dialog.region.y <= y < dialog.region.bottom:
                    inside = strip.crop(dialog.region.x, dialog.region.right)
                    for text, style, _ in inside:
                        if style and is_text(text) and contrast(*seen(style)) < TEXT:
                            bad[text.strip()] = round(contrast(*seen(style)), 2)
            assert bad == {}, key

    drive(live(story("asked"), theme=theme), scenario, (100, 30))


@pytest.mark.parametrize("name", sorted(BUILTIN_THEMES))
def test_dim_words_can_be_read_in_themes_that_are_not_ours(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    if theme.ansi or theme.background is None:
        return
    dim, back = Color.parse(styles_for(theme)["style-dim"]), Color.parse(theme.background)
    own = Color.parse(theme.foreground or "#ffffff")
    assert contrast(dim, back) >= min(TEXT, contrast(own, back)), "as well as the theme's own text"


@pytest.mark.parametrize("table", [PHASES, OUTCOMES, LEVELS])
def test_every_state_has_a_glyph_and_a_word_of_its_own(table: Mapping[str, Term]) -> None:
    """Glyph and word repeat what colour shows: for print, colour blindness and NO_COLOR."""
    assert all(term.word for term in table.values())
    assert len({term.label for term in table.values()}) == len(table)


def test_without_styles_no_two_states_look_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    heads: dict[str, list[str]] = {}

    async def scenario(driver: Driver) -> None:
        for _, style in segments(driver):
            colours = [style.color, style.bgcolor]
            assert all(colour is None or colour.is_default for colour in colours)
        heads[name] = driver.text()[:3]

    for name in LIVE:
        drive(live(story(name)), scenario, (80, 24))
    verdicts = [rows[2].strip() for rows in heads.values()]
    assert len({verdict.partition(" ")[0] + verdict.split()[1] for verdict in verdicts}) >= 7
    assert len(set(verdicts)) == len(LIVE)
