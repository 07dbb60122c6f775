"""How a fold of several layers lets one of them fail: whoever runs it says what that means."""

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Attempt(Protocol):
    """Takes a fallback where a layer fails; `instead` says in words what that means."""

    def __call__(
        self, layer: str, decide: Callable[[], T], fallback: Callable[[], T], /, *, instead: str
    ) -> T:
        """What `decide` gives, or `fallback`."""
        ...


def unguarded(
    _layer: str, decide: Callable[[], T], _fallback: Callable[[], T], /, *, instead: str
) -> T:
    """A layer that fails raises."""
    return decide()
