"""What an agent said, without its claims about the work: they have rows of their own."""

import re

from ralph_tui.text.foreign_json import parse_json_at

MOST_REPORTS = 10
"""Report lines looked for in one text, from its end."""

_REPORT = re.compile(r"\{\s*\"ralph\"\s*:")
_PROMISE = re.compile(r"[ \t]*<promise>\s*COMPLETE\s*</promise>[ \t]*")
_EMPTY_FENCE = re.compile(r"\n?```(?:json)?\s*```\n?")


def without_claims(text: str) -> str:
    """The words without report line and promise, which have a row each of their own.

    What cannot be read stays.
    """
    return _PROMISE.sub("", _without_report(text)).strip("\n")


def _without_report(text: str) -> str:
    if '"ralph"' not in text:
        return text
    for opening in reversed(list(_REPORT.finditer(text))[-MOST_REPORTS:]):
        start = opening.start()
        try:
            found, end = parse_json_at(text, start)
        except ValueError:
            # Shortened for the event, it was whole when it was read.
            end = len(text) if text.endswith("…") else start
        else:
            end = end if isinstance(found["ralph"], dict) else start
        if end > start:
            text = text[:start].rstrip() + "\n" + text[end:].lstrip()
    return _EMPTY_FENCE.sub("\n", text).strip("\n")
