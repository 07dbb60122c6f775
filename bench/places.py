"""Programs to start, and repositories to start them in."""

import os
import subprocess
import sys
from pathlib import Path

MINIMAL = Path(__file__).with_name("minimal.py")
OBJECTIVE = "Measure the budgets"


def ralph_tui(*arguments: str) -> list[str]:
    """Return the command line of the measured program, as a user's shell would start it."""
    script = Path(sys.executable).with_name("ralph-tui")
    program = [str(script)] if script.exists() else [sys.executable, "-m", "ralph_tui"]
    return [*program, *arguments]


def run_of(agent_command: str, *options: str, gate: str = "false") -> list[str]:
    """Return the command line of a run whose agent is a shell command."""
    agent = ("--agent", "command", "--agent-command", agent_command)
    return ralph_tui("run", OBJECTIVE, "-c", gate, *agent, *options)


def minimal_app(hertz: int = 0) -> list[str]:
    """Return the command line of the smallest Textual app, with an optional timer."""
    return [sys.executable, "-P", str(MINIMAL), str(hertz)]


def git(folder: Path, *arguments: str) -> None:
    """Run git without anyone's settings."""
    subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )


def repository(folder: Path, files: int = 20) -> Path:
    """Make a git repository with one commit of `files` small files, packed as in a clone."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--template=", "--initial-branch=main")
    git(folder, "config", "gc.auto", "0")  # keep git from working in the background
    for number in range(files):
        if number % 100 == 0:
            package = folder / "src" / f"part{number // 100:03}"
            package.mkdir(parents=True)
        line = f"value_{number} = {number}  # one of many lines\n"
        (package / f"module{number:05}.py").write_text(line * (5 + number % 40))
    # Into a pack at once: after deleting this many loose objects, ext4 is slow for minutes.
    git(folder, "-c", "core.bigFileThreshold=1", "add", "--all")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    git(folder, *identity, "commit", "--quiet", "--message=files")
    return folder


def clean_environment() -> dict[str, str]:
    """Return this environment without variables that change a program's output."""
    meddling = ("RALPH", "TEXTUAL", "GIT_")
    # Keep Python's bytecode cache enabled, as for a user.
    alone = ("NO_COLOR", "COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(meddling) and name not in alone
    }
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
