"""Removes secrets from every text, in one pass, before it is written or shown.

- `hints` quickly lets texts without secrets through.
- `formats` recognises tokens by their form (a scanner's patterns, stored as data).
- `assigned` recognises values by their names, and `named` by their place, such as a header.
- `values` distinguishes secrets from code.
- `lines` carries what one line reveals about the next.

Only the standard library is used, because quick commands import this.
"""

from ralph_tui.text.secrets.hints import (
    HIDDEN,
    is_known,
    may_be_named,
    may_hold_token,
    own_secrets,
    secrets_of,
)

__all__ = ["HIDDEN", "redact", "secrets_of"]

_SHORT = 200
"""Maximum length of a text searched for beginnings of tokens one by one, such as a path."""


def redact(text: str) -> str:
    """Return the text with keys, tokens and passwords replaced by ``[redacted]``."""
    if not may_be_named(text) and not is_known(text):
        if not may_hold_token(text):
            return text
        if len(text) <= _SHORT and text.isprintable() and "\\" not in text:
            from ralph_tui.text.secrets.formats import has_anchor  # noqa: PLC0415 - rarely needed

            if not has_anchor(text):
                return text
    # The patterns take long to load, and most texts need none.
    from ralph_tui.text.secrets.lines import LineFilter  # noqa: PLC0415

    return LineFilter(own_secrets()).block(text)
