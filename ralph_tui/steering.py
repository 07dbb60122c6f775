"""The one place where a run waits, and so the one place where it hears its owner.

Whatever the loop waits for (agent, gate, snapshot, a pause), it waits in `Helm.until`, which takes
in observations, finished jobs and commands as they come. So pause, guidance, checkpoint and abort
work at any time.
"""

from collections.abc import Callable, Generator
from datetime import datetime
from typing import Protocol, TypeVar
from uuid import uuid4

from ralph_tui.commands import Abort, Checkpoint, Command, Guide, Pause, Stop, Unpause
from ralph_tui.errors import WorkspaceError
from ralph_tui.events import (
    AbortRequested,
    CommandRefused,
    Event,
    GuidanceQueued,
    PauseRequested,
    SessionFinished,
    StopRequested,
    Unpaused,
)
from ralph_tui.events.run import Outcome
from ralph_tui.ports import Host, Job, Session
from ralph_tui.state import RunState

T = TypeVar("T")
Steps = Generator[Event, None, T]
"""A part of the loop: yields events to be recorded, returns what it came to."""

PATIENCE_S = 1.0
"""How long one look into the inbox may take; timers are looked at in between."""


class Ended(Exception):  # noqa: N818  an end is not an error
    """The run's end, raised where the loop waits and caught where it closes."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class Capture(Protocol):
    """Takes a checkpoint beside whatever goes on; its events come when it is done."""

    def __call__(self, note: str) -> None:
        """Begin."""
        ...


class Helm:
    """Waits for the loop and obeys its owner."""

    def __init__(self, host: Host, state: RunState) -> None:
        self.host = host
        self.state = state
        self.session: Session | None = None
        self.cancel_gate: Callable[[], None] | None = None
        """Ends the completion command while it runs."""
        self.capture: Capture | None = None
        """Takes a checkpoint by key; None while there is nothing to capture."""
        self._finished: SessionFinished
        self._ending: Ended | None = None
        self._closing = False
        self._pending: list[Job] = []
        self._timer: tuple[float, float, Callable[[], None]] | None = None

    # -- waiting -----------------------------------------------------------------------------

    def until(self, done: Callable[[], bool], *, idle: bool = False) -> Steps[None]:
        """Take in what comes until `done`; an `idle` wait also ends when the run has to.

        Raises `Ended` afterwards when the owner has ended the run meanwhile.
        """
        while not done():
            if idle and self._ending is not None:
                break
            yield from self._attend(self.host.receive(PATIENCE_S))
            self._ring()
        if self._ending is not None and not self._closing:
            self._closing = True
            raise self._ending

    def job(self, name: str, work: Callable[[], T]) -> Steps[T]:
        """Run `work` beside the engine thread and wait for it; its exception is raised here."""
        job = self.host.start(name, work)
        yield from self.until(lambda: job.done)
        match job.error:
            case None:
                pass
            case OSError() as error:
                raise WorkspaceError(
                    f"{name} failed: {error.strerror or error} ({error.filename}); "
                    "make room or give permission, then start again"
                ) from error
            case error:
                raise error
        return job.result  # type: ignore[return-value]

    def beside(
        self, name: str, work: Callable[[], object], then: Callable[[Job], Steps[None]]
    ) -> None:
        """Run `work` without waiting; `then` tells its events when it is done."""
        job = self.host.start(name, work)
        job.then = then
        self._pending.append(job)

    def settle(self) -> Steps[None]:
        """Wait for all that was begun with `beside`."""
        yield from self.until(lambda: not self._pending)

    def every(self, seconds: float, act: Callable[[], None]) -> None:
        """Call `act` at this interval while waiting, until `every` or `quiet` is called again."""
        self._timer = (self.host.clock.monotonic() + seconds, seconds, act)

    def quiet(self) -> None:
        """No more calls by timer."""
        self._timer = None

    def until_finished(self) -> Steps[SessionFinished]:
        """Wait for the end of the session; gives back how it ended."""
        yield from self.until(lambda: self.session is None)
        return self._finished

    def seconds_since(self, moment: datetime | None) -> float:
        """Wall seconds since a recorded moment, never negative; 0 when there is none."""
        if moment is None:
            return 0.0
        return max(0.0, (self.host.clock.now() - moment).total_seconds())

    def close(self) -> None:
        """From here on nothing ends the run: it is ending, and so is whatever still works."""
        self._closing = True
        self.stop_work()

    def stop_work(self) -> None:
        """Begin to end whatever runs for this run: the agent, the completion command."""
        if self.session is not None:
            self.session.stop()
        if self.cancel_gate is not None:
            self.cancel_gate()

    def _ring(self) -> None:
        if self._timer is None:
            return
        due, seconds, act = self._timer
        if self.host.clock.monotonic() >= due:
            self._timer = (self.host.clock.monotonic() + seconds, seconds, act)
            act()

    def _attend(self, item: object) -> Steps[None]:
        match item:
            case SessionFinished():
                self.session, self._finished = None, item
                yield item
            case Event():
                yield item
            case Job():
                item.done = True
                if item.then is not None:
                    self._pending.remove(item)
                    yield from item.then(item)
            case Command():
                yield from self.obey(item)
            case _:
                return

    # -- obeying -----------------------------------------------------------------------------

    def obey(self, command: Command) -> Steps[None]:
        """Answer one command with events; what cannot be done now is refused with a reason."""
        if self._closing or self._ending is not None:
            yield CommandRefused(command=command.name, reason="the run is ending")
            return
        match command:
            case Pause(by=by):
                yield from self._pause(by)
            case Unpause(by=by):
                yield from self._unpause(by)
            case Guide(text=text, by=by):
                yield from self._guide(text, by)
            case Checkpoint(note=note):
                yield from self._checkpoint(note)
            case Stop(mode=mode, by=by):
                yield StopRequested(mode=mode, by=by)
                if mode == "now":
                    self._end(Ended("interrupted", f"stopped by {by}"))
            case Abort(by=by):
                yield AbortRequested(by=by)
                self._end(Ended("aborted", f"aborted by {by}; the work stays as it is"))
            case _:
                yield CommandRefused(command=command.name, reason="not known to this version")

    def _pause(self, by: str) -> Steps[None]:
        if self.state.run.paused or self.state.run.pause_requested:
            yield CommandRefused(command="pause", reason="a pause was asked for already")
        else:
            yield PauseRequested(by=by)

    def _unpause(self, by: str) -> Steps[None]:
        if self.state.run.paused or self.state.run.pause_requested:
            yield Unpaused(by=by)
        else:
            yield CommandRefused(command="unpause", reason="the run is not paused")

    def _checkpoint(self, note: str) -> Steps[None]:
        if self.capture is None:
            yield CommandRefused(command="checkpoint", reason="no session runs that could change")
        else:
            self.capture(note)

    def _guide(self, text: str, by: str) -> Steps[None]:
        guidance = GuidanceQueued(guidance_id=str(uuid4()), text=text, by=by)
        yield guidance
        # What the session cannot take now stays queued, and the next prompt carries it.
        if self.session is not None and self.session.takes_guidance:
            self.session.send(guidance.guidance_id, guidance.text)

    def _end(self, ended: Ended) -> None:
        self._ending = ended
        self.stop_work()
