"""Repositories whose path is not UTF-8, and a locale that knows ASCII only."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.cli import CLI, events_of, here

AGENT = "cat >/dev/null; echo x >>a; sleep 2; echo y >\"$(printf 'g\\377')\""
RUN = ("run", "x", "-c", "false", "--agent", "command", "--agent-command", AGENT, "--headless")
COMMANDS = (
    *("status", "report", "restore", "restore 1 --yes", "history", "search x", "prompt show"),
    *("hooks install --yes", "doctor", "memory list", "context", "prune --yes", "rebuild"),
)


@pytest.mark.parametrize(
    ("name", "environ"),
    [
        (b"bad\xff\xfe", {}),
        (
            "grüße".encode(),
            {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        ),
    ],
)
def test_a_run_and_every_command(
    git_repo: Path, tmp_path: Path, name: bytes, environ: dict[str, str]
) -> None:
    root = Path(shutil.copytree(git_repo, tmp_path / os.fsdecode(name)))
    (root / os.fsdecode(b"f\xff")).write_text("x")

    def call(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*CLI, *words],
            cwd=root,
            env=os.environ | environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )

    begun = call(*RUN, "--max-iterations", "1", "--json")
    assert begun.returncode == 3, begun.stderr
    assert begun.stderr == b""
    changes = [one for one in events_of(begun.stdout.decode()) if one["kind"] == "files_changed"]
    assert any(one["live"] for one in changes), "they were followed while it worked"
    for command in COMMANDS:
        done = here(*command.split(), cwd=root) if not environ else None
        assert done is None or "Traceback" not in done.stderr, command
    for command in ("doctor", "resume --headless --max-iterations 2"):
        said = call(*command.split())
        assert b"Traceback" not in said.stdout + said.stderr
        assert b"Error" not in said.stderr
