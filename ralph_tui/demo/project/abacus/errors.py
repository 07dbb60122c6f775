"""Errors of the calculator."""


class AbacusError(Exception):
    """Anything this package raises."""


class ParseError(AbacusError):
    """The text is not an expression; `position` counts characters from 0."""

    def __init__(self, message, position):
        super().__init__(f"{message} at position {position}")
        self.position = position


class EvaluationError(AbacusError):
    """The expression has no value."""
