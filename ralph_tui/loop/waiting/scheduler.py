"""The scheduler: the one place where a run waits, and so the one place where it hears its owner.

Theory of operation
-------------------
Threads. The engine's thread alone runs the loop. What happens is given to `record`: the engine
stamps the event, appends it to the journal and folds it into `state` before that call returns. So
`state` is always what the journal says, and nothing here needs a lock.
Jobs (git, the completion command, files), the agent's readers, the file watcher, the command
socket and the screen have threads of their own. None of them touches the state of a run.

Inbox. They reach the run through the inbox of the host, in the order in which they come:
observations (`Event`), finished work (`Job`), wishes (`Command`), and wishes whose giver waits for
an answer (`CommandRequest`). `receive` gives the next one, or None after `LOOK_S` seconds.

Waits. Everything that takes time is a call here: `wait_until` a condition, `run_job`, `join` what
`spawn` began, `wait_for_session`, `sleep_until`. All of them are `wait_until`, which takes items
out of the inbox until its condition holds: an observation is recorded, a job is marked as done (and
its `then` is called, when nobody waits for it), a command is handled. Between two
items the timer and the wait's `look_after` get their turn. So a pause, guidance, a checkpoint or an
abort is heard at any time, within `LOOK_S` plus the handling of one item.

Controls. What a command may do depends on what is waited for. A wait offers its `Controls` for the
length of a with-block: during a session a checkpoint can be taken, during a pause files can be
restored, a limit can be retried. A command finds None for what is not offered, and is refused.

Ends. `end` (by stop, abort, the watchdog, or a wait for an owner who has asked for a stop) only
notes how the run is to end and stops the work. `wait_until` raises `Ended` when its condition
holds, an `idle` wait (for a person or for time) at once: so a step always finds its job or session
finished. A step raises `Ended` itself for an end that it finds (completed, limit reached, hopeless
agent). `Loop.run_to_end` catches it and closes; after `close` no wait raises it any more. Errors of
a job are raised where it is waited for.

The disk may be full at any of these moments: see `disk_full`.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from ralph_tui.base.errors import NoRoomError, RalphError, WorkspaceError, why
from ralph_tui.commands import Abort, Command, Controls, Present, Stop, refusal
from ralph_tui.events import CommandRefused, Event, LearningChanged, Noticed, SessionFinished
from ralph_tui.events.memory import Change, unchanged_words
from ralph_tui.events.run import Outcome
from ralph_tui.layers.memory.by_hand import by_hand
from ralph_tui.loop.waiting.disk_full import RETRY_S, is_full, wait_began, wait_ended
from ralph_tui.loop.waiting.ends import Ended, Late
from ralph_tui.ports.agents import Session
from ralph_tui.ports.host import Accepted, CommandRequest, Host, Job, Refused
from ralph_tui.ports.knowledge import Knowledge, NoKnowledge
from ralph_tui.state import RunState


class Stopwatch:
    """Measures how long a run has worked, by the monotonic clock, which nobody can set.

    It starts from what the journal says when the process takes the run up.
    """

    def __init__(self, host: Host, state: RunState) -> None:
        self._host, self._state = host, state
        self._before_s = 0.0
        self._began: float | None = None

    def start(self) -> None:
        """The run was started, or resumed, with the event that was recorded last."""
        self._before_s = self._state.run.worked_s(self._state.at)
        self._began = self._host.clock.monotonic()

    @property
    def worked_s(self) -> float:
        """Seconds, all processes of the run together; the journal's until it is started."""
        if self._began is None:
            return self._state.run.worked_s(self._host.clock.now())
        return self._before_s + self._host.clock.monotonic() - self._began


T = TypeVar("T")

LOOK_S = 1.0
"""How long one look into the inbox may take; timers are looked at in between."""
JOB_S = 120.0
"""Seconds that a layer waits for what the run can do without."""
ENDING_S = 5.0
"""The same, once the owner has ended the run."""


