"""The program from its first moment on: ``python -m ralph_tui``, and the ``ralph-tui`` script.

Rule: Ctrl+C is quiet also while modules are imported, and at the very end. Where it arrives in an
import, libraries may take the exception for their own failure; nothing has begun that would have to
be ended, so that the program just goes.
"""

import os
import sys
from types import FrameType

INTERRUPTED = 130
"""As `ExitCode` has it, which is yet to be imported."""


def main() -> int:
    """Run the command line of this process; its exit code."""
    try:
        import signal  # noqa: PLC0415 - from here on it may be interrupted

        heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if heard:  # who starts it in the background may have it ignored
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
