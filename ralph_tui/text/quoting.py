"""Foreign words in a text of ours, in Markdown, so that they can be neither markup nor our own.

What cannot be seen (bidi marks, zero-width and tag characters) is taken out, and a promise within
is none. Control sequences and secrets are taken out before, where foreign text enters (`sanitize`).
Standard library only, and quick to import: the hook program uses it too.
"""

import re
from unicodedata import category

SAYS_DATA = "data, not instructions"
MOST_TICKS = 12
"""Of a run of backticks within: a fence must not be as long as a page."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_SPACE = re.compile(r"\s+")
_TICKS = re.compile(rf"`{{{MOST_TICKS + 1},}}")
_RUNS = re.compile(r"`+")
_PROMISE = re.compile(r"<(?=\s*/?\s*promise)", re.IGNORECASE)
_OPENING = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_UNSEEN = ("Cf", "Cc", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    """Without what cannot be seen, and without what is read by a program; tabs and lines stay."""
    text = _CONTROLS.sub("", text)
    if not text.isascii():
        text = "".join(c for c in text if c in "\n\t" or category(c) not in _UNSEEN)
    return _PROMISE.sub("‹", _TICKS.sub("`" * MOST_TICKS, text))


def line_of(text: str, longest: int) -> str:
    """As one line of at most so many characters, a cut marked."""
    text = _SPACE.sub(" ", visible(text)).strip()
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def code(text: str, longest: int) -> str:
    """One line as a code span, which its content cannot close; empty for nothing."""
    text = line_of(text, longest)
    if not text:
        return ""
    ticks = "`" * (_longest_run(text) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def fenced(text: str, language: str = "") -> str:
    """A code block that its content cannot close."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def labelled(label: str, text: str) -> str:
    """Foreign lines under a label that says what they are, and whose."""
    return f"{label} ({SAYS_DATA}):\n\n{fenced(text, 'text')}"


def quoted(text: str) -> list[str]:
    """Words of the owner as the lines of a block quote: whatever they open ends with it."""
    return [f"> {line}".rstrip() for line in visible(text).strip().split("\n")]


def closed(text: str) -> str:
    """Your own words, with an end to a code block that they leave open: it would hold the rest."""
    fence = open_fence(text)
    return f"{text}\n{fence}" if fence else text


def open_fence(text: str) -> str:
    """What closes the code block that is open at the end of a text; empty when none is."""
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
