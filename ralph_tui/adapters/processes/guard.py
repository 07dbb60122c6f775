"""The guard of commands that have no keeper: it ends them when ralph-tui is gone.

Run as ``python -I -S guard.py ID``, in a session of its own. Its standard input is a pipe whose
only write end is ralph-tui's: its end says that ralph-tui has been killed. A guard that is not
needed any more is killed itself. A keeper takes longer to start than most commands of git take, so
many of them share a guard, which knows them by the mark in their environment.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":  # -I leaves the package's folder out
    sys.path.insert(0, str(Path(__file__).parents[3]))

from ralph_tui.adapters.processes.adopted import starting
from ralph_tui.adapters.processes.keeper import DEAF_TO
from ralph_tui.adapters.processes.sweep import stop_guarded


class Guard:
    """To be dismissed when the last command has ended."""

    def __init__(self, guard_id: str) -> None:
        """For commands with this mark. Raises ``OSError`` where no process can be started."""
        with starting() as own:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, guard_id],
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


def main(guard_id: str) -> None:
    """Wait for the end of ralph-tui."""
    for number in DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    os.read(0, 1)
    stop_guarded(guard_id)


if __name__ == "__main__":
    main(sys.argv[1])
