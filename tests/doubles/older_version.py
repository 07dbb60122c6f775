"""``ralph-tui`` as another version of it."""

import sys

from ralph_tui.cli import main
from ralph_tui.fleet.dispatch import link

if __name__ == "__main__":
    link.__version__ = "0.0.1"  # type: ignore[attr-defined]
    sys.exit(main(sys.argv[1:]))
