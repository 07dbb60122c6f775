"""Commands that steer the run: pause, stop, extend, and change permissions."""

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from ralph_tui import events as ev
from ralph_tui.commands.command import MAX_ITERATIONS, NO_MONEY, Command, Steered
from ralph_tui.events.run import UNRESTRICTED, StopMode
from ralph_tui.events.text import Line
from ralph_tui.text.terms import NOT_PAUSED, PAUSE_ASKED_ALREADY, PAUSED_ALREADY, sender_label

if TYPE_CHECKING:
    from ralph_tui.state import RunState


class Pause(Command):
    """Pause before the next iteration."""

    name: Literal["pause"] = "pause"

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        if state.run.paused:
            return PAUSED_ALREADY
        return PAUSE_ASKED_ALREADY if state.run.pause_requested else None

    def carry_out(self, run: Steered) -> None:
        run.record(ev.PauseRequested(by=self.by))


class Unpause(Command):
    """Continue a paused run, or withdraw a requested pause."""

    name: Literal["unpause"] = "unpause"

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        paused = state.run.paused or state.run.pause_requested
        return None if paused else NOT_PAUSED

    def carry_out(self, run: Steered) -> None:
        run.record(ev.Unpaused(by=self.by))


class Stop(Command):
    """Stop the run now, or after the iteration; until it ends, that request can be withdrawn."""

    name: Literal["stop"] = "stop"
    mode: StopMode = "now"

    while_stopping: ClassVar[bool] = True

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        asked = state.run.stopping == "after_iteration"
        if self.mode == "taken_back" and not asked:
            return "no stop is requested, so there is nothing to undo"
        if self.mode == "after_iteration" and asked:
            return "a stop is already requested"
        return None

    def carry_out(self, run: Steered) -> None:
        run.record(ev.StopRequested(mode=self.mode, by=self.by))
        if self.mode == "now":
            run.end("interrupted", f"stopped by {sender_label(self.by)}")


def no_snapshot(number: int, state: "RunState") -> str | None:
    """Return why the run cannot restore this snapshot; None if it exists."""
    known = number in state.timeline.snapshots
    return None if known else f"no snapshot {number} in this run"


class Abort(Command):
    """Abort the run; the files stay as they are or are restored to a snapshot."""

    name: Literal["abort"] = "abort"
    roll_back_to: int | None = Field(default=None, ge=1)
    """Number of the snapshot to restore; None: leave the files as they are."""

    while_stopping: ClassVar[bool] = True

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        return None if self.roll_back_to is None else no_snapshot(self.roll_back_to, state)

    def carry_out(self, run: Steered) -> None:
        number = self.roll_back_to
        run.record(ev.AbortRequested(by=self.by, roll_back_to=number))
        work = "is kept" if number is None else f"goes back to snapshot {number}"
        run.end("aborted", f"aborted by {sender_label(self.by)}; the work {work}")


class Interrupt(Command):
    """Interrupt the agent's turn; the run continues."""

    name: Literal["interrupt"] = "interrupt"

    def taken(self, state: "RunState") -> bool:
        return state.run.session_running

    def offered(self, run: Steered) -> bool:
        return run.works

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        return None if taken else "no session is running"

    def carry_out(self, run: Steered) -> None:
        run.record(ev.InterruptRequested(by=self.by))
        run.interrupt()


class RetryNow(Command):
    """Retry now instead of waiting for a limit or a service."""

    name: Literal["retry"] = "retry"

    def taken(self, state: "RunState") -> bool:
        return state.needs.wait is not None

    def offered(self, run: Steered) -> bool:
        return run.controls.retry is not None

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        return None if taken else "the run is not waiting for a limit or a service"

    def carry_out(self, run: Steered) -> None:
        if run.controls.retry is not None:
            run.controls.retry(self.by)


class Extend(Command):
    """Grant more iterations or budget, or take iterations back."""

    name: Literal["extend"] = "extend"
    iterations: int = Field(default=0, ge=-1000, le=1000)
    budget_usd: float = Field(default=0.0, ge=0, le=1_000_000, allow_inf_nan=False)
    budget_tokens: int = Field(default=0, ge=0, le=10**12)

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        run = state.run
        if self.budget_usd and run.budget_usd is None:
            return NO_MONEY
        if run.max_iterations + self.iterations > MAX_ITERATIONS:
            return f"a run has at most {MAX_ITERATIONS} iterations"
        if run.max_iterations + self.iterations < max(1, run.iteration):
            return f"iteration {run.iteration} has begun"
        if not (self.iterations or self.budget_usd or self.budget_tokens):
            return "no amount given; add iterations or dollars"
        return None

    def carry_out(self, run: Steered) -> None:
        run.record(
            extended(run.state, self.iterations, self.budget_usd, self.by, self.budget_tokens)
        )


def extended(
    state: "RunState", iterations: int, budget_usd: float, by: str, tokens: int = 0
) -> ev.LimitsChanged:
    """Return the current limits plus these amounts, `budget_usd` in US dollars."""
    run = state.run
    money = None if run.budget_usd is None else run.budget_usd + budget_usd
    of_tokens = None if run.budget_tokens is None else run.budget_tokens + tokens
    return ev.LimitsChanged(
        max_iterations=run.max_iterations + iterations,
        budget_usd=money,
        budget_tokens=of_tokens,
        by=by,
    )


class SetPermissions(Command):
    """Change the agent's permissions, starting with its next session."""

    name: Literal["permissions"] = "permissions"
    mode: Literal["edits", "skip", "ask"]
    allow: tuple[Line, ...] = ()

    @property
    def empowers(self) -> bool:
        return True

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        if state.run.started and state.run.started.permissions == UNRESTRICTED:
            return "this agent does not enforce permissions; it can do anything that you can do"
        return None

    def carry_out(self, run: Steered) -> None:
        run.record(ev.PermissionsChanged(mode=self.mode, allow=list(self.allow), by=self.by))
