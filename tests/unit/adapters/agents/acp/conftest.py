"""What the tests of this folder share."""

from pathlib import Path

import pytest

from tests.unit.adapters.agents.acp.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A project, and the double in it."""
    return Bench(tmp_path)
