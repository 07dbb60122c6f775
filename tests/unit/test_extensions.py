"""An extension is left out by leaving its folder out: the core works without it."""

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
"""What shows a run of ours, and nothing else."""
LISTING = """
import json
from pathlib import Path
from ralph_tui.sources.listed import ListedRuns
runs = ListedRuns(Path.cwd())
first, whole = runs.names(), runs.names()
assert runs.fleet() is None
print(json.dumps([sorted(first), sorted(whole), sorted(runs.read(whole))]))
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a run of ours, a run of another tool, and a folder of a fleet that never began."""
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
    """What the whole program prints."""
    return [printed(ROOT, repository, "-m", "ralph_tui", *words) for words in LOOKED_AT]


def copy_without(missing: tuple[str, ...], folder: Path) -> Path:
    """A folder that holds the package without these extensions."""
    package = folder / "ralph_tui"
    shutil.copytree(ROOT / "ralph_tui", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in missing:
        shutil.rmtree(package / name)
    return folder


def printed(package: Path, root: Path, *words: str) -> str:
    """What Python prints in `root`, with the package that lies in this folder."""
    done = subprocess.run(
        [sys.executable, "-B", "-P", *words],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("missing", [*((name,) for name in EXTENSIONS), EXTENSIONS], ids="-".join)
def test_the_core_works_without(
    missing: tuple[str, ...], repository: Path, shown: list[str], tmp_path: Path
) -> None:
    package = copy_without(missing, tmp_path)

    def command(*words: str) -> str:
        return printed(package, repository, "-m", "ralph_tui", *words)

    everything = command("--help", "--all")
    listed = {line.split()[0] for line in everything.splitlines() if line.startswith("    ")}
    assert {"fleet", "hooks"} - listed == {"fleet", "hooks"} & {*missing}
    assert [command(*words) for words in LOOKED_AT] == shown

    foreign = [] if "importers" in missing else ["aiwg/0a1b2c3d"]
    history = json.loads(command("history", "--json"))
    assert [row["run"] for row in history if "run" in row] == foreign
    first, whole, rows = json.loads(printed(package, repository, "-c", LISTING))
    assert first == ["task-001/001"]
    assert whole == rows == [*foreign, "task-001/001"]
