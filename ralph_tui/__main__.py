"""The entry point: ``python -m ralph_tui``, and the ``ralph-tui`` script.

Ctrl+C is quiet even while modules are imported, and at the very end. During an import, a library
might mistake the exception for its own failure. Nothing needs to be cleaned up yet, so the program
just exits.
"""

import os
import sys
from types import FrameType

INTERRUPTED = 130
"""The value of `ExitCode`, which is not imported yet."""


def main() -> int:
    """Run the command line of this process and return its exit code."""
    try:
        import signal  # noqa: PLC0415 - from here on it can be interrupted

        heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if heard:  # a parent that starts it in the background may have it ignored
            signal.signal(signal.SIGINT, _interrupted)
        from ralph_tui.cli import main as run  # noqa: PLC0415

        code = run()
        if heard and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, _leave)
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _interrupted(number: int, frame: FrameType | None) -> None:
    at = frame
    while at is not None:
        if at.f_code.co_filename.startswith("<frozen importlib"):
            _leave(number, frame)
        at = at.f_back
    raise KeyboardInterrupt


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
