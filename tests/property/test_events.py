"""Every event survives its journal line, and all foreign text in it is sanitized."""

import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from annotated_types import Le
from hypothesis import given
from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from ralph_tui import events as ev
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.events.base import Fact
from ralph_tui.state import RunState
from ralph_tui.text.sanitize import one_line, plain, strip_controls
from ralph_tui.text.secrets import redact
from tests.rows import each_row

hostile = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x1b\x07\x9b\r\n\t\x00\u202e\u2066\u200b\ud800[]0;m"),
        st.sampled_from(
            "\u0301\u200d\u200c\ufe0f\ufe00\u034f❤👩क\u0e31\u180b\u1820\u1161\U000e0041"
        ),
    ),
    max_size=60,
)


@st.composite
def events(draw: st.DrawFn) -> ev.Event:
    """Any kind, with hostile words in every text field."""
    event_type = ev.EVENT_TYPES[draw(st.sampled_from(sorted(ev.EVENT_TYPES)))]
    stamps = {"seq": draw(st.integers(1, 10**9)), "at": datetime(2026, 1, 2, 3, tzinfo=UTC)}
    return event_type.model_validate(draw(fields_of(event_type)) | stamps)


@st.composite
def fields_of(draw: st.DrawFn, fact: type[Fact]) -> dict[str, Any]:
    """Values for the fields of an event or of a value inside one."""
    fields: dict[str, Any] = {}
    for name, field in fact.model_fields.items():
        annotation = str(field.annotation)
        if name in ("seq", "at", "kind"):
            continue
        if "ralph_tui" in annotation and not field.is_required():
            continue
        if isinstance(field.annotation, type) and issubclass(field.annotation, Fact):
            fields[name] = draw(fields_of(field.annotation))
        elif "Literal" in annotation or "list" in annotation or "dict" in annotation:
            if field.is_required() and "list" in annotation:
                fields[name] = []
            elif field.is_required():
                fields[name] = _first_literal(field.annotation)
        elif "datetime" in annotation:
            fields[name] = draw(st.datetimes(timezones=st.just(UTC)))
        elif "bool" in annotation:
            fields[name] = draw(st.booleans())
        elif "float" in annotation:
            fields[name] = draw(st.floats(0, _largest(field)))
        elif "int" in annotation:
            fields[name] = draw(st.integers(0, 10**6))
        else:
            fields[name] = draw(hostile)
    return fields


def _largest(field: FieldInfo) -> float:
    return next((float(str(limit.le)) for limit in field.metadata if isinstance(limit, Le)), 100.0)


def _first_literal(annotation: Any) -> Any:
    while not isinstance(annotation, str | int):
        annotation = annotation.__args__[0]
    return annotation


@given(events())
def test_every_event_comes_back_from_its_line(event: ev.Event) -> None:
    line = event.model_dump_json()
    assert "\n" not in line
    assert ev.parse_event(line) == event


