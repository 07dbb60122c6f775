"""Values after a name such as `password`: ``name = value``, ``name: value``, ``--name value``.

They occur in any language, quoted or not, in JSON or in JSON within JSON. Most of them are code,
which `values.py` distinguishes from secrets. Every pattern is bounded, so the time is linear in the
text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ralph_tui.text.secrets.values import (
    Kind,
    Place,
    is_bare_secret,
    is_interpolated,
    is_login,
    is_option,
    is_random,
    is_secret,
    is_word,
)

Span = tuple[int, int]

_NAME = re.compile(
    r"(?:passwor[dt]|passwd|passphrase|passcode|pass(?=[=:\"' \\])|pwd|psw|token|secret|key"
    r"|credentials?|auth|kennwort|contrase(?:[ñn]|\\{1,8}u00f1)a|senha|mot[ _]?de[ _]?passe"
    r"|wachtwoord)"
    r"(?P<close>\\{0,7}[\"'`]\]?|[\])]|%22)?"
)
"""The last word of a secret's name, in lower case; the rest of the name does not matter."""
_KEYS = frozenset({"token", "secret", "key", "credential", "credentials", "auth"})
"""Names whose values are random; values of the other names may be any word."""
_KEY_OF = re.compile(
    r"(?:api|access|auth|private|signing|encryption|master|account|secret|session|service|deploy"
    r"|license|client|app|subscription|storage|ssh|admin)[_. -]?\Z"
)
"""Words before `key` in the name of a secret; a bare `key` usually belongs to a table."""
_NAME_HEAD = re.compile(r"[\w.$-]{0,80}\Z")
_OPERATOR = re.compile(
    r"(?P<type>[ \t]{0,4}:[ \t]{0,4}[A-Za-z][\w.\[\]|, ]{0,40}?[ \t]{0,4}=(?!=)[ \t]{0,4})"
    r"|(?P<before>[ \t]{0,8})(?P<sign>:=|=>|={1,3}|!={1,2}|:)(?P<gap>(?:\\[nr]){0,2}[ \t]{0,8})"
    r"|(?P<encoded>%(?:25)?3[aAdD](?:%(?:25)?2[02])?)"
    r"|(?P<attribute>[ \t]{1,8}value[ \t]{0,4}=[ \t]{0,4}(?=\\{0,7}[\"']))"
    r"|(?P<other>,[ \t]{0,4}|>|\()"
)
_COMPARISONS = frozenset({"==", "===", "!=", "!=="})
_BLANKS = re.compile(r"[ \t]{1,4}")
_QUOTED = re.compile(
    r"[rbfuRBFU@$]{0,2}(?:\\{1,7}[\"'](?P<escaped>[^\"'\\]{1,400})\\{1,7}[\"']"
    r"|\"(?P<double>.{1,400}?)(?:(?<!\\)\"|\Z)"
    r"|'(?P<single>.{1,400}?)(?:(?<!\\)'|\Z)"
    r"|`(?P<tick>.{1,400}?)(?:(?<!\\)`|\Z))"
)
_PART = r"[^\s\"'`,;<>(){}\[\]\\&|=]"
_BARE = re.compile(rf"{_PART}{{1,600}}(?:={_PART}{{0,99}})?(?:={_PART}{{0,99}})?")
_AND = re.compile(r"&(?!(?:amp;)?[\w.-]{0,40}=)[^\s\"'`,;<>(){}\[\]\\&|]{1,200}")
"""An ampersand in a password: unlike in a URL, no other parameter follows."""
_ENCODED_END = re.compile(r"%(?:25)?2[26Cc]")
_TYPE_OF = re.compile(r"type[ \t]{0,4}=[ \t]{0,4}\\{0,7}[\"']\Z")
_OPTION = re.compile(r"(?:\A|[\s\"'`\[(])--?[\w.-]{0,60}\Z")
_ALONE = re.compile(
    r"(?i)(?:\A|\\[nrt])(?:[ \t]|\\t){0,40}"
    r"(?:[-+#>]{0,3}[ \t]{1,4}|(?:export|set|env)[ \t]{1,4})?\Z"
)
_END = re.compile(r"[ \t]{0,40}(?:\Z|\\[nr\"]|[#;\"'])")
_TAG = re.compile(r"<[\w:.-]{0,60}\Z")
_TAGGED = re.compile(r">([^<]{1,400})</")
_CONNECTION = re.compile(r"=[^;\s=]{1,60};[ \t]?\w{0,20}[ \t]?\Z")
_TO_SEMICOLON = re.compile(r"[^;\"'\\]{1,200}(?=;)")
_OPEN = re.compile(
    r"(?i)(?P<name>passw(?:or)?d|passphrase|secret|token|(?:api|access|secret|private)[_-]?key)"
    r"(?:\\{0,7}[\"']?[ \t]{0,8}[:=][ \t|>-]{0,8}\\?|[ \t]{1,8}\\)\Z"
)


