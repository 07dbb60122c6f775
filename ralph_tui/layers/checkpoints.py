"""How often checkpoints are worth taking within a session. Rule: pure."""

from ralph_tui.text.format import duration

MINUTE, HOUR = 60.0, 3600.0

ADVISED: tuple[tuple[float, float, float], ...] = (
    (1 * HOUR, 10 * MINUTE, 15 * MINUTE),
    (3 * HOUR, 15 * MINUTE, 20 * MINUTE),
    (6 * HOUR, 20 * MINUTE, 30 * MINUTE),
    (float("inf"), 30 * MINUTE, 30 * MINUTE),
)
"""For sessions that last less than the first number: the shortest and the longest interval."""


def advised_interval(session_s: float) -> tuple[float, float]:
    """From which to which interval checkpoints go well with sessions of this length, seconds."""
    return next((least, most) for below, least, most in ADVISED if session_s < below)


def interval_advice(interval_s: float, session_s: float) -> str:
    """What to say of an interval that is too long for the longest session; empty: it will do.

    More checkpoints than advised cost little. A session below the shortest interval needs none but
    those at its start and its end.
    """
    least, most = advised_interval(session_s)
    if interval_s <= most or session_s <= ADVISED[0][1]:
        return ""
    taken = "none by timer in" if interval_s >= session_s else "seldom for"
    fit = duration(least) if least == most else f"{duration(least)} to {duration(most)}"
    return (
        f"Checkpoints every {duration(interval_s)}: {taken} a session of {duration(session_s)}; "
        f"set checkpoints.interval_s to {fit}."
    )
