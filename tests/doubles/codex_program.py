"""The stub of Codex as a program; `bin/codex` starts it with `STUB_PYTHON`."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.doubles.codex import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
