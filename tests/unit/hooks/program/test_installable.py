"""The hook program as copied into a project: complete, alone, standard library only."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tui.hooks.project import read_program
from tests.hooks import INTERPRETER
from tests.paths import ROOT

COPIED = {
    name.removeprefix("ralph_tui/") for name in read_program() if name.startswith("ralph_tui/")
} - {"layers/sensor/__init__.py"}  # it is copied empty


def imported_by(name: str) -> set[str]:
    """Modules imported anywhere in a file."""
    tree = ast.parse((ROOT / "ralph_tui" / name).read_text())
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def file_of(module: str) -> set[str]:
    """Files that ``package.module`` or ``package.module.name`` could name."""
    inner = module.removeprefix("ralph_tui").removeprefix(".").replace(".", "/")
    outer = inner.rpartition("/")[0]
    named = [f"{path}{end}" for path in (inner, outer) for end in (".py", "/__init__.py")]
    return {name.removeprefix("/") for name in named}


def test_it_imports_the_standard_library_and_itself() -> None:
    for name in COPIED:
        if not name.endswith(".py"):
            continue
        for module in imported_by(name):
            if module.partition(".")[0] == "ralph_tui":
                assert file_of(module) & COPIED, f"{name} imports {module}"
            else:
                assert module.partition(".")[0] in sys.stdlib_module_names, f"{name}: {module}"


def test_no_file_is_left_over() -> None:
    """Each copied file is an imported module, a package, or its data."""
    wanted = {name for name in COPIED if name.endswith(("__init__.py", "__main__.py"))}
    for name in COPIED:
        if name.endswith(".py"):
            for module in imported_by(name):
                wanted |= file_of(module)
    modules = {name for name in COPIED if name.endswith(".py")}
    assert modules <= wanted


@pytest.mark.parametrize("hook", ["post-tool-use", "stop"])
def test_it_runs_alone(program: Path, tmp_path: Path, hook: str) -> None:
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude" / "ralph-state.json").write_text('{"objective": "Mend it"}')
    given: dict[str, object] = {"session_id": "5c179980-d659", "cwd": str(project)}
    given |= {
        "tool_name": "Bash",
        "tool_input": {"command": "curl -H 'Authorization: Bearer abcdefghijkl1234567890'"},
    }
    answer = subprocess.run(
        [INTERPRETER, "-I", "-S", program, hook],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        cwd=tmp_path,
    )
    assert answer.stderr == ""
    (journal,) = project.glob(".aiwg/ralph/hooks/*/events.jsonl")
    assert '"session_started"' in journal.read_text()
    assert "abcdefghijkl1234567890" not in journal.read_text()
    assert bool(answer.stdout) == (hook == "stop")


def test_an_old_python_can_read_where_it_is_refused(program: Path) -> None:
    """Python 3.8 is the oldest version; its user reads the file's message."""
    ast.parse((program / "__main__.py").read_text(), feature_version=(3, 7))
    said = subprocess.run(
        [INTERPRETER, "-I", "-S", "-c", OLD.format(folder=str(program))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "needs Python 3.11 or newer, and this is 3.8" in said.stderr


OLD = """
import runpy, sys
sys.version_info = (3, 8, 10, "final", 0)
sys.path.insert(0, {folder!r})
main = runpy.run_path({folder!r} + "/__main__.py", run_name="hook")
sys.exit(main["run"](["stop"]))
"""
