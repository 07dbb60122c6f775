"""Repositories whose path is not UTF-8, and a locale that knows ASCII only."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.e2e.cli import CLI, events_of, here

AGENT = "cat >/dev/null; echo x >>a; sleep 2; echo y >\"$(printf 'g\\377')\""
RUN = ("run", "x", "-c", "false", "--agent", "command", "--agent-command", AGENT, "--headless")
COMMANDS = (
    *("status", "report", "restore", "restore 1 --yes", "history", "search x", "prompt show"),
    *("hooks install --yes", "doctor", "memory list", "context", "prune --yes", "rebuild"),
)


def repository(git_repo: Path, tmp_path: Path, name: bytes) -> Path:
    root = Path(shutil.copytree(git_repo, tmp_path / os.fsdecode(name)))
    (root / os.fsdecode(b"f\xff")).write_text("x")
    return root


def was_followed(output: str) -> bool:
    """The changes of its files were seen while it worked."""
    changes = [one for one in events_of(output) if one["kind"] == "files_changed"]
    return any(one["live"] for one in changes)


def test_a_run_and_every_command(git_repo: Path, tmp_path: Path) -> None:
    root = repository(git_repo, tmp_path, b"bad\xff\xfe")
    begun = here(*RUN, "--max-iterations", "1", "--json", cwd=root)
    assert (begun.returncode, begun.stderr) == (3, "")
    assert was_followed(begun.stdout)
    for command in (*COMMANDS, "resume --headless --max-iterations 2"):
        done = here(*command.split(), cwd=root)
        assert "Traceback" not in done.stdout + done.stderr, command
        assert "Error" not in done.stderr, command


def test_a_locale_that_knows_ascii_only(git_repo: Path, tmp_path: Path) -> None:
    root = repository(git_repo, tmp_path, "grüße".encode())
    ascii_only = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    def call(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*CLI, *words],
            cwd=root,
            env=os.environ | ascii_only,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )

    begun = call(*RUN, "--max-iterations", "1", "--json")
    assert (begun.returncode, begun.stderr) == (3, b"")
    assert was_followed(begun.stdout.decode())
    said = call("doctor")
    assert b"Traceback" not in said.stdout + said.stderr
    assert b"Error" not in said.stderr
