"""Secrets are taken out of every text before it is written or shown, by one pass.

`hints` lets pass what holds none, `formats` knows tokens by their form (the patterns of a scanner,
kept as data), `named` values by their name, `values` tells secrets from code, `lines` remembers
what one line says of the next. Standard library only: quick commands use it too.
"""

from ralph_tui.text.secrets.hints import HIDDEN, own_secrets, passes, secrets_of

__all__ = ["HIDDEN", "redact", "secrets_of"]


def redact(text: str) -> str:
    """The text without keys, tokens and passwords, each replaced by ``[redacted]``."""
    if passes(text):
        return text
    # All the patterns take long to load: most texts need none.
    from ralph_tui.text.secrets.lines import LineFilter  # noqa: PLC0415

    return LineFilter(own_secrets()).block(text)
