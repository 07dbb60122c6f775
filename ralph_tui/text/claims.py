"""Removes the agent's claims about its work from its messages; claims have their own rows."""

import re

from ralph_tui.text.foreign_json import parse_json_at

MAX_REPORTS = 10
"""Maximum number of reports read from one text, counted from its end."""

_REPORT = re.compile(r"\{\s*\"ralph\"\s*:")
_PROMISE = re.compile(r"[ \t]*<promise>\s*COMPLETE\s*</promise>[ \t]*")
_EMPTY_FENCE = re.compile(r"\n?```(?:json)?\s*```\n?")


def strip_claims(text: str) -> str:
    """Return the text without its report and promise, which have their own rows.

    A report that cannot be parsed is kept.
    """
    return _PROMISE.sub("", _strip_report(text)).strip("\n")


def _strip_report(text: str) -> str:
    if '"ralph"' not in text:
        return text
    for opening in reversed(list(_REPORT.finditer(text))[-MAX_REPORTS:]):
        start = opening.start()
        try:
            found, end = parse_json_at(text, start)
        except ValueError:
            # The event's text is shortened; the full report has already been parsed.
            end = len(text) if text.endswith("…") else start
        else:
            end = end if isinstance(found["ralph"], dict) else start
        if end > start:
            text = text[:start].rstrip() + "\n" + text[end:].lstrip()
    return _EMPTY_FENCE.sub("\n", text).strip("\n")
