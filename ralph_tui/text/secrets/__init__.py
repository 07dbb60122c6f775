"""Removes secrets from every text, in one pass, before it is written or shown.

- `hints` quickly lets texts without secrets through.
- `formats` recognises tokens by their form (a scanner's patterns, stored as data).
- `assigned` recognises values by their names, and `named` by their place, such as a header.
- `values` distinguishes secrets from code.
- `lines` carries what one line reveals about the next.

Only the standard library is used, because quick commands import this.
"""

from ralph_tui.text.secrets.hints import HIDDEN, is_clean, own_secrets, secrets_of

__all__ = ["HIDDEN", "redact", "secrets_of"]


def redact(text: str) -> str:
    """Return the text with keys, tokens and passwords replaced by ``[redacted]``."""
    if is_clean(text):
        return text
    # The patterns take long to load, and most texts need none.
    from ralph_tui.text.secrets.lines import LineFilter  # noqa: PLC0415

    return LineFilter(own_secrets()).block(text)
