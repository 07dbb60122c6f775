"""Step 9: what is known of the run, put before the agent."""

from ralph_tui.events import GuidanceDelivered, PromptPrepared, RunStarted
from ralph_tui.layers.control import Evaluation, advice
from ralph_tui.layers.governor import budget_of
from ralph_tui.layers.intelligence import Prompt, PromptInput, build_prompt
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.guard import guarded
from ralph_tui.loop.waiting.controls import Steps
from ralph_tui.state import RunState
from ralph_tui.text.format import duration

SHOWN = 20
"""Changed files that a prompt names."""


class PromptWriter:
    """Writes the prompt of each iteration."""

    def __init__(self, run: Run) -> None:
        self._scheduler = run.scheduler
        self._state = run.state
        self._records = run.ports.records
        self._start = run.start

    def write(self, k: int, control: Evaluation | None) -> Steps[str]:
        """What is sent; `control` is None with the layer off, and before a reading."""
        records, guidance = self._records, self._state.guidance.queued
        prompt = yield from guarded(
            "intelligence",
            lambda: compose_prompt(k, self._start, self._state, control),
            lambda: basic_prompt(k, self._start, self._state),
            instead="the prompt says nothing of what was measured",
        )
        path = yield from self._scheduler.run_job(
            "prompt", lambda: records.write_prompt(k, prompt.text)
        )
        yield PromptPrepared(
            iteration=k,
            path=records.relative(path),
            urgency=prompt.urgency,
            characters=len(prompt.text),
            guidance=[item.guidance_id for item in guidance],
        )
        for item in guidance:
            yield GuidanceDelivered(guidance_id=item.guidance_id, into="prompt")
        return prompt.text


def basic_prompt(iteration: int, start: RunStarted, state: RunState) -> Prompt:
    """What the owner has said, and nothing that is derived: the fallback."""
    return build_prompt(
        PromptInput(
            objective=start.objective,
            command=start.command or "",
            iteration=iteration,
            criterion=start.criterion or "",
            max_iterations=state.run.max_iterations,
            guidance=[item.text for item in state.guidance.queued],
        )
    )


def compose_prompt(
    iteration: int, start: RunStarted, state: RunState, control: Evaluation | None
) -> Prompt:
    """All that is known of the run, in words."""
    agent, gate, redirect = state.agent, state.gate, state.oversight.redirect
    return build_prompt(
        PromptInput(
            objective=start.objective,
            command=start.command or "",
            iteration=iteration,
            criterion=start.criterion or "",
            max_iterations=state.run.max_iterations,
            reading=gate.readings[-1] if gate.readings else None,
            gate=gate.last,
            signal=control.signal if control else None,
            advice=advice(control.signal, control.alarms, budget_of(state)) if control else "",
            guidance=[item.text for item in state.guidance.queued],
            redirect=redirect.instructions if redirect else "",
            redirected_at=redirect.iteration if redirect else 0,
            restored=_restored(state),
            interrupted=_interrupted(iteration, state),
            claimed=agent.promised,
            next_step=agent.report.next if agent.report else "",
            blockers=agent.report.blockers if agent.report else (),
        )
    )


def _restored(state: RunState) -> str:
    """What the files were brought back to after the last reading; empty when they were not."""
    rollback = state.oversight.rollback
    if rollback is None:
        return ""
    for span in state.timeline.spans:
        if span.boundary is not None and span.boundary.number == rollback.snapshot:
            done = f"what they were after iteration {span.number}"
            return done if span.number else "what they were at the start of the run"
    return f"an earlier state (snapshot {rollback.snapshot})"


def _interrupted(iteration: int, state: RunState) -> str:
    """What the iteration before left behind when it was cut off; empty when it was not."""
    spans = state.timeline.spans
    before = next((span for span in reversed(spans) if span.number == iteration - 1), None)
    if before is None or before.finished is None or before.finished.status != "interrupted":
        return ""
    changes = before.files.changes if before.files and not before.files.live else []
    if state.oversight.rollback is not None:
        return ""  # what it had done is not there any more
    took = duration(before.finished.duration_s)
    said = (
        f"Iteration {before.number} was interrupted after {took}, and what it changed was kept. "
        "Look at the state of the files, and go on from there; do not start the task again."
    )
    if not changes:
        return said
    files = "\n".join(f"- {c.path} ({c.status}, +{c.added} -{c.removed})" for c in changes[:SHOWN])
    more = f"\n- and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
    return f"{said}\n\nFiles it changed:\n{files}{more}"