class Value(NamedTuple):
    """A value, with or without quotes."""

    begin: int
    end: int
    quoted: bool


def spans(text: str, lowered: str) -> Iterator[Span]:
    """Yield the positions of such values in one line; `lowered` is the line in lower case.

    Both have the same length.
    """
    for name in _NAME.finditer(lowered):
        at, close = name.start(), name["close"] or ""
        word = name[0].removesuffix(close) if close else name[0]
        if not _is_name(text, lowered, at, word):
            continue
        operator = _OPERATOR.match(text, name.end())
        value = _value_at(text, operator.end()) if operator else None
        kind: Kind = "key" if word in _KEYS else "password"
        span: Span | None = None
        if word == "auth":
            span = _login(text, operator, value)
        elif operator is None:
            span = None if close else _spaced(text, at, name.end(), kind)
        elif operator["encoded"] or operator["attribute"]:
            found = _encoded if operator["encoded"] else _attribute
            span = found(text, kind, name, operator.end())
        elif operator["other"] == ">":
            tagged = _TAGGED.match(text, name.end()) if _tagged(text, at) else None
            if tagged and is_secret(kind, tagged[1].strip()):
                span = tagged.span(1)
        elif operator["other"]:
            span = _argument(text, kind, close, operator["other"], value)
        elif value and value.quoted:
            shown = text[value.begin : value.end]
            loose = word == "pass" or operator["sign"] in _COMPARISONS
            if is_secret(kind, shown) and not (loose and is_word(shown)):
                span = value.begin, value.end
        elif value and operator["sign"]:
            span = _bare(text, name.span(), kind, operator, value)
        if span:
            yield span


def open_name(line: str) -> Kind | None:
    """Return the kind of value expected on the next line, if this one ends with a secret's name."""
    found = _OPEN.search(line, max(0, len(line) - 120))
    return None if found is None else "password" if "pass" in found["name"].lower() else "key"


def find_rest(kind: Kind, line: str) -> Span | None:
    """Return the position in `line` of the value whose name ended the previous line."""
    value = _value_at(line, len(line) - len(line.lstrip()))
    if value is None:
        return None
    shown = line[value.begin : value.end]
    place = Place(alone=True)
    fits = is_secret(kind, shown) if value.quoted else is_bare_secret(kind, shown, place)
    return (value.begin, value.end) if fits else None


def _is_name(text: str, lowered: str, at: int, word: str) -> bool:
    if word == "key":
        return _KEY_OF.search(lowered, max(0, at - 16), at) is not None
    before = text[at - 1] if at else " "
    if word in ("passwd", "password"):
        return before != "/"  # the file /etc/passwd
    return not (word in ("pass", "pwd", "psw") and before.isalpha())


def _bare(text: str, name: Span, kind: Kind, operator: re.Match[str], value: Value) -> Span | None:
    """Return the position of an unquoted value; a bracket after it would make it a call."""
    shown = text[value.begin : value.end]
    if _CONNECTION.search(text, max(0, name[0] - 80), name[0]):
        whole = _TO_SEMICOLON.match(text, value.begin)  # may contain blanks
        if whole:
            return None if is_interpolated(shown) else whole.span()
    if text[value.end : value.end + 1] in ("(", "[", "{"):
        return None
    place = _place(text, name, operator, value)
    more = _AND.match(text, value.end) if kind == "password" else None
    if is_bare_secret(kind, shown, place):
        end = more.end() if more else value.begin + len(shown.rstrip(".:") or shown)
        return value.begin, end
    return None


