"""Architecture rules: allowed imports, file length, and where exceptions may end."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from tests.paths import ROOT

PACKAGE = ROOT / "ralph_tui"
EMBEDDED = PACKAGE / "demo" / "project"
"""The sample project is data."""

FILES = sorted(path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(EMBEDDED))
MAX_LINES = 500
LONG = {PACKAGE / "adapters" / "processes" / "keeper.py"}
"""One file on purpose: it runs alone, without the package."""

HEAVY = {"textual", "rich", "git", "watchfiles", "httpx"}


def loaded_after(statement: str) -> set[str]:
    """The top-level modules of a fresh interpreter that has run `statement`."""
    show = "import sys, json; print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    return set(printed_by(f"{statement}\n{show}"))


def printed_by(program: str) -> list[str]:
    """The list of texts in the last line that a fresh interpreter prints."""
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(answer.stdout.splitlines()[-1])
    return found


def test_the_contracts_of_pyproject_are_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    broken = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert not broken, capsys.readouterr().out


def test_importing_the_loop_imports_neither_screen_nor_git() -> None:
    loaded = loaded_after("import ralph_tui.loop.loop")
    assert "pydantic" in loaded
    assert not loaded & HEAVY


def test_importing_the_engine_imports_no_screen() -> None:
    assert not loaded_after("import ralph_tui.runtime.engine") & {"textual", "rich"}


def test_quick_commands_import_nothing_heavy(tmp_path: Path) -> None:
    chosen = ("--help", "status --line", "context", "history", "")
    for words in map(str.split, chosen):
        statement = (
            f"import os, ralph_tui.cli; os.chdir({str(tmp_path)!r}); ralph_tui.cli.main({words!r})"
        )
        assert not loaded_after(statement) & (HEAVY | {"pydantic", "platformdirs"}), words


def test_the_first_frame_waits_for_nothing_but_the_screen() -> None:
    """Modules for runs, settings and git are loaded later."""
    commands = ("run", "demo", "resume", "replay", "attach")
    names = ", ".join(f"ralph_tui.cli.commands.{name}" for name in commands)
    loaded = loaded_after(f"import ralph_tui.cli.fronts.stage, {names}")
    assert "textual" in loaded
    assert not loaded & (HEAVY - {"textual", "rich"} | {"pydantic"})


def test_importing_the_cockpit_builds_no_model() -> None:
    """Before pydantic builds the first one, it looks for plugins in all installed packages."""
    show = "import sys, json; print(json.dumps([*sys.modules]))"
    loaded = printed_by(f"import ralph_tui.cli.fronts.cockpit\n{show}")
    assert "pydantic.main" in loaded
    assert "pydantic.plugin._loader" not in loaded


def test_nothing_but_what_carries_orders_loads_dask() -> None:
    """Whatever else is imported: a fleet's process and its hosts load it when they begin."""
    carrier = PACKAGE / "fleet" / "dispatch"
    light = {carrier / "__init__.py"}
    names = [
        ".".join(("ralph_tui", *path.relative_to(PACKAGE).with_suffix("").parts))
        for path in FILES
        if (path in light or not path.is_relative_to(carrier)) and path.stem != "__main__"
    ]
    loaded = loaded_after(f"import importlib\nfor name in {names}: importlib.import_module(name)")
    assert "textual" in loaded
    assert not loaded & {"dask", "distributed", "tornado"}


def test_building_the_parser_imports_only_the_commands_asked_for() -> None:
    build = "import sys, json, ralph_tui.cli; ralph_tui.cli.build_parser({}); "
    show = "print(json.dumps([name for name in sys.modules if '.cli.commands.' in name]))"
    for chosen in ([], ["status"]):
        loaded = printed_by(build.format(chosen) + show)
        assert loaded == [f"ralph_tui.cli.commands.{name}" for name in chosen]


def modules(*words: str) -> int:
    """Number of modules that an interpreter imports, from its import log."""
    command = [sys.executable, "-X", "importtime", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sum(line.startswith("import time:") for line in done.stderr.splitlines())


def test_help_imports_little_more_than_pydantic_does() -> None:
    assert modules("-m", "ralph_tui", "--help") <= 1.5 * modules("-c", "import pydantic")


def test_files_stay_short() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in FILES if path not in LONG}
    assert {str(path): length for path, length in lengths.items() if length > MAX_LINES} == {}


