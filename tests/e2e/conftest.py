"""No test leaves a run behind: one whose terminal was closed would wait for an answer for ever."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ralph_tui.adapters.records.lock import holder
from tests.waiting import until


@pytest.fixture(autouse=True, scope="session")
def _runtime() -> Iterator[None]:
    """Sockets in a folder of our own: runs knock at those of others, to clear up deserted ones.

    Its path is as short as sockets need it.
    """
    folder = Path(tempfile.mkdtemp(prefix="rt-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        yield
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _no_run_is_left_behind(tmp_path: Path) -> Iterator[None]:
    yield
    for lock in tmp_path.rglob(".aiwg/ralph/lock"):
        owner = holder(lock)
        if owner is not None and owner.pid not in (0, os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(owner.pid, signal.SIGTERM)
            until(lambda lock=lock: holder(lock) is None, 20)  # type: ignore[misc]
