"""Foreign text is sanitized once, as it enters: control sequences out, secrets out.

Agent output, file names, commit messages and imported records are untrusted. Every text field of an
event is sanitized when the event is made, so no other module needs to ask whether a string may
reach a terminal. Standard library only: quick commands use it too.
"""

import os
import re
from collections.abc import Mapping
from functools import lru_cache

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

HIDDEN = "[redacted]"
SHORT = 100
"""Characters of a text that is worth remembering."""
SUMMARY = 200
"""Characters of a text that is told in short."""

# Shapes of well-known credentials, and the places where unknown ones are named as such.
_SECRETS = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"
    r"|\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bxox[abposr]-[A-Za-z0-9-]{10,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bAIza[0-9A-Za-z_-]{35}\b"
    r"|\bnpm_[A-Za-z0-9]{30,}"
    r"|\bpypi-[A-Za-z0-9_-]{30,}"
    r"|\beyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)
_NAMED = re.compile(
    r"(?i)(\bauthorization[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|token)\s+)?"
    r"|\bbearer\s+"
    r"|(?<![/\w])[A-Z0-9_]{0,64}(?:api[_-]?key|secret|token|passw(?:or)?d)[\"']?\s*[:=]\s*[\"']?"
    r"|://[^/\s:@]{0,64}:(?=[^/\s@]+@))"
    r"([^\s\"'`@,;<>(){}\[\]\\]{8,})"
)
_HINTS = (
    *("sk-", "pk-", "rk-", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat", "glpat", "xox"),
    *("akia", "asia", "aiza", "npm_", "pypi-", "eyj", "-----begin", "authorization", "bearer"),
    *("apikey", "api_key", "api-key", "secret", "token", "passw", "://"),
)
"""One of these is in every text that a pattern matches; plain searches are the fast way out."""
_SECRET_NAME = re.compile(r"(?i)(?:key|token|secret|passw(?:or)?d|credential|webhook)s?$")


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of environment variables whose names say that they are secret, longest first."""
    values = {
        value
        for name, value in environ.items()
        if len(value) >= 8 and _SECRET_NAME.search(name) and not value.startswith("/")
    }
    return tuple(sorted(values, key=len, reverse=True))


@lru_cache(maxsize=1)
def _own_secrets() -> re.Pattern[str] | None:
    """This process's own secrets: they do not change while it runs."""
    values = secrets_of(os.environ)
    return re.compile("|".join(map(re.escape, values))) if values else None


def redact(text: str) -> str:
    """The text without keys, tokens and passwords, each replaced by ``[redacted]``."""
    own = _own_secrets()
    if own is not None:
        text = own.sub(HIDDEN, text)
    lowered = text.lower()
    for hint in _HINTS:  # a loop: an any() of a generator takes twice as long, and this is hot
        if hint in lowered:
            break
    else:
        return text
    text = _SECRETS.sub(HIDDEN, text)
    return _NAMED.sub(lambda match: match[1] + HIDDEN, text)


def strip_controls(text: str) -> str:
    """The text without control sequences; newlines and tabs stay, ``\\r\\n`` is a newline."""
    if text.isprintable() or _SUSPECT.search(text) is None:
        return text
    text = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


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


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters, the cut marked."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def shorten(text: str, limit: int = SUMMARY) -> str:
    """As `plain`, at most `limit` characters; of a long text only the beginning is looked at.

    It is sanitized before it is cut: a cut must not halve a secret, which would hide it from us.
    """
    return clip(plain(text[: limit * 2]), limit)
