"""What a report says of memory: the plan, the learnings it used, what the attempt teaches."""

from ralph_tui.analysis.report.markdown import escaped
from ralph_tui.analysis.report.material import Material, moment
from ralph_tui.state import SeenLearning
from ralph_tui.text.format import count


def plan(told: Material) -> str:
    """As it was made before iteration 1."""
    made = told.state.memory.plan
    if made is None:
        return ""
    lines = [f"{n}. {escaped(step)}" for n, step in enumerate(made.steps, 1)]
    parts = [escaped(made.approach), "\n".join(lines)]
    if made.estimated_iterations is not None:
        rests = f", from {count(made.estimate_from, 'run')}" if made.estimate_from else ""
        parts.append(f"Estimated: about {count(made.estimated_iterations, 'iteration')}{rests}.")
    if made.cites:
        parts.append(f"It follows {', '.join(map(escaped, made.cites))}.")
    if made.related:
        parts.append(f"Tasks like this one: {', '.join(map(escaped, made.related))}.")
    return "\n\n".join(part for part in parts if part)


def learnings(told: Material) -> str:
    """Those that a prompt carried, and what came of them."""
    used = [one for one in told.state.memory.seen.values() if one.sent and one.gone != "deleted"]
    return "\n".join(f"- {escaped(one.sent[one.prompts[-1]])} ({_use(one)})" for one in used)


def _use(one: SeenLearning) -> str:
    prompts = f"in the prompts of {', '.join(map(str, one.prompts))}"
    judged = len(one.credits)
    helped = sum(credit.success for credit in one.credits.values())
    return f"{prompts}; helped in {helped} of {judged}" if judged else f"{prompts}; not judged"


def reflections(told: Material) -> str:
    """In the order in which they were written."""
    parts = []
    for number, one in enumerate(told.state.memory.reflections, 1):
        lines = [f"{number}. {escaped(one.learning)}"]
        facts = (("observed", one.observation), ("because", one.analysis))
        lines += [f"   - {name}: {escaped(words)}" for name, words in facts if words]
        lines += [f"   - to do: {escaped(item)}" for item in one.action_items]
        by = f", worded by the model {escaped(one.model)}" if one.model else ""
        lines.append(f"   - {moment(one.at)}, {escaped(one.reflection_type)}{by}")
        parts.append("\n".join(lines))
    return "\n".join(parts)
