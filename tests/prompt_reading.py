"""Flaws of a prompt: repetitions and contradictions."""

import re
from collections import Counter
from pathlib import Path

from ralph_tui.layers.intelligence.budget import estimate_tokens
from ralph_tui.layers.intelligence.sections import ITEM_REPORT, PROMISE, REPORT

BUDGET = 8000
"""Tokens, as the settings have it."""
_SECTION = re.compile(r"^# (.+?)\n(.*?)(?=^# |\Z)", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(
    r"^(?P<label>[^\n]*)\n\n(`{3,})[a-z]*\n(?P<body>.*?)\n\2$", re.DOTALL | re.MULTILINE
)
_LEAD = re.compile(r"^(\d+\.|-|(Still b|B|b)locked by:|[A-Z][a-z ]+ with:|Next step:)")
_PACE = re.compile(r"about (\d+) more iterations? to go; (\d+) iterations? (?:is|are) left")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
_CONTROL_WORDS = re.compile(
    r"\b(stuck|oscillat\w+|regress(es|ing)|budget.exceeded|longest gap|rise for|in a row cost"
    r"|changed direction \d+|last one gained|readings?|measurements)\b",
    re.IGNORECASE,
)
_OUTPUT = "End of the command's output"


def check_prompts(folder: Path) -> int:
    """Read every prompt that was sent of the runs below a folder; how many there are."""
    prompts = [path.read_text("utf-8") for path in sorted(folder.rglob("iter-*/prompt*.md"))]
    for prompt in prompts:
        check_prompt(prompt)
    return len(prompts)


def check_prompt(prompt: str) -> None:
    """Assert no repetition or contradiction, and one request for report and promise."""
    assert estimate_tokens(prompt) <= BUDGET
    assert prompt.count(REPORT) + prompt.count(ITEM_REPORT) == 1
    assert f"also print {PROMISE}" in prompt
    assert repeated(prompt) == []
    assert contradictions(prompt) == []
    sections = dict(_SECTION.findall(prompt))
    for name in ("Strategy", "Control"):
        assert control_words(_FENCE.sub("", sections.get(name, ""))) == []


def control_words(text: str) -> list[str]:
    """Names of alarms and their terms, which an agent does not know."""
    return [found[0] for found in _CONTROL_WORDS.finditer(text)]


def repeated(prompt: str) -> list[str]:
    """Our sentences and quoted lines that occur more than once.

    Output of the completion command is exempt. A failing test, or an obstacle named by the agent,
    may also be named as the next thing to work on.
    """
    ours = [text.strip() for text in _SENTENCE.split(_FENCE.sub("\n", prompt))]
    quoted = [
        _LEAD.sub("", line.strip()).strip()
        for fence in _FENCE.finditer(prompt)
        if not fence["label"].startswith(
            (_OUTPUT, "Failing tests", "These tests", "Recurring blockers")
        )
        for line in fence["body"].splitlines()
    ]
    reported = Counter(text for text in (*ours, *quoted) if len(text.split()) > 3)
    return [text for text, times in reported.items() if times > 1]


def contradictions(prompt: str) -> list[str]:
    """Parts that contradict each other."""
    parts = dict(_SECTION.findall(prompt))
    strategy = _FENCE.sub("", parts.get("Strategy", ""))
    control, last = parts.get("Control", ""), parts.get("Last iteration", "")
    redirected, restored = "Redirect" in parts, "files were restored to" in prompt
    pace = _PACE.search(control)
    late = bool(pace and int(pace[1]) > int(pace[2]))
    trend = re.search(r"Trend over the last iterations: (\w+)([^.]*)\.", control)
    rising = bool(trend and trend[1] == "improving" and not trend[2])
    pivots = "Change the approach" in strategy
    praises = "continue in the same way" in strategy or "The pace is sufficient" in control
    found = {
        "a pace that will not do is praised": praises and late,
        "a rise is reported for a run that does not rise": "is rising" in strategy and not rising,
        "a fall is not known to the trend": "fell by" in strategy and rising,
        "strategy and redirect both give the approach": redirected and "approach" in strategy,
        "the prompt points to a redirect": "The redirect above" in control and not redirected,
        "the prompt points to a strategy": "The strategy above" in control and not strategy.strip(),
        "an approach is dropped without urgency": pivots
        and bool(re.search("Urgency: (low|normal)", control)),
        "a pace is reported without measurements": "(not measured since" in prompt
        and bool(pace or trend),
        "an approach is both dropped and continued": pivots and "planned to continue" in last,
        "there is a trend of files that are gone": restored and bool(control),
        "something is done that was undone": restored and "Done:" in last,
    }
    return [what for what, holds in found.items() if holds]
