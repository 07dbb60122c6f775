"""The scheduler: the only place where a run waits, and so where it handles user commands.

Theory of operation
-------------------

Threads. Only the engine's thread runs the loop. `record` passes an event to the engine, which
stamps it, appends it to the journal and folds it into `state` before the call returns. `state`
therefore always matches the journal, and nothing here needs a lock. Jobs (git, the completion
command, files), the agent's readers, the file watcher, the command socket and the screen have their
own threads. None of them accesses the state of a run.

Inbox. These threads reach the run through the host's inbox, in order of arrival. It carries
observations (`Event`), finished work (`Job`), commands (`Command`), and commands whose sender waits
for an answer (`CommandRequest`). `receive` returns the next item, or None after `LOOK_S` seconds.

Waits. Everything that takes time is a call here: `wait_until` a condition, `run_job`, `join` for
jobs begun by `spawn`, `wait_for_session`, `sleep_until`. All of them use `wait_until`, which takes
items from the inbox until its condition holds. It records an observation and handles a command. It
marks a job as done, and calls the job's `then` if nothing waits for it. Between two items, it runs
the timer and the wait's `look_after`. A pause, guidance, a checkpoint or an abort therefore takes
effect within `LOOK_S` plus the time to handle one item.

Controls. The effect of a command depends on the current wait, which offers its `Controls` for the
length of a with-block. During a session a checkpoint can be taken, during a pause files can be
restored, and during a limit the user can retry. A command whose control is not offered is refused.

Ends. `end` only records how the run should end and stops the work. It is called by a stop, an
abort, the watchdog, or a wait for a user who has asked for a stop. `wait_until` raises `Ended` when
its condition holds; an `idle` wait (for a person or for time) raises it at once. A step therefore
always finds its job or session finished. A step raises `Ended` itself for an end it detects
(completed, limit reached, hopeless agent). `Loop.run_to_end` catches it and closes the run; after
`close`, no wait raises it again. Errors of a job are raised where the step waits for it.

The disk may fill up at any of these moments: see `disk_full`.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from ralph_tui.base.errors import NoRoomError, RalphError, WorkspaceError, why
from ralph_tui.commands import Abort, Command, Controls, Present, Stop, refusal
from ralph_tui.events import CommandRefused, Event, LearningChanged, Noticed, SessionFinished
from ralph_tui.events.memory import Change, unchanged_words
from ralph_tui.events.run import Outcome
from ralph_tui.layers.memory.user_reflection import user_reflection
from ralph_tui.loop.waiting.disk_full import RETRY_S, is_full, wait_began, wait_ended
from ralph_tui.loop.waiting.ends import Ended, Late
from ralph_tui.ports.agents import Session
from ralph_tui.ports.host import Accepted, CommandRequest, Host, Job, Refused
from ralph_tui.ports.knowledge import Knowledge, NoKnowledge
from ralph_tui.state import RunState


class Stopwatch:
    """Measures how long a run has worked, with the monotonic clock, which cannot be set. It starts
    from the journal's value when this process takes over the run.
    """

    def __init__(self, host: Host, state: RunState) -> None:
        self._host, self._state = host, state
        self._before_s = 0.0
        self._began: float | None = None

    def start(self) -> None:
        """Start counting; the event recorded last started or resumed the run."""
        self._before_s = self._state.run.worked_s(self._state.at)
        self._began = self._host.clock.monotonic()

    @property
    def worked_s(self) -> float:
        """Seconds worked in all processes of the run; until `start`, the journal's value."""
        if self._began is None:
            return self._state.run.worked_s(self._host.clock.now())
        return self._before_s + self._host.clock.monotonic() - self._began


T = TypeVar("T")

LOOK_S = 1.0
"""Seconds to wait for one inbox item; timers are checked in between."""
JOB_S = 120.0
"""Seconds that a layer waits for a result that the run can do without."""
ENDING_S = 5.0
"""The same, once the user has ended the run."""


