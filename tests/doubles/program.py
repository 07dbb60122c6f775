"""The stub as a program; `bin/claude` starts it with `STUB_PYTHON`."""

import os
import sys

sys.path[0] = os.path.realpath(f"{sys.path[0]}/../..")

from tests.doubles.version import claude_line  # noqa: E402

if sys.argv[1:] == ["--version"]:  # each run asks, and all else takes four times as long to load
    print(claude_line(os.environ))  # noqa: T201
    sys.exit()

from tests.doubles.claude import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
