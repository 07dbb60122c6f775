"""Commands about the work: capture it, restore it, hand it to a fresh session."""

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from ralph_tui.commands.command import Command, Steered
from ralph_tui.commands.steering import no_snapshot
from ralph_tui.events import RolloverRequested
from ralph_tui.events.context import MAX_ROLLOVERS
from ralph_tui.events.text import Line, Plain

if TYPE_CHECKING:
    from ralph_tui.state import RunState


class Checkpoint(Command):
    """Capture the current files as a checkpoint."""

    name: Literal["checkpoint"] = "checkpoint"
    note: Plain = ""

    def taken(self, state: "RunState") -> bool:
        return state.run.session_running or state.run.paused

    def offered(self, run: Steered) -> bool:
        return run.controls.capture is not None

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        return None if taken else "no session is running that could change files"

    def carry_out(self, run: Steered) -> None:
        if run.controls.capture is not None:
            run.controls.capture(self.note, self.by)


def are_files_idle(state: "RunState") -> bool:
    """True if neither the agent nor the completion command is using the files."""
    asked = state.needs.question is not None and not state.run.session_running
    return state.run.paused or asked


class Restore(Command):
    """Restore the files to a snapshot; the current files are captured first."""

    name: Literal["restore"] = "restore"
    snapshot: int = Field(ge=1)

    while_stopping: ClassVar[bool] = True

    def taken(self, state: "RunState") -> bool:
        return are_files_idle(state)

    def offered(self, run: Steered) -> bool:
        return run.controls.restore is not None

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        if reason := no_snapshot(self.snapshot, state):
            return reason
        return None if taken else "the files are in use; pause the run, then restore"

    def carry_out(self, run: Steered) -> None:
        if run.controls.restore is not None:
            run.controls.restore(self.snapshot, self.by)


class RollOver(Command):
    """End the session with a handoff and continue the iteration in a fresh session.

    The step that watches the session's context carries it out.
    """

    name: Literal["rollover"] = "rollover"
    note: Line = Field(default="", max_length=1000)
    """Reason for the handoff."""

    def taken(self, state: "RunState") -> bool:
        return state.run.session_running

    def offered(self, run: Steered) -> bool:
        return run.works

    def refused(self, state: "RunState", *, taken: bool) -> str | None:
        use = state.context.use
        if not taken:
            return "no session is running"
        if state.context.requested_by:
            return "a context handoff is already in progress"
        if use is not None and use.rollovers >= MAX_ROLLOVERS:
            return f"this iteration already had {MAX_ROLLOVERS} context handoffs"
        return None

    def carry_out(self, run: Steered) -> None:
        run.record(RolloverRequested(by=self.by, note=self.note))
