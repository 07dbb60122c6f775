"""Changes that could make the completion command pass with the work undone, told with names."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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


class Deciding(NamedTuple):
    """Changed files that decide what the completion command says; each stands in one of them."""

    config: list[str]
    """What configures it, or the tests, by their names."""
    tests: list[str]
    named: list[str]
    """Files that its command names: a script that it runs, or the work that it looks for."""


def deciding(changed: Iterable[str], named: frozenset[str]) -> Deciding:
    """Of the changed files; `named` are those of the completion command."""
    found = Deciding([], [], [])
    for path in changed:
        if _is_gate_file(path):
            found.config.append(path)
        elif categorize(path) == "test":
            found.tests.append(path)
        elif path in named:
            found.named.append(path)
    return found


def tampering(changed: Sequence[str], named: frozenset[str]) -> tuple[str, ...]:
    """One sentence for each kind of them."""
    config, tests, work = deciding(changed, named)
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
    more = len(paths) - MOST_NAMES
    return ", ".join(paths[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
