"""Foreign text is sanitized once, as it enters: control sequences out, secrets out.

Agent output, file names, commit messages and imported records are untrusted. Every text field of an
event is sanitized when the event is made, so no other module needs to ask whether a string may
reach a terminal. Standard library only: quick commands use it too.
"""

import re
import unicodedata
from functools import lru_cache
from zlib import crc32

from ralph_tui.text.secrets import redact

# OSC, DCS, SOS, PM, APC up to their terminator; CSI; then any other two-character escape.
_SEQUENCES = re.compile(
    r"\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 but tab and newline, DEL, C1, bidi marks and overrides, line separators that a terminal may
# honour; then what no terminal shows: soft hyphen, grapheme joiner, fillers of Hangul, variation
# selectors of letters, tag characters.
_NEVER = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff0-\ufffb\xad\u034f\u115f\u1160\u17b4\u17b5\u3164\ufe00-\ufe0d\uffa0"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROLS = re.compile(f"[{_NEVER}]")
_SURROGATES = re.compile("[\ud800-\udfff]")
"""Undecodable file names."""
_JOINERS = "\u200c\u200d"
_EMOJI_STYLES = "\ufe0e\ufe0f"
_MONGOLIAN_STYLES = "\u180b-\u180f"
_ODD = re.compile(f"[{_JOINERS}{_EMOJI_STYLES}{_MONGOLIAN_STYLES}]")
_STACK = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u1cff\u1dc0-\u1dff\u20d0-\u20ff\u2cef-\u2cf1\u2d7f\u2de0-\u2dff"
    "\u302a-\u302f\u3099\u309a\ua66f-\ua6f1\ua800-\uabff\ud7b0-\ud7ff\ufb1e\ufe20-\ufe2f"
    "\U00010000-\U0001efff]{6}"
)
"""Six in a row of the blocks that have marks: some of them may be stacked."""
_SUSPECT = re.compile(f"[{_NEVER}{_JOINERS}{_EMOJI_STYLES}{_MONGOLIAN_STYLES}\ud800-\udfff]")
_NOT_ASCII = re.compile(r"[0-9#*]?[^\x00-\x7f]+")
_EMOJI = re.compile(
    "[0-9#*\xa9\xae\u203c-\u20cf\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_JOINING = re.compile("[\u0600-\u1aff\ua800-\uabff]")
"""Scripts in which a joiner changes the letters: Arabic, those of India and around it."""
_MONGOLIAN = re.compile("[\u1820-\u18aa]")
_END_BLANKS = re.compile(r"^ | (?= *\Z)")
MOST_MARKS = 5
"""Marks on one letter, of which the longest names of real scripts have four."""

SHORT = 100
"""Characters of a text that is worth remembering."""
SUMMARY = 200
"""Characters of a text that is told in short."""
LONGEST_NAME = 300
"""Characters of a name that is remembered."""


def strip_controls(text: str) -> str:
    """The text without control sequences; newlines and tabs stay, ``\\r\\n`` is a newline."""
    if text.isascii() and text.isprintable():
        return text
    if _SUSPECT.search(text):
        text = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
        text = _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))
    if not text.isascii() and (_ODD.search(text) or _STACK.search(text)):
        text = _NOT_ASCII.sub(_shown, text)
    return text


def _shown(found: re.Match[str]) -> str:
    """Without joiners and styles where they do nothing, and with few marks on each letter."""
    kept: list[str] = []
    marks = 0
    for character in found[0]:
        before, earlier = kept[-1] if kept else "", kept[-2] if len(kept) > 1 else ""
        if character in _JOINERS:
            base = earlier if before == "\ufe0f" else before
            marks += 1
            fits = marks <= MOST_MARKS and _joins(base)
        elif character in _EMOJI_STYLES:
            fits = _EMOJI.match(before) is not None
        elif "\u180b" <= character <= "\u180f":
            fits = _MONGOLIAN.match(before) is not None
        elif _is_mark(character):
            marks += 1
            fits = marks <= MOST_MARKS
        else:
            marks, fits = 0, True
        if fits:
            kept.append(character)
    return "".join(kept)


def _joins(base: str) -> bool:
    return bool(_EMOJI.match(base) or _JOINING.match(base))


def _is_mark(character: str) -> bool:
    """Whether it takes no column of its own: a mark, or a part of a Korean syllable."""
    parts = "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7ff"
    return parts or unicodedata.category(character) in ("Mn", "Me")


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


def spelled_name(name: str) -> str:
    """A file's name, with what a terminal would not show of it written as escapes.

    That is also a blank at an end, and each byte that is not UTF-8, a surrogate of `os.fsdecode`.
    """
    # Where nothing is hidden, joiners are parts of a sign.
    hidden = ("Cc", "Cs") if strip_controls(name) == name else ("Cc", "Cs", "Cf")
    spelled = (_escape(c) if unicodedata.category(c) in hidden else c for c in name)
    return _END_BLANKS.sub(r"\\x20", "".join(spelled))


def _escape(character: str) -> str:
    code = ord(character)
    byte = 0xDC80 <= code <= 0xDCFF
    return f"\\x{code - 0xDC00:02x}" if byte else character.encode("unicode_escape").decode()


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
