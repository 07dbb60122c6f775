"""The sensor, pure: what is read from the outside, and how far the work is by it.

`Sensor` decides which source speaks for a run and what its reading is. What it reads: the counts of
a test runner, a plan's items, the agent's report, the kinds of changed files. Only `counts` is not
exported: it loads a parser for each test runner, which looking at a run does not need.
"""

from ralph_tui.layers.sensor.agent_report import AgentReport, find_report, promised
from ralph_tui.layers.sensor.categories import categorize, files_changed
from ralph_tui.layers.sensor.gate import Counts, GateResult
from ralph_tui.layers.sensor.plan import Progress, read_plan
from ralph_tui.layers.sensor.reading import Reading
from ralph_tui.layers.sensor.sensor import SOURCES, UNPROVEN, Sensor
from ralph_tui.layers.sensor.tampering import named_files
from ralph_tui.layers.sensor.unread import sound, unread

__all__ = [
    "SOURCES",
    "UNPROVEN",
    "AgentReport",
    "Counts",
    "GateResult",
    "Progress",
    "Reading",
    "Sensor",
    "categorize",
    "files_changed",
    "find_report",
    "named_files",
    "promised",
    "read_plan",
    "sound",
    "unread",
]
