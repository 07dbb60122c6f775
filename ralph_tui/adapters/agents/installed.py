"""Installed agent programs: find them, run them once, and ask for their version."""

import os
import selectors
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from ralph_tui.adapters.agents import no_agent_error
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.programs import binary_of, find_program
from ralph_tui.adapters.processes.child import PIPE, Child, launch
from ralph_tui.base.errors import ProcessError
from ralph_tui.text.sanitize import one_line

CHUNK = 64 * 1024
POLL_S = 0.05
"""Seconds between checks for cancellation."""


@dataclass(frozen=True)
class Output:
    """A program's output and exit code, or no code if the program was stopped."""

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
    """Run a program to its end, with `words` on stdin.

    It is stopped, with everything it started, after `timeout_s` seconds, after more than `limit`
    bytes of output, or within a second once `cancelled` returns True. Raises ``ProcessError`` if it
    cannot be started.
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
    """Read until all pipes are closed; return False if the program must be stopped first."""
    with selectors.DefaultSelector() as selector:
        for descriptor in taken:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0 or cancelled():
                return False
            for key, _ in selector.select(min(left, POLL_S)):
                data = os.read(key.fd, CHUNK)
                if not data:
                    selector.unregister(key.fd)
                taken[key.fd] += data
                if len(taken[key.fd]) > limit:
                    return False
    return True


def _ends(child: Child, deadline: float, cancelled: Callable[[], bool]) -> bool:
    """Wait for the program to exit; return False if it must be stopped first."""
    while child.poll() is None:
        left = deadline - time.monotonic()
        if left <= 0 or cancelled():
            return False
        with suppress(TimeoutError):
            child.wait(min(left, POLL_S))
    return True


def _write(stdin: IO[bytes], data: bytes) -> None:
    try:
        with stdin:
            stdin.write(data)
    except (BrokenPipeError, ConnectionResetError):
        return


VERSION_UNKNOWN = "version unknown"
PROBE_S = 5.0
"""Seconds that a program may take to print its version."""


def program_path(context: AgentContext, usual: str) -> str:
    """Return the path of the configured program, or of `usual`.

    Raises ``UsageError`` if the program cannot be run.
    """
    path = find_program(binary_of(context.settings, usual), context.environ)
    if path is not None:
        return path
    # If a program was named, the error names it first.
    binary, name = context.settings.binary, context.settings.name
    if binary is None and name is None:
        raise no_agent_error(context.settings, context.environ)
    what = "is not an executable program" if "/" in (binary or "") else "is not on PATH"
    named = (
        f"{usual!r} (--agent {name})" if binary is None else f"{one_line(binary)!r} (agent.binary)"
    )
    raise no_agent_error(context.settings, context.environ, f"{named} {what}")


def probe_output(argv: list[str], context: AgentContext) -> str:
    """Return a program's output within `PROBE_S` seconds, or "" if it cannot be run."""
    try:
        return run_once(argv, context, timeout_s=PROBE_S).out
    except ProcessError:
        return ""


def stamp(path: str, context: AgentContext) -> tuple[object, ...]:
    """Return a key that changes with the program's file or its environment."""
    try:
        facts = Path(path).stat()
        changed = (facts.st_mtime_ns, facts.st_size)
    except OSError:
        changed = (0, 0)
    return (path, changed, context.root, tuple(sorted(context.environ.items())))


def format_version(version: tuple[int, ...] | None) -> str:
    """Format a version, as in ``2.1.198``."""
    return ".".join(map(str, version)) if version else VERSION_UNKNOWN
