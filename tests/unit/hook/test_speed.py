"""A call takes under 100 ms, also where the transcript is very large."""

import os
import subprocess
import time

import pytest

from tests.hooks import INTERPRETER, Project

CALLS = 9
MOST_S = 0.1


def cpu_seconds(project: Project, number: int, command: str) -> float:
    """What one call takes of a processor: others that work meanwhile do not count."""
    given = project.uses(20_000 + number, "Bash", number, command=command)
    process = subprocess.Popen(
        [INTERPRETER, "-I", "-S", project.program, "post-tool-use"],
        stdin=subprocess.PIPE,
        env=project.environ,
        cwd=project.root,
    )
    assert process.stdin is not None
    process.stdin.write(project.given("PostToolUse", **given))
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    project.answers(number)
    return usage.ru_utime + usage.ru_stime


def usual(project: Project, command: str) -> float:
    """CPU seconds of the median call: the slowest are those that others got in the way of."""
    taken = sorted(cpu_seconds(project, number, command) for number in range(CALLS))
    return taken[CALLS // 2]


@pytest.mark.parametrize(
    ("command", "large"),
    [("make check", False), ("curl -u me:hunter http://x", False), ("make check", True)],
)
def test_a_call_is_quick(project: Project, command: str, *, large: bool) -> None:
    project.after_tool()  # what Python keeps of the program is made
    if large:
        old = project.transcript.parent / "old"
        project.entry("user", message={"role": "user", "content": "x" * 40_000})
        line = project.transcript.read_bytes().splitlines(keepends=True)[-1]
        old.write_bytes(line * (200_000_000 // len(line)))
        old.rename(project.transcript)
        assert project.transcript.stat().st_size > 190_000_000
    deadline = time.monotonic() + 40
    while usual(project, command) > MOST_S:  # a crowded processor is slower, too
        assert time.monotonic() < deadline
