"""The process of a `Guard`: it stops the commands with its mark when ralph-tui is gone.

Run as ``python -I -S guard_program.py ID``, in a session of its own. Its standard input is a pipe
whose only write end is ralph-tui's: its end says that ralph-tui has been killed. What stops the
commands takes four times as long to load as Python itself, and few guards need it.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    # The same without its enumerations, which take longer to load than all the rest.
    import _signal as signal


def main(guard_id: str) -> None:
    """Wait for the end of ralph-tui."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    os.read(0, 1)
    sys.path.insert(0, __file__.rsplit(os.sep, 4)[0])  # -I leaves the package's folder out
    from ralph_tui.adapters.processes.sweep import stop_guarded  # noqa: PLC0415

    stop_guarded(guard_id)


if __name__ == "__main__":
    main(sys.argv[1])
