"""The one pass: line by line, with what a line tells of the next.

A private key of many lines, a value below its name, a token that a line end cuts in two: what was
begun is remembered. A `LineFilter` serves one stream; `redact` is one for a single text.
"""

import os
import re
from collections.abc import Iterator

from ralph_tui.text.secrets import assigned, formats, named
from ralph_tui.text.secrets.formats import lower_of
from ralph_tui.text.secrets.hints import HIDDEN, RETURN, pattern_of, secrets_of, suspicious
from ralph_tui.text.secrets.values import Kind

_LINE_END = re.compile(r"((?:\\{1,8}r)?\\{1,8}n|\n)")
"""Also the escaped one: in JSON a whole file stands in one line."""
_CONTINUED = (3, 6)
"""Backslashes of an escaped line end that follows a backslash: in JSON, and in JSON in JSON."""
_INVISIBLE = re.compile(
    r"(?:\x1b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))"
    r"(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?)"
    r"|[\x00-\x08\x0e-\x1f\x7f\xad\u200b-\u200f\u2060\ufeff]|\\{1,8}u200[b-fB-F]"
)
"""What a terminal does not show may stand in the middle of a token."""

_KEY_BEGINS = re.compile(
    r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: \d{1,3}(?!\d)"
)
_KEY_ENDS = re.compile(
    r"-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: [0-9a-f]{40,64}"
)
"""In PEM, and as PuTTY writes it."""
_KEY_LINE = re.compile(
    r"[\s|>+\"',#*-]{0,40}(?:\d{1,6}[:|\t →-]{1,4})?"
    r"(?:[A-Za-z0-9+/=]{0,2000}|(?:Proc-Type|DEK-Info|Version|Comment|Hash)[:].{0,200})"
    r"[\s\"',;+)\\]{0,20}"
)
_DIGIT = re.compile(r"\d")
_PREFIX = 80
"""Characters that may stand before each line of a key."""
_KEY_PIECE = re.compile(r"[\s\"',+]{0,12}[A-Za-z0-9+/=]{16,}")
_KEY_LONGEST = 20_000
"""Characters of a key within one line."""
_KEY_LINES = 5000
"""Lines after which a key that never ends is taken for something else."""

_PASSES = 4
"""Of secrets that stand one against the other each hides the next."""

_PIECES = 20
"""Of a token that returns cut; more are no token."""
_WORD_BEFORE = re.compile(r"[\w+/=.~-]{1,120}\Z")
_WORD_AFTER = re.compile(r"[\w+/=.~-]{1,600}")

_WORD_AT_END = re.compile(r"[\w+/=.~-]{4,120}\Z")
_WORD_AT_BEGIN = re.compile(r"[ \t]{0,40}([\w+/=.~-]{4,600})")
_WORD_ALONE = re.compile(r"[ \t]{0,40}([A-Za-z0-9+/_-]{6,600}={0,2})[ \t\"',;]{0,4}")


