"""A measurement of completion, and the state a sensor keeps between measurements."""

from dataclasses import dataclass, field

from ralph_tui.events.sensor import ReadingSource, ReadingTaken
from ralph_tui.layers.sensor.expected import Names
from ralph_tui.layers.sensor.novelty import Novelty


@dataclass(frozen=True)
class Reading:
    """One measurement of completion: the fields of ``ReadingTaken`` plus details for the log."""

    iteration: int
    completion: float
    """Points, 0-100; exactly 100 only if the run has reached its goal."""
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
    expected: int | None = None
    broken: str = ""
    gone: tuple[str, ...] = ()
    added: int = 0
    regained: bool = False
    lost: tuple[int, int, int] | None = None
    """Numbers of passed, counted and expected tests.

    None unless a command that passed at the baseline now counts fewer tests than expected.
    """
    warnings: tuple[str, ...] = ()
    """Sentences to log at level WARN."""

    @property
    def missing(self) -> int:
        """Expected tests that were not counted; 0 for a broken build."""
        return self.lost[2] - self.lost[1] if self.lost else self.event().missing

    def event(self) -> ReadingTaken:
        """Return the event to record."""
        return ReadingTaken.model_validate(vars(self))  # it ignores `warnings`


@dataclass(frozen=True)
class SensorState:
    """Everything a sensor remembers."""

    source: ReadingSource | None = None
    """The source used for this run; None until one has a value."""
    silent: int = 0
    value: float = 0.0
    """The last measurement, in points."""
    most: int = 0
    """T: the number of expected tests."""
    passed: int | None = None
    total: int | None = None
    """Last counts of `source`; counts of a broken build only if there are no earlier ones."""
    broken: str = ""
    """The build's first error if the last counts came from a broken build."""
    names: Names = field(default_factory=Names)
    green: bool = False
    """True if the completion command passed at the baseline."""
    changed: bool = False
    """True if a file has changed since the baseline."""
    runner: str = ""
    """The runner that last counted tests."""
    tampered: bool = False
    """True if the command or its configuration has changed since tests were last counted."""
    tests: Novelty = field(default_factory=Novelty)
    """Tests that were failing, and which of them have passed since."""
    items: Novelty = field(default_factory=Novelty)
    """Plan items that were open, and which of them have been ticked since."""
    still_open: tuple[str, ...] = ()
    next_item: str = ""
    """From the last plan that was read, like `still_open`: deleting the plan clears neither."""

    @property
    def guards(self) -> bool:
        """True if the command passed at the baseline; older runs may still measure by ``tests``."""
        return self.green and self.source != "tests"
