"""Probing whether the completion command measures a worktree, with real pytest and unittest."""

import os
import sys
from pathlib import Path

import pytest

from ralph_tui.adapters.clones.probing import Probe
from tests.hosted import git

UNITTEST = f"{sys.executable} -m unittest tests/test_sums.py"
SOURCE = "from __future__ import annotations\n\n\ndef add(a, b):\n    return a + b\n"
TEST = """\
from unittest import TestCase
from sums import add


class Test(TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), {})
"""


def project(root: Path, expected: int) -> Path:
    """A package below src, as if installed for tests, and its test."""
    files = {"src/sums.py": SOURCE, "tests/test_sums.py": TEST.format(expected)}
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    (root / "src" / "sums.py").chmod(0o755)
    git(root, "add", ".")
    return root


def probed(tree: Path, imports: Path, command: str = UNITTEST) -> str:
    """Probe result for a worktree whose tests import from that folder."""
    variables = {**os.environ, "PYTHONPATH": str(imports), "PYTHONDONTWRITEBYTECODE": "1"}
    return Probe(tree, command, variables, tree.parent / "log", lambda _: None).run()


def stamp(tree: Path) -> dict[str, tuple[bytes, int, int]]:
    found = {}
    for path in sorted((tree / "src").rglob("*.py")):
        there = path.stat()
        found[str(path)] = path.read_bytes(), there.st_mode, there.st_mtime_ns
    return found


@pytest.mark.parametrize("expected", [3, 4])
def test_a_command_that_reads_the_tree_is_not_warned_of(git_repo: Path, expected: int) -> None:
    tree = project(git_repo, expected)
    before, status = stamp(tree), git(tree, "status", "--porcelain")
    assert probed(tree, tree / "src") == ""
    assert stamp(tree) == before
    assert git(tree, "status", "--porcelain") == status


@pytest.mark.parametrize("expected", [3, 4])
def test_one_that_reads_another_tree_is(git_repo: Path, tmp_path: Path, expected: int) -> None:
    """Both with passing and with failing tests."""
    tree = project(git_repo, expected)
    (tmp_path / "main").mkdir()
    installed = tmp_path / "main" / "sums.py"
    installed.write_text((tree / "src" / "sums.py").read_text())
    before = stamp(tree)
    said = probed(tree, installed.parent)
    assert "tests other files" in said
    assert "\n" not in said
    assert stamp(tree) == before


@pytest.mark.parametrize(
    "command", ["false", "true", "grep -q assert tests/test_sums.py", "python-that-is-missing -q"]
)
def test_nothing_is_said_of_what_measures_no_python(git_repo: Path, command: str) -> None:
    tree = project(git_repo, 3)
    assert probed(tree, tree / "src", command) == ""


def test_a_repository_without_python_costs_nothing(git_repo: Path, tmp_path: Path) -> None:
    assert probed(git_repo, git_repo, f"touch {tmp_path}/ran") == ""
    assert not (tmp_path / "ran").exists()
