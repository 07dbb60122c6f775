"""Foreign text in Markdown: it reads as it was said, and can neither mark up, link nor escape.

Rule: whatever was not written in this package passes `escaped`, `quoted` or `code`. The result
holds for CommonMark and for GitHub's tables, autolinks and mentions.
"""

import re
from collections.abc import Iterable, Sequence

from ralph_tui.text.sanitize import clip, one_line, plain

TEXT_LIMIT = 2000
"""Characters of one text; the journal has the rest."""

_SPECIAL = re.compile(r"[\\`*\[\]<>&~$]|(?<![^\W_])_|_(?![^\W_])")
_LEADING = re.compile(r"^([-+=#]|\d{1,9}(?=[.)](?: |$)))")
_SCHEME = re.compile(r"://")
_WWW = re.compile(r"(?i)(www)\.")
_AT = re.compile(r"@+")
_TICKS = re.compile(r"`+")


def escaped(text: str, limit: int = TEXT_LIMIT) -> str:
    """One line of text for any place but inside a code span; ``—`` for none."""
    return _escaped(_joined(clip(plain(text), limit))) or "—"


def quoted(text: str) -> str:
    """Text of any number of lines as a block quote that keeps its lines."""
    lines = [_escaped(_joined(line)) for line in clip(plain(text), TEXT_LIMIT).splitlines()]
    shown = [line for line in lines if line] or ["—"]
    return "\\\n".join(f"> {line}" for line in shown)


def code(text: str) -> str:
    """A command, path or name in a code span; not for tables, where a ``|`` would end its cell."""
    text = one_line(clip(plain(text).strip(), TEXT_LIMIT))
    if not text:
        return "—"
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{room}{text}{room}{ticks}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are ready; the first column to the left, the others to the right."""
    rule = [":--", *("--:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _joined(text: str) -> str:
    return " ".join(text.split())


def _escaped(line: str) -> str:
    line = _SPECIAL.sub(r"\\\g<0>", line).replace("|", "&#124;")
    line = _LEADING.sub(_led, line)
    line = _WWW.sub(r"\1\\.", _SCHEME.sub(r":\\/\\/", line))
    # A code span of its own: neither an address nor a mention grows across it.
    return _AT.sub(r"`\g<0>`", line)


def _led(match: re.Match[str]) -> str:
    """What begins a heading or an item does not where a backslash stands."""
    found = match[1]
    return f"{found}\\" if found.isdigit() else f"\\{found}"
