"""The input for prompts."""

from collections.abc import Sequence
from dataclasses import dataclass

from ralph_tui import events as ev
from ralph_tui.events.intelligence import ContextFiles
from ralph_tui.layers.context.take_on import Open
from ralph_tui.layers.control.law import Phase


@dataclass(frozen=True)
class PromptInput:
    """Everything known about a run; unknown values do not appear in the prompt.

    `criterion` and all words of the user are trusted. Text from an agent, a test, a file or a model
    is not.
    """

    objective: str
    command: str
    """The completion command; empty if only the criterion decides."""
    iteration: int
    max_iterations: int
    phase: Phase | None = None
    """The run's phase; None if the layers are off."""
    reading: ev.ReadingTaken | None = None
    measured_last: int | None = None
    """The iteration that was measured last, if the latest one was not."""
    gate: ev.GateFinished | None = None
    signal: ev.SignalComputed | None = None
    """None if the control layer is disabled, and before the first measurement."""
    advice: str = ""
    """The control layer's advice."""
    criterion: str = ""
    """Completion criterion in words; if there is a command, it must pass too."""
    until_promise: bool = False
    """The work is done when the agent promises it, a file has changed, and the command passes."""
    instruction: str = ""
    """Text from the user that is added to every prompt."""
    guidance: Sequence[str] = ()
    handoff: ev.HandoffWritten | None = None
    """Handoff from the previous session; None if the next session does not continue its task."""
    windows_fill: bool = False
    """True if context windows of this run keep filling up."""
    windows_high: bool = False
    """True if a recent window of this run was more than 60 % full."""
    open_items: Sequence[Open] = ()
    """The plan's open items with their sizes, in the plan's order."""
    room: float = 85.0
    """How full the window is when a session hands off, in percent."""
    redirect: str = ""
    """Instructions of the approved REDIRECT in effect."""
    redirected_at: int = 0
    """The iteration in which it was approved."""
    redirect_undid: str = ""
    """The state to which files were restored since that REDIRECT; empty if none were."""
    restored: str = ""
    """The state to which the files were restored after the last measurement.

    `reading` and `gate` then belong to that state; they have no value if it was never measured.
    """
    left_alone: int = 0
    """Number of files that could not be restored."""
    interrupted: str = ""
    """The result of the previous iteration if it was interrupted; else empty."""
    interrupted_files: Sequence[str] = ()
    """Files that the interrupted iteration changed, one per line."""
    claimed: bool = False
    """True if the last session promised completion but the command or the user disagreed."""
    judged: ev.CriterionJudged | None = None
    """A model's negative verdict that still applies."""
    assessment: ev.AssessmentMade | None = None
    """Assessment of the last iteration; None if unknown or if that iteration was undone."""
    context_files: ContextFiles | None = None
    """Files to open first; None if unknown or if the last iteration was undone."""
    invalid: Sequence[str] = ()
    """Errors that validation found and no other section names, one sentence each."""
    refined: ev.AssessmentRefined | None = None
    """A model's second opinion on the assessment."""
    report: ev.AgentReported | None = None
    """The last session's report."""
    reports: Sequence[ev.AgentReported] = ()
    """The last report of each of the last two iterations, oldest first."""
    strategy: ev.StrategyPlanned | None = None
    """For this iteration."""
    plan: ev.PlanMade | None = None
    """For this attempt."""
    found_out: Sequence[str] = ()
    """Learnings reported earlier in this run, one per line, newest first."""
    learnings: Sequence[str] = ()
    """Lessons of earlier runs, one per line."""
