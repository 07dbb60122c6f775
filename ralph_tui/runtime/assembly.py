"""Assemble a run from lock, records, agents, loop and engine, and hand it to a front end."""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import uuid4

from ralph_tui import __version__
from ralph_tui.adapters.agents import selectable_agents
from ralph_tui.adapters.knowledge import open_knowledge
from ralph_tui.adapters.outreach import EscalationHandler, Readings, outbox_folder
from ralph_tui.adapters.processes.memory import MemorySampler, resident_bytes
from ralph_tui.adapters.processes.sweep import FLEET_LOOP, FLEET_NAME, no_orphans, sweep
from ralph_tui.adapters.records.aiwg.checkpoint_files import AiwgCheckpointFiles, Probes
from ralph_tui.adapters.records.aiwg.traces import read_traces
from ralph_tui.adapters.records.attempts import AttemptFolder, prepare_folder
from ralph_tui.adapters.records.foreign import track_hooked_loops
from ralph_tui.adapters.records.handoff_copies import copy_handoff
from ralph_tui.adapters.records.journal import Journal, cut
from ralph_tui.adapters.records.lock import Lock
from ralph_tui.adapters.records.runs import recorded_run_ids
from ralph_tui.adapters.records.state_file import RunStateFile
from ralph_tui.adapters.records.status import worked_until
from ralph_tui.adapters.remote.server import listening
from ralph_tui.adapters.workspace.git_status import CachedStatus, commits_between
from ralph_tui.adapters.workspace.plan_file import read_plan_file
from ralph_tui.adapters.workspace.repository import Repository
from ralph_tui.adapters.workspace.snapshots import GitWorkspace
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.adapters.workspace.watching import FileWatcher
from ralph_tui.adapters.workspace.work_commits import WorkCommits
from ralph_tui.base.errors import UsageError, WorkspaceError
from ralph_tui.events import Event, RunCrashed, RunFinished, RunResumed, RunStarted
from ralph_tui.events.run import UNRESTRICTED
from ralph_tui.layers.sensor.counts import count_tests
from ralph_tui.loop.loop import Loop
from ralph_tui.loop.recovery import describe_unfinished
from ralph_tui.loop.run import Layers, Run
from ralph_tui.loop.waiting.scheduler import Scheduler
from ralph_tui.ports.agents import Asker
from ralph_tui.ports.knowledge import NoKnowledge, NoPastRuns
from ralph_tui.ports.outside import Ports
from ralph_tui.runtime.clock import SystemClock
from ralph_tui.runtime.engine import Engine
from ralph_tui.runtime.past_runs import RecordedRuns
from ralph_tui.runtime.preflight import Preflight, check
from ralph_tui.runtime.request import RunRequest
from ralph_tui.runtime.resumption import Resumption, checkpoint_words, list_changes
from ralph_tui.runtime.upkeep import Upkeep
from ralph_tui.runtime.worktree_lock import acquire_worktree_lock
from ralph_tui.state import RunState
from ralph_tui.text.format import count

OUTREACH_SECONDS = 3.0
"""Seconds that the end of a run waits for messages to be sent; unsent ones stay in the outbox."""


@dataclass(frozen=True)
class AssembledRun:
    """A run that is ready to begin, with everything a front end needs."""

    engine: Engine
    loop: Loop
    attempt: AttemptFolder
    outreach: EscalationHandler
    close: Callable[[], None]
    """Release the run's resources, the worktree's lock last.

    Needed only if the run's screen stays open after the run has ended. Otherwise, leaving the
    `with` block that assembled the run does it.
    """
    past: Sequence[Event] = ()
    """Events already in the journal of a resumed run."""

    @property
    def worked_until(self) -> datetime:
        """When a run that is being resumed last worked."""
        known = worked_until(self.attempt.status, self.loop.start.run_id, self.past)
        return min(self.engine.clock.now(), known)

    def begin(self) -> None:
        """Start the engine's thread."""
        self.outreach.resume()
        run = self.loop.run
        if self.past:
            run = partial(self.loop.resume, _run_resumed(self.engine, self.loop, self.worked_until))
        self.engine.start_thread(run, self.loop.scheduler.stop_work)


@dataclass(frozen=True)
class _Parts:
    """The parts of a new or resumed run."""

    request: RunRequest
    preflight: Preflight
    attempt: AttemptFolder
    lock: Lock
    start: RunStarted
    layers: Layers
    state: RunState
    """The fold of the events already in the journal."""


