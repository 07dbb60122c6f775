"""The size and use of the agent's context window; made up, like its prices."""

from typing import NamedTuple


class Window(NamedTuple):
    """A context window, in tokens."""

    size: int
    instructions: int
    """Tokens used before the first message, by the agent's instructions and tools."""
    per_prompt_character: float
    per_result_character: float
    """Tokens per character of a tool's answer."""
    per_result: int


LARGE = Window(200_000, 21_000, 0.2, 0.8, 600)
"""A window that fills visibly in a short session but is far from full at its end."""
SMALL = Window(20_000, 7_300, 0.25, 0.25, 30)
"""A window with room for the files that the agent reads first and two or three test runs."""


def window_of(scenario: str) -> Window:
    """Return the window of this scenario."""
    return SMALL if scenario == "context" else LARGE


class FullError(Exception):
    """The next message would not fit."""
