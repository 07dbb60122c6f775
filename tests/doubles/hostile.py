"""Broken and non-agent programs, played by the stub on its scenario's request."""

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping

from tests.doubles.wire import Sums, Wire


def _garbage(_wire: Wire) -> int:
    # Outside of text encodings: sys.stdout would refuse these.
    os.write(1, bytes(range(256)) * 8 + b'\n{"type": "assis\n\xff\xfe[[[[\n')
    return 1


def _html(_wire: Wire) -> int:
    _say("<!DOCTYPE html>\n<html><body><h1>502 Bad Gateway</h1></body></html>")
    return 0


def _nothing(_wire: Wire) -> int:
    return 3


def _other_json(_wire: Wire) -> int:
    for event in (
        {"type": "thread.started", "thread_id": "0199-ab"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "done"}},
        {"type": "turn.completed", "usage": {"input_tokens": 3}},
        [1, 2, 3],
        "text",
        None,
    ):
        _say(json.dumps(event))
    return 0


def _exit0_nothing(_wire: Wire) -> int:
    return 0


def _exit0_after_init(wire: Wire) -> int:
    wire.init()
    return 0


def _never_exits(_wire: Wire) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()


def _stays_after_result(wire: Wire) -> int:
    _done(wire)
    return _never_exits(wire)


def _stdin_closed_early(wire: Wire) -> int:
    os.close(0)
    _done(wire)
    return 0


def _done(wire: Wire) -> None:
    wire.init()
    block = {"type": "text", "text": "Done."}
    wire.assistant(block, "msg_1", Sums(12, 100, 3).usage(), {})
    wire.count((12, 100, 3))
    wire.result(
        Sums(12, 100, 3),
        subtype="success",
        is_error=False,
        terminal_reason="completed",
        num_turns=1,
        stop_reason="end_turn",
        permission_denials=[],
        result="Done.",
    )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


HABITS: Mapping[str, Callable[[Wire], int]] = {
    "garbage": _garbage,
    "html": _html,
    "nothing": _nothing,
    "other_json": _other_json,
    "exit0_nothing": _exit0_nothing,
    "exit0_after_init": _exit0_after_init,
    "never_exits": _never_exits,
    "stays_after_result": _stays_after_result,
    "stdin_closed_early": _stdin_closed_early,
}
"""Each gives the exit code."""
