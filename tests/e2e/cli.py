"""The command line as its users run it: a process of its own, a real repository, a real agent."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CLI = [sys.executable, "-m", "ralph_tui"]

CHECKS = """\
import unittest
from pathlib import Path


class Done(unittest.TestCase):
    pass


def check(number):
    def test(self):
        self.assertTrue(Path(f"done-{number}.txt").exists())
    return test


for number in range(4):
    setattr(Done, f"test_{number}", check(number))
"""
"""Four tests that pass when their files exist: a loop can make progress on them one by one."""

GATE = f"{sys.executable} -B -m unittest -q checks"
ONE_MORE = (
    'n=$(ls done-*.txt 2>/dev/null | wc -l); cat >/dev/null; echo "step $n"; touch done-$n.txt'
)
"""An agent that makes one more test pass per session."""


def project(root: Path) -> Path:
    """Put the checks into a repository."""
    (root / "checks.py").write_text(CHECKS)
    return root


def run(
    *arguments: str, cwd: Path, timeout: float = 50, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run ralph-tui to its end."""
    return subprocess.run(
        [*CLI, *arguments],
        cwd=cwd,
        env={**os.environ, "RALPH_TUI_AGENT__BINARY": "no-claude-here", **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """Start ralph-tui and go on."""
    return subprocess.Popen(
        [*CLI, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def events_of(output: str) -> list[dict[str, Any]]:
    """Every line of ``--json`` output."""
    return [json.loads(line) for line in output.splitlines()]


def processes_of(run_id: str) -> list[int]:
    """Living processes that carry a run's mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            marked = f"RALPH_RUN_ID={run_id}".encode() in (entry / "environ").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if marked and state != "Z":
            found.append(int(entry.name))
    return found
