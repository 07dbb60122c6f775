"""An agent's questions, shown and answered on another terminal."""

import argparse
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.processes.lineage import process_start
from ralph_tui.adapters.records.lock import Owner
from ralph_tui.adapters.records.runs import RecordedRun
from ralph_tui.base.errors import RalphError, UsageError
from ralph_tui.cli import answering
from ralph_tui.cli.commands import decide
from ralph_tui.cli.live import LiveRun
from ralph_tui.cli.question_words import question_text
from tests.rows import each_row
from tests.world.asking import ASKING


def question(name: str) -> dict[str, Any]:
    """The open question from the status file."""
    found = json.loads(ASKING[name]()[-1].model_dump_json())
    assert isinstance(found, dict)
    return found


def fields(name: str, *words: str) -> dict[str, object]:
    parser = argparse.ArgumentParser()
    decide.add_arguments(parser)
    return answering._command_fields(question(name), parser.parse_args(words))


def test_what_it_would_do_and_why_is_told_in_full() -> None:
    text = question_text(question("permission_edit"))
    for part in (
        "a subagent of claude asks for Edit: /srv/shared/config.py",
        "request:\n  /srv/shared/config.py\n  -DEBUG = True\n  +DEBUG = False\n",
        "reason:\n  outside the project: /srv/shared/config.py",
        "allowing it for this session permits:\n  files in /srv/shared\n",
        "  refuse TEXT  do not allow it, and give the agent a reason",
    ):
        assert part in text


def test_choices_have_numbers() -> None:
    text = question_text(question("choices"))
    assert "1. Which form of quoting shall the parser take?\n  1  Doubled: as in CSV" in text
    assert "2. Which files may change? (several)\n  1  the lexer" in text
    assert "  choose NUMBER…  answer by number" in text


@each_row(
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


class Listening:
    """A run that accepts every answer."""

    name = "task-001/001"

    def request(self, name: str, **fields: object) -> int:
        return 1


def test_the_choice_that_was_sent_is_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    asked, parser = question("choices"), argparse.ArgumentParser()
    decide.add_arguments(parser)
    args = parser.parse_args(["choose", "2", "1,3", "--question", str(asked["question_id"])])
    assert answering.answer_question(Listening(), asked, args) == 0
    shown = 'task-001/001: answered choose: "Escaped; the lexer, the tests" ('
    assert capsys.readouterr().out.startswith(shown)


@each_row(
    ("name", "words", "sentence"),
    [
        ("choices", ("choose", "1"), "the agent asks 2 questions, but you gave 1; use ralph-tui"),
        ("choices", ("choose",), "but you gave 0"),
        ("choices", ("choose", "4", "1"), "4: choose an option from 1 to 3"),
        ("choices", ("choose", "1,2", "1"), "choose only one answer for Which form"),
        ("choices", ("choose", " ", "1"), "empty answer to"),
        ("choices", ("once",), "'once' is not a valid answer; use ralph-tui decide choose|leave"),
        ("permission", ("once", "please"), "once takes no text"),
        ("permission", ("refuse", "never", "ever"), "refuse takes a single text; put it in quotes"),
        ("permission", ("choose", "1"), "'choose' is not a valid answer"),
    ],
)
def test_what_is_no_answer_says_so(name: str, words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        fields(name, *words)
    assert sentence in str(refusal.value)


@each_row("words", [("refuse",), ("refuse", "not now")])
def test_a_refusal_takes_words_or_none(words: tuple[str, ...]) -> None:
    sent = fields("permission", *words)
    assert (sent["answer"], sent["text"]) == ("refuse", words[1] if words[1:] else "")


def test_hostile_words_are_sanitized() -> None:
    assert "\x1b" not in question_text(question("permission_hostile"))


def decided(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], *words: str, typed: str | None = None
) -> tuple[int, list[dict[str, object]]]:
    """Run ``decide`` while this is open (`typed`: at a terminal); return exit code and messages."""
    sent: list[dict[str, object]] = []
    status: Any = {"question": asked}
    live = LiveRun(RecordedRun(Path("/r/attempts/events.jsonl")), Owner(), status)
    monkeypatch.setattr(decide, "find_live", lambda _: live)
    monkeypatch.setattr(LiveRun, "request", lambda _, name, **fields: sent.append(fields))
    there = io.StringIO(typed or "")
    there.isatty = lambda: typed is not None  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", there)
    parser = argparse.ArgumentParser()
    decide.add_arguments(parser)
    parser.set_defaults(run=None)
    return decide.run(parser.parse_args(words)), sent


def shown(name: str = "permission", *, later_s: float = -60) -> dict[str, Any]:
    at = process_start() + timedelta(seconds=later_s)
    return question(name) | {"question_id": "1f3a7c55-0000", "at": at.isoformat()}


@pytest.mark.parametrize(
    "words", [("refuse", "B says no"), ("once",), ("session", "--question", "77777777")]
)
def test_what_came_after_the_command_began_is_not_answered_by_it(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    with pytest.raises(
        RalphError, match=r"changed; your answer was not sent.*git push origin main"
    ):
        decided(monkeypatch, shown(later_s=0.05), *words, typed="y\n")


def test_who_names_the_question_answers_it_whenever_it_was_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ("once", "--question", "1f3a7c55")
    code, sent = decided(monkeypatch, shown(later_s=0.05), *words)
    assert (code, sent[0]["question_id"]) == (0, "1f3a7c55-0000")


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1), ("", 1)])
def test_who_allows_something_unnamed_is_shown_it_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, code: int
) -> None:
    done, sent = decided(monkeypatch, shown(), "session", typed=typed)
    out, err = capsys.readouterr()
    assert (done, len(sent)) == (code, 1 - code)
    assert "git push origin main" in out
    assert "session: allow it for this session: Bash(git push *)? [y/N]" in err


def test_nobody_allows_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="decide once --question 1f3a7c55"):
        decided(monkeypatch, shown(), "once")


def test_what_was_heard_is_what_was_said_and_of_what(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    decided(monkeypatch, shown(), "refuse", "open a pull request")
    heard = 'refuse: "open a pull request" (claude asks for Bash: git push origin main)'
    assert heard in capsys.readouterr().out


def test_where_nobody_answers_a_choice_the_agent_decides() -> None:
    assert "if you do not answer: lets the agent decide in" in question_text(
        question("choices") | {"deadline": (datetime.now(UTC) + timedelta(seconds=99)).isoformat()}
    )
