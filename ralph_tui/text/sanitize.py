"""Removes control sequences and secrets from foreign text once, as it comes in.

Agent output, file names, commit messages and imported records are untrusted. Every text field of an
event is sanitized when the event is created, so no other module needs to check whether a string is
safe for a terminal. Only the standard library is used, because quick commands import this.
"""

import re
import unicodedata
from functools import cache, lru_cache
from zlib import crc32

from ralph_tui.text.secrets import redact

# OSC, DCS, SOS, PM, APC up to their terminator; CSI; then any other two-character escape.
_SEQUENCES = (
    r"\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 except tab and newline, DEL, C1, bidi marks and overrides, and line separators that a terminal
# may act on. Then characters that no terminal shows: soft hyphen, grapheme joiner, Hangul fillers,
# variation selectors for letters, tag characters.
_NEVER = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff0-\ufffb\xad\u034f\u115f\u1160\u17b4\u17b5\u3164\ufe00-\ufe0d\uffa0"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROLS = f"[{_NEVER}]"
_SURROGATES = "[\ud800-\udfff]"
"""Matches undecodable bytes in file names."""
_JOINERS = "\u200c\u200d"
_EMOJI_STYLES = "\ufe0e\ufe0f"
_MONGOLIAN_STYLES = "\u180b-\u180f"
_ODD = f"[{_JOINERS}{_EMOJI_STYLES}{_MONGOLIAN_STYLES}]"
_STACK = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u1cff\u1dc0-\u1dff\u20d0-\u20ff\u2cef-\u2cf1\u2d7f\u2de0-\u2dff"
    "\u302a-\u302f\u3099\u309a\ua66f-\ua6f1\ua800-\uabff\ud7b0-\ud7ff\ufb1e\ufe20-\ufe2f"
    "\U00010000-\U0001efff]{6}"
)
"""Six consecutive characters from blocks with combining marks; some may be stacked."""
_SUSPECT = f"[{_NEVER}{_JOINERS}{_EMOJI_STYLES}{_MONGOLIAN_STYLES}\ud800-\udfff]"
_NOT_ASCII = r"[0-9#*]?[^\x00-\x7f]+"
_EMOJI = "[0-9#*\xa9\xae\u203c-\u20cf\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
_JOINING = "[\u0600-\u1aff\ua800-\uabff]"
"""Arabic and Indic scripts, in which a joiner changes the letters."""
_MONGOLIAN = "[\u1820-\u18aa]"
_END_BLANKS = re.compile(r"^ | (?= *\Z)")
MAX_MARKS = 5
"""Maximum number of marks on one letter; the longest names in real scripts have four."""

SHORT = 100
"""Maximum length of a text worth caching."""
SUMMARY = 200
"""Maximum length of a summary."""
LONGEST_NAME = 300
"""Maximum length of a cached name."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when it is first needed: few screens open with a text that is not ASCII."""
    return re.compile(pattern)


def strip_controls(text: str) -> str:
    """Remove control sequences; newlines and tabs are kept, and CRLF becomes a newline."""
    if text.isascii() and text.isprintable():
        return text
    if _compiled(_SUSPECT).search(text):
        text = _compiled(_SEQUENCES).sub("", text.replace("\r\n", "\n"))
        text = _compiled(_SURROGATES).sub("\ufffd", _compiled(_CONTROLS).sub("", text))
    if not text.isascii() and (_compiled(_ODD).search(text) or _compiled(_STACK).search(text)):
        text = _compiled(_NOT_ASCII).sub(_shown, text)
    return text


def _shown(found: re.Match[str]) -> str:
    """Remove ineffective joiners and styles, and excess marks on a letter."""
    kept: list[str] = []
    marks = 0
    for character in found[0]:
        before, earlier = kept[-1] if kept else "", kept[-2] if len(kept) > 1 else ""
        if character in _JOINERS:
            base = earlier if before == "\ufe0f" else before
            marks += 1
            fits = marks <= MAX_MARKS and _joins(base)
        elif character in _EMOJI_STYLES:
            fits = _compiled(_EMOJI).match(before) is not None
        elif "\u180b" <= character <= "\u180f":
            fits = _compiled(_MONGOLIAN).match(before) is not None
        elif _is_mark(character):
            marks += 1
            fits = marks <= MAX_MARKS
        else:
            marks, fits = 0, True
        if fits:
            kept.append(character)
    return "".join(kept)


def _joins(base: str) -> bool:
    return bool(_compiled(_EMOJI).match(base) or _compiled(_JOINING).match(base))


def _is_mark(character: str) -> bool:
    """True if the character has no column of its own: a mark or part of a Korean syllable."""
    parts = "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7ff"
    return parts or unicodedata.category(character) in ("Mn", "Me")


def plain(text: str) -> str:
    """Return the text without control sequences and secrets, safe for disk and screen."""
    return _plain_cached(text) if len(text) <= SHORT else redact(strip_controls(text))


@lru_cache(maxsize=4096)
def _plain_cached(text: str) -> str:
    """Cache short texts, which are mostly recurring names and paths."""
    return redact(strip_controls(text))


def one_line(text: str) -> str:
    """Like `plain`, on one row: newlines become visible marks and tabs become spaces."""
    text = plain(text)
    return text.replace("\n", "⏎").replace("\t", " ") if "\n" in text or "\t" in text else text


def spelled_name(name: str) -> str:
    """Return a file name with each character that a terminal would hide written as an escape.

    These include leading and trailing blanks, and bytes that are not UTF-8, which `os.fsdecode`
    turns into surrogates.
    """
    # If nothing is hidden, any joiners belong to an emoji.
    hidden = ("Cc", "Cs") if strip_controls(name) == name else ("Cc", "Cs", "Cf")
    spelled = (_escape(c) if unicodedata.category(c) in hidden else c for c in name)
    return _END_BLANKS.sub(r"\\x20", "".join(spelled))


def _escape(character: str) -> str:
    code = ord(character)
    byte = 0xDC80 <= code <= 0xDCFF
    return f"\\x{code - 0xDC00:02x}" if byte else character.encode("unicode_escape").decode()


def one_name(text: str) -> str:
    """Like `one_line`, cached: each test run repeats thousands of names."""
    return _name_cached(text) if len(text) <= LONGEST_NAME else one_line(text)


@lru_cache(maxsize=8192)
def _name_cached(text: str) -> str:
    return one_line(text)


def clip(text: str, limit: int) -> str:
    """Shorten a text to at most `limit` characters, with the cut marked."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def clip_name(name: str, limit: int = LONGEST_NAME) -> str:
    """Shorten a name to at most `limit` characters by replacing its middle with a checksum.

    Two different long names therefore stay different, and their ends, which differ most often, stay
    visible.
    """
    if len(name) <= limit:
        return name
    cut = f"…{crc32(name.encode('utf-8', 'surrogatepass')):08x}…"
    tail = (limit - len(cut)) // 2
    return f"{name[: limit - len(cut) - tail]}{cut}{name[-tail:]}"


def shorten(text: str, limit: int = SUMMARY) -> str:
    """Like `plain`, shortened to at most `limit` characters.

    Only the beginning of a long text is read. The text is sanitized before it is cut, because half
    a secret would not be recognised.
    """
    return clip(plain(text[: limit * 2]), limit)
