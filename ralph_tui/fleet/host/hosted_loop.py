"""One attempt of a loop on this host, from its order to its removal.

Its run is a child process under a keeper, which ends the run if this process dies. A thread makes
the clone and follows the run. Each request after the run's end gets its own thread.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from ralph_tui.adapters.clones.bases import Bases
from ralph_tui.adapters.clones.filling import (
    SETUP,
    SETUP_LIMIT_S,
    SetupError,
    put_copied,
    run_setup,
    untracked,
)
from ralph_tui.adapters.clones.making import make_clone, make_worktree, remove_tree
from ralph_tui.adapters.clones.places import PlaceRecord, TreeFolder
from ralph_tui.adapters.clones.probing import Probe
from ralph_tui.adapters.processes.child import Child, Exit, launch
from ralph_tui.adapters.workspace.verification import ShellGate
from ralph_tui.base.errors import RalphError, WorkspaceError, why, workspace_error
from ralph_tui.base.plain_files import open_append, open_emptied, read_bytes
from ralph_tui.events.run import Outcome
from ralph_tui.fleet.host.preparing import (
    POLL_S,
    Slots,
    environment,
    resume_words,
    run_words,
    take_block,
    wait_for_end,
)
from ralph_tui.fleet.host.run_follower import RunFollower, RunReporter
from ralph_tui.fleet.host.supervisor import Channel, Inbox, RunSupervisor
from ralph_tui.fleet.ports import (
    Adopt,
    CommandAnswered,
    Ended,
    HostNoticed,
    LoopSummary,
    Observe,
    SendCommand,
    Stage,
    StageName,
)
from ralph_tui.ports.clones import Place
from ralph_tui.text.sanitize import one_line, shorten

MAX_STDERR = 1 << 20
"""Maximum number of bytes read from a run's stderr."""
MAX_WORDS = 500
BY_KEEPER = "stopped by SIGINT"
"""Reason that a run records when its keeper stops it: no user can press ctrl+c there."""
HOST_GONE = "its process died"
SILENT = "its host was suspended for longer than its lease"


def end_of_run(key: tuple[str, int], follower: RunFollower | None) -> Ended:
    """Return the end of a run that is no longer alive, according to its journal."""
    loop, attempt = key
    known = {"loop": loop, "attempt": attempt}
    if follower is None or not follower.seq:
        reason = "its run was stopped before its first event"
        return Ended(**known, outcome="interrupted", reason=reason, never_began=True)
    outcome, reason = follower.outcome, follower.reason
    if outcome is None:
        outcome, reason = "interrupted", "its process was killed before it recorded an end"
    return Ended(**known, outcome=outcome, reason=reason, seq=follower.seq)


def end_of_found(key: tuple[str, int], follower: RunFollower | None) -> Ended:
    """Like `end_of_run`, for a run whose keeper ended it because the host's process was gone."""
    over = end_of_run(key, follower)
    if over.outcome == "interrupted" and over.reason == BY_KEEPER:
        return over.model_copy(update={"reason": HOST_GONE})
    return over


def end_after_exit(
    key: tuple[str, int], follower: RunFollower | None, exit_: Exit, stderr: Path, ended: str
) -> Ended:
    """Like `end_of_run`, for a run followed to its end.

    `ended` is the reason if this host ended the run, else empty.
    """
    over = end_of_run(key, follower)
    if ended and over.outcome == "interrupted":
        return over.model_copy(update={"reason": ended})
    if exit_.stopped and not exit_.lost and over.outcome == "interrupted":
        return over.model_copy(update={"reason": SILENT})
    if follower is not None and follower.outcome is not None:
        return over
    if over.never_began:
        # The run rejected its arguments, and printed why.
        reason = (
            last_message(stderr) or f"its run exited with code {exit_.code} before its first event"
        )
        update = {"outcome": "failed", "reason": reason, "elsewhere": True}
        return over.model_copy(update=update)
    if exit_.lost:
        return over.model_copy(update={"reason": f"its keeper {exit_.lost}"})
    if exit_.signal is not None:
        return over.model_copy(
            update={"reason": f"its process was terminated by signal {exit_.signal}"}
        )
    reason = last_message(stderr) or f"its process exited with code {exit_.code}"
    return over.model_copy(update={"outcome": "failed", "reason": reason})


