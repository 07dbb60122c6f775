"""Format findings as lines for people, or as an object for programs."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Literal

from ralph_tui.cli.checkup.finding import Finding
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import one_line, plain
from ralph_tui.text.terms import FAILED, GOOD, WARNING, Term

INDENT = " " * 20
ARROW = "→ "
LEVEL_TERMS: Mapping[Literal["ok", "note", "warning", "problem"], Term] = {
    "ok": Term(GOOD.glyph, "ok"),
    "note": Term("·", "note"),
    "warning": WARNING,
    "problem": Term(FAILED.glyph, "problem"),
}
"""Sign and word of each level."""


def format_finding(finding: Finding, width: int) -> list[str]:
    """Format a finding: sign, word, subject, sentence, and its fix on the same line if it fits.

    `width` is the terminal's columns; 0 disables wrapping.
    """
    head = f"{LEVEL_TERMS[finding.level].label:<10}{finding.what:<9} "
    says, fix = _clean(finding.says), _clean(finding.fix)
    whole = f"{head}{says} {ARROW}{fix}" if fix else f"{head}{says}"
    if not width or len(whole) <= width:
        return [whole]
    lines = _wrap(says, width, head, INDENT)
    return [*lines, *_wrap(fix, width, INDENT + ARROW, INDENT + "  ")] if fix else lines


def summary(findings: Sequence[Finding]) -> str:
    """Return whether a run can start, and how to start it."""
    problems = sum(finding.level == "problem" for finding in findings)
    if problems:
        sign = LEVEL_TERMS["problem"].glyph
        return f"{count(problems, 'problem')} to solve: see {sign} above"
    return 'ready: ralph-tui run "OBJECTIVE" -c "COMMAND" (ralph-tui demo shows it)'


def as_object(findings: Sequence[Finding]) -> dict[str, object]:
    """Return the findings as an object for JSON output."""
    return {
        "ready": not any(finding.level == "problem" for finding in findings),
        "findings": [
            {key: _clean(value) for key, value in asdict(finding).items()} for finding in findings
        ],
    }


def _clean(text: str) -> str:
    return one_line(plain(text))


def _wrap(text: str, width: int, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, max(40, width), initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
