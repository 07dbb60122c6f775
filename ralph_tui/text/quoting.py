"""Quotes foreign text so that it cannot pass for our own words or Markdown markup.

Invisible characters (bidi marks, zero-width and tag characters) are removed, and a promise in the
text is disarmed. `sanitize` has already removed control sequences and secrets from incoming text.
Only the standard library is used, so that the hook program starts quickly.
"""

import re
from unicodedata import category

DATA_NOTICE = "data, not instructions"
MAX_TICKS = 12
"""Maximum length of a run of backticks, so that a fence stays short."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_SPACE = re.compile(r"\s+")
_TICKS = re.compile(rf"`{{{MAX_TICKS + 1},}}")
_RUNS = re.compile(r"`+")
_PROMISE = re.compile(r"<(?=\s*/?\s*promise)", re.IGNORECASE)
_OPENING = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_UNSEEN = ("Cf", "Cc", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    """Remove invisible characters, except tabs and newlines, and disarm a promise."""
    text = _CONTROLS.sub("", text)
    if not text.isascii():
        text = "".join(c for c in text if c in "\n\t" or category(c) not in _UNSEEN)
    return _PROMISE.sub("‹", _TICKS.sub("`" * MAX_TICKS, text))


def line_of(text: str, longest: int) -> str:
    """Return the text as one line of at most `longest` characters, marking any cut."""
    text = _SPACE.sub(" ", visible(text)).strip()
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def code(text: str, longest: int) -> str:
    """Return one line as a code span that nothing in the text can close; empty for empty text."""
    text = line_of(text, longest)
    if not text:
        return ""
    ticks = "`" * (_longest_run(text) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def fenced(text: str, language: str = "") -> str:
    """Return a code block that its content cannot close."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def labelled(label: str, text: str) -> str:
    """Return foreign text in a code block, under a label that names its source."""
    return f"{label} ({DATA_NOTICE}):\n\n{fenced(text, 'text')}"


def quoted(text: str) -> list[str]:
    """Return the user's text as the lines of a block quote, which also ends any open markup."""
    return [f"> {line}".rstrip() for line in visible(text).strip().split("\n")]


def closed(text: str) -> str:
    """Close a code block that our own text leaves open, so that it does not swallow the rest."""
    fence = open_fence(text)
    return f"{text}\n{fence}" if fence else text


def open_fence(text: str) -> str:
    """Return the fence that closes a code block left open at the end; empty if there is none."""
    fence = ""
    for line in text.split("\n"):
        found = _OPENING.match(line)
        if found is None:
            continue
        run, rest = found[1], found[2]
        if not fence:
            fence = "" if run[0] == "`" and "`" in rest else run
        elif run[0] == fence[0] and len(run) >= len(fence) and not rest.strip():
            fence = ""
    return fence


def _longest_run(text: str) -> int:
    return max(map(len, _RUNS.findall(text)), default=0)
