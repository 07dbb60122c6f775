"""Advise how often to take checkpoints within a session."""

from ralph_tui.text.format import duration

MINUTE, HOUR = 60.0, 3600.0

ADVISED: tuple[tuple[float, float, float], ...] = (
    (1 * HOUR, 10 * MINUTE, 15 * MINUTE),
    (3 * HOUR, 15 * MINUTE, 20 * MINUTE),
    (6 * HOUR, 20 * MINUTE, 30 * MINUTE),
    (float("inf"), 30 * MINUTE, 30 * MINUTE),
)
"""Per row: maximum session length (exclusive), shortest and longest interval, in seconds."""


def advised_interval(session_s: float) -> tuple[float, float]:
    """Return the shortest and longest advised interval for a session of this length, in seconds."""
    return next((least, most) for below, least, most in ADVISED if session_s < below)


def interval_advice(interval_s: float, session_s: float) -> str:
    """Return a warning if the interval is too long for the longest session; else empty.

    More checkpoints than advised cost little. A session shorter than the shortest interval needs
    only the checkpoints at its start and end.
    """
    least, most = advised_interval(session_s)
    if interval_s <= most or session_s <= ADVISED[0][1]:
        return ""
    taken = "none by timer during" if interval_s >= session_s else "too rare for"
    fit = duration(least) if least == most else f"{duration(least)} to {duration(most)}"
    return (
        f"Checkpoints every {duration(interval_s)}: {taken} a session of {duration(session_s)}; "
        f"set checkpoints.interval_s to {fit}."
    )
