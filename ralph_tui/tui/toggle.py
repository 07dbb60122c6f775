"""A key that switches something on and off, such as a pause."""


class Toggle:
    """Remembers the last press for a few seconds, until its effect is certainly recorded."""

    def __init__(self, fresh_s: float) -> None:
        """`fresh_s` is how long the record may lack the effect of a press."""
        self._fresh_s = fresh_s
        self._pressed, self._on = float("-inf"), False

    def press(self, now: float, *, recorded: bool) -> bool:
        """Return True if this press switches on; `recorded` is the state in the record."""
        is_on = self._on if now - self._pressed < self._fresh_s else recorded
        self._pressed, self._on = now, not is_on
        return self._on
