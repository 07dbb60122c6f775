"""Wires a run: repository, lock, records, agent, gate, engine; then hands it to a front end.

Whatever can be wrong before a run begins is found here, before any screen opens.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from ralph_tui import __version__, agents
from ralph_tui.cli.order import Order
from ralph_tui.engine import Engine, SystemClock
from ralph_tui.errors import UsageError, WorkspaceError
from ralph_tui.events import Event, RunCrashed, RunFinished, RunStarted
from ralph_tui.loop import Loop, Rules
from ralph_tui.observation.plan import Progress, read_plan
from ralph_tui.ports import Ports
from ralph_tui.processes.sweep import sweep
from ralph_tui.records.attempts import AttemptFolder, prepare_folder
from ralph_tui.records.journal import Journal
from ralph_tui.records.lock import Lock, acquire
from ralph_tui.records.runs import recorded_run_ids
from ralph_tui.silence import Patience
from ralph_tui.text import redact
from ralph_tui.workspace.repository import Repository, open_repository
from ralph_tui.workspace.snapshots import GitWorkspace
from ralph_tui.workspace.verification import ShellGate
from ralph_tui.workspace.watching import FileWatcher

LARGEST_PLAN = 1 << 20
"""Bytes of a plan file that are read."""


@dataclass(frozen=True)
class Launched:
    """A run that is ready to begin, and everything a front end needs of it."""

    engine: Engine
    loop: Loop
    attempt: AttemptFolder

    def begin(self) -> None:
        """Start the engine's thread."""
        self.engine.start_thread(self.loop.run(), self.loop.helm.stop_work)


@contextmanager
def launched(folder: Path, order: Order) -> Iterator[Launched]:
    """A run in the repository around `folder`, its lock held until the block is left.

    Raises ``UsageError``, ``LockHeldError``, ``WorkspaceError`` or ``JournalError``.
    """
    repository, plan = refuse(folder, order)
    run_id = str(uuid4())
    records = prepare_folder(repository.root)
    now = datetime.now(UTC)
    since = now.astimezone().isoformat(sep=" ", timespec="seconds")
    lock = acquire(records / "lock", "", run_id, since)
    try:
        attempt = AttemptFolder.create(repository.root, order.objective, now)
        lock.rename(attempt.name)
        yield _wire(order, repository, attempt, run_id, lock, plan)
    finally:
        lock.release()


def refuse(folder: Path, order: Order) -> tuple[Repository, Path | None]:
    """Find the repository and the plan; raises whatever can be said before anything is written."""
    repository = open_repository(folder)
    plan = _plan(repository.root, order.plan)
    agents.build(_agent(order), _agent_settings(order, repository.root, "", None))
    return repository, plan


def _wire(
    order: Order,
    repository: Repository,
    attempt: AttemptFolder,
    run_id: str,
    lock: Lock,
    plan: Path | None,
) -> Launched:
    settings, root = order.settings, repository.root
    clock = SystemClock()
    journal = Journal(attempt.journal, clock)
    engine = Engine(journal, clock, status=attempt.status, keep_lock=lock.keep_name)
    engine.subscribe(lambda event: _finish(attempt, event))
    dead = recorded_run_ids(root) - {run_id}
    workspace = GitWorkspace(repository, run_id)
    ports = Ports(
        agent=agents.build(_agent(order), _agent_settings(order, root, run_id, lock.descriptor)),
        gate=ShellGate(
            order.command,
            cwd=root,
            run_id=run_id,
            timeout_s=settings.gate.timeout_s,
            lock_fd=lock.descriptor,
        ),
        workspace=workspace,
        watcher=FileWatcher(workspace, engine.emit),
        records=attempt,
        read_plan=lambda: _read_plan(plan),
        sweep=lambda: sweep(dead.__contains__),
    )
    rules = Rules(
        settings.control,
        settings.progress,
        settings.checkpoints.interval_s,
        Patience(settings.agent.silence_s, settings.agent.silence_answer_s),
    )
    start = _run_started(order, repository, attempt, run_id)
    return Launched(engine, Loop(start, rules, ports, engine, engine.state), attempt)


def _run_started(
    order: Order, repository: Repository, attempt: AttemptFolder, run_id: str
) -> RunStarted:
    settings = order.settings
    return RunStarted(
        program_version=__version__,
        run_id=run_id,
        task=attempt.task,
        attempt=attempt.attempt,
        root=str(repository.root),
        objective=order.objective,
        command=order.command,
        plan=order.plan,
        agent=_agent(order),
        model=settings.agent.model,
        permissions=settings.permissions.mode,
        max_iterations=settings.limits.max_iterations,
        session_timeout_s=settings.limits.session_timeout_s,
        budget_usd=settings.limits.budget_usd,
        budget_tokens=settings.limits.budget_tokens,
        iteration_budget_usd=settings.limits.iteration_budget_usd,
        iteration_budget_tokens=settings.limits.iteration_budget_tokens,
        scenario=order.scenario,
        branch=repository.branch(),
        commit=repository.head(),
        pid=os.getpid(),
        host=socket.gethostname(),
        config=settings.by_name(),
    )


def _agent(order: Order) -> str:
    """Who works; empty when nobody was chosen and Claude Code is not installed."""
    agent = order.settings.agent
    # A program that was named says itself what is wrong with it.
    named = "claude" if agent.binary != "claude" else ""
    return agent.name or agents.default_agent(agent.binary) or named


def _agent_settings(order: Order, root: Path, run_id: str, lock_fd: int | None) -> agents.Settings:
    return agents.Settings(
        root=root,
        run_id=run_id,
        lock_fd=lock_fd,
        timeout_s=order.settings.limits.session_timeout_s,
        model=order.settings.agent.model,
        binary=order.settings.agent.binary,
        command=order.settings.agent.command or "",
        scenario=order.scenario or "steady",
        fast=order.fast,
    )


def _finish(attempt: AttemptFolder, event: Event) -> None:
    # The metadata is a projection: a disk that refuses it must not keep the end from being told.
    with suppress(OSError, WorkspaceError):
        match event:
            case RunFinished():
                attempt.finish(event.outcome, event.at)
            case RunCrashed():
                attempt.finish("failed", event.at)


def _plan(root: Path, name: str | None) -> Path | None:
    if name is None:
        return None
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        raise UsageError(f"the plan {redact(name)} lies outside the repository; name one inside it")
    if not path.is_file():
        raise UsageError(
            f"there is no plan {redact(name)} in {root}; create it or leave --plan out"
        )
    return path


def _read_plan(path: Path | None) -> Progress | None:
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_PLAN).decode("utf-8", "replace")
    except OSError:
        return None
    return read_plan(text, path.name)
