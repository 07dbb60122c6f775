"""The stub of Codex as a program; `bin/codex` starts it with `STUB_PYTHON`."""

import os
import sys

sys.path[0] = os.path.realpath(f"{sys.path[0]}/../..")

from tests.doubles.version import codex_line  # noqa: E402

if sys.argv[1:] == ["--version"]:  # see `program`
    print(codex_line(os.environ))  # noqa: T201
    sys.exit()

from tests.doubles.codex import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
