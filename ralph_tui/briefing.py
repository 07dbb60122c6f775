"""Step 9: what is known of the run, put before the agent."""

from ralph_tui.control.advice import advice
from ralph_tui.control.budget import Budget
from ralph_tui.control.evaluation import Evaluation
from ralph_tui.events import RunStarted
from ralph_tui.intelligence.prompts import Prompt, Situation, build_prompt
from ralph_tui.state import RunState


def brief(
    iteration: int,
    start: RunStarted,
    state: RunState,
    control: Evaluation | None,
    budget: Budget,
) -> Prompt:
    """The prompt of an iteration; `control` is None with the layer off, and before a reading."""
    agent, gate = state.agent, state.gate
    return build_prompt(
        Situation(
            objective=start.objective,
            command=start.command or "",
            iteration=iteration,
            max_iterations=start.max_iterations,
            reading=gate.readings[-1] if gate.readings else None,
            gate=gate.last,
            signal=control.signal if control else None,
            advice=advice(control.signal, control.alarms, budget) if control else "",
            guidance=[item.text for item in state.guidance.queued],
            claimed=agent.promised,
            next_step=agent.report.next if agent.report else "",
            blockers=agent.report.blockers if agent.report else (),
        )
    )
