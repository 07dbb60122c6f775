"""Serve one call of a hook, from its input to its answer."""

import os
import signal
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from ralph_tui.base.errors import RalphError
from ralph_tui.hooks.program.call import MAX_INPUT, Answer, Call, HookInput, parse_input
from ralph_tui.hooks.program.record import flush
from ralph_tui.hooks.program.store import state_file
from ralph_tui.layers.context.state_file import NAME, has_ended

HOOKS = {"post-tool-use": "PostToolUse", "stop": "Stop"}
"""Claude Code's name of each hook, by the program's argument."""
LIMIT_S = 20
"""Maximum number of seconds for a call; Claude Code waits for 30."""


def main(arguments: list[str]) -> int:
    """Serve one call and return its exit code."""
    if len(arguments) != 1 or arguments[0] not in HOOKS:
        names = " or ".join(HOOKS)
        answer = Answer()
        answer.problems.append(f"the hook must be called with {names}, not {arguments}")
        answer.write("")
        return 0
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(LIMIT_S)
    hook = HOOKS[arguments[0]]
    answer = answer_to(hook, _input(), os.environ)
    answer.write(hook)
    return answer.code


def answer_to(hook: str, data: bytes, environ: Mapping[str, str]) -> Answer:
    """Return a hook's answer to its input, including any problems."""
    answer = Answer()
    if environ.get("RALPH_RUN_ID") or environ.get("RALPH_LOOP") == "off":
        return answer  # watched by ralph-tui's own run, or switched off
    try:
        hook_input = parse_input(data)
    except ValueError as error:
        answer.problems.append(f"cannot read the hook's input: {error}")
        return answer
    try:
        return _serve(hook, hook_input, environ)
    except RalphError as refused:
        answer.warn(str(refused))
        return answer


def _serve(hook: str, hook_input: HookInput, environ: Mapping[str, str]) -> Answer:
    root = Path(environ.get("CLAUDE_PROJECT_DIR") or hook_input.cwd or Path.cwd()).absolute()
    path = root / (environ.get("RALPH_STATE_FILE") or Path(".claude") / NAME)
    with state_file(path) as held:
        if held is None or held.state.get("driven_by"):  # a run that starts its own sessions
            return Answer()
        call = Call(hook_input, environ, root, datetime.now(UTC), held)
        for problem in held.problems:
            call.answer.warn(f"in {path} {problem}")
        if hook == "Stop":
            from ralph_tui.hooks.program.stop import stop

            stop(call)
        elif hook_input.is_session and not has_ended(call.state):
            from ralph_tui.hooks.program.watch import watch

            watch(call)
        flush(call)
        try:
            held.save()
        except RalphError as refused:
            call.answer.warn(str(refused))
            call.answer.reason = ""
        if held.aside is not None:
            call.answer.warn(f"the previous state file is saved in {held.aside}")
        return call.answer


def _input() -> bytes:
    """Return stdin; empty for a terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    return sys.stdin.buffer.read(MAX_INPUT)


def _give_up(*_: object) -> None:
    raise RalphError(f"the hook was stopped after {LIMIT_S} s")
