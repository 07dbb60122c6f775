"""How full a context window is. Standard library only."""


def percent_of(tokens: int | None, window: int | None) -> float | None:
    """Percent of the window that is used, at most 100; None where that is not known.

    No message uses zero tokens and no window is that small: such numbers tell nothing. More tokens
    than the window holds mean that it is full.
    """
    if not tokens or not window or tokens < 0 or window < 0:
        return None
    return min(100.0, 100 * tokens / window)
