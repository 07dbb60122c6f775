"""What may be granted to a run, as it is written: iterations, or dollars."""

import re

from ralph_tui.commands import MOST_ITERATIONS
from ralph_tui.tui.draw.spans import clip, flat

MOST_USD = 1_000_000


def granted(text: str) -> tuple[int, float]:
    """``5`` as iterations, ``$2.50`` as dollars; ValueError says what is wrong with it."""
    text = text.strip().removeprefix("+").strip()
    if match := re.fullmatch(r"\$\s*(\d{1,7}(?:\.\d{1,6})?|\.\d{1,6})", text, re.ASCII):
        dollars = float(match[1])
        if not 0 < dollars <= MOST_USD:
            raise ValueError(f"dollars go from more than 0 up to {MOST_USD}")
        return 0, dollars
    if re.fullmatch(r"\d{1,9}", text, re.ASCII):
        if not 1 <= int(text) <= MOST_ITERATIONS:
            raise ValueError(f"iterations go from 1 up to {MOST_ITERATIONS}")
        return int(text), 0.0
    what = "nothing is written" if not text else f"“{clip(flat(text), 20)}” is neither"
    raise ValueError(f"{what}: write 5 for iterations, $2.50 for dollars")
