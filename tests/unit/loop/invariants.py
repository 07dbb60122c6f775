"""Invariants of every run that the overseer watched."""

from ralph_tui import events as ev
from tests.world import World


def check(world: World) -> None:
    """Fail if an invariant is broken."""
    open_ = None
    for event in world.events:
        if isinstance(event, ev.RunResumed | ev.RunFinished):
            open_ = None
        elif isinstance(event, ev.QuestionAsked):
            assert open_ is None, "two open questions"
            open_ = event.question_id
        elif isinstance(event, ev.QuestionAnswered | ev.QuestionWithdrawn):
            assert open_ == event.question_id
            open_ = None
    escalated = world.all(ev.EscalationRaised)
    interventions = world.all(ev.InterventionMade)
    assert [e.escalation_id for e in world.outreach.sent] == [e.escalation_id for e in escalated]
    serious = [e for e in interventions if e.level in ("PAUSE", "ABORT")]
    reported = [e for e in escalated if e.about != "question"]
    for made in serious:
        same = [
            e
            for e in reported
            if (e.iteration, e.about, e.reason) == (made.iteration, made.about, made.reason)
        ]
        assert len(same) == 1, made
    readings = {e.iteration: e.completion for e in world.all(ev.ReadingTaken)}
    limits = {e.iteration: e.max_iterations for e in world.all(ev.IterationStarted)}
    for made in interventions:
        if made.level in ("REDIRECT", "PAUSE"):
            assert readings[made.iteration] < 100
            assert made.iteration < limits[made.iteration]
    # A run that was aborted once may have been resumed.
    ends = [e.seq for e in world.all(ev.RunFinished)[:-1]]
    begun = max(ends, default=0)
    aborts = [e for e in serious if e.level == "ABORT" and e.seq > begun]
    assert len(aborts) == (world.end.outcome == "aborted")
