"""The state file of the run: written as iterations end, the plan moves on, sessions hand over.

Nothing waits for it but the run's end, for a moment, and nothing depends on it: where it cannot be
written that is said once.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from ralph_tui.base.errors import RalphError
from ralph_tui.events import Noticed
from ralph_tui.events.run import Outcome
from ralph_tui.layers.context.loop_state import fields_of
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.ports.host import Job

LAST_S = 10.0
"""Seconds that the run's end waits for it."""

Fields = dict[str, Any]


class StateFile(Step):
    """Keeps it up to date, one writing after the other."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._file = run.ports.state_file
        self._host = run.scheduler.host
        self._kept: Fields | None = None
        """What was written last, or is being written."""
        self._next: Fields | None = None
        """What is to be written after that."""
        self._job: Job | None = None
        self._failed = False
        """That it cannot be written was said."""
        self._signs: tuple[object, ...] = ()

    def follow(self) -> None:
        """Write it where the plan's item, or what waits for a session, is another one."""
        if self._file is None:
            return
        if self._signs != self._now_signs:
            self._kept = None  # the plan is read when it is written
            self.keep()
        else:
            self._take()

    def keep(self, ended: Outcome | None = None) -> None:
        """Write it, unless nothing is new; `ended`: how the run ends just now."""
        if self._file is None:
            return
        self._take()
        self._signs = self._now_signs
        fields = self.guarded(
            "context",
            lambda: self._fields(ended),
            lambda: None,
            instead="the state file stays as it was",
        )
        if fields is not None and fields != self._kept:
            self._kept = self._next = fields
            self._begin()

    def conclude(self, ended: Outcome) -> None:
        """Write it for the last time."""
        self.keep(ended)
        clock = self._host.clock
        until = clock.monotonic() + LAST_S
        while (job := self._job) is not None:
            self._run.scheduler.wait_until(
                lambda job=job: job.done or clock.monotonic() >= until  # type: ignore[misc]
            )
            if not job.done:
                self._warn(f"the state file is not written after {LAST_S:g} s")
                return
            self._take()

    @property
    def _now_signs(self) -> tuple[object, ...]:
        return self._state.context.item, self._state.context.handoff

    def _fields(self, ended: Outcome | None) -> Fields:
        fields = fields_of(self._state, self._run.layers.governor.memory, ended)
        if not isinstance(fields, dict):
            raise TypeError(f"fields of a state file are no {type(fields).__name__}")
        return fields

    def _begin(self) -> None:
        if self._job is None and self._next is not None and self._file is not None:
            fields, self._next = self._next, None
            self._job = self._host.start("state file", partial(self._file.keep, fields))

    def _take(self) -> None:
        """What came of the last writing, if that is over; the next one begins."""
        job = self._job
        if job is None or not job.done:
            return
        self._job = None
        self._begin()
        if isinstance(job.error, RalphError | OSError):
            self._warn(str(job.error))
            return
        told = self.guarded(
            "context", lambda: _given(job), lambda: None, instead="the state file stays as it was"
        )
        self._failed = self._failed and told is None
        for sentence in told or ():
            self.record(Noticed(level="warn", source="context", text=sentence))

    def _warn(self, sentence: str) -> None:
        if not self._failed:
            self._failed = True
            text = f"{sentence}; the run goes on without it"
            self.record(Noticed(level="warn", source="context", text=text))


def _given(job: Job) -> Sequence[str]:
    if job.error is not None:
        raise job.error
    return cast("Sequence[str]", job.result)
