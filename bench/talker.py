"""An agent that only talks: ``talker.py plain|json RATE`` prints RATE lines a second forever.

Standard library only, because it is started as an agent's process.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import count

WORDS = "reading the parser, thinking about the tokens it wants"


def plain() -> Iterator[str]:
    """Yield lines of plain text."""
    for number in count():
        yield f"line {number}: {WORDS}"


def stream_json() -> Iterator[str]:
    """Yield a coding agent's messages: text, a tool call, its result, and so on."""
    yield _line("system", {"subtype": "init", "model": "talker", "permissionMode": "acceptEdits"})
    for number in count():
        tool_id = f"toolu_{number:020}"
        path = f"src/part{number % 37:03}/module{number % 211:05}.py"
        yield _said({"type": "text", "text": f"Step {number}: {WORDS}."}, number)
        call = {"type": "tool_use", "id": tool_id, "name": "Read", "input": {"file_path": path}}
        yield _said(call, number)
        answer = {"type": "tool_result", "tool_use_id": tool_id, "content": f"{number}\n" * 3}
        yield _line("user", {"message": {"role": "user", "content": [answer]}})


def _said(block: Mapping[str, object], number: int) -> str:
    usage = {"input_tokens": 12, "cache_read_input_tokens": number % 150_000, "output_tokens": 40}
    message = {"id": f"msg_{number}", "role": "assistant", "content": [block], "usage": usage}
    return _line("assistant", {"message": {"type": "message", "model": "talker", **message}})


def _line(kind: str, fields: dict[str, object]) -> str:
    return json.dumps({"type": kind, **fields, "parent_tool_use_id": None, "session_id": "bench"})


def main() -> None:
    """Print at an even pace; catch up after a delay."""
    kind, rate = sys.argv[1], float(sys.argv[2])
    began = time.monotonic()
    for number, line in enumerate(stream_json() if kind == "json" else plain()):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
