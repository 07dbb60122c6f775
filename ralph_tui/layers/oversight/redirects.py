"""The overseer's proposals: instructions for the agent, recommendations for the user."""

from collections.abc import Mapping

from ralph_tui.events.oversight import Subject

UNWATCHED = (
    "Check the run yourself: the log names the failure, and the run's record has the traceback.",
    "Stop the run if it must not continue unwatched; you can resume it later.",
)
"""Recommendations for the user if the overseer itself failed."""
_INSTRUCTIONS: Mapping[Subject, str] = {
    "stuck": (
        "Do not repeat the earlier edits. Pick the first failing test, or the smallest thing that "
        "fails. Run it alone, read its output, and state in one sentence why it fails. Then "
        "change only what that cause requires. If other tests fail for the same reason, fix the "
        "shared cause."
    ),
    "oscillating": (
        "Take small steps: make one failing test pass, and keep a change only if no passing test "
        "breaks. First find out why two goals seem to conflict. Avoid large refactoring, and do "
        "not start a second change until the first one works."
    ),
    "regressing": (
        "Something that worked is broken. Review what changed since the best result, and restore "
        "what worked before you write anything new. Do nothing else until completion is back at "
        "its best."
    ),
    "validation": (
        "Fix these errors before you do anything else. Restore tests and test settings that were "
        "removed or weakened. Promise completion only after you have seen the checks pass."
    ),
    "objective_deviation": (
        "The last iterations worked on something else. Reread the objective word by word. State "
        "which part of it your next change serves, and make no change that serves none. Leave "
        "everything else for later."
    ),
}
_RESTORE = "Restore the best iteration."
_RECOMMENDATIONS: Mapping[Subject, tuple[str, ...]] = {
    "unmeasured": (
        "Run the completion command yourself, and read the end of its output.",
        "Fix what prevents the measurement, then continue.",
        "Restore the last measured iteration.",
    ),
    "stuck": (
        "Read what the last sessions tried, and suggest something else.",
        "Check that the objective is achievable and that its tests check the right thing.",
        "Simplify the objective, or abort.",
    ),
    "oscillating": (
        "Look for two conflicting requirements, and say which one takes priority.",
        "Narrow the scope to one failing test.",
        _RESTORE,
    ),
    "regressing": ("Review the last changes.", _RESTORE, "Say what the agent must not touch."),
    "objective_deviation": (
        "Compare the changed files with the objective.",
        "Send guidance on what the agent should work on.",
        "Make the objective more precise.",
    ),
    "validation": (
        "Review the last changes to tests and test settings.",
        "Say what the agent may change, and when it may promise completion.",
        _RESTORE,
    ),
    "resource_burn": (
        "Check what all these actions did.",
        "Narrow the objective, or split it into smaller parts.",
        "Set a budget, or abort.",
    ),
    "budget": (
        "Add iterations or budget if the progress justifies it.",
        "Narrow the objective to what still fits.",
        "Let it run to its limit, and resume it later.",
    ),
    "pace": ("Watch the next iterations.",),
    "no_progress": (
        "Check that the completion command measures what the objective asks for.",
        "Split the objective, or try another agent or model.",
    ),
    "agent_error": (
        "Run the agent yourself in this folder: it fails in the same way each time.",
        "Fix the error it reports, then start again; the work is kept.",
    ),
    "strategy": (
        "Remove the agent's blocker, or say how to work around it.",
        "Check that the objective can be reached without it.",
        "Simplify the objective, or abort.",
    ),
    "circuit": (
        "Read what the last sessions did instead of changing files; they may lack permission.",
        "Say what is left to do, or what was misunderstood.",
        "Abort if the work is done, and fix the completion command that does not show it.",
    ),
    "conflicts": (
        "Resolve the conflicts, or end the merge (`git merge --abort`), then continue.",
        "Restore an iteration from before the conflicts.",
    ),
    "owner": (),
    "unanswered": (),
    "oversight": UNWATCHED,
}


def propose(about: Subject) -> str:
    """Return general instructions about a subject, to follow the specifics of the run."""
    return _INSTRUCTIONS.get(about, "Review the last changes, and try another approach.")


def recommendations(about: Subject, *, at_best: bool = False) -> tuple[str, ...]:
    """Return the user's options, the most useful first; `at_best` omits restoring the best."""
    return tuple(one for one in _RECOMMENDATIONS[about] if not (at_best and one == _RESTORE))
