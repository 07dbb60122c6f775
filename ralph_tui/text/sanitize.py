"""Foreign text is sanitized once, as it enters: control sequences out, secrets out.

Agent output, file names, commit messages and imported records are untrusted. Every text field of an
event is sanitized when the event is made, so no other module needs to ask whether a string may
reach a terminal. Standard library only: quick commands use it too.
"""

import re
from functools import lru_cache
from zlib import crc32

# OSC, DCS, SOS, PM, APC up to their terminator; CSI; then any other two-character escape.
_SEQUENCES = re.compile(
    r"\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 but tab and newline, DEL, C1, bidi marks and overrides, zero-width joiners of no use here,
# line separators that a terminal may honour, and lone surrogates (undecodable file names).
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\ud800-\udfff]"
)

SHORT = 100
"""Characters of a text that is worth remembering."""
SUMMARY = 200
"""Characters of a text that is told in short."""
LONGEST_NAME = 300
"""Characters of a name that is remembered."""


def strip_controls(text: str) -> str:
    """The text without control sequences; newlines and tabs stay, ``\\r\\n`` is a newline."""
    if text.isprintable() or _SUSPECT.search(text) is None:
        return text
    text = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


def redact(text: str) -> str:
    """As `secrets.redact`, whose patterns take long to load: a start looks at no text yet."""
    from ralph_tui.text import secrets  # noqa: PLC0415 - see above

    return secrets.redact(text)


def plain(text: str) -> str:
    """Text that may reach disk and screen: no control sequences, no secrets."""
    return _plain_cached(text) if len(text) <= SHORT else redact(strip_controls(text))


@lru_cache(maxsize=4096)
def _plain_cached(text: str) -> str:
    """Short texts are mostly names and paths that were sanitized before."""
    return redact(strip_controls(text))


def one_line(text: str) -> str:
    """As `plain`, with newlines and tabs turned to visible marks, so that it fills one row."""
    text = plain(text)
    return text.replace("\n", "⏎").replace("\t", " ") if "\n" in text or "\t" in text else text


def one_name(text: str) -> str:
    """As `one_line`, remembered: thousands of names come again with every run of the tests."""
    return _name_cached(text) if len(text) <= LONGEST_NAME else one_line(text)


@lru_cache(maxsize=8192)
def _name_cached(text: str) -> str:
    return one_line(text)


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters, the cut marked."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def clip_name(name: str, limit: int = LONGEST_NAME) -> str:
    """At most ``limit`` characters, cut in the middle, where a checksum of the whole then stands.

    Two long names that differ anywhere stay two, and what most often differs, the end, is seen.
    """
    if len(name) <= limit:
        return name
    cut = f"…{crc32(name.encode('utf-8', 'surrogatepass')):08x}…"
    tail = (limit - len(cut)) // 2
    return f"{name[: limit - len(cut) - tail]}{cut}{name[-tail:]}"


def shorten(text: str, limit: int = SUMMARY) -> str:
    """As `plain`, at most `limit` characters; of a long text only the beginning is looked at.

    It is sanitized before it is cut: a cut must not halve a secret, which would hide it from us.
    """
    return clip(plain(text[: limit * 2]), limit)
