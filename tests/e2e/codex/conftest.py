from pathlib import Path

import pytest

from tests.doubles.codex_launch import CODEX_STUB
from tests.e2e.codex.lab import REALLY, STUBBED, Lab


@pytest.fixture(params=[STUBBED, REALLY])
def lab(tmp_path: Path, request: pytest.FixtureRequest) -> Lab:
    """A project, and Codex in it: its stub, or itself."""
    return Lab(tmp_path, request.param)


@pytest.fixture
def stub(tmp_path: Path) -> Lab:
    """A project, and the stub of Codex in it."""
    return Lab(tmp_path, str(CODEX_STUB))
