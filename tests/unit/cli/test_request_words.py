"""What an agent asks, told and answered from another terminal."""

import argparse
import json
from typing import Any

import pytest

from ralph_tui.cli.commands import decide
from ralph_tui.cli.status_words import question_text
from ralph_tui.errors import UsageError
from tests.world.asking import ASKING


def question(name: str) -> dict[str, Any]:
    """The open question, as the status file has it."""
    found = json.loads(ASKING[name]()[-1].model_dump_json())
    assert isinstance(found, dict)
    return found


def fields(name: str, *words: str) -> dict[str, object]:
    parser = argparse.ArgumentParser()
    decide.add_arguments(parser)
    return decide._fields(question(name), parser.parse_args(words))


def test_what_it_would_do_and_why_is_told_in_full() -> None:
    text = question_text(question("permission_edit"))
    for part in (
        "a subagent of claude asks for Edit: /srv/shared/config.py",
        "it would do:\n  /srv/shared/config.py\n  -DEBUG = True\n  +DEBUG = False\n",
        "why:\n  outside of the project: /srv/shared/config.py",
        "for this session it would allow exactly:\n  files in /srv/shared\n",
        "  refuse TEXT  do not allow it, and tell the agent why",
    ):
        assert part in text


def test_choices_have_numbers() -> None:
    text = question_text(question("choices"))
    assert "1. Which form of quoting shall the parser take?\n  1  Doubled: as in CSV" in text
    assert "2. Which files may change? (several)\n  1  the lexer" in text
    assert "  choose NUMBER…  answer by number" in text


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (("2", "1,3"), [["Escaped"], ["the lexer", "the tests"]]),
        (("both", "1"), [["Both"], ["the lexer"]]),
        (("as Excel does", "3, 3"), [["as Excel does"], ["the tests"]]),
    ],
)
def test_numbers_labels_and_own_words_are_answers(
    said: tuple[str, ...], meant: list[list[str]]
) -> None:
    sent = fields("choices", "choose", *said)
    assert (sent["answer"], sent["choices"]) == ("choose", meant)


@pytest.mark.parametrize(
    ("name", "words", "sentence"),
    [
        ("choices", ("choose", "1"), "it asks 2 questions, and choose was given 1: say ralph-tui"),
        ("choices", ("choose",), "choose was given 0"),
        ("choices", ("choose", "4", "1"), "4: the options have the numbers 1 to 3"),
        ("choices", ("choose", "1,2", "1"), "only one answer can be given to Which form"),
        ("choices", ("choose", " ", "1"), "an answer is empty"),
        ("choices", ("once",), "'once' is no answer to it; say ralph-tui decide choose|leave"),
        ("permission", ("once", "please"), "once takes no text"),
        ("permission", ("refuse", "never", "ever"), "refuse takes one text: put it in quotes"),
        ("permission", ("choose", "1"), "'choose' is no answer to it"),
    ],
)
def test_what_is_no_answer_says_so(name: str, words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        fields(name, *words)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("words", [("refuse",), ("refuse", "not now")])
def test_a_refusal_takes_words_or_none(words: tuple[str, ...]) -> None:
    sent = fields("permission", *words)
    assert (sent["answer"], sent["text"]) == ("refuse", words[1] if words[1:] else "")


def test_hostile_words_are_sanitized() -> None:
    assert "\x1b" not in question_text(question("permission_hostile"))
