"""The redaction pass: works line by line, carrying what one line reveals about the next.

It finds multi-line private keys, values below their names, and tokens split by a line end. A
`LineFilter` serves one stream; `redact` uses one for a single text.
"""

import os
import re
from collections.abc import Iterator

from ralph_tui.text.secrets import assigned, formats, named
from ralph_tui.text.secrets.formats import lower_of
from ralph_tui.text.secrets.hints import HIDDEN, RETURN, may_match, pattern_of, secrets_of
from ralph_tui.text.secrets.values import Kind

_LINE_END = re.compile(r"((?:\\{1,8}r)?\\{1,8}n|\n)")
"""Also matches the escaped form, because JSON holds a whole file on one line."""
_CONTINUED = (3, 6)
"""Backslashes in an escaped line end after a backslash: in JSON, and in JSON within JSON."""
_INVISIBLE = re.compile(
    r"(?:\x1b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))"
    r"(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?)"
    r"|[\x00-\x08\x0e-\x1f\x7f\xad\u200b-\u200f\u2060\ufeff]|\\{1,8}u200[b-fB-F]"
)
"""Characters that a terminal does not show, which may be in the middle of a token."""

_KEY_BEGINS = re.compile(
    r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: \d{1,3}(?!\d)"
)
_KEY_ENDS = re.compile(
    r"-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: [0-9a-f]{40,64}"
)
"""The end of a key in PEM and in PuTTY's format."""
_KEY_LINE = re.compile(
    r"[\s|>+\"',#*-]{0,40}(?:\d{1,6}[:|\t →-]{1,4})?"
    r"(?:[A-Za-z0-9+/=]{0,2000}|(?:Proc-Type|DEK-Info|Version|Comment|Hash)[:].{0,200})"
    r"[\s\"',;+)\\]{0,20}"
)
_DIGIT = re.compile(r"\d")
_PREFIX = 80
"""Maximum length of the text before each line of a key."""
_KEY_PIECE = re.compile(r"[\s\"',+]{0,12}[A-Za-z0-9+/=]{16,}")
_KEY_LONGEST = 20_000
"""Maximum length of a key within one line."""
_KEY_LINES = 5000
"""Number of lines after which a key without an end counts as other text."""

_PASSES = 4
"""Maximum number of passes: a secret next to another is found only once the other is hidden."""

_PIECES = 20
"""Maximum number of pieces in a token cut by carriage returns; more is not a token."""
_WORD_BEFORE = re.compile(r"[\w+/=.~-]{1,120}\Z")
_WORD_AFTER = re.compile(r"[\w+/=.~-]{1,600}")

_WORD_AT_END = re.compile(r"[\w+/=.~-]{4,120}\Z")
_WORD_AT_BEGIN = re.compile(r"[ \t]{0,40}([\w+/=.~-]{4,600})")
_WORD_ALONE = re.compile(r"[ \t]{0,40}([A-Za-z0-9+/_-]{6,600}={0,2})[ \t\"',;]{0,4}")


