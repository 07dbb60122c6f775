"""Transcripts: recorded ones of Claude Code, hostile ones, and very large ones."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.hooks.program.transcript import FIRST_BYTES, MAX_BYTES, read_activity, summarize
from tests.examples import FEWER
from tests.paths import ROOT
from tests.rows import each_row
from tests.unit.layers.context.test_state_file import JSON

RECORDED = ROOT / "tests" / "fixtures" / "hooks"


def assistant(
    tokens: object, at: str = "2026-01-07T11:00:00.000Z", **more: object
) -> dict[str, object]:
    usage = {"input_tokens": tokens, "output_tokens": 1}
    message = {"id": "m" + at, "model": "claude-sonnet-5-5", "usage": usage, "content": []}
    return {"type": "assistant", "timestamp": at, "message": message, **more}


def test_after_a_compaction_the_window_counts_anew() -> None:
    heard = read_activity(RECORDED / "compacted.jsonl")
    ((before, after, trigger),) = heard.compactions
    assert (before, after, trigger) == (500033, 639, "auto")
    assert heard.tokens == 990_012
    upto = (RECORDED / "compacted.jsonl").read_text().split('"subtype": "compact_boundary"')[0]
    lines = (RECORDED / "compacted.jsonl").read_text().splitlines()[: upto.count("\n") + 1]
    assert summarize(map(json.loads, lines)).tokens == 639


def test_a_tool_that_failed_has_its_words() -> None:
    heard = read_activity(RECORDED / "failing_tools.jsonl")
    assert [(call.tool, call.ok) for call in heard.calls] == [("Bash", False), ("Read", False)]
    assert heard.calls[0].result == "Exit code 3"
    assert heard.words == "done"
    assert (heard.tokens, heard.model, heard.version) == (12_412, "claude-sonnet-5-5", "2.1.197")
    assert len(heard.messages) == 3


def test_a_refusal_of_the_service_has_its_kind() -> None:
    heard = read_activity(RECORDED / "refused.jsonl")
    assert heard.api_error == "authentication_failed"
    assert heard.tokens is None


def test_a_subagent_does_not_fill_the_window() -> None:
    assert read_activity(RECORDED / "subagent.jsonl").tokens == 12_412
    entries = [assistant(5000), assistant(90_000, isSidechain=True)]
    assert summarize(entries).tokens == 5000


def test_what_the_program_says_itself_uses_nothing() -> None:
    entry = assistant(0)
    entry["message"] = {
        "model": "<synthetic>",
        "content": [{"type": "text", "text": "Interrupted"}],
    }
    heard = summarize([assistant(5000), entry])
    assert (heard.tokens, heard.api_error) == (5000, "")


@each_row("odd", [0, -5, "many", None, True, 1.5, 10**30, [], {}])
def test_a_number_of_no_use_leaves_the_last_one(odd: object) -> None:
    assert summarize([assistant(5000), assistant(odd)]).tokens == 5000
    assert summarize([assistant(odd)]).tokens is None


def test_usage_may_go_backwards() -> None:
    assert summarize([assistant(150_000), assistant(90_000)]).tokens == 90_000


def test_only_what_is_new_is_told_again() -> None:
    early, late = "2026-01-07T11:00:00.000Z", "2026-01-07T11:00:05.000Z"
    heard = summarize([assistant(5000, early), assistant(6000, late)], since=early)
    assert heard.messages == (("m" + late, 6001),)
    assert heard.last_at == late


@FEWER
@given(st.lists(JSON | st.dictionaries(st.sampled_from(
    ["type", "subtype", "message", "timestamp", "isSidechain", "compactMetadata", "error",
     "isApiErrorMessage", "version"]), JSON | st.sampled_from(["assistant", "user", "system",
     "compact_boundary"])), max_size=6), st.text(max_size=3))  # fmt: skip
def test_whatever_stands_in_it_is_heard(entries: list[object], since: str) -> None:
    heard = summarize((entry for entry in entries if isinstance(entry, dict)), since)
    assert heard.tokens is None or heard.tokens > 0


MESSAGE = st.fixed_dictionaries(
    {"type": st.sampled_from(["assistant", "user"])},
    optional={
        "timestamp": JSON,
        "message": st.fixed_dictionaries(
            {},
            optional={
                "id": JSON,
                "model": JSON,
                "usage": JSON,
                "content": JSON
                | st.lists(
                    st.fixed_dictionaries(
                        {"type": st.sampled_from(["tool_use", "tool_result", "text"])},
                        optional=dict.fromkeys(
                            ("id", "tool_use_id", "name", "input", "content", "text"), JSON
                        ),
                    ),
                    max_size=3,
                ),
            },
        ),
    },
)


@FEWER
@given(st.lists(MESSAGE, max_size=6))
def test_whatever_a_message_holds_is_heard(entries: list[dict[str, object]]) -> None:
    heard = summarize(entries)
    assert all(isinstance(call.result, str) for call in heard.calls)


def test_lines_that_are_none_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    good = json.dumps(assistant(5000)).encode()
    deep = b'{"a":' + b"[" * 5000
    path.write_bytes(b"\xff\x00\n" + deep + b"\n[1]\n" + good + b"\n{torn")
    assert read_activity(path).tokens == 5000


def test_more_is_read_where_the_end_is_one_long_answer(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    long = json.dumps({"type": "user", "message": {"content": "x" * (3 * FIRST_BYTES)}})
    path.write_text(json.dumps(assistant(5000)) + "\n" + long + "\n")
    assert read_activity(path).tokens == 5000


def test_what_lies_further_back_is_not_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        file.write(json.dumps(assistant(5000)).encode() + b"\n")
        file.truncate(20 * MAX_BYTES)  # sparse: it takes no disk space
    assert read_activity(path).tokens is None


def test_a_fifo_in_its_place_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.jsonl")
    with pytest.raises(OSError, match="FIFO"):
        read_activity(tmp_path / "t.jsonl")
