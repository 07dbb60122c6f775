"""Suggested completion commands from a repository's own files."""

import os
from pathlib import Path

from ralph_tui.adapters.workspace.suggestions import suggestions
from tests.rows import each_row

PACKAGE = '{"scripts": {"test": "vitest run"}}'
CARGO = '[package]\nname = "x"\n'


@each_row(
    ("files", "commands"),
    [
        ({}, []),
        ({"README.md": "run pytest"}, []),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, ["pytest -q"]),
        ({"pyproject.toml": "[project]\n", "tests/test_it.py": ""}, ["pytest -q"]),
        ({"pyproject.toml": 'dev = ["pytest"]', "uv.lock": "x"}, ["uv run pytest -q"]),
        ({"tox.ini": "[pytest]\n", ".venv/bin/pytest": ""}, [".venv/bin/pytest -q"]),
        ({"test_it.py": ""}, ["pytest -q"]),
        ({"package.json": PACKAGE}, ["npm test"]),
        ({"package.json": PACKAGE, "pnpm-lock.yaml": "x"}, ["pnpm test"]),
        ({"package.json": PACKAGE, "yarn.lock": "x"}, ["yarn test"]),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\""}}'}, []),
        ({"package.json": '{"scripts": {"build": "tsc"}}'}, []),
        ({"Cargo.toml": CARGO, "go.mod": "module x\n"}, ["cargo test", "go test -v ./..."]),
        ({"Makefile": "test: build\n\tx\ncheck:\n\ty\n"}, ["make test", "make check"]),
        ({"Makefile": "test := 1\ntests: x\n# test: no\n"}, []),
        ({"justfile": "test *args:\n  x\n"}, ["just test"]),
        ({"pytest.ini": "", "Makefile": "test:\n"}, ["make test"]),
    ],
)
def test_a_command_is_suggested_where_a_file_speaks_for_it(
    tmp_path: Path, files: dict[str, str], commands: list[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = suggestions(tmp_path)
    assert [one.command for one in found] == commands
    assert all(one.because for one in found)


def test_what_cannot_be_read_suggests_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "Makefile")
    (tmp_path / "package.json").write_bytes(b"\xff{" + b"[" * 5000)
    (tmp_path / "Cargo.toml").write_text("= broken")
    (tmp_path / "pyproject.toml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "justfile").mkdir()
    assert suggestions(tmp_path) == ()
