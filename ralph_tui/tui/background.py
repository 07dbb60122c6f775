"""Background work of a screen."""

from collections.abc import Callable, Coroutine
from typing import Any

from textual.dom import DOMNode
from textual.worker import Worker


def run(
    node: DOMNode,
    work: Callable[[], Coroutine[Any, Any, None]],
    *,
    group: str = "default",
    exclusive: bool = False,
) -> None:
    """Run `work` until it ends or `node` is removed.

    It takes a function, because Python warns about a coroutine whose worker is cancelled before it
    starts.
    """
    _: Worker[None] = node.run_worker(work, group=group, exclusive=exclusive)
