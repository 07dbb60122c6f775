"""What an agent asks, in words that log, lines, dialog and report share."""

from collections.abc import Sequence

from ralph_tui.events.asking import AgentRequest
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line

ALLOWED = {
    "once": "allowed once",
    "session": "allowed for the session",
    "refuse": "refused",
    "choose": "answered",
    "leave": "left to the agent",
}
"""Answers to what an agent asks, as what was done."""
IN_ROW = 40
"""Characters of what was asked where the decision stands behind it."""
LONGEST = 160
"""Characters of what a tool would do, where it is told in passing."""


def wanted_words(request: AgentRequest) -> str:
    """``Bash: git push origin main``: what it would do; of a choice its first question."""
    if request.choices:
        more = len(request.choices) - 1
        first = clip(one_line(request.choices[0].question), LONGEST)
        return f"{first} (and {more} more)" if more else first
    lines = request.input.strip().split("\n")
    first = clip(one_line(lines[0]), LONGEST)
    more_lines = " …" if len(lines) > 1 and not first.endswith("…") else ""
    return f"{request.tool}: {first}{more_lines}" if first else request.tool


def asks_words(request: AgentRequest, agent: str) -> str:
    """``claude asks for Bash: git push origin main``; of a choice its question."""
    who = agent or "the agent"
    who = f"a subagent of {who}" if request.parent else who
    wants = wanted_words(request)
    return f"{who} asks: {wants}" if request.choices else f"{who} asks for {wants}"


def asked_words(request: AgentRequest, decision: str) -> str:
    """``Bash: git push origin main: refused by you``."""
    return f"{clip(wanted_words(request), IN_ROW)}: {decision}"


def refused_again_words(times: int) -> str:
    """``asked again 3 times in the same session: told the same, without a question``."""
    how_often = "asked again" if times == 1 else f"asked again {count(times, 'time')}"
    return f"{how_often} in the same session: told the same, without a question"


def chosen_words(choices: Sequence[Sequence[str]]) -> str:
    """``Escaped; the lexer, the tests``: what was chosen, question by question."""
    return one_line("; ".join(", ".join(labels) for labels in choices))


def request_detail(request: AgentRequest) -> str:
    """All of it, for whoever looks closer."""
    asked = [
        "\n".join([one.question, *(f"  {each.label}" for each in one.options)])
        for one in request.choices
    ]
    rule = f"for the session it would allow: {request.rule}" if request.rule else ""
    parts = asked if request.choices else [f"{request.tool}: {request.input}", request.why, rule]
    return "\n".join(part for part in parts if part)
