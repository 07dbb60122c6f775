"""The prompt a run would send next, built by the same code; nothing is asked or changed.

It leaves out learnings, which are looked up when an iteration begins, and any model's wording.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import has_process
from ralph_tui.adapters.workspace.template_file import load_template
from ralph_tui.analysis.resume_words import MORE
from ralph_tui.config.settings import Settings
from ralph_tui.events import RunStarted
from ralph_tui.layers.intelligence.template import BUILT_IN_TEMPLATE
from ralph_tui.loop.run import Layers
from ralph_tui.loop.steps.prompt_text import compose_prompt
from ralph_tui.loop.steps.strategy import next_strategy, planned_event
from ralph_tui.runtime.resumption import recorded_settings


class NextPrompt(NamedTuple):
    """The prompt that would be sent."""

    iteration: int
    text: str
    cut_off: int
    """Number of the last iteration if it was cut off; otherwise 0.

    A resumed run measures that iteration's changes before it continues.
    """
    outcome: str
    """The run's outcome: ``died`` if its process is gone, empty while it runs."""


def next_prompt(
    root: Path, run: RecordedRun, load_settings: Callable[[Mapping[str, object]], Settings]
) -> NextPrompt:
    """Return the prompt that will be sent next, or would be if the run were resumed.

    `load_settings` receives the recorded settings, as one layer of several. Raises ``JournalError``
    or ``UsageError``.
    """
    recording = read_journal(run.journal)
    first = recording.events[0]
    assert isinstance(first, RunStarted)  # read_journal guarantees it
    settings = load_settings(recorded_settings(first))
    layers = Layers.of(settings, first.command)
    state = layers.recall(recording.events)
    start = state.run.started or first
    sent = state.gate.prompt.iteration if state.gate.prompt else 0
    k = max(1, state.run.iteration + (sent == state.run.iteration))
    if k > state.run.max_iterations:  # it can continue only with a higher limit
        state.run.max_iterations += MORE
    strategy = next_strategy(layers.governor, state) if settings.intelligence.enabled else None
    if strategy is not None:
        state.intelligence.strategies.setdefault(k, planned_event(k, strategy))
    given = load_template(root, settings.intelligence.prompt_template)
    template = given.template if given else BUILT_IN_TEMPLATE
    control = layers.governor.evaluation if settings.control.enabled else None
    text = compose_prompt(k, start, state, control, settings, template).text
    open_one = state.timeline.current
    works = has_process(run, start.run_id)
    cut = open_one is not None and open_one.finished is None and not works
    cut_off = open_one.number if open_one is not None and cut else 0
    end = state.run.finished
    outcome = end.outcome if end else "" if works else "died"
    return NextPrompt(k, text, cut_off, outcome)
