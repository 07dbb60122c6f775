"""The evaluation set for retrieval, committed before the code it measures.

Two halves share no task: one is for tuning, the other for reported results.
"""

import json
import re
from collections import Counter
from typing import Any

from tests.paths import FIXTURES

TASKS: list[dict[str, Any]] = json.loads((FIXTURES / "search" / "tasks.json").read_text("utf-8"))
BY_ID = {task["id"]: task for task in TASKS}
FUNCTION_WORDS = """
a about above after again all an and any are as ask at be because been before but by cannot
could did do does each every for from had has have how in into is it its itself me mine my
no not nothing of on once one or other others our out over own please s shall so than that
the their them they this those to too twice until up us use user users using was we were
what when where which while who why will with without you your
"""


def content_words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower())) - set(FUNCTION_WORDS.split())


def same_word(one: str, other: str) -> bool:
    """True for words that are equal or so similar that a stemmer could merge them."""
    shared = min(len(one), len(other), 5)
    return one == other or (shared >= 4 and one[:shared] == other[:shared])


def share_a_word(one: str, other: str) -> bool:
    return any(same_word(a, b) for a in content_words(one) for b in content_words(other))


def without_shared_words(tasks: list[dict[str, Any]]) -> list[str]:
    return [
        task["id"]
        for task in tasks
        if not any(share_a_word(task["text"], BY_ID[match]["text"]) for match in task["matches"])
    ]


def test_at_least_60_tasks_in_8_families() -> None:
    assert len(TASKS) >= 60
    assert len(BY_ID) == len(TASKS) == len({task["text"] for task in TASKS})
    assert len({task["family"] for task in TASKS}) == 8


def test_every_task_has_matches_that_match_it_too() -> None:
    for task in TASKS:
        assert task["matches"]
        for match in task["matches"]:
            assert task["id"] in BY_ID[match]["matches"]
            assert task["family"] == BY_ID[match]["family"]


def test_half_of_each_family_is_held_out_and_no_match_crosses() -> None:
    held_out = Counter(task["family"] for task in TASKS if task["held_out"])
    tuned = Counter(task["family"] for task in TASKS if not task["held_out"])
    assert held_out == tuned
    for task in TASKS:
        assert all(BY_ID[match]["held_out"] == task["held_out"] for match in task["matches"])


def test_many_share_no_content_word_with_any_match() -> None:
    assert len(without_shared_words(TASKS)) >= 40
    for half in (True, False):
        tasks = [task for task in TASKS if task["held_out"] is half]
        assert len(without_shared_words(tasks)) >= 20, half
