"""Recognises values by their place: headers, cookies, URLs, logins in commands.

Every pattern is bounded, so the time is linear in the text.
"""

import re
from collections.abc import Callable, Iterator

from ralph_tui.text.secrets.values import (
    Place,
    is_bare_secret,
    is_example,
    is_header,
    is_interpolated,
    is_secret,
)

Span = tuple[int, int]

_HEADER = re.compile(
    r"(?:authorization|x-[a-z-]{0,20}(?:key|token|secret)|private-token)"
    r"\\{0,7}[\"'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,7}[\"'`]?"
    r"(?:(?:bearer|basic|token|digest|bot|apikey|key|negotiate|splunk)[ \t]{1,4})?"
    r"(?P<value>[a-z0-9._~+/=:-]{6,2000})"
)
_SCHEME = re.compile(r"(?:bearer|basic)[ \t]{1,4}(?P<value>[a-z0-9._~+/=-]{8,2000})")
_COOKIE = re.compile(
    r"cookie\\{0,7}[\"'`]?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,7}[\"'`]?(?=[\w.-]{1,80}=)"
)
_CRUMB = re.compile(
    r"[;\s]{0,4}([\w.-]{1,80})(?:=([^\s;,\"'`\\$<{(\[]{1,4000}))?(?=;|\s|[\"'`\\]|\Z)"
)
_ATTRIBUTES = frozenset(
    [
        "path",
        "domain",
        "expires",
        "max-age",
        "samesite",
        "version",
        "priority",
        "httponly",
        "secure",
    ]
)
_ADDRESS = re.compile(
    r"://(?:(?P<user>[^\s/?#@:\"'`<>\\]{0,80}):)?(?P<value>[^\s/\"'`<>\\]{1,300})@(?=[\w\[$<{])"
)
_DIGEST = re.compile(r"response\\{0,7}[\"']?=\\{0,7}[\"']?(?P<value>[0-9a-f]{32,128})")
_SIGNED = re.compile(r"sig(?:nature)?=(?P<value>[a-z0-9%+/=_-]{27,1000})")
_LOGINS = tuple(
    re.compile(command + r"[ \t=]{0,4}\\{0,7}[\"']?" + value)
    for command, value in (
        (
            r"(?:curl|wget|https?|xh)(?=[ \t])[^|]{0,300}?[ \t](?:-u|--user|--proxy-user)",
            r"[^\s:\"'\\]{1,80}:(?P<value>[^\"'\\]{1,200}(?=[\"'\\])|[^\s\"'\\]{1,200})",
        ),
        (r"(?:sshpass|login)(?=[ \t])[^|]{0,200}?[ \t]-p", r"(?P<value>[^\s\"'\\]{3,200})"),
        (
            r"mysql(?:dump|admin)?(?=[ \t])[^|]{0,200}?[ \t]-p(?!ort)",
            r"(?P<value>[^\s\"'\\-]{3,200})",
        ),
        (
            r"redis-cli(?=[ \t])[^|]{0,200}?[ \t]-a(?=[ \t])",
            r"(?P<value>(?!(?:option|flag|argument|and|or|is|to|for|with)\b)"
            r"[^\s\"'\\-][^\s\"'\\]{0,199})",
        ),
        (r"login[ \t]{1,8}\S{1,80}[ \t]{1,8}password[ \t]", r"(?P<value>[^\s\"'\\]{1,200})"),
    )
)
_NETRC = re.compile(r"[ \t]{0,8}password[ \t]{1,8}(?P<value>\S{1,200})[ \t]{0,40}\Z")


def spans(text: str, lowered: str) -> Iterator[Span]:
    """Yield the positions of such values in one line; `lowered` is the line in lower case.

    Both have the same length.
    """
    for hints, find in _FINDERS:
        for hint in hints:
            if hint in lowered:
                yield from find(text, lowered)
                break


def _headers(text: str, lowered: str) -> Iterator[Span]:
    for pattern in (_HEADER, _SCHEME):
        for found in pattern.finditer(lowered):
            begin, end = found.span("value")
            if is_header(text[begin:end]) and not lowered.startswith("http", begin):
                yield begin, end


def _cookies(text: str, lowered: str) -> Iterator[Span]:
    for cookie in _COOKIE.finditer(lowered):
        at = cookie.end()
        while found := _CRUMB.match(text, at):
            if found[2] and len(found[2]) >= 3 and found[1].lower() not in _ATTRIBUTES:
                yield found.span(2)
            at = found.end()
            if text[at : at + 1] not in (";", " ", "\t"):
                break


def _addresses(text: str, _: str) -> Iterator[Span]:
    for found in _ADDRESS.finditer(text):
        value = found["value"]
        if found["user"] is None:
            is_known = len(value) >= 16 and is_secret("key", value)
        else:
            is_known = not is_interpolated(value) and not is_example(value)
        if is_known:
            yield found.span("value")


def _signatures(_: str, lowered: str) -> Iterator[Span]:
    for found in _SIGNED.finditer(lowered):
        yield found.span("value")


def _digests(_: str, lowered: str) -> Iterator[Span]:
    for found in _DIGEST.finditer(lowered):
        yield found.span("value")


def _logins(text: str, _: str) -> Iterator[Span]:
    for pattern in _LOGINS:
        for found in pattern.finditer(text):
            if not is_interpolated(found["value"]):
                yield found.span("value")


def _netrc(text: str, _: str) -> Iterator[Span]:
    alone = _NETRC.match(text)
    if alone and is_bare_secret("password", alone["value"], Place(tight=True)):
        yield alone.span("value")


_FINDERS: tuple[tuple[tuple[str, ...], Callable[[str, str], Iterator[Span]]], ...] = (
    (("auth", "x-", "bearer", "basic", "private-t"), _headers),
    (("cookie",), _cookies),
    (("://",), _addresses),
    (("sig",), _signatures),
    (("digest",), _digests),
    ((" -u", " -p", "--user", "--proxy-u", "login", "redis-cli"), _logins),
    (("password ", "password\t"), _netrc),
)
"""Each finder with its hints; it can find something only in a line with one of them."""
