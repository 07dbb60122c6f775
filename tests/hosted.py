"""A host of a fleet as tests see it: orders that it could be given, and what it has observed."""

import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, TypeVar

from ralph_tui.adapters.clones.sources import source_of
from ralph_tui.adapters.workspace.repository import open_repository
from ralph_tui.fleet.ports import Ended, Observation, Recorded
from ralph_tui.ports.clones import Loop, Place, Source
from tests.e2e.cli import GATE, project
from tests.waiting import PATIENCE_S, until

O = TypeVar("O", bound=Observation)  # noqa: E741
_committed: dict[str, tempfile.TemporaryDirectory[str]] = {}
FLEET = "fleet-under-test"
ALL_DONE = "cat >/dev/null; touch done-0.txt done-1.txt done-2.txt done-3.txt"
"""An agent that makes all tests pass in one session."""


def committed(root: Path) -> Path:
    """The repository with the checks of `project`, committed by somebody it knows.

    What git does to a copy of `first_repo` it does once: the others are copies of its result.
    """
    branch = root / ".git" / "refs" / "heads" / "main"
    head = branch.read_text() if branch.exists() else ""
    if head in _committed:
        shutil.rmtree(root)
        shutil.copytree(_committed[head].name, root, symlinks=True)
        git(root, "update-index", "--refresh")
        return root
    project(root)
    for words in (
        ("config", "user.name", "Owner"),
        ("config", "user.email", "owner@example.com"),
        ("add", "."),
        ("commit", "-q", "-m", "checks"),
    ):
        git(root, *words)
    _committed[head] = tempfile.TemporaryDirectory(prefix="ralph-committed-")
    shutil.copytree(root, _committed[head].name, symlinks=True, dirs_exist_ok=True)
    return root


def git(root: Path, *words: str) -> str:
    """Run git and return its output; raise if it fails."""
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def source_in(root: Path) -> Source:
    """The repository's present, on this machine."""
    return source_of(open_repository(root), "HEAD")


def place_in(root: Path, loop: str = "1", agent: str = ALL_DONE, **changes: Any) -> Place:
    """Run a loop of a scripted agent; `changes` are fields of `Place`, or of its `Loop`."""
    settings = {"agent.name": "command", "agent.command": agent, "limits.max_iterations": "6"}
    settings |= changes.pop("settings", {})
    of_loop = {"objective": "Make the checks pass", "command": GATE, "settings": settings}
    of_loop |= {name: changes.pop(name) for name in list(changes) if name in Loop.model_fields}
    of_place = {"attempt": 1, "branch": f"ralph/night/{loop}", "source": source_in(root)}
    return Place.model_validate(
        {"fleet_id": FLEET, "fleet": "night", **of_place, "ports": 0, **changes}
        | {"loop": Loop.model_validate({"id": loop, **of_loop})}
    )


class Seen:
    """Takes observations, from any thread."""

    def __init__(self) -> None:
        self.all: list[Observation] = []
        self._lock = threading.Lock()

    def __call__(self, observation: Observation) -> None:
        with self._lock:
            self.all.append(observation)

    def of(self, kind: type[O], **fields: Any) -> list[O]:
        """Observations of a type with these fields."""
        with self._lock:
            found = [each for each in self.all if isinstance(each, kind)]
        return [each for each in found if all(getattr(each, n) == v for n, v in fields.items())]

    def wait(self, kind: type[O], timeout: float = PATIENCE_S, **fields: Any) -> O:
        """The first of them, when it is there."""
        return until(lambda: self.of(kind, **fields), timeout)[0]

    def over(self, loop: str = "1", timeout: float = PATIENCE_S) -> Ended:
        """Wait for the end of a loop."""
        return self.wait(Ended, timeout, loop=loop)

    def lines(self, loop: str = "1") -> list[str]:
        """A loop's journal as received; fails if there is a gap."""
        reported: list[str] = []
        for recorded in self.of(Recorded, loop=loop):
            assert recorded.seq == len(reported) + 1, "there is a gap or a duplicate"
            reported += recorded.lines
        return reported