@contextmanager
def new_run(
    folder: Path, request: RunRequest, warn: Callable[[str], None]
) -> Iterator[AssembledRun]:
    """Assemble a run in the repository around `folder`; hold its lock until the block ends.

    `warn` receives a sentence for anything that failed at the run's end. Raises ``UsageError``,
    ``LockHeldError``, ``WorkspaceError`` or ``JournalError``.
    """
    preflight = check(folder, request)
    repository, run_id = preflight.repository, str(uuid4())
    track_hooked_loops(repository.root)  # the plan uses reflections on these loops
    with ExitStack() as held:
        lock = held.enter_context(_locked(repository, run_id))
        attempt = AttemptFolder.create(repository.root, request.objective, datetime.now(UTC))
        lock.rename(attempt.name)
        start = _run_started(request, preflight, attempt, run_id)
        layers = Layers.of(request.settings, request.command)
        parts = _Parts(request, preflight, attempt, lock, start, layers, RunState())
        yield _assemble(parts, held, warn)


@contextmanager
def resumed_run(
    folder: Path, resumption: Resumption, warn: Callable[[str], None]
) -> Iterator[AssembledRun]:
    """Assemble a run that had ended, ready to continue; `warn` and errors as in `new_run`."""
    request, start = resumption.request, resumption.start
    preflight = check(folder, request)
    repository = preflight.repository
    present = {"branch": repository.branch(), "commit": repository.head()}
    start = start.model_copy(update=present)
    with ExitStack() as held:
        lock = held.enter_context(_locked(repository, start.run_id))
        if resumption.recording.is_outdated:
            raise UsageError(
                f"{resumption.run.name} was continued by another resume; see "
                "'ralph-tui status', then try again"
            )
        cut(resumption.recording, resumption.keep)
        task, attempt_number = resumption.run.name.split("/")
        attempt = AttemptFolder(repository.root, task, attempt_number, start.objective)
        lock.rename(attempt.name)
        layers, state = resumption.layers, resumption.state
        parts = _Parts(request, preflight, attempt, lock, start, layers, state)
        run = _assemble(parts, held, warn)
        if resumption.extension is not None:
            run.engine.send(resumption.extension)
        yield replace(run, past=resumption.past)


@contextmanager
def _locked(repository: Repository, run_id: str) -> Iterator[Lock]:
    records = prepare_folder(repository.root)
    lock = acquire_worktree_lock(records / "lock", run_id=run_id)
    try:
        with no_orphans():
            yield lock
    finally:
        lock.release()


def _engine(parts: _Parts) -> Engine:
    state, attempt = parts.state, parts.attempt
    clock = SystemClock(state.at if state.seq else None)
    journal = Journal(attempt.journal, clock, seq=state.seq, last_at=state.at)
    upkeep = Upkeep(attempt, clock)
    engine = Engine(
        journal,
        clock,
        status=attempt.status,
        state=state,
        keep_lock=parts.lock.keep_name,
        keep_files=upkeep.tick,
    )
    engine.subscribe(upkeep.note)
    return engine


@contextmanager
def _outreach_closed(outreach: EscalationHandler, warn: Callable[[str], None]) -> Iterator[None]:
    try:
        yield
    finally:
        if left := outreach.close(OUTREACH_SECONDS):
            warn(
                f"{count(left, 'message')} could not be delivered; the next run here will try again"
            )


