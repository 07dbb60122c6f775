"""What the agent's own words claim: the output contract's report line and promise. Pure."""

from ralph_tui.events import AgentReported, Event, PromiseMade
from ralph_tui.layers.sensor import find_report, promised


def claims(text: str, iteration: int) -> list[Event]:
    """The last report in the text, and the promise when it is made."""
    events: list[Event] = []
    if '"ralph"' in text:
        report = find_report(text)
        if report is not None:
            events.append(
                AgentReported(
                    iteration=iteration,
                    completion=report.completion,
                    summary=report.summary,
                    blockers=list(report.blockers),
                    learnings=list(report.learnings),
                    next=report.next,
                )
            )
    if "<promise>" in text and promised(text):
        events.append(PromiseMade(iteration=iteration))
    return events