class LineFilter:
    """Feed the lines of one stream in their order; get each without secrets."""

    def __init__(self, own: tuple[str, ...] | None = None) -> None:
        """Hide also the values `own`, by default those of the environment."""
        self._own = pattern_of(secrets_of(os.environ) if own is None else own)
        self._key_lines = 0
        """Lines since a private key began; 0 outside of one."""
        self._key_prefix = ""
        """What stood before the first line of the key: test runners and logs put it before each."""
        self._named: Kind | None = None
        """What was named at the end of the line before."""
        self._cut = ""
        """The beginning of a token that the line before ended with; hidden already."""

    @property
    def idle(self) -> bool:
        """Whether the next line can be judged alone."""
        return not (self._key_lines or self._named or self._cut)

    def __call__(self, line: str) -> str:
        """One line, without its line end."""
        if self._own is not None:
            line = self._own.sub(HIDDEN, line)
        if self.idle and not suspicious(line):
            return line
        if ("\\" in line or not line.isprintable()) and _INVISIBLE.search(line):
            shown = _INVISIBLE.sub("", line)
            begun = self._key_lines, self._named, self._cut
            told = self._lines(shown)
            if told != shown:
                return told
            self._key_lines, self._named, self._cut = begun
        return self._lines(line)

    def skip(self) -> None:
        """Lines were left out here, in which a private key may have begun."""
        self._key_lines, self._named, self._cut, self._key_prefix = 1, None, "", ""

    def passes(self, text: str) -> bool:
        """Whether nothing in these lines hints at a secret: one search."""
        known = self._own is not None and self._own.search(text) is not None
        return self.idle and not known and not suspicious(text)

    def block(self, text: str) -> str:
        """Several lines with their line ends; without a hint in any they cost one search."""
        if self.passes(text):
            return text
        whole, end = (text[:-1], "\n") if text.endswith("\n") else (text, "")
        return "\n".join([self(line) for line in whole.split("\n")]) + end

    def _lines(self, line: str) -> str:
        if "\\n" not in line:
            return self._one(line)
        parts = _LINE_END.split(line)
        for at in range(0, len(parts), 2):
            part = parts[at]
            if self.idle and not suspicious(part):
                continue
            parts[at] = self._one(part)
            if at + 1 < len(parts) and parts[at + 1].count("\\") in _CONTINUED:
                self._named = assigned.open_name(part + "\\") or self._named
        return "".join(parts)

    def _one(self, line: str) -> str:
        if line.endswith("\r"):
            return self._one(line[:-1]) + "\r"
        if self._key_lines:
            ended = _KEY_ENDS.search(line)
            if ended:
                self._key_lines = 0
                return HIDDEN + self._one(line[ended.end() :])
            prefix = self._prefix_of(line)
            if _KEY_LINE.fullmatch(line, len(prefix)) and self._key_lines < _KEY_LINES:
                self._key_lines += 1
                return prefix + HIDDEN if line[len(prefix) :].strip() else line
            self._key_lines = 0
        lowered = lower_of(line)
        spans = [*self._continued(line)]
        spans += self._private_keys(line)
        spans += _returned(line)
        spans += _spans(line, lowered)
        self._look_ahead(line, lowered, spans)
        for _ in range(_PASSES):
            if not spans:
                break
            line = _without(line, spans)
            # What stood against a secret stands alone now, and may be seen to be one.
            lowered = lower_of(line)
            spans = _spans(line, lowered)
        return line

    def _prefix_of(self, line: str) -> str:
        """What stands before a line of the key as before its first one, but for numbers."""
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
                    continue  # only its name is spoken of, or its lines are quoted one by one
            yield begun.start(), at

    def _continued(self, line: str) -> Iterator[tuple[int, int]]:
        """What the line before has begun."""
        kind, cut = self._named, self._cut
        if kind is not None and line.strip():
            self._named = None
            span = assigned.continued(kind, line)
            if span:
                yield span
        self._cut = ""
        word = _WORD_AT_BEGIN.match(line) if cut else None
        if word and not formats.whole(cut) and formats.whole(cut + word[1]):
            yield word.span(1)
        elif word and (alone := _WORD_ALONE.fullmatch(line)) and formats.is_mixed(alone[1]):
            yield alone.span(1)

    def _look_ahead(self, line: str, lowered: str, spans: list[tuple[int, int]]) -> None:
        """Note what the end of this line begins."""
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


def _without(line: str, spans: list[tuple[int, int]]) -> str:
    parts, done = [], 0
    for begin, end in sorted(spans):
        if begin >= done:
            parts += [line[done:begin], HIDDEN]
        done = max(done, end)
    return "".join([*parts, line[done:]])


def _returned(line: str) -> Iterator[tuple[int, int]]:
    """Each piece of the tokens that a return to the begin of the line cuts: a terminal writes the
    rest of a token over its begin.
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
