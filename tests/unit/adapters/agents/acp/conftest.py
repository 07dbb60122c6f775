"""Shared fixtures for ACP tests."""

from pathlib import Path

import pytest

from tests.unit.adapters.agents.acp.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A project with the double in it."""
    return Bench(tmp_path)
