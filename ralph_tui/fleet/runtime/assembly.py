"""Assemble a fleet: lock, folder, journal, dispatcher, engine, command socket."""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from uuid import uuid4

from ralph_tui import __version__
from ralph_tui.adapters.clones.places import usual_base
from ralph_tui.adapters.clones.receiving import BELOW
from ralph_tui.adapters.clones.sources import source_of
from ralph_tui.adapters.processes.sweep import no_orphans
from ralph_tui.adapters.records.journal import Journal, cut
from ralph_tui.adapters.records.lock import Lock
from ralph_tui.adapters.remote.server import hearing_fleet, serving
from ralph_tui.adapters.workspace.repository import Repository, open_repository
from ralph_tui.base.errors import UsageError
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.dispatch import KEY_HOLDERS, Address
from ralph_tui.fleet.host.worker_host import WorkerHost
from ralph_tui.fleet.plan import HERE, Plan
from ralph_tui.fleet.ports import Dispatcher, LoopHost, Observe
from ralph_tui.fleet.records import (
    FleetFolder,
    Mirror,
    copied_words,
    create_fleet,
    read_fleet,
    remove_unbegun,
    take_lock,
)
from ralph_tui.fleet.runtime.engine import EngineParts, FleetEngine
from ralph_tui.fleet.runtime.preflight import (
    check_agents,
    check_base,
    check_home,
    check_trees,
    find_repository,
    resume_notices,
    start_notices,
)
from ralph_tui.fleet.runtime.results import CollectedWork
from ralph_tui.fleet.state import FleetState, end_reason
from ralph_tui.ports.clones import Source
from ralph_tui.runtime.clock import SystemClock

BASES = "refs/ralph/fleets/"
"""Prefix of refs that keep a fleet's base commit as long as the fleet can be resumed."""


@dataclass(frozen=True)
class Connection:
    """How hosts take part in a fleet."""

    reach: ev.Reach = field(default_factory=ev.Reach)
    """When a fleet is resumed, empty fields keep their earlier values."""
    agents: int | None = None
    """Maximum number of loops at once on this machine; None for the plan's value."""
    unattended: bool = True
    """True for a fleet without a screen, which cannot ask questions."""


@dataclass(frozen=True)
class AssembledFleet:
    """A fleet that is ready to begin."""

    engine: FleetEngine
    folder: FleetFolder
    dispatcher: Dispatcher
    opening: Sequence[ev.FleetEvent] = field(default=())

    def begin(self) -> None:
        """Start its threads; raise ``RalphError`` if hosts cannot join."""
        self.engine.begin(*self.opening)


@contextmanager
def new_fleet(folder: Path, plan: Plan, connection: Connection) -> Iterator[AssembledFleet]:
    """Assemble a fleet in the repository around `folder`, and hold its lock within the block.

    Raises ``UsageError``, ``LockHeldError``, ``WorkspaceError`` or ``JournalError``.
    """
    repository = open_repository(folder)
    source = source_of(repository, plan.base)
    commit = source.commit
    _check(repository, plan, connection)
    fleet_id = str(uuid4())
    with ExitStack() as held:
        lock = held.enter_context(_lock_fleet(repository, fleet_id))
        if plan.agents if connection.agents is None else connection.agents:
            check_base(repository, source, plan, _clones_folder(connection))
        records = create_fleet(repository.root)
        held.callback(remove_unbegun, records)
        start = ev.FleetStarted(
            program_version=__version__,
            fleet_id=fleet_id,
            name=records.name,
            root=str(repository.root),
            commit=commit,
            plan=plan,
            reach=connection.reach,
            unattended=connection.unattended,
            pid=os.getpid(),
            host=socket.gethostname(),
        )
        opening = [start, *start_notices(repository, plan, commit)]
        yield _assemble(
            _Parts(repository, records, lock, start, source, FleetState(), opening),
            connection,
            held,
        )


@contextmanager
def resume_fleet(records: FleetFolder, connection: Connection, by: str) -> Iterator[AssembledFleet]:
    """Assemble a fleet that was stopped or whose process is gone. Raises like `new_fleet`."""
    with ExitStack() as held:
        recording = read_fleet(records.journal)
        start = recording.events[0]
        assert isinstance(start, ev.FleetStarted)
        repository = open_repository(find_repository(start.root))
        if copied := copied_words(records, start):
            raise UsageError(
                f"{copied}; resume it there, or start another one here with 'ralph-tui fleet run'"
            )
        lock = held.enter_context(_lock_fleet(repository, start.fleet_id))
        recording = read_fleet(records.journal)  # read again: under the lock, no one else writes it
        if recording.broken:
            raise UsageError(
                f"{records.name} cannot continue: {recording.broken}, and resume again, or start "
                "another fleet with 'ralph-tui fleet run'"
            )
        state = recording.state()
        if reason := end_reason(state):
            raise UsageError(
                f"{records.name} has ended: {reason}; start another one with 'ralph-tui fleet run'"
            )
        source = source_of(repository, start.commit)
        said = {name: value for name, value in connection.reach if value}
        connection = replace(connection, reach=state.reach.model_copy(update=said))
        _check(repository, start.plan, connection)
        if start.plan.agents if connection.agents is None else connection.agents:
            check_home(state, start.fleet_id, _clones_folder(connection))
        cut(recording.journal)
        resumed = ev.FleetResumed(
            by=by,
            reach=connection.reach,
            unattended=connection.unattended,
            pid=os.getpid(),
            host=socket.gethostname(),
        )
        yield _assemble(
            _Parts(
                repository, records, lock, start, source, state, [resumed, *resume_notices(state)]
            ),
            connection,
            held,
        )


