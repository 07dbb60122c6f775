"""The command line as its users run it: a process of its own, a real repository, a real agent.

A process costs half a second of CPU before it does anything. Where a test is about what a command
says and does to files, and not about its process, `here` runs the same command line in ours.
"""

import contextlib
import gc
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from ralph_tui.cli import main
from tests.forks import FLEET, RALPH, Program, Started, completed
from tests.waiting import PATIENCE_S

Done = subprocess.CompletedProcess[str]
Command = Callable[..., Done]
"""`run`, or `here`."""

CLI = [sys.executable, "-m", "ralph_tui"]

CHECKS = """\
failed=0
echo 1..4
for number in 0 1 2 3; do
    [ -e done-$number.txt ] || { printf 'not '; failed=1; }
    echo "ok $((number + 1)) - done-$number.txt"
done
exit $failed
"""
"""Four tests that pass when their files exist: a loop can make progress on them one by one."""

GATE = "sh checks.sh"
ONE_MORE = (
    'n=$(ls done-*.txt 2>/dev/null | wc -l); cat >/dev/null; echo "step $n"; touch done-$n.txt'
)
"""An agent that makes one more test pass per session."""


def project(root: Path) -> Path:
    """Put the checks into a repository."""
    (root / "checks.sh").write_text(CHECKS)
    return root


def run(
    *arguments: str, cwd: Path, timeout: float = PATIENCE_S, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run ralph-tui to its end."""
    with (
        Path(os.devnull).open() as nobody,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        streams = (nobody.fileno(), out.fileno(), err.fileno())
        variables = {**os.environ, "RALPH_TUI_AGENT__BINARY": "no-claude-here", **environ}
        code = completed(_loaded(arguments), arguments, cwd, variables, streams, timeout)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def here(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """The same in our own process: for commands that only look, refuse, or change files."""
    out, err = io.StringIO(), io.StringIO()
    before = dict(os.environ)
    os.environ.update({"RALPH_TUI_AGENT__BINARY": "no-claude-here", **environ})
    try:
        with (
            contextlib.chdir(cwd),
            Path(os.devnull).open() as nobody,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            _reading(nobody),
        ):
            code = main(arguments)
    finally:
        gc.enable()  # a process of its own would have left it off
        os.environ.clear()
        os.environ.update(before)
    return subprocess.CompletedProcess(arguments, int(code), out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _reading(stream: TextIO) -> Iterator[None]:
    before, sys.stdin = sys.stdin, stream
    try:
        yield
    finally:
        sys.stdin = before


def start(*arguments: str, cwd: Path) -> Started:
    """Start ralph-tui without waiting for it."""
    return Started(_loaded(arguments), arguments, cwd, dict(os.environ))


def _loaded(arguments: Sequence[str]) -> Program:
    """The server that has most of the command's modules loaded."""
    return FLEET if arguments[0] == "fleet" else RALPH


def events_of(output: str) -> list[dict[str, Any]]:
    """Every line of ``--json`` output."""
    return [json.loads(line) for line in output.splitlines()]


def name_of(pid: int) -> str:
    """The name of a process; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


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
