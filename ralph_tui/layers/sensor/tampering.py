"""Changed files that could make the completion command pass without the work being done."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ralph_tui.layers.sensor.categories import categorize

MAX_NAMES = 5

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
    """Return words of a completion command that may be paths: ``./check.sh`` as ``check.sh``."""
    words = re.split(r"[\s;&|()<>\"'=]+", command)
    return frozenset(word.removeprefix("./") for word in words)


class DecidingFiles(NamedTuple):
    """Changed files that influence the completion command's result; each path is in one list."""

    config: list[str]
    """Configuration files of the command or the tests, recognized by name."""
    tests: list[str]
    named: list[str]
    """Files named in the command: a script it runs, or a result it checks for."""


def deciding_files(changed: Iterable[str], named: frozenset[str]) -> DecidingFiles:
    """Sort the changed files that matter; `named` are the files named in the completion command."""
    found = DecidingFiles([], [], [])
    for path in changed:
        if _is_gate_file(path):
            found.config.append(path)
        elif categorize(path) == "test":
            found.tests.append(path)
        elif path in named:
            found.named.append(path)
    return found


def tampering(changed: Sequence[str], named: frozenset[str]) -> tuple[str, ...]:
    """Return one sentence for each kind of changed file."""
    config, tests, work = deciding_files(changed, named)
    said = {
        "Test files changed": tests,
        "Configuration of the completion command changed": config,
        "Files that the completion command names changed": work,
    }
    return tuple(f"{words}: {_names(paths)}." for words, paths in said.items() if paths)


def _is_gate_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name == "conftest.py" or _GATE_FILES.fullmatch(name) is not None


def _names(paths: Sequence[str]) -> str:
    more = len(paths) - MAX_NAMES
    return ", ".join(paths[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
