"""The agent's claims: report line and promise."""

import json
from typing import Any

from ralph_tui.layers.sensor.agent_report import AgentReport, find_report, promised
from tests.rows import each_row


def line(**fields: Any) -> str:
    return json.dumps({"ralph": fields})


def test_the_progress_on_the_open_item() -> None:
    for given, points in ((70, 70.0), (170, 100.0), ("70", None), (None, None)):
        report = find_report(line(item_progress=given))
        assert report
        assert report.item_progress == points
        assert report.event(3).item_progress == points


def test_the_whole_report() -> None:
    text = "Done so far.\n" + line(
        completion=40, summary="half", blockers=["no net"], learnings=["a", "b"], next="continue"
    )

    assert find_report(text) == AgentReport(40.0, "half", ("no net",), ("a", "b"), "continue")


@each_row(
    "text",
    [
        "```json\n" + line(completion=7) + "\n```",
        "I report " + line(completion=7) + " and stop.",
        line(completion=3) + "\n" + line(completion=7),
        line(completion=7) + '\n{"ralph": {"completion": 0-100, "summary": ""}}',
        line(completion=7) + '\n{"ralph": {"completion": 9',
        line(completion=7) + '\n{"ralph": 9}',
        line(completion=7) + '\n{"ralph":' + "[" * 100_000,
        json.dumps({"ralph": {"completion": 7}}, indent=2),
    ],
)
def test_the_last_that_can_be_read_wins(text: str) -> None:
    assert find_report(text) == AgentReport(completion=7.0)


@each_row(
    ("value", "expected"),
    [
        ("-5", 0.0),
        ("250", 100.0),
        ("1e999", None),
        ("99.5", 99.5),
        ("NaN", None),
        ("-Infinity", None),
        ('"80"', None),
        ("true", None),
        ("null", None),
        ("[80]", None),
    ],
)
def test_completion_is_clamped_or_ignored(value: str, expected: float | None) -> None:
    assert find_report('{"ralph": {"completion": ' + value + "}}") == AgentReport(
        completion=expected
    )


def test_wrong_types_are_empty() -> None:
    report = find_report(
        line(summary=3, blockers="one", learnings=[1, "two", None, " "], next=["x"])
    )

    assert report == AgentReport(blockers=("one",), learnings=("two",))


def test_no_report() -> None:
    assert find_report('{"rolf": {"completion": 3}} "ralph"') is None
    assert find_report('{"ralph": ' * 10_000) is None


@each_row(
    ("text", "expected"),
    [
        ("All done. <promise>COMPLETE</promise>", True),
        ("<promise>\n COMPLETE\n</promise>", True),
        ("<promise>complete</promise>", False),
        ("<promise>INCOMPLETE</promise>", False),
        ("<promise>COMPLETE", False),
        ("I promise: COMPLETE", False),
    ],
)
def test_promise(text: str, expected: bool) -> None:  # noqa: FBT001
    assert promised(text) is expected