def last_message(stderr: Path) -> str:
    """Return the first line of the last message on stderr; empty without a message."""
    with suppress(OSError):
        text = read_bytes(stderr, most=MAX_STDERR).decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if line.startswith(_PREFIX)]
        lines = lines or [line for line in text.splitlines() if line.strip()]
        if lines:
            return shorten(one_line(lines[-1].removeprefix(_PREFIX).strip()), MAX_WORDS)
    return ""


_PREFIX = "ralph-tui:"


NOT_RUNNING = "the loop is not running"
BUG = "a bug in ralph-tui ended the host's work on it; see the host's output"


MAX_CLONING = 2
"""Maximum number of clones made at once; more would only wait for the disk."""


class Preparer:
    """Makes the clones of a host's loops."""

    def __init__(self, bases: Bases) -> None:
        self._bases = bases
        self._making = threading.Semaphore(MAX_CLONING)
        self._probing = threading.Lock()
        self._probed: set[tuple[str, str, str]] = set()

    def prepare(self, loop: "HostedLoop", variables: Mapping[str, str]) -> PlaceRecord:
        """Make or find the clone of a loop; `variables` is the environment of its run.

        Raises ``RalphError`` with one sentence that explains a failure.
        """
        if loop.place.resume:
            return self._reopen(loop)
        self._refuse_work(loop.folder)
        record = self._make(loop)
        if loop.place.copied:
            loop.stage("copying")
            put_copied(loop.folder.tree, loop.place.copied)
        if loop.place.setup.strip():
            loop.stage("setup")
            self._set_up(loop, variables)
            record = record.model_copy(update={"of_setup": untracked(loop.folder.tree)})
        self._probe(loop, variables)
        loop.check()
        return loop.folder.write(record.model_copy(update={"ready": True}))

    def _make(self, loop: "HostedLoop") -> PlaceRecord:
        place, folder = loop.place, loop.folder
        loop.stage("fetching")
        origin = self._bases.origin_of(place, loop)
        # The user can see worktrees only in their own repository.
        as_worktree = place.isolation == "worktree" and origin.users
        make = make_worktree if as_worktree else make_clone
        while not self._making.acquire(timeout=POLL_S):
            loop.check()
        try:
            loop.stage("cloning")
            remove_tree(folder)  # left by a host that was killed meanwhile
            folder.create()
            record = folder.write(PlaceRecord(place=place, worktree=as_worktree))
            branch = make(folder.tree, origin, place.source, place.branch)
        except WorkspaceError:
            with suppress(WorkspaceError):
                folder.remove()  # free the space for others if the disk is full
            raise
        finally:
            self._making.release()
        return folder.write(record.model_copy(update={"branch": branch}))

    def _set_up(self, loop: "HostedLoop", variables: Mapping[str, str]) -> None:
        gate = ShellGate(
            loop.place.setup,
            cwd=loop.folder.tree,
            run_id=f"fleet-{loop.place.fleet_id}-setup",
            timeout_s=SETUP_LIMIT_S,
            env=variables,
            called=SETUP,
        )
        with loop.cancelled_by(gate.cancel):
            run_setup(gate, loop.folder.log("setup"))

    def _probe(self, loop: "HostedLoop", variables: Mapping[str, str]) -> None:
        """Probe each pair of command and set-up once, because all clones are made alike."""
        place = loop.place
        asked = (place.fleet_id, place.loop.command or "", place.setup)
        with self._probing:
            if asked in self._probed:
                return
            self._probed.add(asked)
        with ExitStack() as held:
            probe = Probe(
                loop.folder.tree,
                asked[1],
                variables,
                loop.folder.log("check"),
                lambda gate: held.enter_context(loop.cancelled_by(gate.cancel)),
            )
            if not probe.has_sources():
                return
            loop.stage("checking")
            warning = probe.run()
        if warning:
            loop.note(warning)

    def _reopen(self, loop: "HostedLoop") -> PlaceRecord:
        record = loop.folder.read()
        if record is None and (unreadable := loop.folder.unreadable()):
            raise WorkspaceError(unreadable)
        if record is None or not record.ready or not loop.folder.tree.is_dir():
            raise WorkspaceError("its working copy is no longer on this host")
        wait_for_end(loop.folder.tree, loop.check)
        return record

    def _refuse_work(self, folder: TreeFolder) -> None:
        """Refuse to replace a clone in which a run has begun, as it holds work."""
        record = folder.read()
        if record is None and (unreadable := folder.unreadable()):
            raise WorkspaceError(unreadable)
        if record is not None and record.run:
            raise WorkspaceError(
                f"this attempt ran here before ({folder.tree}): resume or collect it"
            )


