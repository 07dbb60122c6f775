"""The sections of a report, as Markdown; each is empty if there is nothing to report."""

from collections.abc import Callable

from ralph_tui.analysis.checkpoints import summarize, words_of
from ralph_tui.analysis.report import memory, review, strategy
from ralph_tui.analysis.report.chart import completion_chart
from ralph_tui.analysis.report.context import APART, context
from ralph_tui.analysis.report.episodes import decided, episodes
from ralph_tui.analysis.report.markdown import code, escaped, table
from ralph_tui.analysis.report.material import UNANSWERED, WAITING, Material, moment
from ralph_tui.analysis.report.requests import Request
from ralph_tui.state import IterationSpan
from ralph_tui.state.foreign import ForeignRows
from ralph_tui.state.guidance import delivery_words
from ralph_tui.text.format import count, duration, percent, signed, token_count, with_lines
from ralph_tui.text.terms import BEST, CRITICAL, ROLLED_BACK, WAITS, WARNING, sender_label


def foreign(material: Material) -> str:
    """Return what another tool reported about a run that it recorded.

    Only reports that called for attention are included, in that tool's words, each sentence once.
    """
    rows, lines = ForeignRows(), list[str]()
    for iteration, verdicts in material.state.foreign.verdicts.items():
        for verdict in verdicts:
            row = rows.row(verdict)
            if row is not None:
                lines.append(f"- iteration {iteration}: {row.word} {escaped(row.text)}")
    return "\n".join(lines)


MAX_ITERATIONS = 10
"""Maximum number of iterations listed for one blocker."""
LONGEST_NOTE = 200
"""Maximum length of a checkpoint's note, in characters."""


def _chart(material: Material) -> str:
    readings = {point.iteration: 100 * point.completion for point in material.state.control.points}
    spans = material.state.timeline.spans
    marks = {
        BEST.label: {material.state.run.best_iteration: BEST.glyph},
        f"{WARNING.glyph} alarm, {CRITICAL.glyph} critical alarm": {
            m.iteration: m.glyph for m in material.state.control.marks
        },
        **{
            f"{level[0]} {level.lower()}": {
                made.iteration: level[0]
                for made in material.state.oversight.interventions
                if made.level == level
            }
            for level in ("REDIRECT", "PAUSE", "ABORT")
        },
        f"{ROLLED_BACK.glyph} files restored": {
            span.number: ROLLED_BACK.glyph for span in spans if span.rollbacks
        },
    }
    drawn = completion_chart(readings, marks)
    return f"```text\n{drawn}\n```" if drawn else ""


def _iterations(material: Material) -> str:
    waits = sum(material.waited.values()) >= 1
    head = ["#", "status", "completion", "gain", "sessions"]
    head += [*(["waited"] if waits else []), "cost", "tokens", "tools", "files", "tests"]
    rows = [
        _row(material, span, waits=waits) for span in material.state.timeline.spans if span.number
    ]
    if not rows:
        return ""
    note = "\n\n≈: an estimate." if any("≈" in cell for row in rows for cell in row) else ""
    return table(head, rows) + note


def _row(material: Material, span: IterationSpan, *, waits: bool) -> tuple[str, ...]:
    done = span.finished
    beside = [other.completion for other in material.state.timeline.spans if other.completion]
    gain = material.state.timeline.gain(span)
    reading = "—" if span.completion is None else percent(span.completion, *beside)
    reading += " (not measured, value kept)" if span.kept else ""
    found = material.state.timeline.began_with(span)
    if gain is not None and found is not None and found != span.previous:
        reading += f" (from {percent(found, *beside)}, restored)"
    times = [_sessions(material, span), *([_waited(material, span)] if waits else [])]
    first = (str(span.number), done.status if done else "not finished", reading, _gain(gain))
    if done is None:
        return (*first, *times, *["—"] * 3, _files_cell(span), _gate_cell(span))
    return (
        *first,
        *times,
        material.cost(done.cost_usd, estimated=material.is_estimated(span)),
        token_count(done.tokens, partial=span.tokens_partial) if done.tokens else "—",
        str(done.tool_calls) if material.reports_tools else "—",
        _files_cell(span),
        _gate_cell(span),
    )


def _gain(gain: float | None) -> str:
    return "—" if gain is None else signed(gain)


def _sessions(material: Material, span: IterationSpan) -> str:
    """Return the duration of the sessions; if unknown, that of the iteration, less its waits."""
    if any(end.duration_s for end in span.ends):
        return duration(sum(end.duration_s for end in span.ends))
    if span.ended_at is None or span.number in material.waited:
        return "—"
    if span.finished is not None:
        return duration(span.finished.duration_s)
    return duration((span.ended_at - span.started_at).total_seconds())


def _waited(material: Material, span: IterationSpan) -> str:
    seconds = material.waited.get(span.number, 0.0)
    return duration(seconds) if seconds >= 1 else "—"


def _files_cell(span: IterationSpan) -> str:
    """Return the number of changed files; 0 only if the files were checked."""
    done = span.finished
    if done is not None and (done.files or span.files is not None):
        return with_lines(str(done.files), done.added, done.removed)
    if span.files is None or done is not None:
        return "—"
    totals = span.files.totals
    added, removed = sum(t.added for t in totals), sum(t.removed for t in totals)
    return with_lines(str(sum(t.files for t in totals)), added, removed)


def _gate_cell(span: IterationSpan) -> str:
    gate = span.gate
    if gate is None:
        return "—"
    if gate.error:
        return "not run"
    if gate.broken:
        return "build broken"
    word = "passed" if gate.ok else ("timed out" if gate.timed_out else "failed")
    return word if gate.total is None else f"{word} {gate.passed}/{gate.total}"


