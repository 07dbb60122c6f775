"""The embedded sample project, and the scripted agent that works on it.

It needs no account and no network. The agent speaks the same stream-json as a real one, and its
edits, its commands and the tests it runs are real.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from ralph_tui.demo.agent.plan_file import PLAN, TEXT

PROJECT = Path(__file__).with_name("project")
OBJECTIVE = "Fix the failing tests of the calculator"

_IDENTITY = {
    "GIT_AUTHOR_NAME": "ralph-tui demo",
    "GIT_AUTHOR_EMAIL": "demo@example.invalid",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00+00:00",
    "GIT_COMMITTER_NAME": "ralph-tui demo",
    "GIT_COMMITTER_EMAIL": "demo@example.invalid",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00+00:00",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def prepare(destination: Path, scenario: str = "steady") -> None:
    """Make `destination` (missing or empty) a git repository with the project as its first commit.

    The commit is the same every time for each scenario. Raises ``OSError``, and
    ``CalledProcessError`` with git's output.
    """
    shutil.copytree(
        PROJECT,
        destination,
        ignore=shutil.ignore_patterns("__pycache__", "*.pyc"),
        copy_function=shutil.copyfile,
        dirs_exist_ok=True,
    )
    if plan_of(scenario) is not None:
        (destination / PLAN).write_text(TEXT, encoding="utf-8")
    for arguments in (
        ("init", "--quiet", "--template=", "--initial-branch=main"),
        ("add", "--all"),
        ("commit", "--quiet", "--no-verify", "--message=A calculator, with bugs"),
    ):
        _git(destination, *arguments)


def plan_of(scenario: str) -> str | None:
    """Return the name of the scenario's plan file; None if it has none."""
    return PLAN if scenario == "context" else None


def completion_command() -> str:
    """Return the command that passes when all tests pass."""
    # -B: bytecode timestamps have whole seconds, and the agent may edit a file twice in one.
    return f"{shlex.quote(sys.executable)} -B -m unittest"


def _git(folder: Path, *arguments: str) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**environ, **_IDENTITY},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
    )
