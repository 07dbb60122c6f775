"""One-shot questions: a program is given words on stdin, and prints one result."""

from collections.abc import Sequence
from dataclasses import replace

from ralph_tui.adapters.agents.claude.json_answer import read_answer
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.run_once import run_once
from ralph_tui.errors import ProcessError
from ralph_tui.ports import Ask, Asked
from ralph_tui.text.sanitize import clip, one_line

LONGEST_ANSWER = 16 << 20
"""Bytes a program may print."""


def ask_once(argv: Sequence[str], context: AgentContext, question: Ask, program: str) -> Asked:
    """What came of it; `program` is its name for people. Never raises."""
    try:
        printed = run_once(
            argv,
            context,
            words=question.prompt,
            timeout_s=question.timeout_s,
            limit=LONGEST_ANSWER,
            cancelled=lambda: question.cancelled,
        )
    except (ProcessError, OSError) as error:
        return Asked(None, error=f"The question could not be asked: {error}")
    if printed.code is not None:
        asked = read_answer(printed.out)
        if printed.code and asked.answer is None and not printed.out.strip():
            said = clip(one_line(printed.errors[-1000:].strip()), 300)
            return replace(asked, error=f"{program} exited with code {printed.code}: {said}")
        return asked
    why = f"There was no answer within {question.timeout_s:g} s."
    if question.cancelled:
        why = "The question was cancelled."
    elif len(printed.out.encode()) >= LONGEST_ANSWER:
        why = f"The answer is longer than {LONGEST_ANSWER >> 20} MB."
    return Asked(None, error=why)
