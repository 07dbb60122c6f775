"""Step 9: what is known of the run, put before the agent."""

from ralph_tui.events import (
    GateFinished,
    GuidanceDelivered,
    PromptPrepared,
    ReadingTaken,
    RunStarted,
    WorktreeRestored,
)
from ralph_tui.layers.control import Evaluation, advice
from ralph_tui.layers.governor import budget_of
from ralph_tui.layers.intelligence import Prompt, PromptInput, build_prompt
from ralph_tui.layers.memory.prompt import knowledge_section
from ralph_tui.loop.run import Run
from ralph_tui.loop.steps.guard import guarded
from ralph_tui.loop.waiting.controls import Steps
from ralph_tui.state import IterationSpan, RunState
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
        self._memory = run.rules.memory

    def write(self, k: int, control: Evaluation | None) -> Steps[str]:
        """What is sent; `control` is None with the layer off, and before a reading."""
        records, guidance = self._records, self._state.guidance.queued
        prompt = yield from guarded(
            "intelligence",
            lambda: compose_prompt(k, self._start, self._state, control, self._taught(k)),
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

    def _taught(self, k: int) -> str:
        """What earlier runs have taught; nothing with memory off, whatever the record holds."""
        memory = self._state.memory
        return knowledge_section(memory.plan, memory.for_prompt(k)) if self._memory else ""


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
    iteration: int, start: RunStarted, state: RunState, control: Evaluation | None, taught: str
) -> Prompt:
    """All that is known of the run, in words; `taught`: the section of what earlier runs have."""
    agent, redirect = state.agent, state.oversight.redirect
    restored, back = _restored(state), state.oversight.rollback
    reading, gate = _measured(state)
    return build_prompt(
        PromptInput(
            objective=start.objective,
            command=start.command or "",
            iteration=iteration,
            criterion=start.criterion or "",
            max_iterations=state.run.max_iterations,
            reading=reading,
            gate=gate,
            signal=control.signal if control else None,
            advice=_advice(control, state) if control else "",
            guidance=[item.text for item in state.guidance.queued],
            redirect=redirect.instructions if redirect else "",
            redirected_at=redirect.iteration if redirect else 0,
            redirect_undid=_undid(state),
            restored=restored,
            left_alone=back.left_alone if back and restored else 0,
            interrupted=_interrupted(iteration, state),
            claimed=agent.promised,
            next_step=agent.report.next if agent.report else "",
            blockers=agent.report.blockers if agent.report else (),
            knowledge=taught,
        )
    )


def _restored(state: RunState) -> str:
    """What the files were brought back to after the last reading; empty when they were not.

    A restore that was undone is none.
    """
    back, last = state.oversight.rollback, _last_measured(state)
    if back is None or (last is not None and _at(state, back) is last):
        return ""
    return _named(state, back)


def _measured(state: RunState) -> tuple[ReadingTaken | None, GateFinished | None]:
    """What is known of the files as they are."""
    readings, back = state.gate.readings, state.oversight.rollback
    if back is None or not _restored(state):
        return (readings[-1] if readings else None), state.gate.last
    span = _at(state, back)
    if span is None:
        return None, None
    return next((r for r in reversed(readings) if r.iteration == span.number), None), span.gate


def _undid(state: RunState) -> str:
    """What the files were brought back to since the standing REDIRECT; empty: they were not."""
    redirect = state.oversight.redirect
    if redirect is None:
        return ""
    since = [
        back
        for span in state.timeline.spans
        for back in span.rollbacks
        if back.iteration >= redirect.iteration
    ]
    if not since:
        return ""
    span = _at(state, since[-1])
    later = span is not None and span.number >= redirect.iteration
    return "" if later else _named(state, since[-1])


def _named(state: RunState, back: WorktreeRestored) -> str:
    span = _at(state, back)
    if span is None:
        return f"an earlier state (snapshot {back.snapshot})"
    after = f"what they were after iteration {span.number}"
    return after if span.number else "what they were at the start of the run"


def _at(state: RunState, back: WorktreeRestored) -> IterationSpan | None:
    """The iteration whose measured work was brought back; None for a state in between."""
    measured = [s for s in state.timeline.spans if s.boundary and s.completion is not None]
    for span in measured:
        if span.boundary is not None and span.boundary.number == back.snapshot:
            return span
    # An undo brings back a snapshot of its own, of the same files.
    same = (s for s in reversed(measured) if s.boundary and s.boundary.tree == back.tree)
    return next(same, None)


def _last_measured(state: RunState) -> IterationSpan | None:
    return next((s for s in reversed(state.timeline.spans) if s.completion is not None), None)


def _advice(control: Evaluation, state: RunState) -> str:
    """What the control layer says, which knows nothing of episodes."""
    return advice(
        control.signal,
        control.alarms,
        budget_of(state),
        episode=state.oversight.episode is not None,
        redirected=state.oversight.redirect is not None,
    )


def _interrupted(iteration: int, state: RunState) -> str:
    """What the iteration before left behind when it was cut off; empty when it was not."""
    spans = state.timeline.spans
    before = next((span for span in reversed(spans) if span.number == iteration - 1), None)
    if before is None or before.finished is None or before.finished.status != "interrupted":
        return ""
    changes = before.files.changes if before.files and not before.files.live else []
    back = state.oversight.rollback
    if state.oversight.stale and back is not None and back.iteration >= before.number:
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
