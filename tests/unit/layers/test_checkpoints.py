"""A warning appears when checkpoint interval and session length do not fit."""

from ralph_tui.config.settings import CheckpointSettings, Settings
from ralph_tui.events import Noticed
from ralph_tui.layers.checkpoints import advised_interval, interval_advice
from tests.rows import each_row
from tests.world import World

M, H = 60.0, 3600.0


@each_row(
    ("session", "least", "most"),
    [
        (59 * M, 10, 15),
        (1 * H, 15, 20),
        (3 * H - 1, 15, 20),
        (3 * H, 20, 30),
        (6 * H - 1, 20, 30),
        (6 * H, 30, 30),
        (24 * H, 30, 30),
    ],
)
def test_the_advice_goes_by_the_expected_length(session: float, least: int, most: int) -> None:
    assert advised_interval(session) == (least * M, most * M)


def test_the_defaults_go_together() -> None:
    settings = Settings()
    assert not interval_advice(settings.checkpoints.interval_s, settings.limits.session_timeout_s)


@each_row(
    ("interval", "session", "says"),
    [
        (
            30 * M,
            2 * H,
            "every 30m: too rare for a session of 2h; set checkpoints.interval_s to 15m to 20m.",
        ),
        (
            30 * M,
            20 * M,
            "every 30m: none by timer during a session of 20m; set checkpoints.interval_s to",
        ),
        (1 * H, 8 * H, "too rare for a session of 8h; set checkpoints.interval_s to 30m."),
    ],
)
def test_too_seldom_is_said_with_what_to_do(interval: float, session: float, says: str) -> None:
    advice = interval_advice(interval, session)
    assert says in advice
    assert len(advice) < 110, "on a screen of 120 columns the log shows that much"


def test_more_than_advised_costs_little_and_a_short_session_needs_none() -> None:
    assert not interval_advice(10.0, 8 * H)
    assert not interval_advice(30 * M, 10 * M)


def test_a_run_says_so_once_before_it_begins() -> None:
    def noticed(session_s: float, *, enabled: bool = True) -> list[str]:
        timed = CheckpointSettings(enabled=enabled, interval_s=30 * M)
        settings = Settings(checkpoints=timed)
        world = World([2, 10], settings=settings, session_timeout_s=session_s).run()
        return [e.text for e in world.all(Noticed) if e.source == "checkpoints"]

    (text,) = noticed(2 * H)
    assert text.startswith("Checkpoints every 30m: too rare for a session of 2h; set ")
    assert noticed(8 * H) == []
    assert noticed(2 * H, enabled=False) == [], "there are no checkpoints at intervals"
