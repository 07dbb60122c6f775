"""``ralph-tui`` whose fleet lets a host go that says nothing for a second."""

import sys

from ralph_tui.cli import main
from ralph_tui.fleet.dispatch.dispatcher import DaskDispatcher

if __name__ == "__main__":
    defaults = DaskDispatcher.__init__.__kwdefaults__
    assert defaults is not None
    defaults["silent_s"] = 1.0
    sys.exit(main(sys.argv[1:]))
