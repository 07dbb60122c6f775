"""Changes that could make the completion command pass with the work undone, told with names."""

import re
from collections.abc import Sequence

from ralph_tui.layers.sensor.categories import categorize

MOST_NAMES = 5

_GATE_FILES = re.compile(
    r"(?:pytest\.ini|\.pytest\.ini|pytest\.toml|tox\.ini|setup\.cfg|pyproject\.toml|noxfile\.py"
    r"|\.coveragerc|manage\.py|package\.json|tsconfig.*\.json|deno\.jsonc?"
    r"|(?:jest|vitest|vite|playwright|karma|cypress|ava|babel|web-test-runner)\.(?:config|conf)\.\w+"
    r"|\.(?:mocharc|taprc|nycrc|proverc|rspec|babelrc|eslintrc)(?:\.\w+)?"
    r"|(?:gnu)?makefile|justfile|rakefile|taskfile\.ya?ml|cargo\.toml|go\.mod|pom\.xml"
    r"|build\.gradle(?:\.kts)?|phpunit\.xml(?:\.dist)?|composer\.json|gemfile|mix\.exs"
    r"|cmakelists\.txt|meson\.build|\.ralph-tui\.toml)",
    re.IGNORECASE,
)


def named_files(command: str) -> frozenset[str]:
    """Words of a completion command that may be paths: ``./check.sh`` is ``check.sh``."""
    words = re.split(r"[\s;&|()<>\"'=]+", command)
    return frozenset(word.removeprefix("./") for word in words)


def gate_files(changed: Sequence[str], named: frozenset[str]) -> list[str]:
    """Those of the changed files that configure the gate; `named` are files of its command."""
    return [path for path in changed if path in named or _is_gate_file(path)]


def tampering(changed: Sequence[str], named: frozenset[str]) -> tuple[str, ...]:
    """One sentence each for changed tests and a changed gate; `named` are files of its command."""
    gate = gate_files(changed, named)
    tests = [path for path in changed if path not in gate and categorize(path) == "test"]
    warnings = []
    if tests:
        warnings.append(f"Test files changed: {_names(tests)}.")
    if gate:
        warnings.append(f"Configuration of the completion command changed: {_names(gate)}.")
    return tuple(warnings)


def _is_gate_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name == "conftest.py" or _GATE_FILES.fullmatch(name) is not None


def _names(paths: Sequence[str]) -> str:
    more = len(paths) - MOST_NAMES
    return ", ".join(paths[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
