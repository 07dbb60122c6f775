"""An extension is removed by deleting its folder: the core works without it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.foreign import External
from tests.paths import FIXTURES, ROOT

EXTENSIONS = ("fleet", "hooks", "importers")
LOOKED_AT = (
    ("status", "task-001"),
    ("history", "task-001"),
    ("replay", "task-001", "--headless"),
    ("attach", "--help"),
)
"""Commands that show one of our own runs."""
ASKED = (*LOOKED_AT, ("--help", "--all"), ("history", "--json"))
PROGRAM = """
import contextlib, io, json, sys
from pathlib import Path
from ralph_tui.cli import main
from ralph_tui.runtime.sources.run_list import ListedRuns
said = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(words) == 0, words
    said.append(out.getvalue())
runs = ListedRuns(Path.cwd())
first, whole = runs.names(), runs.names()
assert runs.fleet() is None
print(json.dumps([said, sorted(first), sorted(whole), sorted(runs.read(whole))]))
"""
"""Runs all the commands, in one process."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with our run, another tool's run, and the folder of a fleet that never began."""
    root = tmp_path_factory.mktemp("repository")
    ralph = root / ".aiwg" / "ralph"
    attempt = ralph / "tasks" / "task-001" / "attempts" / "001"
    attempt.mkdir(parents=True)
    shutil.copy(FIXTURES / "journals" / "v1-stuck.jsonl", attempt / "events.jsonl")
    (ralph / "fleets" / "fleet-001").mkdir(parents=True)
    (ralph / "fleets" / "fleet-001" / "events.jsonl").touch()
    External(root).state({"number": 1})
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    return root


@pytest.fixture(scope="module")
def shown(repository: Path) -> list[str]:
    """The output of the whole program."""
    said, *_ = answers(ROOT, repository)
    return said[: len(LOOKED_AT)]


def copy_without(missing: tuple[str, ...], folder: Path) -> Path:
    """A folder with the package, but without these extensions."""
    package = folder / "ralph_tui"
    # Compiled files are copied too, because compiling takes longest.
    shutil.copytree(ROOT / "ralph_tui", package)
    for name in missing:
        shutil.rmtree(package / name)
    return folder


def answers(package: Path, root: Path) -> tuple[list[str], list[str], list[str], list[str]]:
    """Output of the package in this folder for `root`, and the runs that it lists."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, json.dumps(ASKED)],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said, first, whole, rows = json.loads(done.stdout.splitlines()[-1])
    return said, first, whole, rows


# A contract in `pyproject.toml` keeps them independent of each other.
@pytest.mark.parametrize("missing", [("fleet",), EXTENSIONS], ids="-".join)
def test_the_core_works_without(
    missing: tuple[str, ...], repository: Path, shown: list[str], tmp_path: Path
) -> None:
    said, first, whole, rows = answers(copy_without(missing, tmp_path), repository)
    *looked_at, everything, history = said
    listed = {line.split()[0] for line in everything.splitlines() if line.startswith("    ")}
    assert {"fleet", "hooks"} - listed == {"fleet", "hooks"} & {*missing}
    assert looked_at == shown

    foreign = [] if "importers" in missing else ["aiwg/0a1b2c3d"]
    assert [row["run"] for row in json.loads(history) if "run" in row] == foreign
    assert first == ["task-001/001"]
    assert whole == rows == [*foreign, "task-001/001"]
