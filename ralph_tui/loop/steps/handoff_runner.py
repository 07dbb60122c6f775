"""Context handoffs between two sessions of one iteration.

The order ensures that a kill at any moment loses nothing: the handoff is recorded as begun, the
files are saved in a snapshot, the handoff is written and recorded, then the prompt.
"""

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.commands import Controls
from ralph_tui.events import HandoffWritten, Noticed, QuestionAsked, RolloverBegan, WorkCommitted
from ralph_tui.layers.context.handoff import checkpoint_message
from ralph_tui.layers.context.levels import LEVELS, level_of
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.context import HandoffRequest
from ralph_tui.loop.steps.handoff_writer import HandoffWriter
from ralph_tui.loop.steps.prompt_text import PromptText
from ralph_tui.loop.steps.prompting import PromptWriter

NAMED = 3
"""Maximum number of left-out files named in the warning."""


def commit_work(run: Run, k: int, trees: tuple[str, str], message: str) -> None:
    """Commit the changes between two trees, or report why not; the handoff continues anyway."""
    commits, (since, until) = run.ports.commits, trees
    if commits is None or not run.settings.context.commit_wip or not until:
        return
    try:
        with run.scheduler.accepting(Controls(cancel=commits.cancel)):
            made = run.scheduler.run_job("commit", lambda: commits.commit(since, until, message))
    except WorkspaceError as error:
        _warn(run, f"could not commit the session's work: {error}")
        return
    if made is None:
        return
    if made.left_out:
        named = ", ".join(made.left_out[:NAMED])
        more = f" and {len(made.left_out) - NAMED} more" if len(made.left_out) > NAMED else ""
        why = "left out of the commit: changed before the session"
        _warn(run, f"{named}{more}: {why}")
    if made.commit:
        run.record(
            WorkCommitted(iteration=k, commit=made.commit, message=message, files=made.files)
        )


def _warn(run: Run, text: str) -> None:
    run.record(Noticed(level="warn", source="context", text=text))


class HandoffRunner(Step):
    """Carries out the context handoffs of a run."""

    def __init__(
        self,
        run: Run,
        checkpoints: Checkpoints,
        handoffs: HandoffWriter,
        prompt_writer: PromptWriter,
    ) -> None:
        super().__init__(run)
        self._writer = handoffs
        self._checkpoints = checkpoints
        self._prompt_writer = prompt_writer

    def hand_off(self, k: int, request: HandoffRequest) -> PromptText:
        """Hand off from an ended session; return the prompt for the next one."""
        began = self._began(k, request)
        self.record(began)
        snapshot = self._checkpoints.snapshot_handoff(k, commit_message(began))
        commit_work(self._run, k, self._checkpoints.handed_over, commit_message(began))
        self._writer.write_handoff(began, snapshot)
        self._comment(began)
        return self._prompt_writer.rewrite(k)

    def leave_handoff(self, k: int, request: HandoffRequest) -> None:
        """Leave a handoff to the next iteration, because this one may have no more sessions."""
        began = self._began(k, request)  # not recorded: no session takes over in this iteration
        snapshot = self._checkpoints.snapshot_handoff(k, commit_message(began))
        self._writer.write_handoff(began, snapshot)

    def catch_up(self, asked: QuestionAsked | None) -> None:
        """Complete a handoff that was cut off; the next iteration continues from it.

        A missing handoff is written from the record. A user who was `asked` about it and had not
        answered is asked again.
        """
        began, left = self._state.context.rollover, self._state.context.handoff
        if began is None:
            return
        if left and (left.iteration, left.number) == (began.iteration, began.number):
            if asked is not None and asked.topic == "handoff":
                self._writer.ask(left, asked.proposal)
            return
        snapshot = self._checkpoints.snapshot_handoff(began.iteration, commit_message(began))
        self._writer.write_handoff(began, snapshot)

    def _comment(self, began: RolloverBegan) -> None:
        """Comment on the run's issue, if it has one."""
        outreach, key = self._run.ports.outreach, f"rollover-{began.iteration}-{began.number}"
        if not outreach.enabled:
            return
        text = comment_text(began, self._state.context.handoff)
        self.guarded(
            "outreach",
            lambda: outreach.comment(key, text, began.iteration, self._run.start),
            lambda: None,
            instead="no comment is posted on the run's issue",
        )

    def _began(self, k: int, request: HandoffRequest) -> RolloverBegan:
        use, percent = self._state.context.use, self._state.context.percent
        known = "" if percent is None else level_of(percent, self._run.settings.context.thresholds)
        level = request.cause if request.cause in LEVELS else known
        return RolloverBegan(
            iteration=k,
            number=(use.rollovers if use else 0) + 1,
            cause=request.cause,
            percent=percent,
            level=level,
            reason=request.reason,
            by=request.by,
        )


def comment_text(began: RolloverBegan, left: HandoffWritten | None) -> str:
    """Return the comment on the run's issue about a handoff."""
    said = [f"iteration {began.iteration}: the session hands off to a fresh one ({began.reason})."]
    if left is not None and left.summary:
        said.append(f"In progress: {left.summary}")
    if left is not None and left.next_step:
        said.append(f"Next: {left.next_step}")
    return "\n".join(said)


def commit_message(began: RolloverBegan) -> str:
    """Return the commit message, in the form ``ralph: checkpoint iter 5 (L2 at 85%)``."""
    return checkpoint_message(began.iteration, began.cause, began.percent)
