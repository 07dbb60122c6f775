"""Measure completion from one source per run; only a passed completion command can yield 100.

``tests`` has a value if a known runner counted tests, unless the command passed before any work was
done. ``plan`` has one if the plan file has items, ``agent`` if its last report states a number,
``estimate`` if one was made. The first source with a value stays in use; while it is silent, its
last value is kept.

A claim never replaces a value measured by tests or a plan; when counts return, they are used at
once. If nothing was ever measured, tests or a plan take over as soon as they have a value. Another
claim takes over at the third silent measurement in a row (`restarted`: windows start again).

The state is small and follows from the journal. To resume a sensor where it was, pass the past
``GateFinished``, ``FilesChanged`` and ``ReadingTaken`` events to `Sensor.recall` in order.
"""

from collections.abc import Sequence
from dataclasses import replace

from ralph_tui.events import Event
from ralph_tui.events.sensor import GateFinished, ReadingSource, ReadingTaken
from ralph_tui.events.workspace import FilesChanged
from ralph_tui.layers.sensor.agent_report import AgentReport
from ralph_tui.layers.sensor.categories import categorize
from ralph_tui.layers.sensor.expected import broken_by, gone_words, sound_total, why_silent
from ralph_tui.layers.sensor.gate import SILENT_IF_PASSED, Counts, GateResult
from ralph_tui.layers.sensor.novelty import all_named, next_item, open_items, ticked_items
from ralph_tui.layers.sensor.passing import PASSES_ALREADY, CompletedBy, completes
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.layers.sensor.reading import Reading, SensorState
from ralph_tui.layers.sensor.source_value import (
    SourceValue,
    counts_of,
    number,
    recorded_counts,
    share_of_plan,
    share_of_tests,
    vanished,
)
from ralph_tui.layers.sensor.tampering import deciding_files, named_files, tampering
from ralph_tui.state import RunState
from ralph_tui.text.format import count, percent, place

SOURCES: tuple[ReadingSource, ...] = ("tests", "plan", "agent", "estimate")
UNPROVEN = 99.9
"""Maximum completion, in points, until the completion command passes."""
MEASURED: tuple[ReadingSource, ...] = ("tests", "plan")
"""Sources that measure rather than claim."""
JUMP = 10
"""Growth factor of the number of tests that triggers a warning if no test file has changed."""
PATIENCE = 3
"""Number of consecutive silent measurements at which another claim takes over.

If tests or a plan were silent for that long, windows restart when their counts return.
"""


