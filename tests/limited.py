"""``python -m tests.limited SIZE WORDS...``: ralph-tui where no file may grow beyond SIZE bytes.

The limit is that of ``ulimit -S -f``: the program may raise it again.
"""

import resource
import sys

from ralph_tui.cli import main

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
    sys.exit(main(sys.argv[2:]))