def _check(repository: Repository, plan: Plan, connection: Connection) -> None:
    """Raise ``UsageError`` for a problem that would make every loop fail."""
    way = f"refs/heads/{BELOW.rstrip('/')}"
    if not repository.git("show-ref", "--verify", "--quiet", way, accept=None).status:
        raise UsageError(
            f"a branch is called {BELOW.rstrip('/')}, so fleets cannot create theirs below it: "
            "rename it with git branch -m"
        )
    agents = plan.agents if connection.agents is None else connection.agents
    if agents:
        check_trees(repository.root, _clones_folder(connection))
    if not connection.reach.listen:  # other hosts may have an agent that this machine lacks
        check_agents(repository.root, plan)


@dataclass(frozen=True)
class _Parts:
    """Parts of a fleet, new or resumed."""

    repository: Repository
    records: FleetFolder
    lock: Lock
    start: ev.FleetStarted
    source: Source
    state: FleetState
    opening: Sequence[ev.FleetEvent]


def _assemble(parts: _Parts, connection: Connection, held: ExitStack) -> AssembledFleet:
    start, records = parts.start, parts.records
    clock = SystemClock(parts.state.at if parts.state.seq else None)

    @cache
    def mirror(loop: str, attempt: int) -> Mirror:
        return Mirror(records.mirror(loop, attempt))

    dispatcher = _make_dispatcher(start, records, connection)
    trees = _clones_folder(connection)
    held.callback(_remove_empty, trees / start.fleet_id)
    results = CollectedWork(parts.repository, start, trees)
    _ = results.copied  # read now, to report errors before anything begins
    outside = EngineParts(dispatcher, parts.source, mirror, results, parts.lock.keep_name)
    state = parts.state
    journal = Journal(records.journal, clock, seq=state.seq, last_at=state.at)
    engine = FleetEngine(journal, clock, outside, state)
    if connection.reach.listen:
        engine.warn(KEY_HOLDERS)
    hearing = hearing_fleet(engine.request, engine.warn)
    address = held.enter_context(serving(hearing, start.fleet_id))
    parts.lock.rename(records.name, str(address or ""))
    _keep_base(parts.repository, start)
    held.callback(_release_base, parts.repository, start, engine)
    return AssembledFleet(engine, records, dispatcher, parts.opening)


def _make_dispatcher(
    start: ev.FleetStarted, records: FleetFolder, connection: Connection
) -> Dispatcher:
    """Make the dispatcher; imports Dask, so only a fleet's process calls it."""
    from ralph_tui.fleet.dispatch.dispatcher import DaskDispatcher  # noqa: PLC0415

    agents = start.plan.agents if connection.agents is None else connection.agents
    reach, trees = connection.reach, _clones_folder(connection)

    def make_host(observe: Observe) -> LoopHost:
        return WorkerHost(HERE, agents, trees, observe)

    return DaskDispatcher(
        records.log,
        start.fleet_id,
        f"{start.name} of {Path(start.root).name}",
        make_host if agents else None,
        slots=agents,
        listen=Address.parse(reach.listen) if reach.listen else None,
        keys=Path(reach.tls) if reach.tls else None,
    )


def _keep_base(repository: Repository, start: ev.FleetStarted) -> None:
    """Protect the base commit from git's clean-up, even if the user removes its branches."""
    repository.git("update-ref", f"{BASES}{start.fleet_id}", start.commit)


def _release_base(repository: Repository, start: ev.FleetStarted, engine: FleetEngine) -> None:
    if not engine.state.seq or end_reason(engine.state):
        repository.git("update-ref", "-d", f"{BASES}{start.fleet_id}", accept=None)


def _clones_folder(connection: Connection) -> Path:
    """Return the folder for the clones of this process's own loops."""
    return Path(connection.reach.trees) if connection.reach.trees else usual_base()


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # a clone is left, or there never was one
        folder.rmdir()


@contextmanager
def _lock_fleet(repository: Repository, fleet_id: str) -> Iterator[Lock]:
    since = datetime.now(UTC).astimezone().isoformat(sep=" ", timespec="seconds")
    lock = take_lock(repository.root, fleet_id, since)
    try:
        with no_orphans():
            yield lock
    finally:
        lock.release()
