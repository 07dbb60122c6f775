"""Everything a prompt is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from ralph_tui import events as ev


@dataclass(frozen=True)
class PromptInput:
    """What is known of a run; what is not known is left out of the text.

    `criterion` and whatever the owner has said are trusted, all that comes of an agent, a test, a
    file or a model is not.
    """

    objective: str
    command: str
    """The completion command; empty where a human judges by the criterion."""
    iteration: int
    max_iterations: int
    reading: ev.ReadingTaken | None = None
    measured_last: int | None = None
    """The iteration that was measured last, where the last one was not."""
    gate: ev.GateFinished | None = None
    signal: ev.SignalComputed | None = None
    """None with the control layer switched off, and before the first reading."""
    advice: str = ""
    """The control layer's words."""
    criterion: str = ""
    """When the work is done, in words; with a command as well, that has to pass too."""
    until_promise: bool = False
    """The work is done when the agent promises it, a file has changed, and the command passes."""
    instruction: str = ""
    """What stands in every prompt."""
    guidance: Sequence[str] = ()
    handoff: ev.HandoffWritten | None = None
    """What the session before left; None where the next one begins with a task of its own."""
    windows_fill: bool = False
    """Context windows of this run fill up, again and again."""
    redirect: str = ""
    """Instructions of the approved REDIRECT that stands."""
    redirected_at: int = 0
    """The iteration it was approved in."""
    redirect_undid: str = ""
    """What the files were brought back to since that REDIRECT was made; empty: they were not."""
    restored: str = ""
    """What the files were brought back to after the last reading. `reading` and `gate` then are
    those of that state, or None where it was never measured."""
    left_alone: int = 0
    """Files that could not be brought back then."""
    interrupted: str = ""
    """What came of the iteration before when it was interrupted."""
    interrupted_files: Sequence[str] = ()
    """The files it had changed, a line each."""
    claimed: bool = False
    """The last session promised to be done, and the command or the owner did not agree."""
    judged: ev.CriterionJudged | None = None
    """A model's no that still holds."""
    assessment: ev.AssessmentMade | None = None
    """What the last iteration came to; None where it is not known, or undone."""
    refined: ev.AssessmentRefined | None = None
    """A model's second opinion on it."""
    report: ev.AgentReported | None = None
    """The last session's."""
    reports: Sequence[ev.AgentReported] = ()
    """The last one of each of the last two iterations, the older first."""
    strategy: ev.StrategyPlanned | None = None
    """How this iteration is to go about it."""
    plan: ev.PlanMade | None = None
    """How this attempt goes about it."""
    found_out: Sequence[str] = ()
    """What the agent reported as learned earlier in this run, a line each, the newest first."""
    learnings: Sequence[str] = ()
    """What earlier runs have taught, a line each."""
