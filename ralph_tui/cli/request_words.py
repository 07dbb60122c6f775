"""Format an agent's request for commands in another terminal, and parse answers by number."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ralph_tui.adapters.records.run_status import Question
from ralph_tui.base.errors import UsageError
from ralph_tui.text.format import count
from ralph_tui.text.sanitize import clip, one_line, plain
from ralph_tui.text.terms import WHY, WOULD_ALLOW, WOULD_DO

_NUMBERS = re.compile(r"\d{1,3}(?:\s*,\s*\d{1,3})*")


def short_id(question: Question) -> str:
    """Return a prefix of the id that identifies one of a run's few questions."""
    return one_line(question["question_id"])[:8]


def question_option(question: Question) -> str:
    """Return the option that names the question, if an agent is waiting for the answer."""
    return f" --question {short_id(question)}" if question.get("request") else ""


def request_text(question: Question) -> Iterator[str]:
    """Yield the agent's questions or, for a permission request, the action, its reason and rule."""
    request = question.get("request")
    if not request:
        return
    choices = request["choices"]
    for number, one in enumerate(choices, 1):
        prefix = f"{number}. " if len(choices) > 1 else ""
        several = " (several)" if one["multiple"] else ""
        yield from ("", f"{prefix}{plain(one['question'])}{several}")
        for place, option in enumerate(one["options"], 1):
            about = f": {one_line(option['description'])}" if option["description"] else ""
            yield f"  {place}  {one_line(option['label'])}{about}"
    if choices:
        answers = count(len(choices), "answer")
        yield from ("", f"choose takes {answers}: a number, several (1,3), or your own words")
        return
    blocks = {WOULD_DO: request["input"], WHY: request["why"], WOULD_ALLOW: request["rule"]}
    for head, text in blocks.items():
        if text:
            yield from ("", f"{head}:", *(f"  {line}" for line in plain(text).splitlines()))


def parse_choices(question: Question, texts: Sequence[str]) -> list[list[str]]:
    """Return the chosen labels, or the user's own words, for each question in order.

    Raises ``UsageError`` for too few or too many answers, or an unknown number.
    """
    questions = question["request"]["choices"]
    if len(texts) != len(questions):
        raise UsageError(
            f"the agent asks {count(len(questions), 'question')}, but you gave {len(texts)}; "
            f"use ralph-tui decide choose {' '.join(['NUMBER'] * len(questions))}"
        )
    return [_parse_labels(one, text) for one, text in zip(questions, texts, strict=True)]


def _parse_labels(one: dict[str, Any], text: str) -> list[str]:
    labels = [str(option["label"]) for option in one["options"]]
    text = plain(text).strip()
    if not text:
        raise UsageError(f"empty answer to: {clip(one_line(one['question']), 60)}")
    if not _NUMBERS.fullmatch(text):
        same = [label for label in labels if label.lower() == text.lower()]
        return same[:1] or [text]
    numbers = list(dict.fromkeys(int(part) for part in text.split(",")))
    if not all(1 <= number <= len(labels) for number in numbers):
        raise UsageError(f"{text}: choose an option from 1 to {len(labels)}")
    if len(numbers) > 1 and not one["multiple"]:
        raise UsageError(f"{text}: choose only one answer for {one_line(one['question'])}")
    return [labels[number - 1] for number in numbers]