class Sensor:
    """The sensor of a run, with one measurement per iteration.

    `progress` is ``auto`` or the only source to use. `command` is the completion command: changing
    a file it names counts as changing the command. An `estimate` is in points, 0-100.
    """

    def __init__(self, progress: str = "auto", command: str = "") -> None:
        self._fixed = next((source for source in SOURCES if source == progress), None)
        self._named = named_files(command)
        self.state = SensorState(source=self._fixed)

    def baseline(
        self, gate: GateResult | None, plan: Progress | None, report: AgentReport | None = None
    ) -> Reading:
        """Measure completion before iteration 1; a source without a value yet yields 0."""
        green = gate is not None and gate.ok
        self.state = replace(self.state, green=green)
        before = self.state
        reading = self._with_novelty(
            self._reading(0, gate, plan, report, None, earned=False), gate, plan
        )
        reading = replace(reading, note=PASSES_ALREADY if green else reading.note)
        reading = replace(reading, warnings=_broken_warning(before, reading))
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
        """Measure completion after an iteration, considering its claims and changed files."""
        before = self._after_changes(changed)
        self.state = before
        earned = completes(by, green=before.green, promised=promise and before.changed)
        reading = self._reading(iteration, gate, plan, report, estimate, earned=earned)
        reading = self._with_novelty(reading, gate, plan)
        warnings = (
            _silence_warning(before, reading)
            + _broken_warning(before, reading)
            + _shrink_warning(before, reading)
            + _jump_warning(before, reading, changed)
        )
        if gate is not None:
            warnings += tampering(changed, self._named)
        reading = replace(reading, warnings=warnings)
        self._remember(reading)
        return reading

    def recall(self, event: Event, _state: RunState | None = None) -> None:
        """Restore the state from one past event of this run."""
        match event:
            case GateFinished():
                if not event.iteration:
                    self.state = replace(self.state, green=event.ok)
                self._note_passes(recorded_counts(event), event.broken)
            case FilesChanged(live=False) if event.iteration > 0 and event.totals:
                paths = [change.path for change in event.changes]
                self.state = replace(self._after_changes(paths), changed=True)
            case ReadingTaken():
                self._remember(event)
                # Without a total the plan was silent, and only the exit code decided.
                counted = event.source == "plan" and event.total is not None
                if counted and not (event.held or event.restarted):
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
        values: dict[ReadingSource, SourceValue | None] = {
            "tests": None if state.guards else share_of_tests(gate, state.most),
            "plan": share_of_plan(plan),
            "agent": number(report.completion if report else None),
            "estimate": number(estimate),
        }
        reading = self._of_source(iteration, values)
        if reading.source == "tests":
            reading = self._credible(reading, gate)
        elif state.guards:
            reading = replace(reading, lost=self._lost(gate))
        passed = gate is not None and gate.ok and not vanished(gate, self.state.most)
        passed = passed and not reading.missing
        silent = reading.held and (state.source is None or reading.source == "tests")
        claimed = reading.source == "estimate" or (reading.source == "agent" and earned)
        if passed and not state.guards and (silent or claimed):
            # The command passes without counts; a claim adds nothing to that.
            reading = Reading(iteration, UNPROVEN, "tests", note="the completion command passed")
        if passed and earned:
            return replace(reading, completion=100.0, held=False)
        return replace(reading, completion=min(UNPROVEN, max(0.0, reading.completion)))

    def _after_changes(self, changed: Sequence[str]) -> SensorState:
        config, _, named = deciding_files(changed, self._named)
        return replace(
            self.state,
            changed=self.state.changed or bool(changed),
            tampered=self.state.tampered or bool(config or named),
        )

    def _hides_tests(self, gate: GateResult | None) -> bool:
        """True if the command passes without the counts it had before it was changed."""
        passes = gate is not None and gate.ok and counts_of(gate) is None
        state = self.state
        could = state.tampered and state.most > 0 and state.runner not in SILENT_IF_PASSED
        return passes and could

    def _lost(self, gate: GateResult | None) -> tuple[int, int, int] | None:
        counts, most = counts_of(gate), self.state.most
        if self._hides_tests(gate):
            return 0, 0, most
        if counts is None or counts.total >= most or broken_by(gate, most):
            return None
        return counts.passed, counts.total, most

    def _with_novelty(
        self, reading: Reading, gate: GateResult | None, plan: Progress | None
    ) -> Reading:
        """Return the measurement with the plan's items and the number of novelties."""
        still_open, following = self.state.still_open, self.state.next_item
        if plan is not None:
            still_open, following = open_items(plan), next_item(plan)
        reading = replace(reading, open_items=still_open, next_item=following)
        passes = self._note_passes(counts_of(gate), broken_by(gate, self.state.most))
        if reading.held or reading.restarted:
            return reading
        if reading.source == "tests":
            return replace(reading, novel=0 if reading.added else passes)
        if reading.source != "plan" or plan is None:
            return reading
        before = self.state.items
        self.state = replace(self.state, items=before.after(still_open))
        novel = len(before.open & ticked_items(plan).keys())
        return replace(reading, novel=novel)

    def _note_passes(self, counts: Counts | None, broken: str) -> int:
        """Remember these counts; return how many tests pass for the first time."""
        if counts is None or broken:
            return 0
        state = replace(self.state, tampered=False, runner=counts.runner)
        if state.guards:
            state = replace(state, most=max(state.most, counts.total))
        before, names = state.tests, state.names.after(counts, state.most, state.passed)
        if not all_named(counts, state.most):
            self.state = replace(state, tests=before.naming(counts.failing), names=names)
            return 0
        self.state = replace(state, tests=before.after(counts.failing), names=names)
        return len(before.open - set(counts.failing))

    def _credible(self, reading: Reading, gate: GateResult | None) -> Reading:
        """Add the expected tests and the credibility of the counts to a test measurement."""
        state, counts, hidden = self.state, counts_of(gate), self._hides_tests(gate)
        if reading.held or counts is None:
            note = f"the completion command gives no counts: {why_silent(gate)}"
            reading = replace(reading, expected=state.most or None, broken=state.broken, note=note)
            return replace(reading, passed=0, total=0, broken="") if hidden else reading
        broken = broken_by(gate, state.most)
        expected = max(state.most, sound_total(counts, broken))
        if broken:
            grew = reading.grew and expected > state.most
            return replace(reading, expected=expected, broken=broken, grew=grew)
        names = state.names.after(counts, state.most, state.passed)
        added = state.names.added(counts, state.passed) if reading.grew else 0
        return replace(reading, expected=expected, gone=names.gone, added=added)

    def _of_source(
        self, iteration: int, values: dict[ReadingSource, SourceValue | None]
    ) -> Reading:
        """Return the value of the source in use or its successor, or else the last value."""
        state = self.state
        source = self._choose_source(values)
        said = values[source] if source is not None else None
        if source is None or said is None:
            first = iteration == 0 or source is None
            note = (
                "nothing to read yet" if first else f"no new value from {source}, last value kept"
            )
            held = Reading(iteration, state.value, source or "estimate", held=True, note=note)
            return replace(held, expected=state.total if source == "plan" else None)
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
            expected=said.total,
            regained=not switched and source in MEASURED and state.silent >= PATIENCE,
            note=f"source is now {source}, was {was}" if switched else "",
        )

    def _choose_source(
        self, values: dict[ReadingSource, SourceValue | None]
    ) -> ReadingSource | None:
        """Return the source to use for this measurement."""
        source = self.state.source
        if source in MEASURED or self._fixed is not None:
            return source
        available = [name for name in SOURCES if values[name] is not None]
        measured = available[:1] if available[:1] and available[0] in MEASURED else []
        silent = source is None or (values[source] is None and self.state.silent + 1 >= PATIENCE)
        return next(iter(available if silent else measured), source)

    def _remember(self, reading: Reading | ReadingTaken) -> None:
        """Update the state after a measurement, whether just taken or read from a journal."""
        open_ = tuple(reading.open_items)
        state = replace(self.state, still_open=open_, next_item=reading.next_item)
        if reading.held:
            self.state = replace(state, silent=state.silent + 1, value=reading.completion)
            return
        if reading.source == "tests" and reading.passed is None:  # by exit code alone
            self.state = replace(state, silent=0, value=reading.completion, broken="")
            return
        state = replace(
            state,
            source=reading.source,
            silent=0,
            value=reading.completion,
            broken=reading.broken,
            names=replace(state.names, gone=tuple(reading.gone)),
        )
        most = state.most
        if reading.source == "tests" and reading.total is not None:
            grown = max(most, reading.total)  # as in older journals
            most = grown if reading.expected is None else reading.expected
        if reading.broken and most <= state.most:  # a broken build counts hardly any tests
            self.state = state
        else:
            self.state = replace(state, most=most, passed=reading.passed, total=reading.total)


