"""System context: appended to Claude Code's own, or placed before the prompt."""

from pathlib import Path

from ralph_tui.adapters.agents.claude.program import LONGEST_CONTEXT, Program
from ralph_tui.layers.intelligence.system_context import system_context
from ralph_tui.ports.agents import Turn

FLAG = "--append-system-prompt"


def turn(context: str) -> Turn:
    return Turn(1, "the prompt", "s", Path("t"), Path("e"), "pytest", system_context=context)


def test_it_goes_on_the_command_line_as_one_argument() -> None:
    for context in (system_context("pytest -q"), system_context("")):
        line = Program("claude", (2, 1, 197)).session(turn(context), None)
        assert line[line.index(FLAG) + 1] == context
        assert "the prompt" not in line
        assert len(context) < 2000


def test_without_one_the_flag_is_not_there() -> None:
    assert FLAG not in Program("claude", (2, 1, 197)).session(turn(""), None)


def test_a_program_that_does_not_know_it_and_one_that_is_too_long_get_it_before_the_prompt() -> (
    None
):
    old = Program("claude", (1, 0, 61), frozenset({"--output-format"}))
    long = turn("é" * LONGEST_CONTEXT)
    assert not old.fits_context(turn("context"))
    assert not Program("claude", (2, 1, 197)).fits_context(long)
    assert FLAG not in old.session(turn("context"), None)
    assert turn("context\n").whole_prompt == "context\n\nthe prompt"
    assert turn("").whole_prompt == "the prompt"