class Scheduler:
    """Waits on behalf of the loop, and handles the items that arrive meanwhile."""

    def __init__(
        self,
        host: Host,
        state: RunState,
        hurry: Callable[[], None] = lambda: None,
        knowledge: Knowledge | None = None,
    ) -> None:
        """`hurry` is called when the user ends the run, to cut git calls short.

        `knowledge` carries out the user's commands about learnings.
        """
        self.host = host
        self._hurry = hurry
        self.knowledge = knowledge or NoKnowledge()
        self.state = state
        self.stopwatch = Stopwatch(host, state)
        self.session: Session | None = None
        self.controls = Controls()
        """The controls that the current wait offers to commands."""
        self._end_requested: Session | None = None
        self._finished: SessionFinished
        self._ending: Ended | None = None
        self._ended_at = 0.0
        """Monotonic time at which the user ended the run."""
        self._closing = False
        self._pending: list[Job] = []
        self.seen_at: datetime | None = None
        """When the user was last active on a screen of the run; None if never."""
        self._timer: tuple[float, float, Callable[[], None]] | None = None

    def record(self, event: Event) -> None:
        """Journal and fold an event; `state` includes it when this returns."""
        self.host.record(event)

    # -- waiting -----------------------------------------------------------------------------

    @contextmanager
    def accepting(self, controls: Controls) -> Iterator[None]:
        """Offer these controls to commands until the block ends."""
        before, self.controls = self.controls, controls
        try:
            yield
        finally:
            self.controls = before

    def wait_until(self, done: Callable[[], bool], *, idle: bool = False) -> None:
        """Handle inbox items until `done`; an `idle` wait also ends when the run must end. Raises
        `Ended` afterwards if the run must end.
        """
        while not done():
            if idle and self._ending is not None:
                break
            self._process(self.host.receive(LOOK_S))
            self._fire_timer()
            if self.controls.look_after is not None:
                self.controls.look_after()
        if self._ending is not None and not self._closing:
            self._closing = True
            raise self._ending

    def wait_for_user(self, done: Callable[[], bool], activity: str) -> None:
        """Wait until `done` for the user to act, while no agent works.

        If the user has asked the run to stop after its iteration, the run ends instead of waiting.
        `activity` completes the reason, for example "it was paused".
        """

        def over() -> bool:
            if done():
                return True
            if self._ending is None and self.state.run.stopping == "after_iteration":
                self.end("interrupted", f"stopped while {activity}, as requested")
            return False

        self.wait_until(over, idle=True)

    def run_job(self, name: str, work: Callable[[], T], within_s: float = math.inf) -> T:
        """Run `work` off the engine's thread and wait for it; its error is raised here.

        A job that finds the disk full is tried again; any other ``OSError`` becomes a
        ``WorkspaceError``. Raises `Late` if it takes longer than `within_s` seconds.
        """
        began: datetime | None = None
        while True:
            job = self.host.start(name, work)
            started = self.host.clock.monotonic()
            self.wait_until(partial(self._is_over, job, started, within_s))
            if not job.done:
                raise Late(job, within_s)
            if began is not None and not is_full(job.error):
                self.record(wait_ended(self.state.run.iteration, self.seconds_since(began)))
            match job.error:
                case None:
                    return job.result  # type: ignore[return-value]
                case error if is_full(error):
                    if self._ending is not None:  # no point in waiting: the user has ended the run
                        raise NoRoomError(f"{name}: {error}; free some space") from error
                    began = self._wait_for_room(began, f"{name}: {error}")
                case OSError() as error:
                    raise WorkspaceError(
                        f"{name} failed ({error.filename or 'the system refused'}): "
                        f"{why(error, 'fix the permissions or other cause, then start again')}"
                    ) from error
                case error:
                    raise error

    def _is_over(self, job: Job, started: float, within_s: float) -> bool:
        """True if the job is done or its time is up, which is short for a run that must end."""
        until = started + within_s
        if self._ending is not None and within_s < math.inf:
            until = min(until, max(started, self._ended_at) + ENDING_S)
        return job.done or self.host.clock.monotonic() >= until

    def _wait_for_room(self, began: datetime | None, found_by: str) -> datetime:
        """Wait `RETRY_S` seconds; return when the waiting began."""
        now = self.host.clock.now()
        if began is None:
            self.record(wait_began(self.state.run.iteration, found_by))
        self.sleep_until(now + timedelta(seconds=RETRY_S))
        return began or now

    def spawn(
        self,
        name: str,
        work: Callable[[], object],
        then: Callable[[Job], None],
        *,
        holds_work: bool = False,
    ) -> None:
        """Run `work` without waiting; `then` records its events when it is done.

        `holds_work`: if the disk is full, stop the agent and the completion command.
        """

        def finish(job: Job) -> None:
            then(job)
            if holds_work and is_full(job.error):
                self.stop_work()

        job = self.host.start(name, work)
        job.then = finish
        self._pending.append(job)

    def join(self) -> None:
        """Wait for all jobs begun with `spawn`."""
        self.wait_until(lambda: not self._pending)

    def end_session(self, outcome: str) -> None:
        """Ask the session to end, but only once: a second call would kill it."""
        if self.session is not None and self.session is not self._end_requested:
            self._end_requested = self.session
            self.session.stop(outcome)

    def start_timer(self, seconds: float, act: Callable[[], None]) -> None:
        """Call `act` every `seconds` while waiting; there is only one timer."""
        self._timer = (self.host.clock.monotonic() + seconds, seconds, act)

    def stop_timer(self) -> None:
        """Stop the timer."""
        self._timer = None

    def wait_for_session(self) -> SessionFinished:
        """Wait for the end of the session and return its last event."""
        self.wait_until(lambda: self.session is None)
        return self._finished

    def sleep_until(self, moment: datetime) -> str:
        """Wait for a wall-clock time or a `RetryNow`; return what ended the wait."""
        ended_by: list[str] = []
        with self.accepting(self.controls._replace(retry=ended_by.append)):
            self.wait_until(lambda: bool(ended_by) or self.host.clock.now() >= moment, idle=True)
        return ended_by[0] if ended_by else "the clock"

    def seconds_since(self, moment: datetime | None) -> float:
        """Wall-clock seconds since a recorded moment, never negative; 0 for None."""
        if moment is None:
            return 0.0
        return max(0.0, (self.host.clock.now() - moment).total_seconds())

    @property
    def ending(self) -> bool:
        """True if the run is about to end, so that commands are refused."""
        return self._closing or self._ending is not None

    def close(self) -> None:
        """Stop all running work; from now on, no wait raises `Ended`."""
        self._closing = True
        self.stop_work()

    def stop_work(self) -> None:
        """Begin to stop the session and any job that the current wait can cancel."""
        if self.session is not None:
            self.session.stop()
        if self.controls.cancel is not None:
            self.controls.cancel()

    def _fire_timer(self) -> None:
        if self._timer is None:
            return
        due, seconds, act = self._timer
        if self.host.clock.monotonic() >= due:
            self._timer = (self.host.clock.monotonic() + seconds, seconds, act)
            act()

    def _process(self, item: object) -> None:
        match item:
            case SessionFinished():
                self.session, self._finished = None, item
                self.record(item)
            case Event():
                self.record(item)
            case Job():
                item.done = True
                if item.then is not None:
                    self._pending.remove(item)
                    item.then(item)
            case Command():
                self._handle(item)
            case CommandRequest():
                self._reply_to(item)
            case _:
                return

    def _reply_to(self, request: CommandRequest) -> None:
        """Handle the command and send the result to its sender."""
        first = self.state.seq + 1
        reason = self._handle(request.command)
        accepted = Accepted(min(first, self.state.seq))
        request.reply(accepted if reason is None else Refused(reason))

    def _handle(self, command: Command) -> str | None:
        """Carry out a user command or refuse it; return the reason for a refusal."""
        if isinstance(command, Present):  # only a sign of presence: not recorded
            self.seen_at = self.host.clock.now()
            return None
        reason = "the run is ending" if self.ending else refusal(command, self.state, self)
        if self.ending and isinstance(command, Stop | Abort):
            self._hurry()
            if self.controls.cancel is not None:  # a model may be answering at the run's end
                self.controls.cancel()
        if reason is not None:
            self.record(CommandRefused(command=command.name, reason=reason))
        else:
            command.carry_out(self)
        return reason

    # -- effects of commands --------------------------------------------------------------------

    @property
    def works(self) -> bool:
        """True while a session runs."""
        return self.session is not None

    def say(self, guidance_id: str, text: str) -> None:
        """Send guidance to the session, if one is running and accepts it."""
        if self.session is not None and self.session.takes_guidance:
            self.session.send(guidance_id, text)

    def interrupt(self) -> None:
        """End the session's turn."""
        if self.session is not None:
            self.session.stop("interrupted")

    def reflect(self, text: str) -> None:
        """Record a reflection in the user's words."""
        self.record(user_reflection(self.state, text))

    def change_learning(self, learning_id: str, change: Change, text: str, by: str) -> None:
        """Change a learning in the background; record the change, or why it failed."""

        def on_done(job: Job) -> None:
            if isinstance(job.error, RalphError | OSError):
                why_not = unchanged_words(learning_id, str(job.error))
                self.record(Noticed(level="warn", source="memory", text=why_not))
            elif job.error is not None:
                raise job.error
            else:
                words = text if change == "edit" else ""
                self.record(
                    LearningChanged(learning_id=learning_id, change=change, text=words, by=by)
                )

        self.spawn("learning", lambda: self.knowledge.change(learning_id, change, text), on_done)

    def end(self, outcome: Outcome, reason: str) -> None:
        """End the run: stop all work, and make the current wait raise `Ended`."""
        self._hurry()
        if self._ending is None:
            self._ending = Ended(outcome, reason)
            self._ended_at = self.host.clock.monotonic()
            self.stop_work()
