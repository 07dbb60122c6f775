"""Our hooks in handwritten settings: inserted, found, and removed again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.hooks import settings
from ralph_tui.hooks.project import FOLDER
from ralph_tui.hooks.settings import (
    EVENTS,
    add_hooks,
    are_hooks_off,
    count_others,
    find_hooks,
    hook_command,
    remove_hooks,
)
from ralph_tui.text.foreign_json import parse_json_at
from tests.rows import each_row

FOUR = """\
{
    "permissions": {"allow": ["Bash(git *)", "Read"], "deny": []},
    "hooks": {
        "PostToolUse": [
            {
                "matcher": "Edit|Write",
                "hooks": [{"type": "command", "command": "ruff format"}]
            }
        ]
    },
    "model": "opus"
}
"""
LAYOUTS = [
    FOUR,
    '{\n  "model": "opus"\n}\n',
    '{\n\t"model": "opus",\n\t"env": {"A": "ü \\u00e9"}\n}',
    '{"model": "opus"}',
    '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}\n',
    '{\r\n  "model": "opus"\r\n}\r\n',
    '\n\n{ "model" : 1.0 ,\n  "big": 1e400, "twice": 1, "twice": 2 }\n',
]
OURS = {event: hook_command(word) for event, word in EVENTS.items()}


@each_row("text", LAYOUTS)
def test_they_are_put_there_once_and_taken_out_to_the_byte(text: str) -> None:
    merged = add_hooks(text)
    assert find_hooks(merged) == OURS
    assert add_hooks(merged) == merged
    assert remove_hooks(merged) == text
    assert count_others(merged) == count_others(text)


def test_the_form_is_that_of_the_user() -> None:
    added = [line for line in add_hooks(FOUR).splitlines() if line not in FOUR.splitlines()]
    assert {len(line) - len(line.lstrip()) for line in added} <= {8, 12, 16, 20, 24}
    assert add_hooks('{\r\n "a": 1\r\n}').count("\r\n") == add_hooks('{\n "a": 1\n}').count("\n")
    assert "\n" not in add_hooks('{"a": 1}')


def test_of_nothing_a_whole_file_is_made() -> None:
    for nothing in ("", "\n", "{}"):
        merged = add_hooks(nothing)
        data = json.loads(merged)
        assert list(data) == ["hooks"]
        assert data["hooks"]["PostToolUse"] == [
            {
                "matcher": "*",
                "hooks": [{"type": "command", "command": OURS["PostToolUse"], "timeout": 30}],
            }
        ]
        assert "matcher" not in data["hooks"]["Stop"][0]
        assert json.loads(remove_hooks(merged)) == {}
    assert add_hooks("") == json.dumps(json.loads(add_hooks("")), indent=2) + "\n"


def test_what_the_owner_made_of_our_hook_stays_his_and_still_goes_with_it() -> None:
    merged = add_hooks(FOUR).replace("python3 -I -S", "RALPH_CONTEXT_WINDOW=1000000 python3 -I -S")
    assert add_hooks(merged) == merged
    assert remove_hooks(merged) == FOUR


def test_a_hook_of_ours_that_was_moved_among_others_is_taken_out_alone() -> None:
    hook = {"type": "command", "command": OURS["Stop"]}
    other = {"type": "command", "command": "true"}
    data: dict[str, Any] = {
        "hooks": {"Stop": [{"hooks": [other, hook, other, hook]}, {"hooks": [hook]}]}
    }
    taken = json.loads(remove_hooks(json.dumps(data)))
    assert taken == {"hooks": {"Stop": [{"hooks": [other, other]}]}}


@each_row(
    ("text", "words"),
    [
        ("no json", "it is not valid JSON ("),
        ("[]", "it is not a JSON object"),
        ('"x"', "it is not a JSON object"),
        ("[" * 9000 + "]" * 9000, "nested deeper"),
        ('{"hooks": []}', "its `hooks` is not a JSON object"),
        ('{"hooks": null}', "its `hooks` is not a JSON object"),
        ('{"hooks": {"Stop": {}}}', "its `hooks.Stop` is not a list"),
        ('{"a": 1, // a comment\n}', "it is not valid JSON ("),
    ],
)
def test_settings_of_another_form_are_refused(text: str, words: str) -> None:
    for change in (add_hooks, remove_hooks):
        with pytest.raises(ValueError, match=r".") as refused:
            change(text)
        assert words in str(refused.value)


def test_strange_groups_of_others_are_left_alone() -> None:
    groups = [None, 3, "x", {}, {"hooks": None}, {"hooks": [None, {"command": 3}]}]
    text = json.dumps({"hooks": {"Stop": groups, "Other": {"a": 1}}})
    merged = add_hooks(text)
    assert json.loads(merged)["hooks"]["Stop"][:6] == groups
    assert remove_hooks(merged) == text


def test_that_no_hook_runs_at_all_is_seen() -> None:
    assert are_hooks_off('{"disableAllHooks": true}')
    assert not are_hooks_off('{"disableAllHooks": false}')
    assert not are_hooks_off("")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
commands = st.sampled_from(["true", "ruff", OURS["Stop"], f"nice {FOLDER} stop"])
hooks = st.fixed_dictionaries({"type": st.just("command"), "command": commands})
groups = st.fixed_dictionaries({"hooks": st.lists(hooks, max_size=3)}, optional={"matcher": values})
layouts = st.sampled_from([{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")}])


@given(
    st.dictionaries(st.text(max_size=4), values, max_size=3),
    st.none() | st.dictionaries(st.sampled_from([*EVENTS, "PreToolUse"]), st.lists(groups)),
    layouts,
)
def test_whatever_stands_there_nothing_else_changes(
    others: dict[str, Any], found: dict[str, Any] | None, layout: dict[str, Any]
) -> None:
    data = {**others, **({} if found is None else {"hooks": found})}
    data = {k: v for k, v in data.items() if k != "hooks" or found is not None}
    text = json.dumps(data, **layout)
    merged = add_hooks(text)
    assert set(find_hooks(merged)) >= set(EVENTS)
    assert add_hooks(merged) == merged
    after = json.loads(remove_hooks(merged))
    assert not find_hooks(json.dumps(after))
    assert count_others(json.dumps(after)) == count_others(text)
    assert {k: v for k, v in after.items() if k != "hooks"} == {
        k: v for k, v in data.items() if k != "hooks"
    }
    nothing_empty = found is None or (found and all(found.get(event, [1]) for event in EVENTS))
    if data and nothing_empty and not find_hooks(text):
        assert remove_hooks(merged) == text


@pytest.mark.parametrize("shape", ["one group", "many groups", "mixed", "many events"])
def test_the_work_grows_with_the_file_and_not_faster(
    monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    """Counted in parsed characters: 20,000 hooks took minutes."""
    parsed = 0

    def counted(text: str, start: int) -> tuple[Any, int]:
        nonlocal parsed
        value, end = parse_json_at(text, start)
        parsed += end - start
        return value, end

    monkeypatch.setattr(settings, "parse_json_at", counted)
    own = {"type": "command", "command": hook_command("stop")}
    other = {"type": "command", "command": "true"}
    number = 2_000
    shapes: dict[str, dict[str, Any]] = {
        "one group": {"Stop": [{"hooks": [own] * number}]},
        "many groups": {"Stop": [{"hooks": [own]}] * number},
        "mixed": {"Stop": [{"hooks": [own, other]}] * number},
        "many events": {f"E{place}": [{"hooks": [own]}] for place in range(number)},
    }
    text = json.dumps({"a": 1, "hooks": shapes[shape]}, indent=2)
    left = remove_hooks(text)
    assert find_hooks(left) == {}
    assert parsed < 10 * len(text)
    parsed = 0
    assert remove_hooks(add_hooks(left)) == left
    assert parsed < 20 * len(text)