def _warnings(material: Material) -> str:
    """Return the log's warnings, except those that have a section of their own."""
    own = (*APART, "ASKED")
    apart = {alarm.seq for alarm in material.alarms} | material.measured_rows
    apart |= {made.seq for made in material.state.oversight.interventions}
    apart |= {began.seq for began, _ in material.waits}
    apart |= {entry.head.seq for entry in material.state.log.entries if entry.kind == "question"}
    apart |= {made.effect.seq for made in material.state.oversight.interventions if made.effect}
    if material.state.run.finished is not None:
        apart.add(material.state.run.finished.seq)
    lines = []
    for entry in material.state.log.entries:
        head = entry.head
        if head.level not in ("warn", "critical") or head.seq in apart or head.word in own:
            continue
        where = f"iteration {head.iteration}" if head.iteration else "before iteration 1"
        if entry.last > head.iteration:
            where = f"iterations {head.iteration} to {entry.last}"
        again = f", {count(entry.times, 'time')}" if entry.times > 1 else ""
        lines.append(f"- {where}{again}: **{escaped(head.word)}** {escaped(head.text)}")
        if entry.kind == "notice":
            lines += [f"  - {escaped(row.text)}" for row in entry.follow]
    return "\n".join(lines)


def _restores(material: Material) -> str:
    return "\n".join(
        f"- iteration {back.iteration}, {moment(back.at)}: {count(back.files, 'file')} restored to "
        f"snapshot {back.snapshot}, by {escaped(back.by)}; previous files are in snapshot "
        f"{back.present}" + (f"; {len(back.kept)} left alone" if back.kept else "")
        for span in material.state.timeline.spans
        for back in span.rollbacks
    )


def _checkpoints(material: Material) -> str:
    """Return the summary of all checkpoints, and each checkpoint that has a note."""
    summary = summarize(material.state.timeline, material.at)
    lines = [] if summary is None else [f"- {escaped(line)}" for line in words_of(summary, moment)]
    for span in material.state.timeline.spans:
        for point in span.checkpoints:
            if point.note:
                snapshot = f"snapshot {point.snapshot}" if point.snapshot else "no snapshot"
                note = escaped(point.note, LONGEST_NOTE)
                lines.append(
                    f"- iteration {point.iteration}, {moment(point.at)}, {snapshot}: {note}"
                )
    return "\n".join(lines)


def _guidance(material: Material) -> str:
    over = not material.state.run.live
    lines = [
        f"- {escaped(item.text)} ({delivery_words(item, over=over)})"
        for item in material.state.guidance.items.values()
    ]
    if always := material.state.intelligence.standing_instruction:
        lines.append(f"- in every prompt: {escaped(always)}")
    return "\n".join(lines)


def _agent_questions(material: Material) -> str:
    """Return the agent's questions, and who allowed or refused them."""
    waits = material.asked[-1:] if material.alive and material.state.needs.question else []

    def open_one(one: Request) -> str:
        return WAITING if one in waits else UNANSWERED

    return "\n".join(
        f"- iteration {one.iteration}, {moment(one.at)}: {escaped(one.what)}: "
        f"**{escaped(one.how or open_one(one))}**{f' ({code(one.rule)})' if one.rule else ''}"
        f"{f'; {one.again}' if one.again else ''}"
        for one in material.asked
    )


def _waits(material: Material) -> str:
    lines = []
    for began, ended in material.waits:
        end = "still waiting" if ended is None else (
            f"{duration(ended.waited_s)}, ended by {escaped(sender_label(ended.by))}"
        )  # fmt: skip
        why = f": {escaped(began.reason)}" if began.reason else ""
        lines.append(f"- iteration {began.iteration}, {WAITS[began.cause].word}, {end}{why}")
    return "\n".join(lines)


def _resumed(material: Material) -> str:
    return "\n".join(
        f"- {moment(event.at)}, {event.mode}: {escaped(event.found)}" for event in material.resumed
    )


def _blockers(material: Material) -> str:
    lines = []
    for text, said in material.blockers.items():
        often = ", ".join(map(str, said[:MAX_ITERATIONS])) + (
            ", ..." if said[MAX_ITERATIONS:] else ""
        )
        where = f"iteration{'s' if said[1:] else ''} {often}"
        lines.append(f"- {escaped(text)} ({where})")
    return "\n".join(lines)


def _learnings(material: Material) -> str:
    return "\n".join(f"- {escaped(text)} (iteration {k})" for text, k in material.learnings.items())


FIRST: dict[str, Callable[[Material], str]] = {
    "Check first": review.first,
    "Changed files": review.files,
    "Tests": review.tests,
}
"""Sections before the facts, for a reviewer; by title, in order."""
REVIEW: dict[str, Callable[[Material], str]] = {
    "Tests": review.tests,
    "Check first": review.first,
    "Changed files": review.files,
    "Asked and answered": decided,
    "Guidance": _guidance,
    "Agent requests": _agent_questions,
}
"""All sections that a reviewer needs; by title, in order."""
SECTIONS: dict[str, Callable[[Material], str]] = {
    "What happened": episodes,
    "Reported by the original tool": foreign,
    "Restored": _restores,
    "Guidance": _guidance,
    "Agent requests": _agent_questions,
    "Blockers reported by the agent": _blockers,
    "Learnings reported by the agent": _learnings,
    "Warnings": _warnings,
    "Completion": _chart,
    "Iterations": _iterations,
    "Approaches": strategy.strategies,
    "Validation issues": strategy.issues,
    "Plan": memory.plan,
    "Context": context,
    "Waits": _waits,
    "Resumed": _resumed,
    "Checkpoints": _checkpoints,
    "Learnings from earlier runs": memory.learnings,
    "Reflections": memory.reflections,
}
"""Sections after the facts; by title, in order."""
