"""A program run once to its end, under the keeper, with bounded output and a time limit."""

import os
import selectors
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, cast

from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.processes.child import PIPE, launch

CHUNK = 64 * 1024


@dataclass(frozen=True)
class Output:
    """What it printed, and its exit code: None when it was stopped for its time or its size."""

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
) -> Output:
    """Run it with `words` on stdin; raises ``ProcessError`` when it cannot be started.

    It is stopped after `timeout_s` seconds, or when it has printed more than `limit` bytes.
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
        complete = _read(taken, deadline, limit)
        if not complete:
            child.stop()
        try:
            ended = child.wait(max(0.0, deadline - time.monotonic()) if complete else None)
        except TimeoutError:
            complete = False
            child.stop()
            ended = child.wait()
    out, errors = (bytes(data).decode("utf-8", "replace") for data in taken.values())
    return Output(out, errors, ended.code if complete else None)


def _read(taken: dict[int, bytearray], deadline: float, limit: int) -> bool:
    """Read until all pipes are closed; False when time or size ran out before."""
    with selectors.DefaultSelector() as selector:
        for descriptor in taken:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in selector.select(left):
                data = os.read(key.fd, CHUNK)
                if not data:
                    selector.unregister(key.fd)
                taken[key.fd] += data
                if len(taken[key.fd]) > limit:
                    return False
    return True


def _write(stdin: IO[bytes], data: bytes) -> None:
    try:
        with stdin:
            stdin.write(data)
    except (BrokenPipeError, ConnectionResetError):
        return
