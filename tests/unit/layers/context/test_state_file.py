"""The state file: keeps others' data, ignores useless values, and reads back."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.layers.context.state_file import (
    CHECKPOINT,
    ENDED,
    FIELDS,
    Checkpoint,
    Circuit,
    FileInProgress,
    State,
    checkpoint_of,
    circuit_of,
    content_of,
    fresh,
    has_ended,
    parse,
    read,
    todo_of,
    with_checkpoint,
    with_circuit,
    with_peak,
    without_checkpoint,
)
from tests.examples import FEWER
from tests.rows import each_row

BEGAN = datetime(2026, 1, 7, tzinfo=UTC)
FULL = {
    "task_name": "Migrate Jest to Vitest",
    "objective": "Convert all test files from Jest to Vitest",
    "iteration": 5,
    "started_at": "2026-01-07T00:00:00Z",
    "status": "running",
    "no_change_count": 0,
    "last_diff_hash": "abc123",
    "error_hashes": [],
    "max_iterations": 50,
    "completion_promise": "COMPLETE",
    "todo_items": ["Item 3", "Item 4"],
    "completed_items": ["Item 1", "Item 2"],
    "context_checkpoint": {
        "active": True,
        "level": "L2",
        "percent_at_checkpoint": 87,
        "timestamp": "2026-01-07T11:45:00Z",
        "handoff_file": ".claude/handoffs/2026-01-07-1145.md",
        "resume_summary": "Implementing OAuth callback handler",
        "files_in_progress": [
            {"path": "src/auth/oauth.ts", "lines": "45-120", "description": "OAuth callback"}
        ],
        "current_todo_item": "Implement OAuth callback",
        "progress_on_item": "70%",
    },
    "context_history": [
        {"iteration": 1, "peak_percent": 45, "checkpoint": False},
        {"iteration": 5, "peak_percent": 87, "checkpoint": True},
    ],
}
CHECKPOINT_TAKEN = Checkpoint(
    level="L2",
    percent_at_checkpoint=87,
    timestamp="2026-01-07T11:45:00Z",
    handoff_file=".claude/handoffs/2026-01-07-1145.md",
    resume_summary="Implementing OAuth callback handler",
    files_in_progress=(FileInProgress("src/auth/oauth.ts", "45-120", "OAuth callback"),),
    current_todo_item="Implement OAuth callback",
    progress_on_item="70%",
)

LEAF = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.just("\ud800"),
    st.sampled_from([*FIELDS, *CHECKPOINT, "L2", "path", "iteration"]),
)
KEYS = st.one_of(
    st.text(max_size=4),
    st.sampled_from([*FIELDS, *CHECKPOINT, "iteration", "peak_percent", "path"]),
)
JSON = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)
STATES = st.one_of(
    st.dictionaries(KEYS, JSON, max_size=10),
    st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)),
    st.builds(lambda name, value: FULL | {name: value}, st.sampled_from([*FIELDS]), JSON),
)


def as_json(value: object) -> str:
    """Make values comparable, also those that are not numbers."""
    return json.dumps(value, sort_keys=True)


def test_a_whole_file_is_read_as_it_is() -> None:
    found = read(FULL)
    assert found.problems == ()
    assert found.state == FULL
    assert checkpoint_of(found.state) == CHECKPOINT_TAKEN


def test_a_fresh_one_has_every_field() -> None:
    state = fresh(objective="Fix the tests\nall", started_at=BEGAN, max_iterations=7)
    assert state.keys() == FULL.keys()
    assert read(state) == read({**state})
    assert read(state).problems == ()
    assert (state["task_name"], state["iteration"], state["max_iterations"]) == (
        "Fix the tests",
        1,
        7,
    )
    assert state["started_at"] == "2026-01-07T00:00:00Z"
    assert checkpoint_of(state) is None


@each_row(
    ("name", "value", "used"),
    [
        ("iteration", "five", 1),
        ("iteration", -1, 1),
        ("iteration", float("inf"), 1),
        ("iteration", True, 1),
        ("max_iterations", 0, 50),
        ("completion_promise", ["COMPLETE"], "COMPLETE"),
        ("status", 1, "running"),
        ("error_hashes", "a", []),
        ("error_hashes", ["a", 1], ["a"]),
        ("context_checkpoint", [1], {}),
        ("context_history", [FULL["context_history"][0], 7], [FULL["context_history"][0]]),  # type: ignore[index]
    ],
)
def test_a_value_of_no_use_is_replaced_and_named(name: str, value: object, used: object) -> None:
    found = read(FULL | {name: value})
    assert found.state == FULL | {name: used}
    (problem,) = found.problems
    assert f"`{name}`" in problem


def test_parts_of_a_checkpoint_that_are_of_no_use_are_named() -> None:
    found = read({"context_checkpoint": {"active": "yes", "level": "L7", "mine": 1}})
    assert found.problems == ("parts of `context_checkpoint` are invalid: replaced",)
    assert found.state["context_checkpoint"]["level"] == "L2"
    assert found.state["context_checkpoint"]["mine"] == 1
    assert checkpoint_of(found.state) is None


@each_row("content", [b"", b"[]", b"null", b"{", b"\xff\x00", b'"x"', b"[" * 5000, b'{"a":' * 200])
def test_what_is_no_object_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(content)


@FEWER
@given(STATES)
def test_whatever_it_holds_it_can_be_used_and_nothing_of_others_is_lost(fields: State) -> None:
    state = read(fields).state
    others = {name: value for name, value in fields.items() if name not in FIELDS}
    assert as_json({name: state[name] for name in others}) == as_json(others)
    assert state.keys() == FIELDS.keys() | fields.keys()
    again = parse(content_of(state))
    assert as_json(again.state) == as_json(state)
    assert again.problems == ()
    has_ended(state)
    todo_of(state)
    checkpoint_of(state)
    assert isinstance(circuit_of(state).tripped, str)
    peaked = with_peak(state, 50.5)["context_history"][-1]
    assert peaked["iteration"] == state["iteration"]
    assert peaked["peak_percent"] >= 50
    taken = with_checkpoint(state, CHECKPOINT_TAKEN)
    assert checkpoint_of(taken) == CHECKPOINT_TAKEN
    assert taken["context_history"][-1]["checkpoint"] is True
    assert read(taken).problems == ()
    assert checkpoint_of(without_checkpoint(taken)) is None
    assert without_checkpoint(taken)["context_checkpoint"]["handoff_file"]


@FEWER
@given(STATES, st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["", "x"])), max_size=5))
def test_the_circuit_breaker_goes_through_the_file(
    fields: State, results: list[tuple[str, str]]
) -> None:
    circuit = Circuit()
    state = with_circuit(read(fields).state, circuit)
    for result in results:
        circuit = circuit.after(*result)
        state = parse(content_of(with_circuit(state, circuit_of(state).after(*result)))).state
    assert circuit_of(state) == circuit


def test_peaks_are_those_of_a_session() -> None:
    state = read({"iteration": 2}).state
    for percent in (10.0, 62.9, 40.0):
        state = with_peak(state, percent)
    state = with_peak(state, 5, new_session=True)
    state = with_peak(state | {"iteration": 3}, 7)
    history: list[dict[str, Any]] = state["context_history"]
    assert [(entry["iteration"], entry["peak_percent"]) for entry in history] == [
        (2, 62),
        (2, 5),
        (3, 7),
    ]


def test_what_goes_on_after_a_checkpoint_raises_its_peak() -> None:
    state = with_checkpoint(read({"iteration": 2}).state, CHECKPOINT_TAKEN)
    state = with_peak(state, 91)
    assert state["context_history"] == [{"iteration": 2, "peak_percent": 91, "checkpoint": True}]


@each_row(
    ("items", "todo"),
    [([], ""), (["", " a "], "a"), ([7, {"title": "b", "points": 3}], "b"), ([{"text": 1}], "")],
)
def test_the_item_that_is_worked_on(items: list[object], todo: str) -> None:
    found = read({"todo_items": items})
    assert todo_of(found.state) == todo
    assert found.state["todo_items"] == items


@each_row("status", sorted(ENDED))
def test_a_loop_that_has_ended(status: str) -> None:
    assert has_ended(read({"status": status}).state)
    assert not has_ended(read({"status": "mine"}).state)
