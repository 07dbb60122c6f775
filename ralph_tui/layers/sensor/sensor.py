"""Completion, measured: one source speaks for the whole run, and only a passed gate reads 100.

``tests`` speaks when a known runner counted tests (and not of a command that passed before anything
was done), ``plan`` when the plan file has items, ``agent`` when its last report names a number,
``estimate`` when one was made. The first that can speak is kept; while it is silent its last value
is held, and from the third silent reading in a row on the first other one that can speak takes over
(`restarted`: the windows begin anew).

The state is small and follows from the journal: feed past ``GateFinished``, ``FilesChanged`` and
``ReadingTaken`` events to `Sensor.recall`, in order, and it goes on where it stood.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ralph_tui.events import Event
from ralph_tui.events.sensor import GateFinished, ReadingSource, ReadingTaken
from ralph_tui.events.workspace import FilesChanged
from ralph_tui.layers.sensor.agent_report import AgentReport
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.novelty import (
    Novelty,
    all_named,
    next_item,
    open_items,
    ticked_items,
)
from ralph_tui.layers.sensor.passing import PASSES_ALREADY, CompletedBy, earns
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.layers.sensor.spoken import (
    Spoken,
    counts_of,
    number,
    plan_says,
    recorded_counts,
    tests_say,
    vanished,
)
from ralph_tui.layers.sensor.tampering import named_files, tampering
from ralph_tui.state import RunState
from ralph_tui.text.format import count

SOURCES: tuple[ReadingSource, ...] = ("tests", "plan", "agent", "estimate")
UNPROVEN = 99.9
"""The most that anything but a passed gate can read."""
PATIENCE = 3
"""Silent readings in a row after which another source takes over."""


@dataclass(frozen=True)
class Reading:
    """One reading of completion: the fields of ``ReadingTaken``, and what follows from it."""

    iteration: int
    completion: float
    """Points, 0-100; 100 when the run has reached its goal, and only then."""
    source: ReadingSource
    held: bool = False
    grew: bool = False
    restarted: bool = False
    passed: int | None = None
    total: int | None = None
    novel: int = 0
    open_items: tuple[str, ...] = ()
    next_item: str = ""
    note: str = ""
    warnings: tuple[str, ...] = ()
    """Sentences for the log, level WARN."""

    def event(self) -> ReadingTaken:
        """The fact to record."""
        return ReadingTaken(
            iteration=self.iteration,
            completion=self.completion,
            source=self.source,
            held=self.held,
            grew=self.grew,
            restarted=self.restarted,
            passed=self.passed,
            total=self.total,
            novel=self.novel,
            open_items=list(self.open_items),
            next_item=self.next_item,
            note=self.note,
        )


@dataclass(frozen=True)
class SensorState:
    """All that a sensor remembers."""

    source: ReadingSource | None = None
    """The one that speaks for this run; None until one could."""
    silent: int = 0
    value: float = 0.0
    """The last reading, points."""
    base: int | None = None
    """Tests at the baseline, or when they were first counted."""
    most: int = 0
    """The most tests ever counted."""
    passed: int | None = None
    total: int | None = None
    """The last counts of `source`."""
    green: bool = False
    """The gate passed at the baseline."""
    changed: bool = False
    """A file was changed since the baseline."""
    tests: Novelty = field(default_factory=Novelty)
    """Which tests were failing, and which of them have passed since."""
    items: Novelty = field(default_factory=Novelty)
    """The same of the plan's items."""
    still_open: tuple[str, ...] = ()
    next_item: str = ""
    """The plan as it was last read: a file that disappears takes no item with it."""

    @property
    def guards(self) -> bool:
        """The command passed at the baseline; older runs go on with ``tests``."""
        return self.green and self.source != "tests"


