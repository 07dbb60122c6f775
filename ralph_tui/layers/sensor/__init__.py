"""The sensor: measure how complete the work is, without side effects.

`Sensor` chooses the source for a run and measures completion with it. The package reads test
counts, the items of a plan file, the agent's report and the kinds of changed files. Only `counts`
is not exported here: it loads a parser for every test runner, which viewing a run does not need.
"""

from ralph_tui.layers.sensor.agent_report import AgentReport, find_report, promised
from ralph_tui.layers.sensor.categories import categorize, files_changed
from ralph_tui.layers.sensor.gate import Counts, GateResult, read_words
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
    "read_words",
    "sound",
    "unread",
]