class HostedLoop:
    """An attempt on this host; its methods are thread-safe and do not block."""

    def __init__(
        self, place: Place, folder: TreeFolder, observe: Observe, preparer: Preparer, slots: Slots
    ) -> None:
        """Register an attempt; until `start` is called, it counts as over."""
        self.place = place
        self.folder = folder
        self.busy = threading.Lock()
        """Held while its clone is being collected or removed."""
        self._observe = observe
        self._preparer = preparer
        self._slots = slots
        self._reporter = RunReporter(place, folder, observe)
        self._inbox = Inbox()
        self._lock = threading.Lock()
        self._resending = threading.Lock()
        self._ending = ""
        """Why this host is ending it; empty if it is not."""
        self._cancel: Callable[[], None] | None = None
        self._over: Ended | None = None
        self._done = threading.Event()
        self._ended = threading.Event()
        """Set once its end has also been passed to the observer."""
        self._thread: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        """True while its run, or the preparation for the run, is in progress."""
        return self._thread is not None and not self._done.is_set()

    @property
    def key(self) -> tuple[str, int]:
        """Loop id and attempt number."""
        return self.place.loop.id, self.place.attempt

    def summary(self) -> LoopSummary:
        """Return the summary that a host sends when it joins."""
        loop, attempt = self.key
        return LoopSummary(loop=loop, attempt=attempt, alive=self.alive, seq=self._reporter.seq)

    def start(self, before: "HostedLoop | None" = None) -> None:
        """Start the thread, which first waits for the end of the attempt `before`."""
        name = "loop-{}-{}".format(*self.key)
        self._inbox.begin()
        self._thread = threading.Thread(
            target=self._run_thread, args=(before,), name=name, daemon=True
        )
        self._thread.start()

    def end(self, reason: str) -> None:
        """Gracefully stop the loop's run, or the preparation for it."""
        with self._lock:
            self._ending = self._ending or reason
            cancel = self._cancel
        if cancel is not None:
            cancel()
        self._inbox.wake()

    def take(self, order: SendCommand | Adopt) -> None:
        """Pass an order to the thread; if that has ended, answer it here."""
        with self._lock:
            if self.alive:
                self._inbox.orders.append(order)
                self._inbox.wake()
                return
        self._answer(order)

    def join(self, timeout: float | None = None) -> bool:
        """Wait up to `timeout` seconds for its end to be observed; return True if it was."""
        return self._thread is None or self._ended.wait(timeout)

    # -- called during preparation ------------------------------------------------------------

    def stage(self, stage: StageName) -> None:
        """Report a stage of the preparation; raise ``RalphError`` if the loop is being ended."""
        self.check()
        loop, attempt = self.key
        self._observe(Stage(loop=loop, attempt=attempt, stage=stage))

    def note(self, warning: str) -> None:
        self._observe(HostNoticed(loop=self.place.loop.id, text=warning))

    def check(self) -> None:
        """Raise ``RalphError`` if the loop is being ended."""
        if self._ending:
            raise RalphError(self._ending)

    @contextmanager
    def cancelled_by(self, cancel: Callable[[], None]) -> Iterator[None]:
        """While the block runs, let `end` call `cancel` to interrupt it."""
        with self._lock:
            self._cancel = cancel
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._cancel = None

    # -- the thread --------------------------------------------------------------------------

    def _run_thread(self, before: "HostedLoop | None") -> None:
        over = None
        try:
            if before is not None:
                before.join()
            over = self._run_attempt()
        except RalphError as error:
            if self._ending:
                over = self._failed("interrupted", self._ending)
            else:
                here_alone = not isinstance(error, SetupError)
                over = self._failed("failed", str(error), elsewhere=here_alone)
        finally:
            # A bug's traceback goes to the thread's exception hook; the fleet still gets an end.
            self._finish(over or self._failed("failed", BUG))

    def _failed(self, outcome: Outcome, reason: str, *, elsewhere: bool = False) -> Ended:
        loop, attempt = self.key
        seq, record = self._reporter.seq, self.folder.read()
        never = not seq and (record is None or not record.run)
        common = {"loop": loop, "attempt": attempt, "seq": seq, "never_began": never}
        common["elsewhere"] = never and elsewhere
        return Ended.model_validate({**common, "outcome": outcome, "reason": reason})

    def _run_attempt(self) -> Ended:
        with ExitStack() as held:
            slot = held.enter_context(self._slots.acquire(self.check, self.note))
            block = take_block(self.place.ports)
            if block is not None:
                held.callback(block.release)
            ports = None if block is None else block.range
            variables = environment(self.place, slot, ports)
            record = self._preparer.prepare(self, variables)
            self.stage("starting")
            channel = held.enter_context(closing(Channel(self._observe)))
            child = self._launch(record, channel, variables)
            held.callback(child.wait)
            held.callback(child.stop)
            child.at_end(self._inbox.wake)
            running = RunSupervisor(child, channel, self._reporter, self.folder, ports)
            ended = running.follow(self._inbox, lambda: self._ending)
            stderr = self.folder.log("errors")
            over = end_after_exit(self.key, self._reporter.follower, ended, stderr, self._ending)
            if record.run and over.never_began:  # a resumed run that recorded nothing new
                known = {"never_began": False, "seq": self.place.seen}
                return over.model_copy(update=known)
            return over

    def _launch(self, record: PlaceRecord, channel: Channel, variables: Mapping[str, str]) -> Child:
        place, theirs = self.place, channel.theirs.fileno()
        resumes = place.resume and record.run
        words = resume_words(place, record.run, theirs) if resumes else run_words(place, theirs)
        loop, attempt = self.key
        try:
            output, errors = self.folder.log("run"), self.folder.log("errors")
            with open_append(output) as out, open_emptied(errors) as err:
                child = launch(
                    words,
                    cwd=self.folder.tree,
                    env=variables,
                    run_id=f"fleet-{place.fleet_id}-{loop}-{attempt}",
                    stdout=out,
                    stderr=err,
                    inherited=(theirs,),
                    silence_s=place.lease_s,
                )
        except OSError as error:
            raise workspace_error(
                f"cannot write to {self.folder.folder}: {why(error, 'make it writable')}", error
            ) from error
        channel.theirs.close()
        return child

    # -- after the end -----------------------------------------------------------------------

    def _finish(self, over: Ended) -> None:
        with self._lock:
            self._over = over
            self._done.set()
            left = list(self._inbox.orders)
            self._inbox.orders.clear()
            self._inbox.close()
        self._reporter.close()
        self._observe(over)
        self._ended.set()
        for order in left:
            self._answer(order)

    def _answer(self, order: SendCommand | Adopt) -> None:
        if isinstance(order, SendCommand):
            self._observe(CommandAnswered(id=order.id, refused=NOT_RUNNING))
            return
        # A lot may have to be sent again.
        threading.Thread(target=self._resend, args=(order.seen,), daemon=True).start()

    def _resend(self, seen: int) -> None:
        with self._resending:
            if self._thread is None:
                with suppress(WorkspaceError):  # report its current state anyway
                    wait_for_end(self.folder.tree)
            if not self._reporter.began:
                self._reporter.restore()
            self._reporter.resend(seen)
            over = self._over or end_of_found(self.key, self._reporter.follower)
            self._reporter.close()
            self._observe(over)
