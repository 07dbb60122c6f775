"""Waiting for a condition instead of sleeping."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 240.0
"""How long a condition is waited for: it catches a hang, and says nothing about speed."""

LONGEST_S = 0.1
"""Between two looks: what takes long is looked at less often, for a look may be dear."""


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
