"""A line of totals from any program: ``12 passed, 3 failed`` or ``15 tests, 3 failures``.

Such a line may be about anything, so it counts only near the end of an output in which no runner
reported counts, and the measurement says so.
"""

import re
from collections.abc import Sequence

from ralph_tui.events.sensor import PLAIN_TOTALS
from ralph_tui.layers.sensor.gate import Counts
from ralph_tui.layers.sensor.runners.table import (
    LONGEST,
    Format,
    Lines,
    fields_of,
    labelled,
    tally_of,
)

LAST_LINES = 20
"""How many lines at the end of the output are searched for plain totals."""

_TEXT = r"\d{1,12} [A-Za-z]+(?: [A-Za-z]+)?"
_PAIR = r"[A-Za-z]+(?: [A-Za-z]+)?[:=] *\d{1,12}"
_TIME = r"(?: in [\d.]+ ?(?:ms|s|sec|seconds?)| \([\d.]+ ?m?s\))?\.?"
_ROW = Format(PLAIN_TOTALS, total="")
_LINE = re.compile(
    rf" {{0,2}}(?:({_TEXT}(?:(?:, | and | / | \| |; ){_TEXT})+)"
    rf"|({_PAIR}(?:(?:[,;] ?| \| | +){_PAIR})+))"
    rf"{_TIME} *"
)


def count_plain(lines: Sequence[str]) -> Counts | None:
    """Return the counts of the last such line; None without one."""
    for line in reversed(lines):
        if len(line) > LONGEST or not (found := _LINE.fullmatch(line)):
            continue
        fields = fields_of(labelled(found[1] or found[2]))
        if "failed" in fields and fields.keys() & {"passed", "tests"}:
            return tally_of(fields, Lines(), _ROW).counts(PLAIN_TOTALS)
    return None
