"""No test leaves a run behind: one without its terminal would wait forever for an answer."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ralph_tui.adapters.records.lock import holder
from tests.waiting import until


@pytest.fixture(autouse=True)
def _no_run_is_left_behind(tmp_path: Path) -> Iterator[None]:
    yield
    # The fleet first: its loops would continue without it.
    fleets = tmp_path.rglob(".aiwg/ralph/fleets/lock")
    for lock in [*fleets, *tmp_path.rglob(".aiwg/ralph/lock")]:
        owner = holder(lock)
        if owner is not None and owner.pid not in (0, os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(owner.pid, signal.SIGTERM)
            until(lambda lock=lock: holder(lock) is None)  # type: ignore[misc]
