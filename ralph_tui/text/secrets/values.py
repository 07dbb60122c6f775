"""Distinguishes secrets from code, types, placeholders and prose after a secret's name."""

import binascii
import re
from dataclasses import dataclass
from typing import Literal

from ralph_tui.text.secrets.formats import entropy, has_humps, is_mixed
from ralph_tui.text.secrets.hints import HIDDEN

Kind = Literal["password", "key"]
"""A password may be any text that is not code; a key is random and has no blanks."""

_INTERPOLATED = re.compile(
    r"[$#]?\{.*|\$\(.*|\$\w*|%\(?\w*\)?[sdr]?|%\w+%|<.*|\[.*|@\w+@|#[0-9a-fA-F]{3,8}|[:*.xX•_?-]+"
)
_PLACEHOLDER = re.compile(
    r"(?i)null|none|nil|undefined|true|false|yes|no|on|off|n/a|empty|unset|missing|invalid|required"
    r"|optional|string|str|text|password|passwd|secret|token|bearer|basic|hidden|redacted|masked"
    r"|passwort|kennwort|contraseña|contrasena|senha|mot[ _]de[ _]passe|wachtwoord"
    r"|default|unknown|value|example|placeholder|todo|tbd|username|user|name|id|key|test|any|object"
    r"|(?:your|my|an?|the|some)[ _-].*|\.\.\.|.*_here"
    r"|(?:process|os|env|self|this|config|settings|secrets|vars|import|ctx|req|request)\..*"
)
_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+[!?]?")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_WORDS = re.compile(r"[A-Za-z]+(?:[_.:/+-]+[A-Za-z]+)*[!?.:]?")
_TYPE = re.compile(
    r"(?i)(?:u?int|float|complex|utf-?|bytes?|sha-?|md|base|oauth|http|ipv|crc|aes|rfc|x|char"
    r"|[a-z])_?\d{0,4}(?:[_-]?(?:t|le|be|\d{1,4}))?"
)
_NUMBER = re.compile(r"[+-]?\d[\d_]*(?:[.:/-]\d+)*[%a-z]{0,2}")
_PATH = re.compile(r"(?:~|\.{1,2})?/.*|[A-Za-z]:[\\/].*|(?:[\w.-]+/)+[\w.-]*|\w+://.*")
_HEX = re.compile(r"[0-9a-fA-F]{32,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TOKEN = re.compile(r"[\w+/=.~:%!$#*-]{16,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{6,}={0,2}")
_NAME_WORD = re.compile(r"(?i)pass(?:w(?:or)?d|phrase|code)?|pwd|token|secret|key|credential")
_CODED = re.compile(
    r"(?i:sha|md|base|oauth|utf|ipv|http|aes|rsa|ec|db|s|v|p|x)_?\d{1,4}(?![0-9a-z])"
    r"|(?<=[a-z])\d(?=[A-Z])"
)
"""A number in a variable name: ``sha256_password``, ``user2Password``."""
_LEET = re.compile(r"[A-Za-z]\d{1,2}[a-z]")
_SENTENCE = re.compile(
    r"(?i)\b(?:is|are|be|was|must|should|cannot|can't|not|please|enter|your|for|required|invalid"
    r"|missing|expected|incorrect|wrong|forgot|reset|confirm|field|when|with|this|has|of|in)\b"
    r"|[{}]|%[sd]|[:?…]\Z|\.\.\.\Z"
)
_EXAMPLE = re.compile(r"(?i)(?:my)?pass(?:word|wd)?|pwd|pw|secret|token")
_PROSE = frozenset(
    [
        "option",
        "options",
        "flag",
        "flags",
        "argument",
        "arguments",
        "value",
        "values",
        "prompt",
        "prompts",
        "field",
        "file",
    ]
)
_UPPER, _LOWER, _DIGIT = re.compile(r"[A-Z]"), re.compile(r"[a-z]"), re.compile(r"[0-9]")


@dataclass(frozen=True)
class Place:
    """Context of an unquoted value and its name."""

    tight: bool = False
    """True if no blank separates name and value, as in a shell, a URL or a connection string."""
    loud: bool = False
    """True if the name is in capitals."""
    argument: bool = False
    """True if the value is an argument of a call."""
    alone: bool = False
    """True if nothing else is on the line."""
    option: bool = False
    """True if the name is a command's option."""


def is_secret(kind: Kind, value: str) -> bool:
    """True if a quoted text is a secret."""
    if len(value) < 3 or HIDDEN in value or is_placeholder(value) or "${" in value or "{{" in value:
        return False
    if " " in value or "\t" in value:
        prose = _SENTENCE.search(value) or _NAME_WORD.search(value)
        return kind == "password" and not prose
    if is_random(value):
        return True
    if _PATH.fullmatch(value) or _TYPE.fullmatch(value):
        return False
    if kind == "password":
        return not (_WORDS.fullmatch(value) and _NAME_WORD.search(value))
    if _NUMBER.fullmatch(value):
        return False
    if _WORDS.fullmatch(value):
        return len(value) >= 16 and value.isalpha() and value.islower()
    return len(value) >= (12 if _NAME_WORD.search(value) else 6) and bool(_DIGIT.search(value))


def is_bare_secret(kind: Kind, value: str, place: Place) -> bool:
    """True if an unquoted text, which in code would be an expression, is a secret."""
    value = value.rstrip(".:!?")
    if len(value) < 3 or is_placeholder(value) or value.startswith(("//", "#", "--")):
        return False
    if _DOTTED.fullmatch(value) or value.startswith(":"):
        return False
    if is_random(value):
        return True
    if _PATH.fullmatch(value) or _TYPE.fullmatch(value):
        return False
    if _NUMBER.fullmatch(value):
        return kind == "password" and len(value) >= 4 and (place.tight or place.alone)
    if _WORDS.fullmatch(value):
        if value.isupper() and _NAME_WORD.search(value):
            return False
        known = place.loud or place.alone or (place.option and not value.isupper())
        assigned = place.tight and not place.argument and known
        return assigned and "." not in value and (kind == "password" or len(value) >= 6)
    if _IDENTIFIER.fullmatch(value):
        if place.argument:
            return False
        if not (place.tight and place.loud) and is_name(kind, value):
            return False
        enough = 4 if place.tight else 6
        if kind == "key":
            enough = 6 if place.tight else 10
        return len(value) >= enough and bool(_DIGIT.search(value))
    if kind == "password":
        return len(value) >= 4
    return len(value) >= 8 and (is_mixed(value) or len(_DIGIT.findall(value)) >= 2)


def is_name(kind: Kind, value: str) -> bool:
    """True if the value is an identifier named after its content, such as ``new_password2``.

    A password that contains such a word has digits where no name has them: ``topSecret123``.
    """
    if _NAME_WORD.search(value) is None:
        return False
    rest = _CODED.sub("", value)
    if len(_DIGIT.findall(rest)) >= (2 if kind == "password" else 3):
        return False
    unlike = _LEET.search(rest) or (value[0].isupper() and _DIGIT.search(rest))
    return kind == "key" or not unlike


def is_option(kind: Kind, value: str, rest: str) -> bool:
    """True if the word after an option such as ``--password`` is its value, and not prose."""
    if value.startswith("-") or is_placeholder(value):
        return False
    if _WORDS.fullmatch(value):
        more = rest.lstrip(" \t")
        ends = not more or more[0] in "-\"'`\\&|;>)"
        return kind == "password" and ends and value.islower() and value not in _PROSE
    return is_bare_secret(kind, value, Place(tight=True)) or len(value) >= 5


def is_header(value: str) -> bool:
    """True if the value fits an authorization header, and is not a variable or a word."""
    if is_placeholder(value) or _TYPE.fullmatch(value) or _DOTTED.fullmatch(value):
        return False
    return bool(_DIGIT.search(value)) or is_random(value) or is_login(value)


def is_login(value: str) -> bool:
    """True if the value is the Base64 of a user and a password."""
    if not _BASE64.fullmatch(value):
        return False
    try:
        decoded = binascii.a2b_base64(value + "=" * (-len(value) % 4), strict_mode=True)
    except binascii.Error:
        return False
    return (
        decoded.isascii()
        and decoded.decode("ascii").isprintable()
        and 0 < decoded.find(b":") < len(decoded) - 1
    )


def is_placeholder(value: str) -> bool:
    """True if the value is a placeholder or was already redacted."""
    return bool(_INTERPOLATED.fullmatch(value) or _PLACEHOLDER.fullmatch(value))


def is_word(value: str) -> bool:
    """True if the value consists only of words."""
    return _WORDS.fullmatch(value) is not None


def is_example(value: str) -> bool:
    """True if a document uses the value as an example of a password."""
    return _EXAMPLE.fullmatch(value) is not None


def is_interpolated(value: str) -> bool:
    """True if the value is a variable or was already redacted."""
    return HIDDEN in value or bool(_INTERPOLATED.fullmatch(value))


def is_random(value: str) -> bool:
    """True if the value looks random: long, and mixed in a way that code and words are not."""
    if _HEX.fullmatch(value):
        return True
    if not _TOKEN.fullmatch(value) or "::" in value or entropy(value) < 3.3:
        return False
    if not _DIGIT.search(value):
        return has_humps(value)
    return bool(_LOWER.search(value)) and (bool(_UPPER.search(value)) or is_mixed(value))
