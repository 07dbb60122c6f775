"""Recognises keys and tokens by their form alone, or by the vendor's name before them.

The patterns in rules.json come from the scanner named in `ORIGIN.md`. A few looser patterns of our
own match tokens that logs cut or quote differently from files. The time is linear in any text: a
pattern is tried only at its anchors and sees only as many characters as it can match.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ralph_tui.text.foreign_json import parse_json
from ralph_tui.text.secrets.hints import may_hold_token

_LONGEST_WORD = re.compile(r"[A-Za-z0-9+/_=-]{4096}([A-Za-z0-9+/_=-]{256,})")
"""Matches a word too long to be a token, such as encoded data."""
_ESCAPED = re.compile(r"\\(?:[nrtbf\"'\\/]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})\Z|%[0-9A-F]{2}\Z")
"""The end of an escape: a word begins after it, even if the escape ends with a letter."""
_REST_OF_WORD = re.compile(r"[\w+/=.~-]*")
_WORD = re.compile(r"[A-Za-z0-9]{8,}")
_HUMP = re.compile(r"[a-z][A-Z]")
_UNLIKE_WORDS = re.compile(r"[0-9]|[a-z][A-Z]")
_MIXED = re.compile(r"(?=[A-Za-z]*[0-9])[0-9]*[A-Za-z]")


class Rule(NamedTuple):
    """One token format."""

    name: str
    pattern: str
    anchors: tuple[str, ...]
    """In lower case; every match has one of them after at most `behind` characters."""
    reach: int
    """Maximum length of a match."""
    word: bool = False
    """True if a match must begin a word."""
    entropy: float = 0.0
    """Minimum bits per character: anything below is an example or a word."""
    digits: bool = False
    """True if a match needs both letters and digits, because words fit the form as well."""
    behind: int = 0
    """Maximum number of characters of a match before the anchor."""


_OWN = (
    # Vendors whose scanner rule has no fixed beginning, or is too strict for logs.
    Rule("telegram", r"\d{5,16}:AA[\w-]{32,34}(?![\w-])", (":aa",), 40, behind=16),
    Rule("azure-client", r"[\w.~]{3}\dQ~[\w.~-]{31,34}", ("q~",), 40, behind=4),
    Rule("terraform", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,80}", (".atlasv1.",), 90, behind=14),
    Rule("maxmind", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", ("_mmk",), 10, behind=36),
    Rule("twilio", r"(?:SK|AC)[0-9a-f]{32}(?!\w)", ("sk", "ac"), 34, word=True),
    Rule("vault-old", r"[sb]\.[A-Za-z0-9]{24}(?![\w.(-])", ("s.", "b."), 27, True, 3.0, True),
    Rule("mongodb", r"mdb_sa_sk_[\w-]{20,60}", ("mdb_sa_sk_",), 70, word=True),
    Rule("vault", r"hv[sbr]\.[\w-]{20,}", ("hvs.", "hvb.", "hvr."), 600, word=True),
    Rule("jwt", r"(?<![\w-])ey[\w-]{10,}\.[\w-]{4,}(?:\.[\w-]{4,})?", ("eyj",), 4096, word=True),
    Rule("github", r"gh[pousr]_[A-Za-z0-9]{20,}", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), 260),
    Rule("github-fine", r"github_pat_\w{20,}", ("github_pat_",), 270),
    Rule("gitlab", r"gl(?:pat|ptt|dt|rt)-[\w.-]{16,}", ("glp", "gldt-", "glrt-"), 260, word=True),
    Rule("npm", r"npm_[A-Za-z0-9]{30,}", ("npm_",), 90),
    Rule("pypi", r"pypi-[\w-]{30,}", ("pypi-",), 600, digits=True),
    Rule("slack", r"xox[abceoprs](?:\.xox[bp])?-(?=[a-z-]{0,9}\d)[A-Za-z0-9-]{10,}", ("xox",), 260),
    Rule("slack-app", r"xapp-\d[A-Za-z0-9-]{20,}", ("xapp-",), 260),
    Rule("slack-hook", r"hooks\.slack\.com/[a-z]{8,9}/[\w/-]{20,}", ("hooks.slack.com/",), 160),
    Rule(
        "discord-hook",
        r"discord(?:app)?\.com/api(?:/v\d+)?/webhooks/\d{5,20}/[\w-]{20,}",
        ("discord.com/api", "discordapp.com/api"),
        180,
    ),
    Rule("aws", r"A[A-Z0-9]{19}(?!\w)", ("akia", "asia", "abia", "acca", "a3t"), 21, word=True),
    Rule("google", r"AIza[\w-]{30,}", ("aiza",), 60),
    Rule("google-access", r"ya29\.[\w.-]{20,}", ("ya29.",), 600),
    Rule("google-refresh", r"1//0[\w-]{30,}", ("1//0",), 210, word=True),
    Rule("google-client", r"GOCSPX-[\w-]{20,}", ("gocspx-",), 60),
    Rule("hugging-face", r"(?:hf|api_org)_[A-Za-z0-9]{30,}", ("hf_", "api_org_"), 60, word=True),
    Rule("sendgrid", r"SG\.[\w-]{16,32}\.[\w-]{16,64}", ("sg.",), 110, word=True),
    Rule("mailgun", r"key-[0-9a-f]{32}(?!\w)", ("key-",), 37, word=True),
    Rule("square", r"sq0(?:atp|csp|idp)-[\w-]{22,}", ("sq0atp-", "sq0csp-", "sq0idp-"), 60),
    Rule("stripe", r"[srp]k_(?:live|test)_\w{10,}", ("k_live_", "k_test_"), 260, behind=1),
    Rule("stripe-hook", r"whsec_[\w+/=-]{20,}", ("whsec_",), 110),
    Rule("sk-solid", r"[spr]k-[A-Za-z0-9]{20,}", ("sk-", "pk-", "rk-"), 330, word=True),
    Rule("sk", r"[spr]k-[\w-]{16,}", ("sk-", "pk-", "rk-"), 330, word=True, digits=True),
    Rule("bcrypt", r"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}", ("$2a$", "$2b$", "$2y$"), 62),
    Rule(
        "crypt",
        r"\$(?:1|5|6|apr1|y)\$(?:rounds=\d{1,9}\$|j[./A-Za-z0-9]{1,9}\$)?"
        r"[^$\s]{1,32}\$[./A-Za-z0-9]{22,90}",
        ("$1$", "$5$", "$6$", "$apr1$", "$y$"),
        160,
    ),
)  # fmt: skip
_DISCORD_BOT = Rule(
    "discord-bot", r"[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}(?!\w)", ("",), 48, behind=28
)
_RARE = {
    "sk": r"k(?=[0-9a-f]{32})",
    "ac": r"c(?=[0-9a-f]{32})",
    "s.": r"\.(?=[a-z0-9]{24})",
    "b.": r"\.(?=[a-z0-9]{24})",
}
"""Anchors so short that they occur everywhere, with a lookahead that makes them rare."""
_RARE_PLACES = "|".join(
    [*(anchor[0] + f"(?={rest})" for anchor, rest in _RARE.items()), r"\.(?=[\w-]{6}\.[\w-]{27})"]
)


class Index:
    """All rules, by the beginning of their anchors."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._starting: dict[str, list[tuple[str, Rule]]] = {}
        for rule in rules:
            for anchor in rule.anchors:
                self._starting.setdefault(anchor[:2], []).append((anchor, rule))

    @cached_property
    def places(self) -> re.Pattern[str]:
        """The pattern of all anchors; it matches one character, so that anchors may overlap."""
        tree: dict[str, Any] = {}
        for anchor in (anchor for some in self._starting.values() for anchor, _ in some):
            branch = tree
            for character in anchor if anchor not in _RARE else ():
                branch = branch.setdefault(character, {})
            branch[""] = {}
        first = [f"{re.escape(one)}(?={_alternatives(rest)})" for one, rest in tree.items() if one]
        return re.compile("|".join([*first, _RARE_PLACES]))

    def occurs(self, lowered: str) -> bool:
        """True if a short text has an anchor; needs only a part of the pattern, which is slow."""
        return re.search(_RARE_PLACES, lowered) is not None or any(
            lowered.startswith(anchor, at) and anchor not in _RARE
            for at in range(len(lowered))
            for anchor, _ in self._starting.get(lowered[at : at + 2], ())
        )

    def at(self, lowered: str, at: int) -> Iterator[Rule]:
        """Yield the rules with an anchor at `at`."""
        for anchor, rule in self._starting.get(lowered[at : at + 2], ()):
            if lowered.startswith(anchor, at):
                yield rule
        if lowered[at] == ".":
            yield _DISCORD_BOT


