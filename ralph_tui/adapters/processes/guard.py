"""A guard for commands that have no keeper; it ends them once ralph-tui is gone.

A guard that is no longer needed is killed. A keeper takes longer to start than most `git` commands
take to run, so many commands share one guard, which recognises them by the mark in their
environment.
"""

import subprocess
import sys
from pathlib import Path

from ralph_tui.adapters.processes.adopted import starting

PROGRAM = Path(__file__).with_name("guard_program.py")


class Guard:
    """A guard process; dismiss it when the last command has ended."""

    def __init__(self, guard_id: str) -> None:
        """Start a guard for commands with this mark. Raises ``OSError`` if that is not possible."""
        with starting() as own:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(PROGRAM), guard_id],
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            own(self._process.pid)

    def dismiss(self) -> None:
        """End the guard when no command is left. Returns once it is gone."""
        # SIGKILL works even if an agent has stopped the guard.
        self._process.kill()
        self._process.communicate()
