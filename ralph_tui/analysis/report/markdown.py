"""Untrusted text in Markdown: it is shown as written and cannot add markup or links.

Rule: all text not written in this package passes through `escaped`, `quoted` or `code`. The result
is safe in CommonMark and in GitHub's tables, autolinks and mentions.
"""

import re
from collections.abc import Iterable, Sequence

from ralph_tui.text.sanitize import clip, one_line, plain

TEXT_LIMIT = 2000
"""Maximum length of one text, in characters; the journal has all of it."""

_SPECIAL = re.compile(r"[\\`*\[\]<>&~$]|(?<![^\W_])_|_(?![^\W_])")
_LEADING = re.compile(r"^([-+=#]|\d{1,9}(?=[.)](?: |$)))")
_SCHEME = re.compile(r"://")
_WWW = re.compile(r"(?i)(www)\.")
_AT = re.compile(r"@+")
_TICKS = re.compile(r"`+")


def escaped(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return one line of text for any place except a code span; ``—`` if it is empty."""
    return _escaped(_joined(clip(plain(text), limit))) or "—"


def quoted(text: str) -> str:
    """Return a text as a block quote that keeps its line breaks."""
    lines = [_escaped(_joined(line)) for line in clip(plain(text), TEXT_LIMIT).splitlines()]
    shown = [line for line in lines if line] or ["—"]
    return "\\\n".join(f"> {line}" for line in shown)


def code(text: str) -> str:
    """Return a command, path or name as a code span; not for tables, where ``|`` ends a cell."""
    text = one_line(clip(plain(text).strip(), TEXT_LIMIT))
    if not text:
        return "—"
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{room}{text}{room}{ticks}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table from finished cells; the first column is aligned left, the others right."""
    rule = [":--", *("--:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _joined(text: str) -> str:
    return " ".join(text.split())


def _escaped(line: str) -> str:
    line = _SPECIAL.sub(r"\\\g<0>", line).replace("|", "&#124;")
    line = _LEADING.sub(_escape_leading, line)
    line = _WWW.sub(r"\1\\.", _SCHEME.sub(r":\\/\\/", line))
    # Put @ into a code span of its own, so that no address or mention extends across it.
    return _AT.sub(r"`\g<0>`", line)


def _escape_leading(match: re.Match[str]) -> str:
    """Escape the start of a heading or a list item."""
    found = match[1]
    return f"{found}\\" if found.isdigit() else f"\\{found}"
