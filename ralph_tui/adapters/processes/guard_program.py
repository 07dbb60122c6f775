"""The process of a `Guard`: it stops the commands with its mark once ralph-tui is gone.

Run as ``python -I -S guard_program.py ID``, in its own session. Its standard input is a pipe whose
only write end is ralph-tui's, so the end of the pipe means that ralph-tui has been killed. The code
that stops the commands is loaded only then. It takes four times as long to load as Python itself,
and few guards need it.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    # The signal module without its enumerations, which take longer to load than everything else.
    import _signal as signal


def main(guard_id: str) -> None:
    """Wait for ralph-tui to end, then stop the commands."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    os.read(0, 1)
    sys.path.insert(0, __file__.rsplit(os.sep, 4)[0])  # -I leaves the package's folder out
    from ralph_tui.adapters.processes.sweep import stop_guarded  # noqa: PLC0415

    stop_guarded(guard_id)


if __name__ == "__main__":
    main(sys.argv[1])
