"""Foreign JSON: one kind of error, and no value that breaks later code."""

import json

import pytest

from ralph_tui.text.foreign_json import DEEPEST, parse_json, parse_json_at
from tests.rows import each_row


@pytest.mark.parametrize("depth", [DEEPEST + 1, 500, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_what_is_nested_deeply_is_no_json(opening: str, closing: str, depth: int) -> None:
    text = opening * depth + "1" + closing * depth
    with pytest.raises(ValueError, match="nested"):
        parse_json(text)
    with pytest.raises(ValueError, match="nested"):
        parse_json_at(text, 0)
    with pytest.raises(ValueError, match=r"nested|Expecting"):
        parse_json(text[: len(opening) * depth])


def test_what_programs_write_is_read() -> None:
    text = "[" * DEEPEST + "1" + "]" * DEEPEST
    assert json.dumps(parse_json(text), indent=2)
    assert parse_json(b'{"a": "\xff"}') == {"a": "\ufffd"}
    assert parse_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    assert parse_json_at('words {"a": 1} more', 6) == ({"a": 1}, 14)


@each_row("text", ["", "{", '{"a"', "[1,]", "1" * 5000, b"\xff", b"\0"])
def test_anything_else_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)
