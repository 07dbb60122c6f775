"""Prompts of whole runs, word for word; `golden_prompts` rewrites them."""

import pytest

from ralph_tui.layers.intelligence.budget import estimate_tokens
from tests.prompt_reading import check_prompt
from tests.unit.loop.golden_prompts import CASES, GOLDEN


@pytest.mark.parametrize("name", CASES)
def test_a_prompt_reads_as_it_was_judged_to_read_well(name: str) -> None:
    assert CASES[name]() == (GOLDEN / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("name", CASES)
def test_a_prompt_repeats_nothing_and_contradicts_itself_nowhere(name: str) -> None:
    check_prompt((GOLDEN / f"{name}.md").read_text("utf-8"))


def test_each_kept_prompt_belongs_to_a_case() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)


def test_the_one_that_is_too_long_keeps_its_budget() -> None:
    text = (GOLDEN / "all_of_it_at_budget_1000.md").read_text("utf-8")
    assert 900 < estimate_tokens(text) <= 1000
