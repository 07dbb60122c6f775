"""The options of an agent's own question, each with its digit. Pure."""

from collections.abc import Sequence

from ralph_tui.events.asking import AgentChoice
from ralph_tui.tui.draw.spans import Line, clip, flat, wrap
from ralph_tui.tui.modals.modal import pressing

MOST_DIGITS = 9
"""Options that have a digit; an own answer is `OWN`."""
OWN = "w"


def place_words(index: int, of: Sequence[AgentChoice]) -> str:
    """``2 of 3: Colour``; of one question its header."""
    header = flat(of[index].header, 40)
    if len(of) == 1:
        return header
    return f"{index + 1} of {len(of)}{': ' * bool(header)}{header}"


def option_rows(choice: AgentChoice, picked: Sequence[str], width: int) -> list[Line]:
    """Each option with its digit; what is picked is marked, own words come last."""
    on, off = ("■", "□") if choice.multiple else ("●", "○")
    rows: list[Line] = []
    for number, option in enumerate(choice.options[:MOST_DIGITS], 1):
        label = clip(flat(option.label, 200), max(1, width - 6))
        mark = on if option.label in picked else off
        head: Line = [(f" {number}", "key"), (f" {mark} ", "owner" if mark == on else "dim")]
        about = (
            wrap(flat(option.description, 400), max(1, width - 6), 2) if option.description else []
        )
        block: list[Line] = [[*head, (label, "strong")]]
        block += [[("      ", ""), (row, "text")] for row in about]
        rows += [pressing(row, str(number)) for row in block]
    labels = {option.label for option in choice.options}
    own = [text for text in picked if text not in labels]
    said = clip(flat(", ".join(own), 200), max(1, width - 6)) if own else "in your own words"
    mark = on if own else off
    last: Line = [(f" {OWN}", "key"), (f" {mark} ", "owner" if own else "dim"), (said, "text")]
    return [*rows, pressing(last, OWN)]