class Sensor:
    """Yields a reading per iteration.

    `progress` is ``auto`` or the one source to use; `command` is the completion command: a change
    of a file it names is a change of the gate. An `estimate` is in points, 0-100.
    """

    def __init__(self, progress: str = "auto", command: str = "") -> None:
        self._fixed = next((source for source in SOURCES if source == progress), None)
        self._named = named_files(command)
        self.state = SensorState(source=self._fixed)

    def baseline(
        self, gate: GateResult | None, plan: Progress | None, report: AgentReport | None = None
    ) -> Reading:
        """The reading before iteration 1; a source that cannot speak yet reads 0."""
        green = gate is not None and gate.ok
        self.state = replace(self.state, green=green)
        reading = self._with_news(
            self._reading(0, gate, plan, report, None, earned=False), gate, plan
        )
        reading = replace(reading, note=PASSES_ALREADY if green else reading.note)
        self._remember(reading)
        return reading

    def read(
        self,
        iteration: int,
        gate: GateResult | None,
        plan: Progress | None = None,
        report: AgentReport | None = None,
        estimate: float | None = None,
        *,
        promise: bool = False,
        changed: Sequence[str] = (),
        by: CompletedBy = "command",
    ) -> Reading:
        """The reading after an iteration, with what this iteration claimed and changed."""
        before = replace(self.state, changed=self.state.changed or bool(changed))
        self.state = before
        earned = earns(by, green=before.green, promised=promise and before.changed)
        reading = self._reading(iteration, gate, plan, report, estimate, earned=earned)
        reading = self._with_news(reading, gate, plan)
        warnings = _shrinkage(before, reading)
        if gate is not None:
            warnings += tampering(changed, self._named)
        reading = replace(reading, warnings=warnings)
        self._remember(reading)
        return reading

    def recall(self, event: Event, _state: RunState | None = None) -> None:
        """Take up one past event of this run."""
        match event:
            case GateFinished(iteration=0):
                self.state = replace(self.state, green=event.ok)
                self._look_for_passes(recorded_counts(event))
            case GateFinished():
                self._look_for_passes(recorded_counts(event))
            case FilesChanged(live=False) if event.iteration > 0 and event.totals:
                self.state = replace(self.state, changed=True)
            case ReadingTaken():
                self._remember(event)
                # Without a total the plan was silent, and the gate alone has spoken.
                spoke = event.source == "plan" and event.total is not None
                if spoke and not (event.held or event.restarted):
                    self.state = replace(self.state, items=self.state.items.after(event.open_items))

    def _reading(
        self,
        iteration: int,
        gate: GateResult | None,
        plan: Progress | None,
        report: AgentReport | None,
        estimate: float | None,
        *,
        earned: bool,
    ) -> Reading:
        state = self.state
        spoken: dict[ReadingSource, Spoken | None] = {
            "tests": None if state.guards else tests_say(gate, state.base),
            "plan": plan_says(plan),
            "agent": number(report.completion if report else None),
            "estimate": number(estimate),
        }
        reading = self._of_source(iteration, spoken)
        passed = gate is not None and gate.ok and not vanished(gate, self.state.most)
        silent = reading.held and (state.source is None or reading.source == "tests")
        if passed and not state.guards and (silent or reading.source == "estimate"):
            # The gate says yes without a count; next to that, activity measures nothing.
            reading = Reading(iteration, UNPROVEN, "tests", note="the completion command passed")
        if passed and earned:
            return replace(reading, completion=100.0, held=False)
        return replace(reading, completion=min(UNPROVEN, max(0.0, reading.completion)))

    def _with_news(
        self, reading: Reading, gate: GateResult | None, plan: Progress | None
    ) -> Reading:
        """The reading with the plan's items, and what was reached for the first time."""
        still_open, following = self.state.still_open, self.state.next_item
        if plan is not None:
            still_open, following = open_items(plan), next_item(plan)
        reading = replace(reading, open_items=still_open, next_item=following)
        passes = self._look_for_passes(counts_of(gate))
        if reading.held or reading.restarted:
            return reading
        if reading.source == "tests":
            return replace(reading, novel=passes)
        if reading.source != "plan" or plan is None:
            return reading
        before = self.state.items
        self.state = replace(self.state, items=before.after(still_open))
        novel = len(before.open & ticked_items(plan).keys())
        return replace(reading, novel=novel)

    def _look_for_passes(self, counts: Counts | None) -> int:
        """How many tests pass for the first time by these counts, which are remembered."""
        if counts is None:
            return 0
        most = max(self.state.most, counts.total if self.state.guards else 0)
        self.state, before = replace(self.state, most=most), self.state.tests
        if not all_named(counts, self.state.most):
            self.state = replace(self.state, tests=before.naming(counts.failing))
            return 0
        self.state = replace(self.state, tests=before.after(counts.failing))
        return len(before.open - set(counts.failing))

    def _of_source(self, iteration: int, spoken: dict[ReadingSource, Spoken | None]) -> Reading:
        """What the source in charge says, or the next one, or the last value held."""
        state = self.state
        source = state.source
        if source is None or (spoken[source] is None and self._gives_way()):
            speaking = (name for name in SOURCES if spoken[name] is not None)
            source = next(speaking, state.source)
        said = spoken[source] if source is not None else None
        if source is None or said is None:
            first = iteration == 0 or source is None
            note = "nothing to read yet" if first else f"{source} silent, last value kept"
            return Reading(iteration, state.value, source or "estimate", held=True, note=note)
        switched = source != state.source and (state.source is not None or state.value > 0)
        was = state.source or "the completion command"
        return Reading(
            iteration,
            said.points,
            source,
            grew=not switched and _grew(state, said, source),
            restarted=switched,
            passed=said.passed,
            total=said.total,
            note=f"source is now {source}, was {was}" if switched else "",
        )

    def _gives_way(self) -> bool:
        return self._fixed is None and self.state.silent + 1 >= PATIENCE

    def _remember(self, reading: Reading | ReadingTaken) -> None:
        """The state after a reading; the same for one just taken and one out of a journal."""
        open_ = tuple(reading.open_items)
        state = replace(self.state, still_open=open_, next_item=reading.next_item)
        if reading.held:
            self.state = replace(state, silent=state.silent + 1, value=reading.completion)
            return
        if reading.source == "tests" and reading.passed is None:  # the gate's word alone
            self.state = replace(state, silent=0, value=reading.completion)
            return
        base, most = state.base, state.most
        if reading.source == "tests" and reading.total is not None:
            base = reading.total if base is None else base
            most = max(most, reading.total)
        self.state = replace(
            state,
            source=reading.source,
            silent=0,
            value=reading.completion,
            base=base,
            most=most,
            passed=reading.passed,
            total=reading.total,
        )


def _grew(state: SensorState, said: Spoken, source: ReadingSource) -> bool:
    """Whether what is measured against became more, and no less of it is done."""
    if None in (state.total, state.passed, said.total, said.passed):
        return False
    floor = (state.base or 0) if source == "tests" else 0
    more = max(floor, said.total or 0) > max(floor, state.total or 0)
    return more and (said.passed or 0) >= (state.passed or 0)


def _shrinkage(before: SensorState, reading: Reading) -> tuple[str, ...]:
    total, was = reading.total, before.total
    if reading.source != before.source or total is None or was is None or total >= was:
        return ()
    told = (
        f"{count(total, 'test')} {'was' if total == 1 else 'were'} counted"
        if reading.source == "tests"
        else f"{count(total, 'item')} {'is' if total == 1 else 'are'} in the plan"
    )
    return (f"{told}, {was} before: see whether any were removed.",)
