"""Every kind of damaged journal: each command reports what it can, and none crashes."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli import GATE, ONE_MORE, here, project

COMMANDS = (
    "", "status", "status --json", "status --line", "report --full", "history",
    "history task-001 --attempt 1", "attach", "replay --headless", "replay --headless --json",
    "restore", "restore 2 --dry-run", "search work", "lab --run task-001", "prompt show",
    "prompt show --iteration 1", "context", "guide x", "prune", "doctor", "rebuild", "resume",
)  # fmt: skip
FORGED = b'{"seq":9999,"at":"2026-11-27T23:10:12Z","kind":"run_finished","outcome":"completed"}\n'
LINES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "half": lambda lines: [*lines[:30], b'{"fake\n', *lines[30:]],
    "forged": lambda lines: [*lines[:30], FORGED, *lines[30:]],
    "zeros": lambda lines: [*lines[:30], lines[30][:9] + b"\0" * 5000 + lines[30][9:], *lines[31:]],
    "cut": lambda lines: [*lines[:-1], lines[-1][:-37]],
    "twice": lambda lines: [*lines[:20], lines[19], *lines[20:]],
    "deep": lambda lines: [*lines[:20], b"[" * 200_000 + b"\n", *lines[20:]],
    "deeper": lambda lines: [*lines[:20], b'{"a":' * 100_000 + b"\n", *lines[20:]],
    "long": lambda lines: [*lines[:20], b'{"a":"' + b"A" * 4_100_000 + b'"}\n', *lines[20:]],
    "nameless": lambda lines: [b"{}\n", *lines[1:]],
    "headless": lambda lines: lines[1:],
    "empty": lambda _: [],
}
FIELDS: tuple[tuple[str, Any], ...] = (
    ("at", "9999-12-31T23:59:59.999999Z"), ("at", "0001-01-01T00:00:00Z"), ("completion", 1e308),
    ("completion", -5), ("iteration", 10**18), ("iteration", -1), ("duration_s", 1e300),
    ("objective", "a\x1b[2Jb\ud800"), ("objective", ""), ("path", "../../../../etc/passwd"),
    ("path", "/etc/passwd"), ("snapshot", 10**30), ("max_iterations", 0), ("command", ""),
    ("max_iterations", 10**12), ("text", "\n\n\x1b]0;x\x07"), ("commit", "--output=injected"),
    ("tree", "deadbeef"), ("run_id", "../../x"),
)  # fmt: skip


@pytest.fixture(scope="module")
def recorded(first_repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded") / "repo"
    root = project(Path(shutil.copytree(first_repo, folder, symlinks=True)))
    order = ("-c", GATE, "--agent", "command", "--agent-command", ONE_MORE)
    here("run", "Make it work", *order, "--max-iterations", "2", "--headless", cwd=root)
    return root


def put(key: str, value: Any, line: bytes) -> bytes:
    """The line with another value wherever a field has this name."""
    found = json.loads(line, object_hook=lambda it: it | ({key: value} if key in it else {}))
    return json.dumps(found).encode() + b"\n"


@pytest.mark.parametrize("damage", [*LINES, *FIELDS], ids=str)
def test_no_command_breaks(recorded: Path, tmp_path: Path, damage: str | tuple[str, Any]) -> None:
    root = Path(shutil.copytree(recorded, tmp_path / "repo", symlinks=True))
    (journal,) = root.rglob("events.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    damaged = LINES[damage](lines) if isinstance(damage, str) else [put(*damage, e) for e in lines]
    journal.write_bytes(b"".join(damaged))
    for command in COMMANDS:  # the last ones write
        done = here(*command.split(), cwd=root)
        said = done.stdout + done.stderr
        assert "\x1b" not in said, command
        assert said.encode(), command
    assert not (root / "injected").exists()
