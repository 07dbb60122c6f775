"""The report's section on the context window: how full it got, handoffs, and compactions."""

from ralph_tui.analysis.context import CAUSES, thresholds
from ralph_tui.analysis.report.markdown import code, escaped, table
from ralph_tui.analysis.report.material import Material, moment
from ralph_tui.events import ContextCompacted, HandoffWritten, WorkCommitted
from ralph_tui.text.format import filled

HEAD = ("#", "sessions", "peak", "handoffs", "compactions")
APART = ("CONTEXT", "HANDOFF", "COMPACT")
"""Words of log rows that this section covers."""


def context(material: Material) -> str:
    """Return the section; empty if every window had room, or if no agent reported its use."""
    warns = thresholds(material.state).warn
    known = [
        use
        for use in material.state.context.history
        if use.peak_percent is not None or use.rollovers or use.compactions
    ]
    worth = [
        use for use in known if (use.peak_percent or 0) >= warns or use.rollovers or use.compactions
    ]
    if not (worth or material.around_context or material.state.context.handoffs):
        return ""
    rows = [
        (
            str(use.iteration),
            str(max(1, use.sessions)),
            "unknown" if use.peak_percent is None else filled(use.peak_percent),
            str(use.rollovers),
            str(use.compactions),
        )
        for use in known
    ]
    lines = [_handoff(handoff) for handoff in material.state.context.handoffs]
    lines += [
        f"- iteration {one.iteration}, {moment(one.at)}: {_words(one)}"
        for one in material.around_context
    ]
    parts = [table(HEAD, rows)] if rows else []
    return "\n\n".join([*parts, "\n".join(lines)] if lines else parts)


def _words(event: ContextCompacted | WorkCommitted) -> str:
    if isinstance(event, ContextCompacted):
        return event.row().text
    return f"committed as {code(event.commit[:12])}, {escaped(event.message)}"


def _handoff(handoff: HandoffWritten) -> str:
    full = "" if handoff.percent is None else f" at {filled(handoff.percent)}"
    how = handoff.written
    parts = [
        f"- iteration {handoff.iteration}, {moment(handoff.at)}: a session handed off{full} "
        f"({CAUSES[handoff.cause]}): "
        f"{code(handoff.path) if handoff.path else 'its handoff could not be saved'}",
        f" ({escaped(how)})" if how else "",
        f", copied to {code(handoff.copy_path)}" if handoff.copy_path else "",
    ]
    facts = (("in progress", handoff.summary), ("next", handoff.next_step))
    parts += [f"\n  - {name}: {escaped(words)}" for name, words in facts if words]
    return "".join(parts)
