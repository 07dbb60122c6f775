"""Comparisons of readings, steps, D, velocity and volatility forgive rounding, nothing else."""

TOLERANCE = 1e-9
"""In the unit of what is compared: points for readings and steps, fractions for the rest."""


def below(value: float, limit: float) -> bool:
    """``value < limit``, and not merely by rounding."""
    return value < limit - TOLERANCE


def above(value: float, limit: float) -> bool:
    """``value > limit``, and not merely by rounding."""
    return value > limit + TOLERANCE
