"""Programs to start and repositories to start them in."""

import os
import subprocess
import sys
from pathlib import Path

MINIMAL = Path(__file__).with_name("minimal.py")
OBJECTIVE = "Measure the budgets"


def ralph_tui(*arguments: str) -> list[str]:
    """The command line of the program under measurement, as a user's shell starts it."""
    script = Path(sys.executable).with_name("ralph-tui")
    program = [str(script)] if script.exists() else [sys.executable, "-m", "ralph_tui"]
    return [*program, *arguments]


def run_of(agent_command: str, *options: str, gate: str = "false") -> list[str]:
    """A run whose agent is a shell command."""
    agent = ("--agent", "command", "--agent-command", agent_command)
    return ralph_tui("run", OBJECTIVE, "-c", gate, *agent, *options)


def minimal_app(hertz: int = 0) -> list[str]:
    """The smallest Textual app, with a timer or none."""
    return [sys.executable, "-P", str(MINIMAL), str(hertz)]


def git(folder: Path, *arguments: str) -> None:
    """Run git with nobody's settings."""
    subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )


def repository(folder: Path, files: int = 20) -> Path:
    """A git repository with one commit of `files` small files, packed as a clone has them."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--template=", "--initial-branch=main")
    git(folder, "config", "gc.auto", "0")  # nothing of git's own works in the background
    for number in range(files):
        if number % 100 == 0:
            package = folder / "src" / f"part{number // 100:03}"
            package.mkdir(parents=True)
        line = f"value_{number} = {number}  # one of many lines\n"
        (package / f"module{number:05}.py").write_text(line * (5 + number % 40))
    # Into a pack at once: behind the deletion of as many loose objects ext4 is slow for minutes.
    git(folder, "-c", "core.bigFileThreshold=1", "add", "--all")
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    git(folder, *identity, "commit", "--quiet", "--message=files")
    return folder


def clean_environment() -> dict[str, str]:
    """This environment, without what would make two machines show different things."""
    meddling = ("RALPH", "TEXTUAL", "GIT_")
    # A user's Python keeps what it has compiled.
    alone = ("NO_COLOR", "COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(meddling) and name not in alone
    }
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
