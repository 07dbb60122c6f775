"""Work of a screen that runs beside it."""

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

    It is a function: Python warns of a coroutine whose worker is cancelled before it starts.
    """
    _: Worker[None] = node.run_worker(work, group=group, exclusive=exclusive)
