"""Entry point: Claude Code calls it with the name of a hook and JSON on stdin.

An older Python must be able to parse this file, to report which version is needed.
"""

import sys


def run(arguments):  # type: ignore[no-untyped-def]
    """Return the exit code: always 0, unless an outer loop asks whether to continue."""
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.stderr.write(
            "ralph-tui: its hook needs Python 3.11 or newer, and this is %d.%d: put a newer "  # noqa: UP031
            "python3 first on PATH; until then nothing is watched\n" % sys.version_info[:2]
        )
        return 0
    try:
        from ralph_tui.hooks.program.program import main

        return main(arguments)
    except Exception as bug:  # noqa: BLE001  a hook must not make a session fail
        sys.stderr.write("ralph-tui: its hook failed (%r): nothing was watched\n" % (bug,))  # noqa: UP031
        return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))  # type: ignore[no-untyped-call]