@given(events())
def test_no_control_character_is_in_any_event(event: ev.Event) -> None:
    for value in _texts(event.model_dump()):
        assert not [c for c in value if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
        assert "\u202e" not in value


@given(events())
def test_what_is_said_of_any_event_is_clean(event: ev.Event) -> None:
    row = event.row()
    for said in [event.line() or "", *(row or ())]:
        assert not [c for c in said if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert (row is None) or row.text or row.word


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for item in value.values() for text in _texts(item)]
        case list():
            return [text for item in value for text in _texts(item)]
        case _:
            return []


@given(st.lists(events(), max_size=30), st.data())
def test_the_fold_does_not_depend_on_how_events_arrive(
    stream: list[ev.Event], data: st.DataObject
) -> None:
    """And no event, in whatever order, breaks it: a replay may begin anywhere."""
    numbered = [event.model_copy(update={"seq": n}) for n, event in enumerate(stream, 1)]
    cut = data.draw(st.integers(0, len(numbered)))
    at_once = RunState().apply_all(numbered)
    in_parts = RunState().apply_all(numbered[:cut])
    in_parts.apply_all(numbered[cut:])
    assert at_once.seq == in_parts.seq == len(numbered)
    for one, other in zip(at_once.folds(), in_parts.folds(), strict=True):
        assert repr(vars(one)) == repr(vars(other))


@given(
    st.dictionaries(st.text(max_size=8), st.one_of(hostile, st.integers(), st.none()), max_size=5)
)
def test_an_unknown_kind_is_kept_and_clean(fields: dict[str, Any]) -> None:
    import json

    line = json.dumps(
        {**fields, "kind": "of_a_later_version", "seq": 7, "at": "2026-01-01T00:00:00Z"}
    )
    try:
        event = ev.parse_event(line)
    except ValueError:
        return
    assert isinstance(event, ev.UnknownEvent)
    assert event.seq == 7


@given(st.binary(max_size=80))
def test_garbage_is_a_value_error_and_nothing_else(line: bytes) -> None:
    try:
        ev.parse_event(line)
    except ValueError:
        return


@each_row("number", ["NaN", "-Infinity", "1e999"])
def test_a_number_that_is_none_makes_no_event(number: str) -> None:
    line = '{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"wait_ended","iteration":1,"waited_s":%s}'
    ev.parse_event(line % "1.5")
    with pytest.raises(ValueError, match="finite"):
        ev.parse_event(line % number)


@given(hostile)
def test_the_door_is_idempotent_and_keeps_plain_text(text: str) -> None:
    once = plain(text)
    assert strip_controls(once) == once
    assert "\x1b" not in once
    assert "\n" not in one_line(text)
    once.encode()


FILLERS = "\u115f\u1160\u3164\uffa0"
"""Letters by their category, which no terminal shows."""


@given(
    st.text(
        st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters=FILLERS),
        max_size=40,
    )
)
def test_ordinary_text_passes_as_it_is(text: str) -> None:
    assert strip_controls(text) == text


@given(st.integers(0, 100))
def test_any_truncated_journal_still_loads(tmp_path_factory: Any, cut: int) -> None:
    folder: Path = tmp_path_factory.mktemp("journal")
    path = folder / "events.jsonl"
    lines: list[ev.Event] = [
        ev.RunStarted(
            seq=1, run_id="r", root="/r", objective="o", agent="a", max_iterations=1,
            session_timeout_s=1,
        ),
        ev.Paused(seq=2),
        ev.Unpaused(seq=3),
    ]  # fmt: skip
    content = b"".join(event.model_dump_json().encode() + b"\n" for event in lines)
    path.write_bytes(content[: len(content) - cut])
    recording = read_journal(path)
    assert 1 <= len(recording.events) <= 3
    assert recording.torn == (not content[: len(content) - cut].endswith(b"\n"))


SECRETS = (
    "sk-" + "ant-api03-" + "a1B2c3D4" * 5,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2c3" * 6,
    "glpat-" + "a1B2c3D4e5F6g7H8i9",
    "xoxb-" + "123456789012-abcdef",
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + ".c2lnbmF0dXJl",
)


@given(st.sampled_from(SECRETS), st.text(st.characters(categories=["Zs", "Po"]), max_size=5))
def test_credentials_are_hidden_wherever_they_stand(secret: str, around: str) -> None:
    assert secret not in redact(f"{around} {secret} {around}")
    assert secret not in redact(f'{{"key": "{secret}"}}')


@given(st.sampled_from(["Authorization: Bearer {}", "API_KEY={}", "password: {}", '"token": "{}"']))
def test_what_is_named_a_secret_is_hidden(form: str) -> None:
    assert "hunter2hunter2" not in redact(form.format("hunter2hunter2"))


def test_prose_about_tokens_stays_readable() -> None:
    words = "the tokenizer has 3 tokens; the secret of a good test is that it can fail"
    assert redact(words) == words


def test_a_path_of_that_name_is_no_password() -> None:
    words = "cat: /etc/passwd: Permission denied"
    assert redact(words) == words
