"""``ralph-tui fleet worker``: run loops of a fleet whose process is on another machine.

The worker connects to the fleet, opens no port, and retries as long as it runs.
"""

import argparse
import asyncio
import errno
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ralph_tui.adapters.clones.places import WORKER_LOCK
from ralph_tui.adapters.processes.sweep import MARKS, no_orphans
from ralph_tui.adapters.records.folders import named_path
from ralph_tui.base.errors import RalphError, UsageError, why
from ralph_tui.base.file_lock import holder_of, locked
from ralph_tui.cli.exit_codes import ExitCode
from ralph_tui.cli.fronts import signals
from ralph_tui.cli.fronts.garbage import enable_garbage_collector
from ralph_tui.cli.fronts.output import print_line
from ralph_tui.fleet.dispatch import KEY_HOLDERS, Address, check_installed
from ralph_tui.fleet.ports import Began, Ended, HostNoticed, NotCollected, Observation, Stage
from ralph_tui.ports.clones import Collected
from ralph_tui.text.durations import seconds
from ralph_tui.text.format import clock, count
from ralph_tui.text.sanitize import clip, one_line
from ralph_tui.text.terms import outcome_word

if TYPE_CHECKING:
    from ralph_tui.fleet.dispatch.link import HostLink
    from ralph_tui.fleet.host.worker_host import WorkerHost

