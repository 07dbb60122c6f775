"""Completion commands suggested by a repository's files: offered, never used silently.

Rule: a suggestion names the file that supports it, and the command's output must have counts that
we can parse.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ralph_tui.base.plain_files import reading
from ralph_tui.ports.new_runs import Suggestion
from ralph_tui.text.foreign_json import bounded, parse_json

MAX_BYTES = 1 << 20
"""Maximum number of bytes read from each file."""
_TARGET = re.compile(r"^(test|check)[ \t]*:(?!=)", re.MULTILINE)
_RECIPE = re.compile(r"^test(?:[ \t][^:\n=]*)?:(?!=)", re.MULTILINE)
_NO_TESTS = "no test specified"
"""Part of npm's default test script."""
_RUNNERS = (("pnpm-lock.yaml", "pnpm test"), ("yarn.lock", "yarn test"), ("", "npm test"))
_PYTEST = (("pytest.ini", ""), ("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]"))


def suggestions(root: Path) -> tuple[Suggestion, ...]:
    """Return the suggestions for the root of the worktree, likeliest first."""
    found: dict[str, Suggestion] = {}
    for look in (_python, _node, _cargo, _go, _make, _just):
        for one in look(root):
            found.setdefault(one.command, one)
    return tuple(found.values())


def _python(root: Path) -> Iterator[Suggestion]:
    because = ""
    if "pytest" in _text(root / "pyproject.toml"):
        because = "pyproject.toml names pytest"
    for name, mark in _PYTEST:
        text = _text(root / name)
        if not because and text and mark in text:
            because = f"{name} has settings for pytest"
    tests = next((name for name in ("tests", "test") if _has_tests(root / name)), "")
    if not because and tests:
        because = f"{tests}/ contains Python tests"
    if not because and _has_tests(root):
        because = "Python tests found"
    if because:
        yield Suggestion(f"{_python_runner(root)} -q", because)


def _python_runner(root: Path) -> str:
    """Return the pytest command that uses the project's own dependencies."""
    if (root / "uv.lock").is_file():
        return "uv run pytest"
    return ".venv/bin/pytest" if (root / ".venv/bin/pytest").is_file() else "pytest"


def _has_tests(folder: Path) -> bool:
    try:
        return any(
            entry.name.endswith(".py") and entry.name.startswith("test_")
            for entry, _ in zip(folder.iterdir(), range(1000), strict=False)
        )
    except OSError:
        return False


def _node(root: Path) -> Iterator[Suggestion]:
    package = _table(root / "package.json", parse_json)
    scripts = package.get("scripts")
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if isinstance(script, str) and script.strip() and _NO_TESTS not in script:
        command = next(name for lock, name in _RUNNERS if not lock or (root / lock).is_file())
        yield Suggestion(command, "package.json has a test script")


def _cargo(root: Path) -> Iterator[Suggestion]:
    if _table(root / "Cargo.toml", tomllib.loads):
        yield Suggestion("cargo test", "Cargo.toml found")


def _go(root: Path) -> Iterator[Suggestion]:
    # Without -v, its output does not name passing tests.
    if _text(root / "go.mod"):
        yield Suggestion("go test -v ./...", "go.mod found")


def _make(root: Path) -> Iterator[Suggestion]:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        for target in dict.fromkeys(_TARGET.findall(_text(root / name))):
            yield Suggestion(f"make {target}", f"{name} has a {target} target")


def _just(root: Path) -> Iterator[Suggestion]:
    for name in ("justfile", "Justfile"):
        if _RECIPE.search(_text(root / name)):
            yield Suggestion("just test", f"{name} has a test recipe")


def _text(path: Path) -> str:
    """Return the beginning of a file; empty if it cannot be read."""
    try:
        with reading(path) as file:
            return file.read(MAX_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _table(path: Path, parse: Callable[[str], Any]) -> dict[str, Any]:
    try:
        table = bounded(parse(_text(path)))
    except (ValueError, RecursionError):
        return {}
    return table if isinstance(table, dict) else {}
