"""The agent's tools: real reads, edits and commands; each returns (text, structured result)."""

import contextlib
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

from ralph_tui.demo.agent.wire import Interrupted, Wire

Answer = tuple[str, dict[str, object]]

PYTHON = Path(sys.executable).name
TESTS = f"{PYTHON} -B -m unittest"


class ToolError(Exception):
    """A tool failed; the text is its answer."""


def read(path: str) -> Answer:
    """Return a file's lines, numbered."""
    try:
        content = Path(path).read_text(encoding="utf-8")
    except OSError:
        raise ToolError(f"File does not exist: {path}") from None
    lines = content.splitlines()
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    facts = {"filePath": path, "numLines": len(lines), "startLine": 1, "totalLines": len(lines)}
    return numbered, {"type": "text", "file": facts}


def edit(path: str, old: str, new: str) -> Answer:
    """Replace a passage that occurs exactly once in the file."""
    before = Path(path).read_text(encoding="utf-8")
    if before.count(old) != 1:
        raise ToolError(
            f"<tool_use_error>String to replace not found in file.\nString: {old}</tool_use_error>"
        )
    after = before.replace(old, new)
    Path(path).write_text(after, encoding="utf-8")
    start = before.count("\n", 0, before.index(old)) + 1
    patch = [line for line in difflib.ndiff(old.splitlines(), new.splitlines()) if line[0] != "?"]
    lines = [f"{line[0]}{line[2:]}" for line in patch]
    return f"The file {path} has been updated successfully.", {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "structuredPatch": [{"oldStart": start, "newStart": start, "lines": lines}],
        "userModified": False,
        "replaceAll": False,
    }


def grep(pattern: str, folder: str) -> Answer:
    """Return the files below `folder` that contain the pattern."""
    expression = re.compile(pattern)
    found = [
        str(path)
        for path in sorted(Path(folder).rglob("*.py"))
        if expression.search(path.read_text(encoding="utf-8"))
    ]
    return "\n".join(found) or "No files found", {"mode": "files", "numFiles": len(found)}


def bash(wire: Wire, command: str) -> Answer:
    """Run a shell command in its own session. Raises ToolError if it fails."""
    folder = str(Path(sys.executable).parent)
    path = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])
    wire.running = subprocess.Popen(
        ["/bin/sh", "-c", command],
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output = wire.running.communicate()[0].rstrip("\n")
        code = wire.running.returncode
    finally:
        with contextlib.suppress(ProcessLookupError):
            if wire.running.poll() is None:
                wire.running.kill()
        wire.running = None
    if wire.interrupted.is_set():
        raise Interrupted
    if code:
        raise ToolError(f"Exit code {code}\n{output}")
    return output, {"stdout": output, "stderr": "", "interrupted": False}


def counts(output: str) -> tuple[int, int]:
    """Return passed tests and all tests, from unittest's summary; (0, 0) without a summary."""
    ran = re.search(r"^Ran (\d+) tests?", output, re.MULTILINE)
    total = int(ran[1]) if ran else 0
    bad = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", output))
    return total - bad, total
