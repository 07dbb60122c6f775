"""The user's repository before anything is collected."""

from pathlib import Path

import pytest

from ralph_tui.adapters.workspace.repository import Repository, open_repository
from tests.hosted import committed


@pytest.fixture
def root(git_repo: Path) -> Path:
    return committed(git_repo)


@pytest.fixture
def users(root: Path) -> Repository:
    return open_repository(root)
