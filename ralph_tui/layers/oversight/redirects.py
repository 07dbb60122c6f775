"""The overseer's proposals: instructions for the agent, recommendations for the user."""

from collections.abc import Mapping

from ralph_tui.events.oversight import Subject

UNWATCHED = (
    "Look at the run yourself: the log names what failed, and its record has the traceback.",
    "Stop the run if it must not go on unwatched; it can be resumed.",
)
"""Recommendations for the user if the overseer itself failed."""
_INSTRUCTIONS: Mapping[Subject, str] = {
    "stuck": (
        "Do not repeat the edits made so far. Take the first failing test alone, or the smallest "
        "thing that fails: run it, read its output, and say in one sentence why it fails. Then "
        "change only what that sentence needs. If others fail for the same reason, fix that cause."
    ),
    "oscillating": (
        "Take small steps: make one failing test pass, and keep a change only if no passing test "
        "breaks. Find out first why two goals seem to exclude each other. Do no large refactoring, "
        "and make no second change before the first one holds."
    ),
    "regressing": (
        "Something that worked is broken. Read what changed since the best result, and restore "
        "what worked before you write anything new. Take on nothing else until completion is back "
        "where it was."
    ),
    "objective_deviation": (
        "The last iterations worked on something else. Go back to the objective, and read it "
        "again, word by word. Say which part of it the next change serves, and make no change "
        "that serves none. Leave everything else for later."
    ),
}
_RESTORE = "Restore the best iteration."
_RECOMMENDATIONS: Mapping[Subject, tuple[str, ...]] = {
    "unmeasured": (
        "Run the completion command yourself, and read its last lines.",
        "Repair what keeps it from counting, then continue.",
        "Restore the last iteration that was measured.",
    ),
    "stuck": (
        "Read what the last sessions tried, and say what to try instead.",
        "Check that the objective can be reached and that its tests ask for the right thing.",
        "Simplify the objective, or abort.",
    ),
    "oscillating": (
        "Look for two demands that exclude each other, and say which one counts.",
        "Narrow the scope to one failing test.",
        _RESTORE,
    ),
    "regressing": ("Review the last changes.", _RESTORE, "Say what must not be touched."),
    "objective_deviation": (
        "Compare the changed files with the objective.",
        "Say in guidance what the agent is to work on.",
        "Make the objective more precise.",
    ),
    "resource_burn": (
        "Look at what the many actions did.",
        "Narrow the objective, or give it to the agent in smaller parts.",
        "Set a budget, or abort.",
    ),
    "budget": (
        "Add iterations or budget if the pace is worth it.",
        "Narrow the objective to what still fits.",
        "Let it run to its limit and go on from there later.",
    ),
    "pace": ("Watch the next iterations.",),
    "no_progress": (
        "Check that the completion command measures what the objective asks for.",
        "Split the objective, or try another agent or model.",
    ),
    "agent_error": (
        "Run the agent by hand in this folder: it fails in the same way each time.",
        "Repair what it names, then start again; the work is kept.",
    ),
    "strategy": (
        "Take away what stands in the agent's way, or say how to go around it.",
        "Check that the objective can be reached without it.",
        "Simplify the objective, or abort.",
    ),
    "circuit": (
        "Read what the last sessions did instead of changing files: they may not be allowed to.",
        "Say what is left to be done, or what was misunderstood.",
        "Abort if the work is done, and correct the completion command that does not say so.",
    ),
    "conflicts": (
        "Resolve the conflicts, or end the merge (`git merge --abort`), then continue.",
        "Restore an iteration from before them.",
    ),
    "owner": (),
    "unanswered": (),
    "oversight": UNWATCHED,
}


def propose(about: Subject) -> str:
    """Return general instructions about a subject, to follow the specifics of the run."""
    return _INSTRUCTIONS.get(about, "Look again at what was done last, and change the approach.")


def recommendations(about: Subject, *, at_best: bool = False) -> tuple[str, ...]:
    """Return the user's options, the most useful first; `at_best` omits restoring the best."""
    return tuple(one for one in _RECOMMENDATIONS[about] if not (at_best and one == _RESTORE))
