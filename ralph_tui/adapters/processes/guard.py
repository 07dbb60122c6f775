"""The guard of commands that have no keeper: it ends them when ralph-tui is gone.

A guard that is not needed any more is killed. A keeper takes longer to start than most commands of
git take, so many of them share a guard, which knows them by the mark in their environment.
"""

import subprocess
import sys
from pathlib import Path

from ralph_tui.adapters.processes.adopted import starting

PROGRAM = Path(__file__).with_name("guard_program.py")


class Guard:
    """To be dismissed when the last command has ended."""

    def __init__(self, guard_id: str) -> None:
        """For commands with this mark. Raises ``OSError`` where no process can be started."""
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
        """No command is left; returns when the guard is gone."""
        # By a signal that it takes also when an agent has stopped it.
        self._process.kill()
        self._process.communicate()
