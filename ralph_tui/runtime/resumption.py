"""Everything a run needs to be resumed, from its journal, and every reason to refuse a resume.

The journal is read and folded once: state and layers process its events in the same pass.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from socket import gethostname

from ralph_tui.adapters.records.folders import ralph_folder
from ralph_tui.adapters.records.journal import Recording, read_journal
from ralph_tui.adapters.records.lock import holder
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.analysis.checkpoints import summarize, words_of
from ralph_tui.analysis.resume_words import more_tokens, resume_command
from ralph_tui.base.errors import UsageError
from ralph_tui.commands import Extend
from ralph_tui.config.settings import NAMES, Settings
from ralph_tui.events import Event, RunStarted
from ralph_tui.loop.run import Layers
from ralph_tui.runtime.request import ResumeRequest, RunRequest
from ralph_tui.state import RunState
from ralph_tui.text.format import all_used, day_and_clock, duration
from ralph_tui.text.sanitize import one_line
from ralph_tui.text.secrets import HIDDEN

READ_AGAIN = ("ui.", "outreach.", "limits.max_iterations", "limits.budget_usd")
"""Settings not taken from the record: addresses are secrets, limits are in the state."""


BEHIND = timedelta(minutes=1)
"""If the clock is further behind the journal than this, it was set back."""


@dataclass(frozen=True)
class Resumption:
    """A run that can be resumed."""

    run: RecordedRun
    request: RunRequest
    start: RunStarted
    """The recorded start, updated with the current values."""
    recording: Recording
    keep: int | None
    """Number of events to keep from a damaged journal; None for all."""
    state: RunState
    """The fold of the kept events."""
    layers: Layers
    """The layers, which have replayed the kept events."""
    extension: Extend | None
    """More iterations or money, if requested."""

    @property
    def past(self) -> list[Event]:
        """The kept events."""
        return self.recording.events[: self.keep]


def plan_resume(
    root: Path,
    run: RecordedRun,
    wanted: ResumeRequest,
    load_settings: Callable[[Mapping[str, object]], Settings],
) -> Resumption:
    """Check that a recorded run can be resumed. Raises ``UsageError`` or ``JournalError`` if not.

    `load_settings` receives the recorded settings, by dotted name, as one layer of several.
    """
    if run.loop:
        raise UsageError(
            f"{one_line(run.name)} is a loop of a fleet: 'ralph-tui fleet resume' continues the "
            f"fleet, 'ralph-tui replay {one_line(run.name)}' shows the loop's record"
        )
    if run.folder.parent.parent.parent != ralph_folder(root) / "tasks":
        raise UsageError(
            f"{one_line(str(run.folder))} is not a run of this worktree ({root}); resume it in its "
            "own repository, or replay it"
        )
    _refuse_live(run)
    recording = read_journal(run.journal)
    keep = _count_kept(run, recording, wanted.from_seq)
    first = recording.events[0]
    assert isinstance(first, RunStarted)  # read_journal guarantees it
    command = wanted.command or first.command
    if command is not None and HIDDEN in command:
        raise UsageError(
            "the record omits the completion command because of a secret in it; pass it again "
            "with -c"
        )
    settings = load_settings(recorded_settings(first))
    layers = Layers.of(settings, command)
    state = layers.recall(recording.events[:keep])
    start = state.run.started or first  # includes what an earlier resume changed
    extension = _extension(state, wanted)
    _refuse_finished(run, state, extension)
    request = RunRequest(
        start.objective,
        command,
        settings,
        start.plan,
        scenario=start.scenario,
        fast=start.fast,
        criterion=start.criterion,
        until_promise=start.until_promise,
        mode=wanted.mode,
    )
    limits = settings.limits
    start = start.model_copy(
        update={
            "command": command,
            "mode": wanted.mode,
            "root": str(root),
            "iteration_budget_usd": limits.iteration_budget_usd,
            "iteration_budget_tokens": limits.iteration_budget_tokens,
        }
    )
    return Resumption(run, request, start, recording, keep, state, layers, extension)


def checkpoint_words(state: RunState, worked_until: datetime) -> list[str]:
    """Return lines for the user that sum up the checkpoints of a run to be resumed."""
    summary = summarize(state.timeline, worked_until)
    at = partial(day_and_clock, now=state.at)
    return [] if summary is None else words_of(summary, at)


def list_changes(state: RunState, start: RunStarted, behind: timedelta) -> list[str]:
    """List what has changed since the run began, a few words each.

    `start` has the current values; `behind` is the clock's lag behind the journal's last event.
    """
    began, said = state.run.started, list[str]()
    if began is None:
        return said
    if began.host and began.host != gethostname():
        said.append(f"it started on another machine, {began.host}")
    if began.branch != start.branch:
        was, now = (branch or "no branch" for branch in (began.branch, start.branch))
        said.append(f"the branch was {was} and is now {now}")
    elif began.commit != start.commit:
        was, now = ((commit or "nothing")[:12] for commit in (began.commit, start.commit))
        said.append(f"HEAD was {was} and is now {now}")
    if behind > BEHIND:
        back = duration(behind.total_seconds())
        said.append(f"the clock was set back by {back}; times continue from the last recorded one")
    return said


def _refuse_live(run: RecordedRun) -> None:
    owner = holder(run.lock)
    if owner is not None and owner.alive:  # the resume waits for a dead run's cleanup
        raise UsageError(
            f"a run is active here ({owner.run or run.name}, process {owner.pid}); see "
            "'ralph-tui attach', or 'ralph-tui unpause' if it is paused"
        )


def _count_kept(run: RecordedRun, recording: Recording, from_seq: int | None) -> int | None:
    """Return how many events to keep; None if the journal is undamaged."""
    known = len(recording.events)
    if not recording.problem:
        if from_seq is not None:
            raise UsageError("the journal is intact; resume without --from")
        return None
    if from_seq is None:
        what = recording.problem.partition(";")[0]
        if run.of_fleet:
            raise UsageError(
                f"{what}, so this loop of a fleet cannot continue; its fleet keeps its work "
                "as a branch; start a new loop from it with 'ralph-tui fleet run ... --base BRANCH'"
            )
        raise UsageError(
            f"{what}: '{resume_command(run.name, known)}' continues from the events before it "
            "and moves "
            "the rest aside"
        )
    if not 1 <= from_seq <= known:
        raise UsageError(f"--from {from_seq} is out of range; choose an event from 1 to {known}")
    return from_seq


def _extension(state: RunState, wanted: ResumeRequest) -> Extend | None:
    """Return how much the requested limits add to those of the run."""
    run = state.run
    iterations, money, tokens = 0, 0.0, 0
    try:
        if wanted.max_iterations is not None:
            iterations = int(wanted.max_iterations) - run.max_iterations
        if wanted.budget_usd is not None:
            money = float(wanted.budget_usd or 0) - (run.budget_usd or 0.0)
        if wanted.budget_tokens is not None:
            tokens = int(wanted.budget_tokens or 0) - (run.budget_tokens or 0)
    except ValueError:
        return None  # loading the settings reports the error
    if run.max_iterations + iterations < run.iteration:
        raise UsageError(
            f"iteration {run.iteration} has already started; --max-iterations must be at least that"
        )
    if money < 0 or (money and run.budget_usd is None):
        raise UsageError(
            "--budget can only add to the run's budget, which is now "
            + ("not set" if run.budget_usd is None else f"${run.budget_usd:,.2f}")
        )
    if tokens < 0 or (tokens and run.budget_tokens is None):
        raise UsageError(
            "limits.budget_tokens can only add to the run's budget, which is now "
            + ("not set" if run.budget_tokens is None else f"{run.budget_tokens:,} tokens")
        )
    if not (iterations or money or tokens):
        return None
    return Extend(iterations=iterations, budget_usd=money, budget_tokens=tokens)


def _refuse_finished(run: RecordedRun, state: RunState, extension: Extend | None) -> None:
    end, here = state.run.finished, state.run
    if end is not None and end.outcome == "completed":
        raise UsageError(f"{run.name} is already completed; start another one with 'ralph-tui run'")
    span = state.timeline.current
    status = span.finished.status if span is not None and span.finished is not None else ""
    # A run cut off after its last iteration, with the work done, will end as completed.
    whole = status not in ("", "interrupted", "completed")
    limit = here.max_iterations + (extension.iterations if extension else 0)
    if end is not None and whole and here.iteration >= limit:
        raise UsageError(
            f"of {run.name}, {all_used(here.max_iterations)}; "
            f"allow more with --max-iterations {here.max_iterations + 5}"
        )
    money = extension.budget_usd if extension else 0.0
    if here.budget_usd is not None and here.cost_usd >= here.budget_usd + money:
        raise UsageError(
            f"{run.name} has used up its budget of ${here.budget_usd:,.2f}; "
            f"allow more with --budget {2 * here.budget_usd:g}"
        )
    tokens = extension.budget_tokens if extension else 0
    if here.budget_tokens is not None and here.tokens >= here.budget_tokens + tokens:
        raise UsageError(
            f"{run.name} has used up its budget of {here.budget_tokens:,} tokens; "
            f"allow more with --set limits.budget_tokens={more_tokens(here.tokens)}"
        )


def recorded_settings(start: RunStarted) -> dict[str, object]:
    """Return the settings of the run's start, by dotted name, without those in `READ_AGAIN`."""
    recorded: dict[str, object] = {
        name: value
        for name, value in start.config.items()
        if name in NAMES and not name.startswith(READ_AGAIN) and HIDDEN not in str(value)
    }
    if start.agent:
        recorded["agent.name"] = start.agent
    return recorded
