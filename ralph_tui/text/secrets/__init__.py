"""Secrets are taken out of every text before it is written or shown, by one pass.

`formats` knows tokens by their form (the patterns of a scanner, kept as data), `named` values by
their name, `values` tells secrets from code, `lines` remembers what one line says of the next.
Standard library only: quick commands use it too.
"""

from ralph_tui.text.secrets.lines import LineFilter, redact, secrets_of
from ralph_tui.text.secrets.values import HIDDEN

__all__ = ["HIDDEN", "LineFilter", "redact", "secrets_of"]
