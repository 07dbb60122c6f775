"""Fixtures for the command socket: its folder, and an optional run behind it."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from ralph_tui.adapters.remote.server import listening
from tests.unit.adapters.remote.living import Living, engine_at_work


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The runtime folder: a short path, as sockets need."""
    folder = Path(tempfile.mkdtemp(prefix="rt-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def living(tmp_path: Path, place: Path) -> Iterator[Living]:
    run_id = str(uuid4())
    with engine_at_work(tmp_path) as engine, listening(engine, run_id) as path:
        assert path is not None
        yield Living(engine, path, run_id)
