"""What may be granted to a run, as it is written: iterations, or dollars."""

import re

from ralph_tui.commands import MOST_ITERATIONS
from ralph_tui.events.waiting import Takes
from ralph_tui.tui.draw.spans import clip, flat

MOST_USD = 1_000_000


EXAMPLES: dict[Takes, str] = {
    "more": "neither: write 5 for iterations, $2.50 for dollars",
    "iterations": "no number of iterations: write 5",
    "money": "no amount of dollars: write 2.50",
}
"""What is wrong with a text that grants nothing, by what may be granted."""


def granted(text: str, takes: Takes = "more") -> tuple[int, float]:
    """``5`` as iterations, ``$2.50`` as dollars; ValueError says what is wrong with it.

    Where only one of them is asked for, a number alone means it.
    """
    text = text.strip().removeprefix("+").strip()
    sign = r"\$?" if takes == "money" else r"\$"
    match = re.fullmatch(sign + r"\s*(\d{1,7}(?:\.\d{1,6})?|\.\d{1,6})", text, re.ASCII)
    if match and takes != "iterations":
        dollars = float(match[1])
        if not 0 < dollars <= MOST_USD:
            raise ValueError(f"dollars go from more than 0 up to {MOST_USD}")
        return 0, dollars
    if takes != "money" and re.fullmatch(r"\d{1,9}", text, re.ASCII):
        if not 1 <= int(text) <= MOST_ITERATIONS:
            raise ValueError(f"iterations go from 1 up to {MOST_ITERATIONS}")
        return int(text), 0.0
    what, example = EXAMPLES[takes].split(": ")
    wrong = f"“{clip(flat(text), 20)}” is {what}" if text else "nothing is written"
    raise ValueError(f"{wrong}: {example}")