_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def _alternatives(tree: dict[str, Any]) -> str:
    """Return a pattern for all paths through the tree; a path that ends covers all longer ones."""
    if "" in tree:
        return ""
    ways = [re.escape(one) + _alternatives(rest) for one, rest in sorted(tree.items())]
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


@cache
def _index() -> Index:
    """Load the rules the first time a text looks as if it could contain a token."""
    data = parse_json(Path(__file__).with_name("rules.json").read_bytes())
    return Index(
        _OWN
        + tuple(
            Rule(
                rule["id"],
                rule["pattern"],
                tuple(rule["anchors"]),
                rule["reach"],
                rule.get("word", False),
                rule.get("entropy", 0.0),
                rule.get("digits", False),
            )
            for rule in data
        )
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def spans(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of known formats in one line; `lowered` is the line in lower case.

    Both have the same length.
    """
    if not may_hold_token(text):
        return
    index, done = _index(), 0
    for at in _places(text, lowered):
        if at < done:
            continue
        for rule in index.at(lowered, at):
            span = _match(rule, text, at)
            if span:
                yield span
                done = max(done, span[1])


def _places(text: str, lowered: str) -> Iterator[int]:
    """Yield the positions of anchors; huge words, such as encoded images, are searched in part."""
    places, begin = _index().places, 0
    for word in _LONGEST_WORD.finditer(text):
        yield from (place.start() for place in places.finditer(lowered, begin, word.start(1)))
        begin = word.end()
    yield from (place.start() for place in places.finditer(lowered, begin))


def cut_token(text: str, lowered: str, begin: int) -> int | None:
    """Return the start of a token at the end of a line that may continue on the next one.

    `begin` is where the last word of the line starts.
    """
    for place in _index().places.finditer(lowered, max(0, begin - 8)):
        at = place.start()
        if any(found.end() > at for found in _UUID.finditer(text, max(0, at - 35), at + 36)):
            continue  # a complete identifier
        rest = _REST_OF_WORD.match(text, at)
        if rest is None or rest.end() < len(text):
            continue
        for rule in _index().at(lowered, at):
            matched = max(len(anchor) for anchor in rule.anchors if lowered.startswith(anchor, at))
            if rule.behind or "=>" in rule.pattern or (rule.word and not begins_word(text, at)):
                continue
            anchor, value = text[at : at + matched], text[at + matched :]
            if anchor.isalpha() and (anchor.islower() or anchor not in rule.pattern):
                continue  # a plain word
            if is_mixed(value) or (
                matched >= 4 and len(value) >= 6 and _UNLIKE_WORDS.search(value)
            ):
                return at
    return None


def has_anchor(text: str) -> bool:
    """True if a token could begin in this short text."""
    return _index().occurs(lower_of(text))


def is_token(token: str) -> bool:
    """True if the text is a complete token."""
    return any(_match(rule, token, 0) for rule in _index().at(token.lower(), 0))


def _match(rule: Rule, text: str, at: int) -> tuple[int, int] | None:
    """Return the position of the match of `rule` with its anchor at `at`."""
    pattern, limit = _compiled(rule.pattern), at + rule.reach + 1
    if rule.behind:
        found = pattern.search(text, max(0, at - rule.behind), limit)
    elif rule.word and not begins_word(text, at):
        return None
    else:
        found = pattern.match(text, at, limit)
    if found is None:
        return None
    group = max(range(found.re.groups + 1), key=lambda number: _rank(found, number))
    begin, end = found.span(group)
    value = text[begin:end]
    if rule.digits and not is_mixed(value):
        return None
    if rule.entropy and entropy(value) < rule.entropy:
        return None
    if end >= limit - 1 and (rest := _REST_OF_WORD.match(text, end)):
        end = rest.end()
    return begin, end


def _rank(found: re.Match[str], number: int) -> int:
    """Rank a match's groups: the longest one of 13 or more characters, then the whole match."""
    length = found.end(number) - found.start(number)
    return 12 if number == 0 else length if length >= 13 else 0


def begins_word(text: str, at: int) -> bool:
    """True if no letter, digit or underscore precedes `at`, except those of an escape."""
    before = text[at - 1] if at else " "
    if not (before.isalnum() or before == "_"):
        return True
    return _ESCAPED.search(text, max(0, at - 6), at) is not None


def is_mixed(value: str) -> bool:
    """True if `value` contains a word of at least 8 characters that is unlike any name.

    Such a word mixes letters and digits, or has many capitals after lowercase letters.
    """
    return any(_MIXED.match(word) or has_humps(word) for word in _WORD.findall(value))


def has_humps(word: str) -> bool:
    """True if capitals follow lowercase letters more often than in a name."""
    return len(_HUMP.findall(word)) >= max(4, len(word) // 8)


def entropy(value: str) -> float:
    """Return the Shannon entropy in bits per character."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())


def lower_of(text: str) -> str:
    """Return the text in lower case, with every character at the same position."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "i").lower()
