"""Mark a run as seen when its status or report is printed on a terminal, as its screen does."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime

from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import describe_status


def begin_view(found: RecordedRun) -> Callable[[], None]:
    """Remember a run's state before printing it; call the result afterwards to mark it as seen."""
    if not sys.stdout.isatty():
        return lambda: None
    # These load every event class; a status bar needs none of them.
    from ralph_tui.adapters.records.seen import seen_in  # noqa: PLC0415
    from ralph_tui.runtime.sources.run_record import RunRecord  # noqa: PLC0415

    known = describe_status(found, lambda status: seen_in(status, datetime.now(UTC)))
    return lambda: RunRecord(found.journal).save_seen(known)
