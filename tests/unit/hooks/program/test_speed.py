"""A call does little, even with a very large transcript: its limit is 100 ms."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.hooks import INTERPRETER, Project

MEASURED = """
import json, runpy, sys
calls, before, (out, *sys.argv) = 0, {*sys.modules}, sys.argv[1:]
def seen(frame, event, arg):
    global calls
    calls += event in ("call", "c_call")
sys.setprofile(seen)
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    sys.setprofile(None)
    with open("/proc/self/io") as io:
        read = int(io.readline().split()[1])
    with open(out, "w") as file:
        json.dump([calls, len({*sys.modules} - before), read], file)
"""
MAX_MODULES = 80
MAX_BYTES = 8_000_000


def measured(project: Project, folder: Path, command: str) -> tuple[int, int, int]:
    """Function calls, imported modules and bytes read in one call of the program."""
    given = project.uses(20_000, "Bash", 1, command=command)
    out = folder / "measured.json"
    subprocess.run(
        [INTERPRETER, "-I", "-S", "-c", MEASURED, out, project.program, "post-tool-use"],
        input=project.given("PostToolUse", **given),
        env=project.environ,
        cwd=project.root,
        check=True,
    )
    project.answers(1)
    calls, modules, read = json.loads(out.read_text())
    return calls, modules, read


@pytest.mark.parametrize(
    ("command", "most_calls", "large"),
    [
        ("curl -u me:hunter http://x", 200_000, False),  # the rules of secrets are compiled
        ("make check", 60_000, True),
    ],
)
def test_a_call_does_little(
    project: Project, tmp_path: Path, command: str, most_calls: int, *, large: bool
) -> None:
    project.after_tool()  # Python has compiled the program
    if large:
        old = project.transcript.parent / "old"
        project.entry("user", message={"role": "user", "content": "x" * 40_000})
        line = project.transcript.read_bytes().splitlines(keepends=True)[-1]
        old.write_bytes(line * (200_000_000 // len(line)))
        old.rename(project.transcript)
        assert project.transcript.stat().st_size > 190_000_000
    calls, modules, read = measured(project, tmp_path, command)
    assert calls < most_calls
    assert modules < MAX_MODULES
    assert read < MAX_BYTES
