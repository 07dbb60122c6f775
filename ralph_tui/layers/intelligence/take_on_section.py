"""The prompt section that says how much to take on, and how to keep room in the window."""

from collections.abc import Iterator

from ralph_tui.layers.context.take_on import TakeOn, take_on
from ralph_tui.layers.intelligence.blocks import foreign, rank_of
from ralph_tui.layers.intelligence.budget import Block, Section, units_of
from ralph_tui.layers.intelligence.fence import item
from ralph_tui.layers.intelligence.material import PromptInput
from ralph_tui.text.format import percent

LISTED = 10
"""Maximum number of items listed."""
LOAD = (
    "Open a file in full only if you are about to change it; otherwise, open only the relevant "
    "part. Read a specification only if the work at hand refers to it."
)
SAVE = (
    "- If you have subagents, delegate heavy reading to them and use their summaries. As "
    "a rule of thumb, that saves 20 % of a window for exploring files, 15 % for reviewing code, "
    "15 % for going through test results and 10 % for documentation.\n"
    "- Have commands print only failures and their last lines.\n"
    "- Finish one item and mark it done before you start the next.\n"
)
FULL = "Context windows fill up here before the work is done. Load less into yours."
HIGH = "Context windows fill to more than 60 % here. Keep room in yours."


def take_on_section(inputs: PromptInput) -> Section:
    """Return which plan items to take on, and how to load less; empty if neither is needed."""
    advised = take_on(inputs.open_items, inputs.room)
    many = len(inputs.open_items) > 1 or advised.split
    words = [_amount(advised, inputs) if many else "", _split(advised)]
    listed = [f"{n}. {line}" for n, line in enumerate(_lines(advised), 1)] if many else []
    more = len(listed) - LISTED
    lines = [*listed[:LISTED], *([f"and {more} more"] if more > 0 else [])]
    fills = FULL if inputs.windows_fill else HIGH if inputs.windows_high else ""
    load = LOAD if fills or inputs.open_items else ""
    return Section(
        "How much to take on",
        (
            _ours("how much to take on", " ".join(word for word in words if word)),
            foreign("context", "the order of open items", "Open items in this order", lines),
            _ours("what to open", " ".join(word for word in (fills, load) if word)),
            _ours("what to delegate", SAVE if fills else ""),
        ),
    )


def _ours(name: str, words: str) -> Block:
    return Block(units_of(words), rank_of("context"), name)


def _amount(advised: TakeOn, inputs: PromptInput) -> str:
    fit = len(advised.fitting)
    if not fit:
        return ""
    fits = "one item fits" if fit == 1 else f"{fit} items fit"
    then = "the first" if fit == 1 else f"the first {fit}"
    return (
        f"By their expected sizes, {fits} into {percent(inputs.room)} of a context window. In this "
        f"session, take {then} below, in this order unless one depends on another."
    )


def _split(advised: TakeOn) -> str:
    if not advised.split:
        return ""
    return (
        'An item marked "split it first" does not fit into any window: before you begin it, '
        "replace it in the plan with smaller ones."
    )


def _lines(advised: TakeOn) -> Iterator[str]:
    for text, size in (*advised.fitting, *advised.later):
        low, high = f"{size.low:.0f}", f"{size.high:.0f}"
        takes = high if low == high else f"{low}-{high}"
        yield f"{item(text)} ({size.size}, {takes} % of a window)"
    for text, size in advised.split:
        yield f"{item(text)} ({size.size}: split it first)"
