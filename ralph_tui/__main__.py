"""``python -m ralph_tui``: the same as the ``ralph-tui`` script."""

import sys

from ralph_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
