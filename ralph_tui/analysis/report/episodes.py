"""Alarms, interventions and questions of a run, with decisions and effects."""

from ralph_tui.analysis.report.markdown import escaped, quoted
from ralph_tui.analysis.report.material import UNANSWERED, WAITING, Material
from ralph_tui.events import AlarmRaised
from ralph_tui.events.control import alarm_word
from ralph_tui.state import Intervention
from ralph_tui.state.log_entries import LogEntry
from ralph_tui.text.format import count, points_gained
from ralph_tui.text.terms import subject_words

RECOMPUTED = "Recomputed: no one was asked, and no action was taken."
"""Shown for a run that another tool controlled."""
_SUBJECTS = {
    "STUCK": "stuck",
    "OSCILLATING": "oscillating",
    "REGRESSING": "regressing",
    "BUDGET_EXCEEDED": "budget",
}
"""The subject of an intervention, by alarm."""


def episodes(material: Material) -> str:
    """Return alarms, interventions and questions in the order in which they began, each once."""
    made = [one for one in material.state.oversight.interventions if one.level != "LOG"]
    met = {(one.iteration, str(one.about)) for one in made}
    alone = [one for one in material.alarms if (one.iteration, _SUBJECTS[one.alarm]) not in met]
    found = [(one.seq, _intervention_item(material, one)) for one in made] + [
        (one.seq, _alarm_item(one)) for one in alone
    ]
    found += _questions(material)
    text = "\n".join(text for _, text in sorted(found))
    return f"{RECOMPUTED}\n\n{text}" if text and material.started.imported else text


def decided(material: Material) -> str:
    """Return only questions with their answers, in order."""
    if material.started.imported:
        return ""
    found = [
        (
            one.seq,
            f"- iteration {one.iteration}: **{one.level}** {subject_words(one.about)}: "
            f"{escaped(one.reason)}\n  - {escaped(decision)}",
        )
        for one in material.state.oversight.interventions
        if (decision := _decision(material, one))
    ]
    found += _questions(material)
    return "\n".join(text for _, text in sorted(found))


def _decision(material: Material, made: Intervention) -> str:
    """Return the answer to an intervention, or that it is unanswered; empty without a question."""
    needs = material.state.needs
    asked = needs.question or needs.left_open
    open_ = asked is not None and asked.topic in ("redirect", "pause")
    if made.decision or not open_ or made is not material.state.oversight.undecided:
        return made.decision
    return WAITING if material.alive and needs.question is not None else UNANSWERED


def _questions(material: Material) -> list[tuple[int, str]]:
    """Return ralph-tui's own questions; the agent's requests have a section of their own."""
    return [
        (entry.head.seq, _other_question(entry))
        for entry in material.state.log.entries
        if entry.kind == "question" and entry.head.word != "ASKED"
    ]


def _alarm_item(alarm: AlarmRaised) -> str:
    return f"- iteration {alarm.iteration}: **{alarm_word(alarm.alarm)}** {escaped(alarm.reason)}"


def _other_question(entry: LogEntry) -> str:
    """Return a question that is not the overseer's, and its answer."""
    head = entry.head
    where = f"iteration {head.iteration}" if head.iteration else "before iteration 1"
    lines = [f"- {where}: **{head.word}** {escaped(head.text)}"]
    return "\n".join([*lines, *(f"  - {escaped(row.text)}" for row in entry.follow)])


def _sent(material: Material, made: Intervention) -> str:
    """Say whether a prompt after the intervention's iteration has carried the instructions."""
    run = material.state.run
    if run.iteration > made.iteration:
        return " sent"
    return " for the next prompt" if run.live else ", not sent because the run ended first"


def _instructions(text: str, title: str) -> list[str]:
    """Return instructions as one item; several lines go below the title as a quote."""
    if len(text.splitlines()) == 1:
        return [f"  - {title} {escaped(text)}"]
    return [f"  - {title}", *(f"    {line}" for line in quoted(text).splitlines())]


def _intervention_item(material: Material, made: Intervention) -> str:
    about = subject_words(made.about)
    lines = [f"- iteration {made.iteration}: **{made.level}** {about}: {escaped(made.reason)}"]
    if not material.started.imported and (decision := _decision(material, made)):
        lines.append(f"  - {escaped(decision)}")
    if made.instructions:
        lines += _instructions(made.instructions, f"instructions{_sent(material, made)}:")
    if made.effect is not None:
        after = count(made.effect.after, "iteration")
        lines.append(f"  - {after} later: {points_gained(made.effect.points)}")
    over = next(
        (
            check.iteration
            for check in material.state.oversight.checks
            if check.ended == made.about and check.iteration > made.iteration
        ),
        None,
    )
    if made.level == "REDIRECT" and over is not None:
        lines.append(f"  - ended after iteration {over}")
    return "\n".join(lines)
