"""A program run once to its end, under the keeper, with bounded output and a time limit."""

import os
import selectors
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, cast

from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.processes.child import PIPE, Child, launch

CHUNK = 64 * 1024
LOOK_S = 0.05
"""How often it is looked whether it is still wanted."""


@dataclass(frozen=True)
class Output:
    """What it printed, and its exit code: None when it was stopped."""

    out: str
    errors: str
    code: int | None


def run_once(
    argv: Sequence[str],
    context: AgentContext,
    *,
    words: str | None = None,
    timeout_s: float,
    limit: int = 1 << 20,
    cancelled: Callable[[], bool] = lambda: False,
) -> Output:
    """Run it with `words` on stdin; raises ``ProcessError`` when it cannot be started.

    It is stopped after `timeout_s` seconds, when it has printed more than `limit` bytes, or when
    `cancelled` says so: within a second, with all it has started.
    """
    child = launch(
        argv,
        cwd=context.root,
        env={**context.environ, "RALPH_RUN_ID": context.run_id},
        run_id=context.run_id,
        lock_fd=context.lock_fd,
        stdin="null" if words is None else "pipe",
        stdout=PIPE,
        stderr=PIPE,
    )
    deadline = time.monotonic() + timeout_s
    if child.stdin is not None:
        data = (words or "").encode("utf-8", "surrogateescape")
        threading.Thread(target=_write, args=(child.stdin, data), daemon=True).start()
    stdout, stderr = cast("IO[bytes]", child.stdout), cast("IO[bytes]", child.stderr)
    taken = {stdout.fileno(): bytearray(), stderr.fileno(): bytearray()}
    with stdout, stderr:
        complete = _read(taken, deadline, limit, cancelled) and _ends(child, deadline, cancelled)
        if not complete:
            child.hurry()
        ended = child.wait()
    out, errors = (bytes(data).decode("utf-8", "replace") for data in taken.values())
    return Output(out, errors, ended.code if complete else None)


def _read(
    taken: dict[int, bytearray], deadline: float, limit: int, cancelled: Callable[[], bool]
) -> bool:
    """Read until all pipes are closed; False when it has to be stopped before."""
    with selectors.DefaultSelector() as selector:
        for descriptor in taken:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0 or cancelled():
                return False
            for key, _ in selector.select(min(left, LOOK_S)):
                data = os.read(key.fd, CHUNK)
                if not data:
                    selector.unregister(key.fd)
                taken[key.fd] += data
                if len(taken[key.fd]) > limit:
                    return False
    return True


def _ends(child: Child, deadline: float, cancelled: Callable[[], bool]) -> bool:
    """Wait until it has ended; False when it has to be stopped before."""
    while child.poll() is None:
        left = deadline - time.monotonic()
        if left <= 0 or cancelled():
            return False
        with suppress(TimeoutError):
            child.wait(min(left, LOOK_S))
    return True


def _write(stdin: IO[bytes], data: bytes) -> None:
    try:
        with stdin:
            stdin.write(data)
    except (BrokenPipeError, ConnectionResetError):
        return