def _grew(state: SensorState, said: SourceValue, source: ReadingSource) -> bool:
    """True if the expected number grew while the number done did not fall."""
    if None in (state.total, state.passed, said.total, said.passed):
        return False
    before = state.most if source == "tests" else (state.total or 0)
    return (said.total or 0) > before and (said.passed or 0) >= (state.passed or 0)


def _silence_warning(before: SensorState, reading: Reading) -> tuple[str, ...]:
    """Warn at the first measurement without test counts."""
    if not reading.held or before.silent or before.source != "tests":
        return ()
    last = percent(reading.completion)
    since = place(reading.iteration - 1)
    return (f"Not measured since {since}: {reading.note}. Completion stays at {last}.",)


def _broken_warning(before: SensorState, reading: Reading) -> tuple[str, ...]:
    if not reading.broken or before.broken or reading.held:
        return ()
    return (f"build broken: {reading.broken}",)


def _jump_warning(before: SensorState, reading: Reading, changed: Sequence[str]) -> tuple[str, ...]:
    """Warn if ten times as many tests as ever are counted and no test file has changed."""
    total, counted = reading.total or 0, reading.source == "tests" and not reading.held
    if not counted or reading.broken or before.broken or not 0 < JUMP * before.most <= total:
        return ()
    if any(categorize(path) == "test" for path in changed):
        return ()
    counted_words = f"{total:,} tests are counted, {before.most:,} before, and no test file changed"
    return (f"{counted_words}: check what prints them.",)


def _shrink_warning(before: SensorState, reading: Reading) -> tuple[str, ...]:
    """Warn if there are fewer tests or plan items than before."""
    total, was = reading.total, before.total
    if reading.source != before.source or total is None or was is None or reading.broken:
        return ()
    if total >= was:
        return ()
    if reading.source == "tests":
        counted = gone_words(reading.passed or 0, total, reading.expected or was, reading.gone)
        return (f"{counted}: check whether they were removed.",)
    in_plan = f"{count(total, 'item')} {'is' if total == 1 else 'are'} in the plan"
    return (f"{in_plan}, {was} before: check whether any were removed.",)
