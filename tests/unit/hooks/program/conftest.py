"""The hook program, copied once, and projects that have it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hooks import Project, install


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program's folder, as installed in a project."""
    return install(tmp_path_factory.mktemp("program") / "ralph-tui")


@pytest.fixture
def project(tmp_path: Path, program: Path) -> Project:
    """A project whose loop has begun."""
    return Project(tmp_path, program)


@pytest.fixture
def project_with(tmp_path: Path, program: Path) -> Callable[..., Project]:
    """A project whose state file also has these fields."""
    return lambda **state: Project(tmp_path, program, **state)