class Scheduler:
    """Waits for the loop, and handles what comes meanwhile."""

    def __init__(
        self,
        host: Host,
        state: RunState,
        hurry: Callable[[], None] = lambda: None,
        knowledge: Knowledge | None = None,
    ) -> None:
        """`hurry` is called when the owner ends the run: git takes no long time from then on.

        `knowledge` is where the owner's wishes about learnings are carried out.
        """
        self.host = host
        self._hurry = hurry
        self.knowledge = knowledge or NoKnowledge()
        self.state = state
        self.stopwatch = Stopwatch(host, state)
        self.session: Session | None = None
        self.controls = Controls()
        """What the present wait offers."""
        self._asked_to_end: Session | None = None
        self._finished: SessionFinished
        self._ending: Ended | None = None
        self._ended_at = 0.0
        """When the owner has ended the run, by the monotonic clock."""
        self._closing = False
        self._pending: list[Job] = []
        self.seen_at: datetime | None = None
        """When somebody was last at a screen of the run."""
        self._timer: tuple[float, float, Callable[[], None]] | None = None

    def record(self, event: Event) -> None:
        """Journal and fold an event; `state` says so when this returns."""
        self.host.record(event)

    # -- waiting -----------------------------------------------------------------------------

    @contextmanager
    def offering(self, controls: Controls) -> Iterator[None]:
        """Offer these controls to commands, until the block is left."""
        before, self.controls = self.controls, controls
        try:
            yield
        finally:
            self.controls = before

    def wait_until(self, done: Callable[[], bool], *, idle: bool = False) -> None:
        """Take in what comes until `done`; an `idle` wait also ends when the run has to.

        Raises `Ended` afterwards when the owner has ended the run meanwhile.
        """
        while not done():
            if idle and self._ending is not None:
                break
            self._attend(self.host.receive(LOOK_S))
            self._ring()
            if self.controls.look_after is not None:
                self.controls.look_after()
        if self._ending is not None and not self._closing:
            self._closing = True
            raise self._ending

    def wait_for_owner(self, done: Callable[[], bool], doing: str) -> None:
        """Wait until `done` for somebody to act, while no agent works.

        Who wants the run to stop after its iteration is not waited for: it ends. `doing` says what
        it did then: "it was paused".
        """

        def over() -> bool:
            if done():
                return True
            if self._ending is None and self.state.run.stopping == "after_iteration":
                self.end("interrupted", f"stopped while {doing}, as asked")
            return False

        self.wait_until(over, idle=True)

    def run_job(self, name: str, work: Callable[[], T], within_s: float = math.inf) -> T:
        """Run `work` beside the engine thread and wait for it; its error is raised here.

        While the disk is full it is tried again; any other refusal of the system is one sentence.
        Raises `Late` where it takes longer than `within_s`.
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
                    if self._ending is not None:  # nothing to wait for: the owner has ended it
                        raise NoRoomError(f"{name}: {error}; free some space") from error
                    began = self._wait_for_room(began, f"{name}: {error}")
                case OSError() as error:
                    raise WorkspaceError(
                        f"{name} failed ({error.filename or 'the system refused'}): "
                        f"{why(error, 'give permission or put it right, then start again')}"
                    ) from error
                case error:
                    raise error

    def _is_over(self, job: Job, started: float, within_s: float) -> bool:
        """Whether it is done, or its time is over, which is short when the run is to end."""
        until = started + within_s
        if self._ending is not None and within_s < math.inf:
            until = min(until, max(started, self._ended_at) + ENDING_S)
        return job.done or self.host.clock.monotonic() >= until

    def _wait_for_room(self, began: datetime | None, found_by: str) -> datetime:
        """Wait a little; gives back when the waiting began."""
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
        """Run `work` without waiting; `then` tells its events when it is done.

        `holds_work`: without room for it the agent and the completion command are stopped.
        """

        def finish(job: Job) -> None:
            then(job)
            if holds_work and is_full(job.error):
                self.stop_work()

        job = self.host.start(name, work)
        job.then = finish
        self._pending.append(job)

    def join(self) -> None:
        """Wait for all that was begun with `spawn`."""
        self.wait_until(lambda: not self._pending)

    def end_session(self, outcome: str) -> None:
        """Ask the session to end, unless it was asked: a second call would kill it."""
        if self.session is not None and self.session is not self._asked_to_end:
            self._asked_to_end = self.session
            self.session.stop(outcome)

    def start_timer(self, seconds: float, act: Callable[[], None]) -> None:
        """Call `act` at this interval, in seconds, while waiting; there is one timer."""
        self._timer = (self.host.clock.monotonic() + seconds, seconds, act)

    def stop_timer(self) -> None:
        """No more calls by timer."""
        self._timer = None

    def wait_for_session(self) -> SessionFinished:
        """Wait for the end of the session; gives back how it ended."""
        self.wait_until(lambda: self.session is None)
        return self._finished

    def sleep_until(self, moment: datetime) -> str:
        """Wait for a moment of the wall clock, or for a `RetryNow`; gives back who ended it."""
        ended_by: list[str] = []
        with self.offering(replace(self.controls, retry=ended_by.append)):
            self.wait_until(lambda: bool(ended_by) or self.host.clock.now() >= moment, idle=True)
        return ended_by[0] if ended_by else "the clock"

    def seconds_since(self, moment: datetime | None) -> float:
        """Wall seconds since a recorded moment, never negative; 0 when there is none."""
        if moment is None:
            return 0.0
        return max(0.0, (self.host.clock.now() - moment).total_seconds())

    @property
    def ending(self) -> bool:
        """Whether the run is on its way out, and handles no more commands."""
        return self._closing or self._ending is not None

    def close(self) -> None:
        """The run is closing: what still works is stopped, and no wait raises `Ended` any more."""
        self._closing = True
        self.stop_work()

    def stop_work(self) -> None:
        """Begin to end whatever runs for this run: the agent, the completion command."""
        if self.session is not None:
            self.session.stop()
        if self.controls.cancel is not None:
            self.controls.cancel()

    def _ring(self) -> None:
        if self._timer is None:
            return
        due, seconds, act = self._timer
        if self.host.clock.monotonic() >= due:
            self._timer = (self.host.clock.monotonic() + seconds, seconds, act)
            act()

    def _attend(self, item: object) -> None:
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
        """Handle the command, and give its sender the result."""
        first = self.state.seq + 1
        reason = self._handle(request.command)
        accepted = Accepted(min(first, self.state.seq))
        request.reply(accepted if reason is None else Refused(reason))

    def _handle(self, command: Command) -> str | None:
        """Carry out one command of the owner, or refuse it; gives back why it was refused."""
        if isinstance(command, Present):  # it asks for nothing, and is no news
            self.seen_at = self.host.clock.now()
            return None
        reason = "the run is ending" if self.ending else refusal(command, self.state, self)
        if self.ending and isinstance(command, Stop | Abort):
            self._hurry()
            if self.controls.cancel is not None:  # a model that is asked about the run's end
                self.controls.cancel()
        if reason is not None:
            self.record(CommandRefused(command=command.name, reason=reason))
        else:
            command.carry_out(self)
        return reason

    # -- what commands do --------------------------------------------------------------------

    @property
    def works(self) -> bool:
        """Whether a session works."""
        return self.session is not None

    def say(self, guidance_id: str, text: str) -> None:
        """Give words to the session, where one works and takes them."""
        if self.session is not None and self.session.takes_guidance:
            self.session.send(guidance_id, text)

    def interrupt(self) -> None:
        """End the turn of the session."""
        if self.session is not None:
            self.session.stop("interrupted")

    def reflect(self, text: str) -> None:
        """Record a reflection in the owner's words."""
        self.record(by_hand(self.state, text))

    def change_learning(self, learning_id: str, change: Change, text: str, by: str) -> None:
        """Change the knowledge file; it is told when that is done, or why it is not."""

        def told(job: Job) -> None:
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

        self.spawn("learning", lambda: self.knowledge.change(learning_id, change, text), told)

    def end(self, outcome: Outcome, reason: str) -> None:
        """End the run: what works is stopped, and the wait that goes on raises `Ended`."""
        self._hurry()
        if self._ending is None:
            self._ending = Ended(outcome, reason)
            self._ended_at = self.host.clock.monotonic()
            self.stop_work()