class LineFilter:
    """Redacts the lines of one stream, which must arrive in order."""

    def __init__(self, own: tuple[str, ...] | None = None) -> None:
        """Also hide the values `own`, by default the secrets of the environment."""
        self._own = pattern_of(secrets_of(os.environ) if own is None else own)
        self._key_lines = 0
        """Lines since a private key began; 0 outside a key."""
        self._key_prefix = ""
        """The text before the key's first line, which test runners and logs repeat on each line."""
        self._named: Kind | None = None
        """The kind of value whose name ended the previous line."""
        self._cut = ""
        """The beginning of a token at the end of the previous line; already hidden."""

    @property
    def idle(self) -> bool:
        """True if the next line can be redacted on its own."""
        return not (self._key_lines or self._named or self._cut)

    def __call__(self, line: str) -> str:
        """Redact one line, given without its line end."""
        if self._own is not None:
            line = self._own.sub(HIDDEN, line)
        if self.idle and not may_match(line):
            return line
        if ("\\" in line or not line.isprintable()) and _INVISIBLE.search(line):
            shown = _INVISIBLE.sub("", line)
            begun = self._key_lines, self._named, self._cut
            redacted = self._lines(shown)
            if redacted != shown:
                return redacted
            self._key_lines, self._named, self._cut = begun
        return self._lines(line)

    def skip(self) -> None:
        """Note that lines are missing here, in which a private key may have begun."""
        self._key_lines, self._named, self._cut, self._key_prefix = 1, None, "", ""

    def is_clean(self, text: str) -> bool:
        """True if nothing in these lines hints at a secret; takes a single search."""
        known = self._own is not None and self._own.search(text) is not None
        return self.idle and not known and not may_match(text)

    def block(self, text: str) -> str:
        """Redact several lines, line ends included; takes a single search if there is no hint."""
        if self.is_clean(text):
            return text
        is_token, end = (text[:-1], "\n") if text.endswith("\n") else (text, "")
        return "\n".join([self(line) for line in is_token.split("\n")]) + end

    def _lines(self, line: str) -> str:
        if "\\n" not in line:
            return self._redact_line(line)
        parts = _LINE_END.split(line)
        for at in range(0, len(parts), 2):
            part = parts[at]
            if self.idle and not may_match(part):
                continue
            parts[at] = self._redact_line(part)
            if at + 1 < len(parts) and parts[at + 1].count("\\") in _CONTINUED:
                self._named = assigned.open_name(part + "\\") or self._named
        return "".join(parts)

    def _redact_line(self, line: str) -> str:
        if line.endswith("\r"):
            return self._redact_line(line[:-1]) + "\r"
        if self._key_lines:
            ended = _KEY_ENDS.search(line)
            if ended:
                self._key_lines = 0
                return HIDDEN + self._redact_line(line[ended.end() :])
            prefix = self._prefix_of(line)
            if _KEY_LINE.fullmatch(line, len(prefix)) and self._key_lines < _KEY_LINES:
                self._key_lines += 1
                return prefix + HIDDEN if line[len(prefix) :].strip() else line
            self._key_lines = 0
        lowered = lower_of(line)
        spans = [*self._continued(line)]
        spans += self._private_keys(line)
        spans += _split_tokens(line)
        spans += _spans(line, lowered)
        self._find_ahead(line, lowered, spans)
        for _ in range(_PASSES):
            if not spans:
                break
            line = _hide_spans(line, spans)
            # A secret that was next to another one may now be recognised.
            lowered = lower_of(line)
            spans = _spans(line, lowered)
        return line

    def _prefix_of(self, line: str) -> str:
        """Return the line's prefix if it matches the first line's, except for numbers, else ""."""
        known = self._key_prefix
        prefix = line[: len(known)]
        return prefix if _DIGIT.sub("0", prefix) == _DIGIT.sub("0", known) else ""

    def _private_keys(self, line: str) -> Iterator[tuple[int, int]]:
        at, end = 0, (-1, -1)
        while begun := _KEY_BEGINS.search(line, at):
            at = begun.end()
            if end[1] < at:
                ended = _KEY_ENDS.search(line, at)
                end = ended.span() if ended else (len(line) * 2 + _KEY_LONGEST,) * 2
            if end[0] - at <= _KEY_LONGEST:
                at = end[1]
            else:
                while piece := _KEY_PIECE.match(line, at):
                    at = piece.end()
                rest = line[at:].strip(" \t\\") if len(line) - at < 80 else "text"
                if not rest.strip("\"',+ "):
                    self._key_lines = 1
                    before = line[: begun.start()]
                    self._key_prefix = before if len(before) <= _PREFIX else ""
                if at == begun.end() and rest:
                    continue  # the text only mentions a key, or quotes its lines one by one
            yield begun.start(), at

    def _continued(self, line: str) -> Iterator[tuple[int, int]]:
        """Yield the positions of values that the previous line began."""
        kind, cut = self._named, self._cut
        if kind is not None and line.strip():
            self._named = None
            span = assigned.find_rest(kind, line)
            if span:
                yield span
        self._cut = ""
        word = _WORD_AT_BEGIN.match(line) if cut else None
        if word and not formats.is_token(cut) and formats.is_token(cut + word[1]):
            yield word.span(1)
        elif word and (alone := _WORD_ALONE.fullmatch(line)) and formats.is_mixed(alone[1]):
            yield alone.span(1)

    def _find_ahead(self, line: str, lowered: str, spans: list[tuple[int, int]]) -> None:
        """Remember a value or token that begins at the end of this line."""
        if line.strip():
            self._named = assigned.open_name(line)
        word = _WORD_AT_END.search(line, max(0, len(line) - 120))
        if word is None:
            return
        begin = formats.cut_token(line, lowered, word.start())
        if begin is not None:
            self._cut = line[begin:]
            spans.append((begin, len(line)))
        elif any(end == len(line) for _, end in spans) and len(word[0]) >= 16:
            self._cut = word[0]


def _spans(line: str, lowered: str) -> list[tuple[int, int]]:
    return [span for kind in (formats, assigned, named) for span in kind.spans(line, lowered)]


def _hide_spans(line: str, spans: list[tuple[int, int]]) -> str:
    parts, done = [], 0
    for begin, end in sorted(spans):
        if begin >= done:
            parts += [line[done:begin], HIDDEN]
        done = max(done, end)
    return "".join([*parts, line[done:]])


def _split_tokens(line: str) -> Iterator[tuple[int, int]]:
    """Yield the pieces of tokens that a carriage return cuts.

    A terminal writes the rest of such a token over its beginning.
    """
    if "\r" not in line and "\\r" not in line:
        return
    pieces: list[tuple[int, int]] = []
    end = 0
    for found in RETURN.finditer(line):
        if not pieces or end != found.start() or len(pieces) >= _PIECES:
            yield from _pieces_of_tokens(line, pieces)
            before = _WORD_BEFORE.search(line, max(0, found.start() - 120), found.start())
            pieces = [before.span()] if before else []
        after = _WORD_AFTER.match(line, found.end())
        end = after.end() if after else found.end()
        pieces.append((found.end(), end))
    yield from _pieces_of_tokens(line, pieces)


def _pieces_of_tokens(line: str, pieces: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    joined = "".join(line[begin:end] for begin, end in pieces)
    for begin, end in formats.spans(joined, formats.lower_of(joined)) if joined else ():
        at = 0
        for left, right in pieces:
            low, high = max(begin, at), min(end, at + right - left)
            if low < high:
                yield left + low - at, left + high - at
            at += right - left