LOG = "worker-log.txt"
END_S = 10.0
"""Seconds to wait at the end: a connection may never close if both ends stop at once."""
TWICE_S = 1.0
"""Seconds in which a second signal is ignored, because timeout(1) and job managers send two."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MAX_AGENTS = 1000


def run(args: argparse.Namespace) -> int:
    """Serve the fleet until a signal arrives or the fleet dismisses this host.

    Raises ``RalphError``.
    """
    if any(mark in os.environ for mark in MARKS):
        raise UsageError(
            "a process started by a run cannot join a fleet: use a terminal that no run has started"
        )
    address, name, lease = (
        Address.parse(args.address),
        _parse_name(args.name),
        _parse_lease(args.lease),
    )
    if not address.port:
        raise UsageError(f"{address} has no port; add the port that the fleet listens on")
    if not 1 <= args.agents <= _MAX_AGENTS:
        raise UsageError(f"--agents must be from 1 to {_MAX_AGENTS}")
    if not args.tls:
        raise UsageError(f"{address} needs --tls FOLDER, a copy of the fleet's key folder")
    check_installed()
    base = named_path(args.base).absolute() if args.base else _usual_base(name)
    keys = named_path(args.tls).absolute()
    with ExitStack() as held:
        _lock(base, held)
        return _serve(address, name, args.agents, base, keys, lease)


def _serve(
    address: Address, name: str, agents: int, base: Path, keys: Path, lease: float | None
) -> int:
    # Dask is loaded only in a worker.
    from ralph_tui.fleet.dispatch import wire  # noqa: PLC0415
    from ralph_tui.fleet.dispatch.engine import configure_dask, scratch_folder  # noqa: PLC0415
    from ralph_tui.fleet.dispatch.link import HostLink, HostOffer  # noqa: PLC0415
    from ralph_tui.fleet.host.worker_host import WorkerHost  # noqa: PLC0415

    enable_garbage_collector()
    security = wire.load_security(keys)
    with configure_dask(base / LOG), scratch_folder(base) as scratch:
        link = HostLink(str(address), HostOffer(name, agents, scratch, lease), security, _print)

        host = WorkerHost(name, agents, base, link.observe, WorkerLines(_print).report)
        _print(f"{name} runs up to {count(agents, 'loop')} at once, in {base}; ctrl+c stops it")
        _print(KEY_HOLDERS)
        with signals.forward_signals(_StopHandler(host, link, base)), no_orphans():
            try:
                dismissed = asyncio.run(link.run(host))
            finally:
                host.close()
    if dismissed:
        raise RalphError(f"the fleet dismissed {name}: {dismissed}")
    return ExitCode.COMPLETED


class _StopHandler:
    """Stop loops gracefully at the first signal; at the second, their keepers kill them."""

    def __init__(self, host: "WorkerHost", link: "HostLink", base: Path) -> None:
        self._host, self._link, self._base = host, link, base
        self._since: float | None = None

    def __call__(self, number: signal.Signals) -> None:
        if self._since is not None:
            if time.monotonic() - self._since > TWICE_S:
                signals.exit_now(ExitCode.INTERRUPTED)
            return
        self._since = time.monotonic()
        threading.Thread(target=self._stop, args=(number,), name="stopping", daemon=True).start()

    def _stop(self, number: signal.Signals) -> None:
        alive = self._host.alive
        _print(
            f"stopping {count(alive, 'loop')}; press ctrl+c again to stop at once"
            if alive
            else "stopping"
        )
        reason = f"it was stopped by {number.name}"
        try:
            self._link.leave(reason)
            self._host.close()
            if alive:
                _print(
                    f"unfinished loops stay in {self._base}; run the same command to continue them"
                )
        finally:  # the process ends even if its loops hang
            self._link.stop(reason)
            signals.exit_after(END_S, ExitCode.COMPLETED)


def _lock(base: Path, held: ExitStack) -> None:
    """Lock the folder, because two workers in it would run the same loop."""
    try:
        held.enter_context(locked(base / WORKER_LOCK, 0))
    except OSError as error:
        if error.errno == errno.EAGAIN:
            pid = holder_of(base / WORKER_LOCK)
            raise UsageError(
                f"another worker (process {pid}) is using {base}: choose another folder with --base"
            ) from error
        raise UsageError(f"cannot work in {base}: {why(error, 'choose another --base')}") from error


def _usual_base(name: str) -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415 - only without --base

    return user_state_path("ralph-tui") / "hosts" / name


def _parse_name(typed: str | None) -> str:
    name = typed if typed is not None else re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' cannot be the name of a host: --name takes letters, digits, '.', '_', '-'"
        )
    return name


def _parse_lease(typed: str | None) -> float | None:
    if typed is None:
        return None
    try:
        value = seconds(typed)
    except ValueError as error:
        raise UsageError(f"--lease {error}") from None
    assert isinstance(value, float)
    if value <= 0:
        raise UsageError("--lease must be more than 0")
    return value


def _print(sentence: str) -> None:
    with suppress(OSError):  # the output may be closed
        print_line(f"{clock(datetime.now(UTC), seconds=True)} {sentence}")


WIDTH = 600
"""Maximum length of a line, in characters."""


class WorkerLines:
    """Prints each line about a host's loops once, even if a fleet that reconnects gets it again."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._print = write
        self._at_work: dict[tuple[str, str, int], bool] = {}
        """By fleet, loop and attempt number: True once the start of the run has been printed."""

    def report(self, what: Observation, fleet_id: str) -> None:
        """Print an observation if it is new; skip routine ones."""
        text = worker_line(what)
        if self._is_new(what, fleet_id) and text:
            self._print(text)

    def _is_new(self, what: Observation, fleet_id: str) -> bool:
        if not isinstance(what, Stage | Began | Ended):
            return True
        which = (fleet_id, what.loop, what.attempt)
        if isinstance(what, Stage):
            self._at_work[which] = False
            return True
        if isinstance(what, Ended):
            return self._at_work.pop(which, None) is not None or what.never_began
        begins = self._at_work.get(which) is False
        self._at_work |= {which: True} if begins else {}
        return begins


def worker_line(what: Observation) -> str:
    """Return the line for an observation of a host; empty for routine ones."""
    return clip(one_line(_words(what)), WIDTH)


def _words(what: Observation) -> str:
    match what:
        case Stage(stage="cloning"):
            return f"loop {what.loop}: preparing its working copy"
        case Began():
            return f"loop {what.loop} runs in {what.folder}"
        case Ended(never_began=True):
            return f"loop {what.loop} could not start: {what.reason}"
        case Ended():
            because = f": {what.reason}" if what.reason else ""
            return f"loop {what.loop} {outcome_word(what.outcome)}{because}"
        case Collected():
            return f"loop {what.loop}: its work was sent to the fleet"
        case NotCollected():
            return f"loop {what.loop}: its work could not be sent: {what.reason}"
        case HostNoticed(loop=loop, text=text):
            return f"loop {loop}: {text}" if loop else text
        case _:
            return ""
