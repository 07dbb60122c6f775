"""The tools of the stub, working for real: Bash in a session of its own, Edit, Write and Read."""

import os
import signal
import subprocess
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

INLINE = 30_000
"""Characters of output above which it goes to a file and only a preview is reported."""
PREVIEW = 2_000


@dataclass(frozen=True)
class Outcome:
    """A tool's result: the text for the model, and the structured form for the stream."""

    text: str
    structured: Json | str
    is_error: bool | None = None
    """None: not said, as the file tools do on success."""


def failure(text: str) -> Outcome:
    """A tool that failed."""
    return Outcome(text, f"Error: {text}", is_error=True)


class Shell:
    """One command, in a session of its own as the real binary starts it."""

    def __init__(self, command: str, cwd: Path, environ: dict[str, str]) -> None:
        self._kept = Path(environ.get("STUB_STATE") or environ["HOME"]) / "tool-results"
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", command],
            cwd=cwd,
            env={**environ, "CLAUDECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def wait(self) -> Outcome:
        """Wait for the tool and return its outcome."""
        output = self._process.communicate()[0].decode(errors="replace").rstrip("\n")
        code = self._process.returncode
        if code:
            code = code if code > 0 else 128 - code
            return failure(f"Exit code {code}\n{output}".rstrip("\n"))
        structured: Json = {
            "stdout": output,
            "stderr": "",
            "interrupted": False,
            "isImage": False,
            "noOutputExpected": False,
        }
        if len(output) > INLINE:
            return self._keep(output + "\n", structured)
        return Outcome(output or "(Bash completed with no output)", structured, is_error=False)

    def _keep(self, output: str, structured: Json) -> Outcome:
        """Save output that is too long for the model; return the file's path and a preview."""
        self._kept.mkdir(parents=True, exist_ok=True)
        path, size = self._kept / f"{uuid.uuid4().hex[:9]}.txt", len(output.encode())
        path.write_text(output)
        about = {"persistedOutputPath": str(path), "persistedOutputSize": size}
        text = f"{size / 2**20:.1f}MB" if size >= 2**20 else f"{size / 2**10:.1f}KB"
        note = (
            f"<persisted-output>\nOutput too large ({text}). Full output saved to: {path}\n\n"
            f"Preview (first 2KB):\n{output[:PREVIEW]}\n...\n</persisted-output>"
        )
        return Outcome(note, {**structured, "stdout": output[:INLINE], **about}, is_error=False)

    def kill(self) -> None:
        """End it and all of its session's group."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def read(root: Path, call: Json, seen: set[Path]) -> Outcome:
    """The file with line numbers."""
    path = root / call["file_path"]
    if not path.is_file():
        return failure(f"File does not exist. Note: your current working directory is {root}.")
    seen.add(path)
    content = path.read_text()
    total = len(content.split("\n"))
    lines = content.split("\n")[: call.get("limit")]
    content = "\n".join(lines)
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    file: Json = {
        "filePath": str(path),
        "content": content,
        "numLines": len(lines),
        "startLine": 1,
        "totalLines": total,
    }
    return Outcome(numbered, {"type": "text", "file": file})


def write(root: Path, call: Json, seen: set[Path]) -> Outcome:
    """Create a file, or replace one that was read."""
    path = root / call["file_path"]
    existed = path.exists()
    if existed and path not in seen:
        return failure("File has not been read yet. Read it first before writing to it.")
    before = path.read_text() if existed else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(call["content"])
    seen.add(path)
    structured: Json = {
        "type": "update" if existed else "create",
        "filePath": str(path),
        "content": call["content"],
        "structuredPatch": [],
        "originalFile": before,
        "userModified": False,
    }
    verb = "has been updated" if existed else "created"
    return Outcome(f"File {verb} successfully at: {path}", structured)


def edit(root: Path, call: Json, seen: set[Path]) -> Outcome:
    """Replace a text that occurs once in a file that was read."""
    path = root / call["file_path"]
    old, new = call["old_string"], call["new_string"]
    if not path.is_file():
        return failure("File does not exist.")
    if path not in seen:
        return failure("File has not been read yet. Read it first before writing to it.")
    before = path.read_text()
    if old not in before:
        return failure(f"String to replace not found in file.\nString: {old}")
    path.write_text(before.replace(old, new, -1 if call.get("replace_all") else 1))
    structured: Json = {
        "filePath": str(path),
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": [
            {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
             "lines": [f"-{old}", f"+{new}"]}
        ],
        "userModified": False,
        "replaceAll": bool(call.get("replace_all")),
    }  # fmt: skip
    return Outcome(f"The file {path} has been updated successfully.", structured)


FILE_TOOLS: dict[str, Callable[[Path, Json, set[Path]], Outcome]] = {
    "Read": read,
    "Write": write,
    "Edit": edit,
}
