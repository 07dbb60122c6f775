"""The agent `claude`: Claude Code, driven over stream-json by the flags its version knows."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ralph_tui.adapters.agents.claude.flags import OLDEST, Program, listed_flags, parse_version
from ralph_tui.adapters.agents.claude.json_answer import read_answer
from ralph_tui.adapters.agents.claude.refused_session import RefusedSession
from ralph_tui.adapters.agents.claude.stream_agent import StreamAgent
from ralph_tui.adapters.agents.context import AgentContext
from ralph_tui.adapters.agents.run_once import run_once
from ralph_tui.errors import ProcessError, UsageError
from ralph_tui.ports import Ask, Asked, Emit, Session, Turn
from ralph_tui.text.sanitize import clip, one_line

PROBE_S = 5.0
"""Seconds a program may take to say which version it is."""
KNOWN = (2, 1, 197)
"""From here on every flag is known; older versions are asked for theirs."""
LONGEST_ANSWER = 16 << 20

_MISSING = (
    "The agent `claude` needs Claude Code, and {name} is no program that can be run; install it, "
    "set agent.binary, choose another agent with --agent (command), or try `ralph-tui demo`."
)
_ROOT = (
    "Claude Code does not skip permissions for root: set IS_SANDBOX=1 if this machine is a "
    "sandbox, run as another user, or choose the permissions `edits`."
)


def find(binary: str, environ: Mapping[str, str]) -> str | None:
    """The program's absolute path, by name or path."""
    found = shutil.which(os.path.expanduser(binary), path=environ.get("PATH"))  # noqa: PTH111
    return None if found is None else str(Path(found).absolute())


class ClaudeAgent(StreamAgent):
    """Claude Code; building it finds the program and asks for its version.

    Raises ``UsageError`` when it is missing or too old.
    """

    def __init__(self, context: AgentContext) -> None:
        path = find(context.binary, context.environ)
        if path is None:
            raise UsageError(_MISSING.format(name=repr(one_line(context.binary))))
        super().__init__("claude", [path], context)
        self.program = _probe(
            path,
            _stamp(path),
            context.root,
            context.run_id,
            tuple(sorted(context.environ.items())),
        )
        version = self.program.version
        if version is not None and version < OLDEST:
            raise UsageError(
                f"Claude Code {_dotted(version)} ({path}) is too old for ralph-tui, which needs"
                f" {_dotted(OLDEST)} or newer; run `claude update`."
            )

    def start(self, turn: Turn, emit: Emit) -> Session:
        """Start a session; raises ``AgentError`` when the program cannot be started."""
        if turn.permissions.mode == "skip" and self._refuses_root():
            return RefusedSession(self.name, turn, emit, _ROOT)
        names = self.ledger.names
        resume = self.ledger.name_of(turn.resume) if turn.resume else ""
        if resume:
            names[turn.session_id] = resume
            turn = replace(turn, session_id=resume)
        else:
            # Until it has said a word it cannot be resumed.
            names[turn.session_id] = ""
        return self.begin(replace(turn, resume=resume or None), emit)

    def ask(self, question: Ask) -> Asked:
        """Ask a model once, without tools; blocking, at most `timeout_s` and some seconds."""
        model = question.model or self.context.model
        try:
            printed = run_once(
                self.program.question(model),
                self.context,
                words=question.prompt,
                timeout_s=question.timeout_s,
                limit=LONGEST_ANSWER,
            )
        except (ProcessError, OSError) as error:
            return Asked(None, error=f"The question could not be asked: {error}")
        if printed.code is None:
            return Asked(None, error=f"There was no answer within {question.timeout_s:g} s.")
        asked = read_answer(printed.out)
        if printed.code and asked.answer is None and not printed.out.strip():
            said = clip(one_line(printed.errors[-1000:].strip()), 300)
            return replace(asked, error=f"Claude Code exited with code {printed.code}: {said}")
        return asked

    def command_line(self, turn: Turn) -> list[str]:
        """The program and its flags for one session."""
        return self.program.session(turn, self.context.model)

    def _refuses_root(self) -> bool:
        return os.geteuid() == 0 and self.context.environ.get("IS_SANDBOX") != "1"


@lru_cache(maxsize=16)
def _probe(
    path: str, stamp: tuple[int, int], root: Path, run_id: str, environ: tuple[tuple[str, str], ...]
) -> Program:
    """Which version it is and what it knows; one that does not tell is taken for a new one."""
    context = AgentContext(root=root, run_id=run_id, environ=dict(environ))
    version = parse_version(_printed([path, "--version"], context))
    if version is None or version < OLDEST or version >= KNOWN:
        return Program(path, version)
    return Program(path, version, listed_flags(_printed([path, "--help"], context)))


def _printed(argv: list[str], context: AgentContext) -> str:
    try:
        return run_once(argv, context, timeout_s=PROBE_S).out
    except ProcessError:
        return ""


def _stamp(path: str) -> tuple[int, int]:
    """Changes when the program is updated."""
    try:
        facts = Path(path).stat()
    except OSError:
        return (0, 0)
    return (facts.st_mtime_ns, facts.st_size)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
