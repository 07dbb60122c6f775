"""What an agent asks, in words that log, lines, dialog and report share."""

from ralph_tui.events.asking import AgentRequest
from ralph_tui.text.sanitize import clip, one_line

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
