"""What a prompt says about how much to take on."""

from ralph_tui.layers.context.sizes import estimate
from ralph_tui.layers.context.window import windows_high
from ralph_tui.layers.intelligence import build_prompt
from ralph_tui.layers.intelligence.budget import whole_text
from ralph_tui.layers.intelligence.material import PromptInput
from ralph_tui.layers.intelligence.take_on_section import take_on_section
from ralph_tui.state.context import ContextUse


def said(*items: str, high: bool = False, fill: bool = False) -> str:
    inputs = PromptInput(
        objective="", command="", iteration=1, max_iterations=1, windows_fill=fill,
        open_items=[(text, estimate(text)) for text in items], windows_high=high,
    )  # fmt: skip
    return take_on_section(inputs).text(whole_text)


def test_without_a_plan_and_with_room_there_is_nothing_to_say() -> None:
    assert said() == ""


def test_a_plan_gives_the_order_the_number_and_what_to_split() -> None:
    text = said("a [simple]", "b [complex]", "c [complex]", "d [very complex]")
    assert "2 items fit into 85 %" not in text
    assert "one item fits into 85 %" in text
    assert "1. b [complex] (complex, 40-60 % of a window)" in text
    assert "4. d [very complex] (very complex: split it first)" in text
    assert "before you begin it, replace it in the plan with smaller ones" in text
    assert "Open a file in full only if you are about to change it" in text
    assert "Read a specification only if the work at hand refers to it." in text
    assert "subagents" not in text
    assert "Open a file in full" not in said()
    for full in (said(high=True), said(fill=True)):
        assert "Open a file in full only if you are about to change it" in full
        assert "Read a specification only if the work at hand refers to it." in full
    assert "Read a specification" not in said()


def test_delegation_is_advised_once_windows_fill_above_60_percent() -> None:
    assert (
        "20 % of a window for exploring files, 15 % for reviewing code, 15 % for going through "
        "test results and 10 % for documentation"
    ) in build_prompt(PromptInput("", "", 1, 9, windows_high=True)).text
    assert not windows_high([ContextUse(1, 60.0)])
    assert windows_high([ContextUse(1, 61.0), *(ContextUse(n, 10.0) for n in range(4))])
    assert not windows_high([ContextUse(1, 61.0), *(ContextUse(n, 10.0) for n in range(5))])


def test_one_item_that_need_not_be_split_needs_no_order() -> None:
    assert "Open items" not in said("a [simple]")
    assert "split it first" in said("a [very complex]")
