"""Fixtures for the command socket: its folder, and an optional run behind it."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from ralph_tui.adapters.remote.server import listening
from tests.unit.adapters.remote.live_run import LiveRun, working_engine


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The runtime folder: a short path, as sockets need."""
    folder = Path(tempfile.mkdtemp(prefix="rt-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def live_run(tmp_path: Path, place: Path) -> Iterator[LiveRun]:
    run_id = str(uuid4())
    with working_engine(tmp_path) as engine, listening(engine, run_id) as path:
        assert path is not None
        yield LiveRun(engine, path, run_id)