def _assemble(parts: _Parts, held: ExitStack, warn: Callable[[str], None]) -> AssembledRun:
    """Assemble the run; add to `held`, which has the lock, whatever must be released at its end."""
    request, preflight, attempt, lock = parts.request, parts.preflight, parts.attempt, parts.lock
    settings, repository, run_id = request.settings, preflight.repository, parts.start.run_id
    root, engine = repository.root, _engine(parts)
    clock = engine.clock
    engine.subscribe(lambda event: _finish(attempt, engine, event))
    # The lock is held, so all other runs have ended, and so has any earlier process of this run.
    dead = recorded_run_ids(root)
    workspace = GitWorkspace(repository, run_id)
    outreach = EscalationHandler(
        preflight.channels,
        outbox_folder(root),
        engine.emit,
        clock,
        readings=lambda: _readings(engine),
        fleet_loop="/".join(os.environ[name] for name in (FLEET_NAME, FLEET_LOOP))
        if FLEET_LOOP in os.environ and FLEET_NAME in os.environ
        else "",
    )
    agent, *fallbacks = preflight.build_agents(run_id, lock.descriptor)
    looks = CachedStatus(repository)
    ports = Ports(
        agent=agent,
        gate=ShellGate(
            request.command,
            cwd=root,
            run_id=run_id,
            timeout_s=settings.gate.timeout_s,
            lock_fd=lock.descriptor,
            count_tests=lambda lines: parts.layers.guard.attempt(
                "sensor",
                lambda: count_tests(lines),
                lambda: None,
                instead="only the exit code of the completion command counts",
            ),
        )
        if request.command is not None
        else None,
        workspace=workspace,
        watcher=FileWatcher(workspace, engine.emit),
        records=attempt,
        outreach=outreach,
        fallbacks=fallbacks,
        absent=preflight.lineup.absent,
        agent_notes=preflight.lineup.notes,
        commits=WorkCommits(workspace, run_id, lock.descriptor),
        copy_handoff=lambda text, before: copy_handoff(root, text, clock.now(), before),
        checkpoint_files=AiwgCheckpointFiles(
            attempt,
            root,
            clock,
            Probes(
                read_git=looks.status,
                count_tests=lambda: len(looks.test_files()),
                commits_between=lambda before, after: commits_between(repository, before, after),
            ),
            plan=request.plan or "",
            command=request.command or "",
        ),
        knowledge=open_knowledge(root, run_id, settings.memory)
        if settings.memory.enabled
        else NoKnowledge(),
        past=RecordedRuns(attempt, parts.start.agent, parts.start.model)
        if settings.memory.enabled
        else NoPastRuns(),
        memory=MemorySampler(lambda: resident_bytes(run_id, commands=True)),
        asker=agent if isinstance(agent, Asker) else None,
        askers=[one.name for one in selectable_agents() if one.small_model],
        read_plan=lambda: read_plan_file(root, preflight.plan),
        read_traces=lambda k, since: read_traces(attempt.folder, root, k, since),
        test_files=looks.test_files,
        template=preflight.template,
        state_file=RunStateFile(
            root, settings.context.state_file, lambda: read_plan_file(root, preflight.plan)
        )
        if settings.context.state_file
        else None,
        sweep=lambda: sweep(dead.__contains__, root),
    )
    scheduler = Scheduler(engine, parts.state, workspace.hurry, ports.knowledge)
    run = Run(parts.start, settings, ports, parts.layers, scheduler)
    held.enter_context(closing(workspace))
    address = held.enter_context(listening(engine, run_id))
    held.enter_context(_outreach_closed(outreach, warn))
    lock.rename(attempt.name, str(address or ""))
    return AssembledRun(engine, Loop(run), attempt, outreach, held.close)


def _run_resumed(engine: Engine, loop: Loop, worked: datetime) -> RunResumed:
    start, state = loop.start, engine.state
    return RunResumed(
        program_version=__version__,
        pid=os.getpid(),
        host=socket.gethostname(),
        mode=start.mode,
        branch=start.branch,
        commit=start.commit,
        found="; ".join(
            [
                describe_unfinished(state, worked),
                *list_changes(state, start, state.at - datetime.now(UTC)),
            ]
        ),
        checkpoints="\n".join(checkpoint_words(state, worked)),
        away_s=max(0.0, (engine.clock.now() - (state.run.ended_at or worked)).total_seconds()),
    )


def _run_started(
    request: RunRequest, preflight: Preflight, attempt: AttemptFolder, run_id: str
) -> RunStarted:
    settings, repository = request.settings, preflight.repository
    return RunStarted(
        program_version=__version__,
        run_id=run_id,
        task=attempt.task,
        attempt=attempt.attempt,
        root=str(repository.root),
        objective=request.objective,
        command=request.command,
        criterion=request.criterion,
        until_promise=request.until_promise,
        mode=request.mode,
        plan=request.plan,
        agent=preflight.agent.name,
        model=settings.agent.model,
        permissions=settings.permissions.mode if preflight.agent.restricted else UNRESTRICTED,
        max_iterations=settings.limits.max_iterations,
        session_timeout_s=settings.limits.session_timeout_s,
        budget_usd=settings.limits.budget_usd,
        budget_tokens=settings.limits.budget_tokens,
        iteration_budget_usd=settings.limits.iteration_budget_usd,
        iteration_budget_tokens=settings.limits.iteration_budget_tokens,
        scenario=request.scenario,
        fast=request.fast,
        branch=repository.branch(),
        commit=repository.head(),
        pid=os.getpid(),
        host=socket.gethostname(),
        config=settings.of_the_run(),
        set_names=list(request.set_names),
    )


def _readings(engine: Engine) -> Readings:
    run = engine.state.run
    return Readings(
        completion=run.completion,
        best=None if run.completion is None else run.best,
        best_iteration=run.best_iteration,
        cost_usd=run.cost_usd if run.cost_known else None,
    )


def _finish(attempt: AttemptFolder, engine: Engine, event: Event) -> None:
    # These files can be rebuilt: a disk error must not keep the end from being reported.
    began = engine.state.run.started is not None
    if isinstance(event, RunFinished | RunCrashed) and began:
        with suppress(OSError, WorkspaceError):
            attempt.write_projections(attempt.project(engine.state))
