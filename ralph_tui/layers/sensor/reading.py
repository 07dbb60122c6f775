"""A reading of completion, and all that a sensor remembers between two of them."""

from dataclasses import dataclass, field

from ralph_tui.events.sensor import ReadingSource, ReadingTaken
from ralph_tui.layers.sensor.expected import Names
from ralph_tui.layers.sensor.novelty import Novelty


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
    expected: int | None = None
    broken: str = ""
    gone: tuple[str, ...] = ()
    added: int = 0
    regained: bool = False
    lost: tuple[int, int, int] | None = None
    """Passed, total and expected, where a guarding command counts fewer tests than it has."""
    warnings: tuple[str, ...] = ()
    """Sentences for the log, level WARN."""

    @property
    def missing(self) -> int:
        """Tests that are expected and were not counted, of a build that is not broken."""
        return self.lost[2] - self.lost[1] if self.lost else self.event().missing

    def event(self) -> ReadingTaken:
        """The fact to record."""
        return ReadingTaken.model_validate(vars(self))  # has no `warnings`, and ignores them


@dataclass(frozen=True)
class SensorState:
    """All that a sensor remembers."""

    source: ReadingSource | None = None
    """The one that speaks for this run; None until one could."""
    silent: int = 0
    value: float = 0.0
    """The last reading, points."""
    most: int = 0
    """T: the tests that are expected."""
    passed: int | None = None
    total: int | None = None
    """The last counts of `source`; those of a broken build only where there were none before."""
    broken: str = ""
    """The first error of the build, when the last counts were those of a broken one."""
    names: Names = field(default_factory=Names)
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
