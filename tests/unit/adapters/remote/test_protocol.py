"""Parsing of lines on the command socket, from any sender."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.remote.protocol import (
    LIMIT,
    REASON_LIMIT,
    RefusedError,
    accepted_line,
    read_answer,
    refused_line,
    request_line,
)
from ralph_tui.adapters.remote.requests import Request, read_fleet_request, read_request
from ralph_tui.commands import Abort, Answer, Command, Guide, Pause, SetPermissions
from tests.rows import each_row

COMMANDS: list[Command] = [
    Pause(),
    Guide(text="two\nlines ✓"),
    Abort(roll_back_to=3),
    Answer(question_id="q", answer="extend", iterations=5, budget_usd=2.5),
    Answer(question_id="q", answer="choose", choices=(("Blue",), ("S", "an own word"))),
    SetPermissions(mode="skip", allow=("Bash(make:*)",)),
]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["version", "command", "name", "by", "text", "answer"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)

HERE = "the terminal pts/3"


def request(**command: Any) -> bytes:
    return request_line(command)


@each_row("command", COMMANDS)
def test_a_command_arrives_as_it_was_given(command: Command) -> None:
    line = request_line(command.model_dump(mode="json"))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert read_request(line, HERE) == command.model_copy(update={"by": HERE})


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_line_is_a_command_or_one_sentence(line: bytes) -> None:
    try:
        came: Command | str = read_request(line, HERE)
    except ValueError as error:
        came = str(error)
    if isinstance(came, str):
        assert 0 < len(came) < 300
        assert "\n" not in came
    else:
        assert isinstance(came, Command)


@each_row(
    ("line", "words"),
    [
        (b"GET / HTTP/1.1\r\n", "JSON"),
        (b"\xff\xfe\n", "JSON"),
        (b"[" * 100_000 + b"\n", "JSON"),
        (b"[]\n", "object"),
        (b"{}\n", "version"),
        (b'{"version": true, "command": {"name": "pause"}}\n', "version"),
        (b'{"version": 1.0, "command": {"name": "pause"}}\n', "version"),
        (b'{"version": 2, "command": {"name": "pause"}}\n', "version 1"),
        (b'{"version": 1}\n', "unknown command"),
        (b'{"version": 1, "command": "pause"}\n', "unknown command"),
        (b'{"version": 1, "command": {"name": "fly"}}\n', "unknown command"),
        (b'{"version": 1, "command": {"name": "pause"}, "then": 1}\n', "'then'"),
        (request(name="pause", speed=1), "pause.speed"),
        (request(name="guide", text=""), "guide.text"),
        (request(name="guide", text="x" * 100_001), "guide.text"),
        (request(name="answer", question_id="q", answer="a", iterations=-1), "iterations"),
        (b'{"version": 1, "command": {"name": "answer", "budget_usd": NaN}}\n', "JSON"),
        (request(name="pause", by="x" * 20_000), "10,000"),
        (request(name="checkpoint", note="x" * 20_000), "10,000"),
        (request(name="answer", question_id="q", answer="x" * 20_000), "10,000"),
        (request(name="permissions", mode="edits", allow=["x"] * 20_000), "10,000"),
        (request(name="pause\x1b[2J"), "unknown command"),
        (request(name="pause", **{"\x1b[2J": 1}), "pause"),
    ],
)
def test_what_is_wrong_is_said(line: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as caught:
        read_request(line, HERE)
    assert words in str(caught.value)
    assert "\x1b" not in str(caught.value)


@each_row("by", ["you", "the default", "the owner", " ", "x\x1b[2J", None])
def test_what_a_line_says_of_its_giver_counts_for_nothing(by: str | None) -> None:
    fields = {"name": "pause"} if by is None else {"name": "pause", "by": by}
    assert read_request(request_line(fields), HERE).by == HERE


@each_row("character", ["x", "ж", "語", "\U00020000", "\\", '"'])
def test_the_longest_guidance_of_any_language_fits(character: str) -> None:
    text = character * 100_000
    escaped = json.dumps({"version": 1, "command": {"name": "guide", "text": text}}).encode()
    for line in (escaped + b"\n", request(name="guide", text=text)):
        assert len(line) < LIMIT
        command = read_request(line, HERE)
        assert isinstance(command, Guide)
        assert command.text == text


def test_answers() -> None:
    assert read_answer(accepted_line(7)) == 7
    with pytest.raises(RefusedError, match=r"^that question is already closed$"):
        read_answer(refused_line("that question is already closed"))


def test_a_refusal_is_a_short_clean_line_on_both_sides() -> None:
    line = refused_line("no\nno" + "o" * 9999)
    assert line.count(b"\n") == 1
    for wire in (line, b'{"version":1,"refused":"no\\nno\\u001b[2J' + b"o" * 9999 + b'"}\n'):
        with pytest.raises(RefusedError) as caught:
            read_answer(wire)
        assert str(caught.value).startswith("no⏎noo")
        assert len(str(caught.value)) == REASON_LIMIT


@each_row(
    "line",
    [b"ok\n", b"[1]\n", b'{"accepted": 1}\n', b'{"version": 2, "accepted": 1}\n', b'{"version":1}'],
)
def test_what_is_no_answer_is_not_taken_for_one(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_answer(line)


def test_a_request_to_a_fleet_names_a_loop_and_one_to_a_run_cannot() -> None:
    line = request_line({"name": "pause"}, "3a")

    assert read_fleet_request(line, HERE) == Request(Pause(by=HERE), "3a")
    assert read_fleet_request(request_line({"name": "pause"}), HERE).loop == ""
    with pytest.raises(ValueError, match="no field 'loop'"):
        read_request(line, HERE)


@each_row("loop", [3, None, ["2"], "2" * 101])
def test_what_is_no_id_of_a_loop_is_refused(loop: object) -> None:
    line = json.dumps({"version": 1, "command": {"name": "pause"}, "loop": loop}).encode()

    with pytest.raises(ValueError, match="a loop's name has at most 100 characters"):
        read_fleet_request(line, HERE)
