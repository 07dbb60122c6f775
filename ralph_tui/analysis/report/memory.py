"""The report's sections on memory: the plan, the learnings in prompts, the reflections."""

from ralph_tui.analysis.report.markdown import escaped
from ralph_tui.analysis.report.material import Material
from ralph_tui.layers.memory.planning import SAYS_NOTHING
from ralph_tui.layers.memory.reflection import NO_EVIDENCE
from ralph_tui.state import SeenLearning
from ralph_tui.text.format import count


def plan(material: Material) -> str:
    """Return the plan as it was before iteration 1; empty if it says nothing specific."""
    made = material.state.memory.plan
    if made is None or not (
        made.steps
        or made.related
        or made.estimated_iterations
        or not SAYS_NOTHING.fullmatch(made.approach)
    ):
        return ""
    lines = [f"{n}. {escaped(step)}" for n, step in enumerate(made.steps, 1)]
    parts = [escaped(made.approach), "\n".join(lines)]
    if made.estimated_iterations is not None:
        rests = f", from {count(made.estimate_from, 'run')}" if made.estimate_from else ""
        parts.append(f"Estimated: about {count(made.estimated_iterations, 'iteration')}{rests}.")
    if made.cites:
        parts.append(f"Based on {', '.join(map(escaped, made.cites))}.")
    if made.related:
        parts.append(f"Similar tasks: {', '.join(map(escaped, made.related))}.")
    return "\n\n".join(part for part in parts if part)


def learnings(material: Material) -> str:
    """Return the learnings that prompts carried, with their results."""
    used = [
        one for one in material.state.memory.seen.values() if one.sent and one.gone != "deleted"
    ]
    return "\n".join(f"- {escaped(one.sent[one.prompts[-1]])} ({_use(one)})" for one in used)


def _use(one: SeenLearning) -> str:
    prompts = f"in the prompts of {', '.join(map(str, one.prompts))}"
    judged = len(one.credits)
    helped = sum(credit.success for credit in one.credits.values())
    uses = count(judged, "counted use")
    return f"{prompts}; helped in {helped} of {uses}" if judged else f"{prompts}; not judged"


def reflections(material: Material) -> str:
    """Return the reflections in order, without observations: other sections state these facts."""
    lines = []
    for one in material.state.memory.reflections:
        by = f" (worded by the model {escaped(one.model)})" if one.model else ""
        lines.append(f"- {escaped(one.learning)}{by}")
        why = [] if one.analysis in NO_EVIDENCE else [one.analysis]
        lines += [f"  - {escaped(words)}" for words in (*why, *one.action_items)]
    return "\n".join(lines)
