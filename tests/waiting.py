"""Waiting for a condition instead of sleeping."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 240.0
"""Timeout for a condition, in seconds: it catches a hang and says nothing about speed."""

LONGEST_S = 0.1
"""Longest pause between checks: slow conditions are checked less often, as a check may be dear."""


def until(condition: Callable[[], T], timeout: float = PATIENCE_S) -> T:
    """The first true answer of `condition`; fails after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    pause = 0.01
    while True:
        if answer := condition():
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"still not so after {timeout:g} s, last answer: {answer!r}")
        time.sleep(pause)
        pause = min(1.3 * pause, LONGEST_S)
