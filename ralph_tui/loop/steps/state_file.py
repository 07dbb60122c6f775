"""The run's state file: written when an iteration ends, the plan advances or a session hands off.

Only the end of the run waits for it, briefly, and nothing depends on it. A failure to write it is
reported once.
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
"""Seconds that the end of the run waits for the file to be written."""

Fields = dict[str, Any]


class StateFile(Step):
    """Keeps the file up to date, one write at a time."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._file = run.ports.state_file
        self._host = run.scheduler.host
        self._kept: Fields | None = None
        """Fields last written, or being written."""
        self._next: Fields | None = None
        """Fields to write next."""
        self._job: Job | None = None
        self._failed = False
        """True once a write failure has been reported."""
        self._signs: tuple[object, ...] = ()

    def follow(self) -> None:
        """Write the file if the plan item or the pending handoff has changed."""
        if self._file is None:
            return
        if self._signs != self._current_signs:
            self._kept = None  # forces a write, which also reads the plan
            self.keep()
        else:
            self._take()

    def keep(self, ended: Outcome | None = None) -> None:
        """Write the file if anything is new; `ended`: the outcome of a run that is ending."""
        if self._file is None:
            return
        self._take()
        self._signs = self._current_signs
        fields = self.guarded(
            "context",
            lambda: self._fields(ended),
            lambda: None,
            instead="the state file is not updated",
        )
        if fields is not None and fields != self._kept:
            self._kept = self._next = fields
            self._begin()

    def conclude(self, ended: Outcome) -> None:
        """Write the file for the last time, and wait for it briefly."""
        self.keep(ended)
        clock = self._host.clock
        until = clock.monotonic() + LAST_S
        while (job := self._job) is not None:
            self._run.scheduler.wait_until(
                lambda job=job: job.done or clock.monotonic() >= until  # type: ignore[misc]
            )
            if not job.done:
                self._warn(f"the state file was not written within {LAST_S:g} s")
                return
            self._take()

    @property
    def _current_signs(self) -> tuple[object, ...]:
        return self._state.context.item, self._state.context.handoff

    def _fields(self, ended: Outcome | None) -> Fields:
        fields = fields_of(self._state, self._run.layers.governor.memory, ended)
        if not isinstance(fields, dict):
            raise TypeError(f"expected fields of a state file, not a {type(fields).__name__}")
        return fields

    def _begin(self) -> None:
        if self._job is None and self._next is not None and self._file is not None:
            fields, self._next = self._next, None
            self._job = self._host.start("state file", partial(self._file.keep, fields))

    def _take(self) -> None:
        """Handle the result of a finished write, and begin the next one."""
        job = self._job
        if job is None or not job.done:
            return
        self._job = None
        self._begin()
        if isinstance(job.error, RalphError | OSError):
            self._warn(str(job.error))
            return
        problems = self.guarded(
            "context",
            lambda: _job_result(job),
            lambda: None,
            instead="the state file is not updated",
        )
        self._failed = self._failed and problems is None
        for sentence in problems or ():
            self.record(Noticed(level="warn", source="context", text=sentence))

    def _warn(self, sentence: str) -> None:
        if not self._failed:
            self._failed = True
            text = f"{sentence}; the run continues without it"
            self.record(Noticed(level="warn", source="context", text=text))


def _job_result(job: Job) -> Sequence[str]:
    if job.error is not None:
        raise job.error
    return cast("Sequence[str]", job.result)
