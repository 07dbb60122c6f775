"""Between two sessions of one iteration: the first hands over, and the second is told of it.

In this order, so that a kill at any moment loses nothing: it is recorded that a session handed
over, the files are held in a snapshot, the handoff is written and recorded, and then the prompt.
"""

from ralph_tui.base.errors import WorkspaceError
from ralph_tui.commands import Controls
from ralph_tui.events import HandoffWritten, Noticed, QuestionAsked, RolloverBegan, WorkCommitted
from ralph_tui.layers.context.levels import whole
from ralph_tui.loop.run import Run
from ralph_tui.loop.step import Step
from ralph_tui.loop.steps.checkpoints import Checkpoints
from ralph_tui.loop.steps.context import Wanted
from ralph_tui.loop.steps.handoffs import Handoffs
from ralph_tui.loop.steps.prompt_words import Words
from ralph_tui.loop.steps.prompting import PromptWriter

NAMED = 3
"""Files that are left out and told each by each."""


def commit_work(run: Run, k: int, trees: tuple[str, str], message: str) -> None:
    """Commit what changed between two trees, or say why not: the rollover goes on in any case."""
    commits, (since, until) = run.ports.commits, trees
    if commits is None or not run.settings.context.commit_wip or not until:
        return
    try:
        with run.scheduler.offering(Controls(cancel=commits.cancel)):
            made = run.scheduler.run_job("commit", lambda: commits.commit(since, until, message))
    except WorkspaceError as error:
        _warn(run, f"the work of the session is not committed: {error}")
        return
    if made is None:
        return
    if made.left_out:
        named = ", ".join(made.left_out[:NAMED])
        more = f" and {len(made.left_out) - NAMED} more" if len(made.left_out) > NAMED else ""
        why = "not in the commit, because there were changes in it before the session"
        _warn(run, f"{named}{more}: {why}")
    if made.commit:
        run.record(
            WorkCommitted(iteration=k, commit=made.commit, message=message, files=made.files)
        )


def _warn(run: Run, text: str) -> None:
    run.record(Noticed(level="warn", source="context", text=text))


class Rollovers(Step):
    """Carries out the rollovers of a run."""

    def __init__(
        self, run: Run, checkpoints: Checkpoints, handoffs: Handoffs, prompt_writer: PromptWriter
    ) -> None:
        super().__init__(run)
        self._handoffs = handoffs
        self._checkpoints = checkpoints
        self._prompt_writer = prompt_writer

    def hand_over(self, k: int, wanted: Wanted) -> Words:
        """From an ended session to what the next one is told."""
        began = self._began(k, wanted)
        self.record(began)
        snapshot = self._checkpoints.hold_rollover(k, message_of(began))
        commit_work(self._run, k, self._checkpoints.handed_over, message_of(began))
        self._handoffs.leave(began, snapshot)
        self._comment(began)
        return self._prompt_writer.write_again(k)

    def leave_behind(self, k: int, wanted: Wanted) -> None:
        """The same for the next iteration, whose first session goes on: this one has no more."""
        began = self._began(k, wanted)  # nobody takes over in this iteration: it is not recorded
        snapshot = self._checkpoints.hold_rollover(k, message_of(began))
        self._handoffs.leave(began, snapshot)

    def catch_up(self, asked: QuestionAsked | None) -> None:
        """Finish a rollover that broke off: the next iteration goes on from it.

        Its handoff is written where it was not, from the record; the owner who was `asked` about
        it, and had not answered, is asked again.
        """
        began, left = self._state.context.rollover, self._state.context.handoff
        if began is None:
            return
        if left and (left.iteration, left.number) == (began.iteration, began.number):
            if asked is not None and asked.topic == "handoff":
                self._handoffs.ask(left, asked.proposal)
            return
        snapshot = self._checkpoints.hold_rollover(began.iteration, message_of(began))
        self._handoffs.leave(began, snapshot)

    def _comment(self, began: RolloverBegan) -> None:
        """On the run's issue, where it has one."""
        outreach, key = self._run.ports.outreach, f"rollover-{began.iteration}-{began.number}"
        if not outreach.enabled:
            return
        text = comment_of(began, self._state.context.handoff)
        self.guarded(
            "outreach",
            lambda: outreach.comment(key, text, began.iteration, self._run.start),
            lambda: None,
            instead="the run's issue is told nothing of it",
        )

    def _began(self, k: int, wanted: Wanted) -> RolloverBegan:
        use = self._state.context.use
        return RolloverBegan(
            iteration=k,
            number=(use.rollovers if use else 0) + 1,
            cause=wanted.cause,
            percent=self._state.context.percent,
            reason=wanted.reason,
            by=wanted.by,
        )


def comment_of(began: RolloverBegan, left: HandoffWritten | None) -> str:
    """``iteration 5: a session hands over, the context is 86 % full. In progress: ...``."""
    said = [f"iteration {began.iteration}: a session hands over to a fresh one, {began.reason}."]
    if left is not None and left.summary:
        said.append(f"In progress: {left.summary}")
    if left is not None and left.next_step:
        said.append(f"Next: {left.next_step}")
    return "\n".join(said)


def message_of(began: RolloverBegan) -> str:
    """``ralph: checkpoint iter 5 (L2 at 85%)``, as the seed words it."""
    full = "" if began.percent is None else f" at {whole(began.percent)}%"
    return f"ralph: checkpoint iter {began.iteration} ({began.cause}{full})"