def _encoded(text: str, kind: Kind, _: re.Match[str], at: int) -> Span | None:
    """Find a value in a URL whose ``=`` or ``:`` is encoded; its end may be encoded as well."""
    bare = _BARE.match(text, at)
    if bare is None:
        return None
    end = _ENCODED_END.search(text, at, bare.end())
    span = at, end.start() if end else bare.end()
    return span if is_bare_secret(kind, text[slice(*span)], Place(tight=True, loud=True)) else None


def _attribute(text: str, kind: Kind, name: re.Match[str], at: int) -> Span | None:
    """Find ``<add key="Password" value="x"/>``, but not labels like ``<input type="password">``."""
    value = _value_at(text, at)
    if value is None or not value.quoted or not (name["close"] or "").endswith(("'", '"')):
        return None
    shown = text[value.begin : value.end]
    label = is_word(shown) and _TYPE_OF.search(text, max(0, name.start() - 24), name.start())
    return (value.begin, value.end) if is_secret(kind, shown) and not label else None


def _place(text: str, name: Span, operator: re.Match[str], value: Value) -> Place:
    at, end = name
    head = _NAME_HEAD.search(text, max(0, at - 80), at)
    begin = head.start() if head else at
    if begin and text[begin - 1] == "\\" and text[begin] in "nrt":
        begin += 1  # an escaped blank, not a letter of the name
    before = text[max(0, begin - 12) : begin].rstrip(" \t")
    after = text[value.end : value.end + 1]
    alone = _ALONE.search(text, max(0, begin - 60), begin) and _END.match(text, value.end)
    return Place(
        tight=not operator["before"] and not operator["gap"] and operator["sign"] in ("=", ":"),
        loud=text[begin:end].isupper(),
        argument=before.endswith(("(", ",", "{")) and after in (",", ")", "}", ""),
        option=bool(_OPTION.search(text, max(0, at - 64), at)),
        alone=bool(alone),
    )


def _spaced(text: str, at: int, end: int, kind: Kind) -> Span | None:
    """Find ``--password x``, and a random value separated from its name only by blanks."""
    blanks = _BLANKS.match(text, end)
    value = _value_at(text, blanks.end()) if blanks else None
    if value is None:
        return None
    shown = text[value.begin : value.end]
    if _OPTION.search(text, max(0, at - 64), at):
        rest = text[value.end : value.end + 8]
        fits = is_secret(kind, shown) if value.quoted else is_option(kind, shown, rest)
    else:
        fits = not value.quoted and len(shown) >= 20 and "/" not in shown and is_random(shown)
    return (value.begin, value.end) if fits else None


def _argument(text: str, kind: Kind, close: str, sign: str, value: Value | None) -> Span | None:
    """Find ``("password", "x")`` and ``setPassword("x")``, but not a list of names."""
    if value is None or not value.quoted:
        return None
    shown = text[value.begin : value.end]
    called = sign == "(" and not close
    if not (called or (close and close[-1] in "\"'`")) or " " in shown:
        return None
    is_clear = kind == "password" if called else not is_word(shown)
    fits = is_secret(kind, shown) and (is_clear or is_random(shown))
    return (value.begin, value.end) if fits else None


def _login(text: str, operator: re.Match[str] | None, value: Value | None) -> Span | None:
    """Find ``"auth": "..."`` of a container registry or ``_auth=...`` of a package registry."""
    is_clear = operator and operator["sign"] and value and is_login(text[value.begin : value.end])
    return (value.begin, value.end) if is_clear and value else None


def _tagged(text: str, at: int) -> bool:
    return _TAG.search(text, max(0, at - 62), at) is not None


def _value_at(text: str, at: int) -> Value | None:
    quoted = _QUOTED.match(text, at)
    if quoted and quoted.lastgroup:
        return Value(*quoted.span(quoted.lastgroup), quoted=True)
    bare = _BARE.match(text, at)
    return Value(*bare.span(), quoted=False) if bare else None
