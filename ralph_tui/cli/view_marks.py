"""Mark a run as seen when the user reads about it at a terminal, as on its screen."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime

from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.adapters.records.status import describe_status


def begin_view(found: RecordedRun) -> Callable[[], None]:
    """Note a run's state before it is printed; call the result afterwards to mark it as seen."""
    if not sys.stdout.isatty():
        return lambda: None
    # These load every event; a status bar needs none.
    from ralph_tui.adapters.records.seen import seen_in  # noqa: PLC0415
    from ralph_tui.runtime.sources.run_record import RunRecord  # noqa: PLC0415

    known = describe_status(found, lambda status: seen_in(status, datetime.now(UTC)))
    return lambda: RunRecord(found.journal).save_seen(known)
