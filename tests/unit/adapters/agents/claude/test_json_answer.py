"""Parse answers to one-shot questions out of arbitrary output."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.agents.claude.one_shot import find_object, read_answer
from tests.rows import each_row

RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": '{"a": 1}',
    "total_cost_usd": 0.25,
    "usage": {"input_tokens": 10, "output_tokens": 5},
    "modelUsage": {"m": {"inputTokens": 100, "outputTokens": 20}},
}


@each_row(
    "printed",
    [
        json.dumps(RESULT),
        json.dumps([{"type": "system"}, RESULT]),
        '{"type": "system"}\nwarning: x\n' + json.dumps(RESULT),
        json.dumps({**RESULT, "result": "", "structured_output": {"a": 1}}),
    ],
)
def test_the_envelope_is_taken_off(printed: str) -> None:
    asked = read_answer(printed)
    assert (asked.answer, asked.error, asked.cost_usd, asked.tokens) == ({"a": 1}, "", 0.25, 120)


@each_row(
    ("printed", "error"),
    [
        ("", "It printed nothing."),
        ("<html>", "It printed no result, but: <html>"),
        ('{"type": "x"}', 'It printed no result, but: {"type": "x"}'),
        (json.dumps({**RESULT, "result": "no"}), "The answer contains no JSON object: no"),
        (
            json.dumps({**RESULT, "is_error": True, "result": "broken"}),
            "The agent reported a failure: broken",
        ),
    ],
)
def test_without_an_answer_there_is_a_reason(printed: str, error: str) -> None:
    asked = read_answer(printed)
    assert (asked.answer, asked.error) == (None, error)


@each_row(
    "words",
    [
        '{"a": {"b": [1]}}',
        '```json\n{"a": {"b": [1]}}\n```',
        'Here {you} go:\n```\n{"a": {"b": [1]}}\n```\nDone {}.',
        'It is {"a": {"b": [1]}} as I said.',
    ],
)
def test_an_object_is_found_in_words(words: str) -> None:
    assert find_object(words) == {"a": {"b": [1]}}


@given(st.text(alphabet='{}[]"a:1,`\n json') | st.text())
def test_any_words_are_searched(words: str) -> None:
    found = find_object(words)
    assert found is None or isinstance(found, dict)
    assert find_object(f"```json\n{json.dumps({'a': words})}\n```") == {"a": words}


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_any_result_is_read(value: object) -> None:
    for name in ("is_error", "result", "usage", "modelUsage", "total_cost_usd", "errors"):
        asked = read_answer(json.dumps({**RESULT, name: value}))
        assert asked.answer is not None or asked.error
        assert asked.tokens >= 0
