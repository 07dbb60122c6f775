"""One-shot questions: the prompt goes to stdin, and stdout returns a JSON object.

``--output-format json`` wraps the answer in a result, or in a list of all events of the session.
The answer may wrap its JSON in a code fence or in prose.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ralph_tui.adapters.agents.claude.ends import end_of_result
from ralph_tui.adapters.agents.claude.usage import Ledger, Usage
from ralph_tui.adapters.agents.description import AgentContext
from ralph_tui.adapters.agents.installed import run_once
from ralph_tui.base.errors import ProcessError
from ralph_tui.ports.agents import Ask, Asked
from ralph_tui.text.foreign_json import parse_json, parse_json_at
from ralph_tui.text.json_fields import as_list, as_map, as_text
from ralph_tui.text.sanitize import clip, one_line

SHOWN = 120
LONGEST_OUTPUT = 4000
"""Maximum number of characters to keep from an answer without a JSON object."""
_OBJECTS = 50
"""Maximum number of opening braces to try as the start of an object."""
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)


def read_answer(printed: str) -> Asked:
    """Parse a program's answer in ``--output-format json``."""
    result = _result(printed)
    if result is None:
        said = clip(one_line(printed[:1000].strip()), SHOWN)
        what = f"It printed no result, but: {said}" if said else "It printed nothing."
        return Asked(None, error=what)
    usage = Usage(0, Ledger())
    # The result determines the cost.
    list(usage.result(result))
    end = end_of_result(result)
    answer, error, said = None, end.reason, ""
    if end.outcome == "success":
        words = as_text(result.get("result"))
        answer = _object(result.get("structured_output")) or find_object(words)
        if answer is None:
            said = words[:LONGEST_OUTPUT]
            error = f"The answer contains no JSON object: {clip(one_line(words[:1000]), SHOWN)}"
    return Asked(answer, error, said, usage.cost_usd, usage.tokens)


def find_object(words: str) -> dict[str, object] | None:
    """Find a JSON object in the text: all of it, a fenced block, or the first that parses."""
    for text in (words, *_FENCE.findall(words)):
        found = _object(_parse(text.strip()))
        if found is not None:
            return found
    start = words.find("{")
    for _ in range(_OBJECTS):
        if start < 0:
            return None
        try:
            value, _end = parse_json_at(words, start)
        except ValueError:
            value = None
        if (found := _object(value)) is not None:
            return found
        start = words.find("{", start + 1)
    return None


def _result(printed: str) -> Mapping[str, object] | None:
    whole = _parse(printed.strip())
    candidates = [whole, *as_list(whole)]
    if whole is None:
        candidates = [_parse(line) for line in printed.splitlines() if '"result"' in line]
    results = [as_map(item) for item in candidates if as_map(item).get("type") == "result"]
    return results[-1] if results else None


def _object(value: object) -> dict[str, object] | None:
    return value if isinstance(value, dict) and value else None


def _parse(text: str) -> object:
    try:
        return parse_json(text)
    except ValueError:
        return None


LONGEST_ANSWER = 16 << 20
"""Maximum size of an answer, in bytes."""


def ask_once(argv: Sequence[str], context: AgentContext, question: Ask, program: str) -> Asked:
    """Ask one question; `program` is the program's name for people. Never raises."""
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