def nodes_of(path: Path, *words: str) -> Iterator[ast.AST]:
    """All nodes of a module that contains one of these words: most need no parsing."""
    text = path.read_text()
    if any(word in text for word in words):
        yield from ast.walk(ast.parse(text))


def catches_everything(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [kind.id for kind in kinds if isinstance(kind, ast.Name)]
    return handler.type is None or bool({"Exception", "BaseException"} & set(names))


GUARDS = {
    PACKAGE / "runtime" / "engine.py",
    PACKAGE / "fleet" / "runtime" / "engine.py",
    PACKAGE / "loop" / "guard.py",
    PACKAGE / "hooks" / "program" / "__main__.py",
    PACKAGE / "cli" / "fronts" / "stage.py",
    PACKAGE / "tui" / "driver.py",
}
"""Bugs end in the engine, layer failures in the guard; hooks and screens never end a run."""


def test_only_engine_guard_of_layers_hook_and_screen_catch_what_nobody_expected() -> None:
    caught = [
        f"{path}:{node.lineno}"
        for path in FILES
        if path not in GUARDS
        for node in nodes_of(path, "except:", "Exception")
        if isinstance(node, ast.ExceptHandler) and catches_everything(node)
    ]
    assert caught == []


def test_layers_are_guarded_in_one_module_of_the_loop() -> None:
    """Elsewhere a layer's failure is passed to it."""
    tree = ast.parse((PACKAGE / "loop" / "guard.py").read_text())
    catching = [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(
            isinstance(n, ast.ExceptHandler) and catches_everything(n) for n in ast.walk(function)
        )
    ]
    assert sorted(catching) == ["guarded"]


def test_the_keeper_needs_the_standard_library_only() -> None:
    """It runs with ``python -I -S``, which finds nothing else."""
    tree = ast.parse((PACKAGE / "adapters" / "processes" / "keeper.py").read_text())
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "ralph_tui"]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported
    assert imported <= set(sys.stdlib_module_names)


OPENING = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "fdopen", "truncate"}
OPENERS = {
    "base/plain_files.py": "the one way",
    "adapters/processes/keeper.py": "it runs alone, and opens /proc",
    "adapters/processes/lineage.py": "/proc",
    "adapters/processes/memory.py": "/proc",
    "adapters/processes/sweep.py": "/proc",
    "adapters/records/lock.py": "the worktree's folder",
    "adapters/records/pruning.py": "folders, each below the one before",
    "adapters/search/embedder.py": "data of this package",
    "adapters/workspace/pipes.py": "a FIFO, to find out whether git waits for it",
    "cli/__init__.py": "the null device",
    "cli/fronts/signals.py": "the null device",
    "fleet/dispatch/engine.py": "/proc",
    "hooks/project.py": "data of this package",
    "loop/steps/agent_questions.py": "a question",
    "loop/steps/questions.py": "questions are opened there",
    "loop/steps/watchdog.py": "a question",
    "text/secrets/formats.py": "data of this package",
    "tui/panes/rows.py": "a row",
}
"""Files that open something without `plain_files`, and what they open."""
AGENTS = PACKAGE / "demo"
"""The embedded agent opens an agent's files, in its own process."""


def calls_of(names: set[str]) -> dict[str, list[int]]:
    """Line numbers by module of calls to a function or method of this name."""
    found: dict[str, list[int]] = {}
    for path in FILES:
        if path.is_relative_to(AGENTS):
            continue
        for node in nodes_of(path, *names):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            ours = isinstance(called, ast.Name) and name not in ("open", "loads", "load")
            if name in names and not ours:
                found.setdefault(path.relative_to(PACKAGE).as_posix(), []).append(node.lineno)
    return found


def test_files_are_opened_in_one_way() -> None:
    """An agent can put a FIFO or a link wherever a file is read or written."""
    found = calls_of(OPENING)
    assert {name: lines for name, lines in found.items() if name not in OPENERS} == {}
    assert OPENERS.keys() == found.keys(), "an entry that is not needed any more"


def test_json_is_read_in_one_way() -> None:
    """Deep nesting raises something other than a ``ValueError`` in any other reader."""
    readers = calls_of({"loads", "raw_decode", "JSONDecoder"})
    toml = {"config/files.py", "config/settings.py"}
    assert readers.keys() == {"text/foreign_json.py", *toml}
