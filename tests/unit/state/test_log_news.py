"""Strategies and validation warnings in the log and plain lines."""

from ralph_tui.events import Event, StrategyPlanned, ValidationDone
from ralph_tui.events.intelligence import Approach, Focus, IssueSeverity, ValidationIssue
from ralph_tui.state import RunState
from tests.lines import plain_line


def planned(k: int, approach: Approach = "persist", focus: Focus = "continue") -> StrategyPlanned:
    return StrategyPlanned(
        iteration=k, approach=approach, focus=focus, reasoning="So it is.", priorities=["a", "b"]
    )


def found(k: int, *names: str, severity: IssueSeverity = "medium") -> ValidationDone:
    issues = [ValidationIssue(severity=severity, name=name, text=f"{name}.") for name in names]
    return ValidationDone(iteration=k, when="after", issues=issues)


def rows(*events: Event) -> list[tuple[str, str, str]]:
    return [(row.level, row.word, row.text) for row in RunState().apply_all(events).log.rows]


def line(event: Event) -> str | None:
    text = plain_line(event)
    return text and text.split(" ", 1)[1]


def test_the_log_tells_a_change_of_strategy_and_no_more() -> None:
    lines = rows(
        planned(1),
        planned(2, focus="finish"),
        planned(3, "pivot", "reframe"),
        planned(4, "pivot", "reframe"),
        planned(5, "pivot", "review"),
        planned(6, "escalate", "review"),
        planned(7),
    )
    assert [text for _, _, text in lines] == [
        "another approach: So it is.",
        "another approach: So it is.",
        "no approach has worked: So it is.",
    ]
    assert {(level, word) for level, word, _ in lines} == {("log", "STRATEGY")}
    (row,) = RunState().apply_all([planned(1, "pivot")]).log.rows
    assert row.detail == "1. a\n2. b"


def test_every_line_tells_its_strategy() -> None:
    assert line(planned(1)) == "strategy continue: So it is."
    assert line(planned(2, "pivot", "blocker_resolution")) == (
        "strategy another approach: So it is."
    )


def test_an_issue_that_stood_in_the_iteration_before_is_not_told_again() -> None:
    lines = rows(found(1, "a"), found(2, "a", "b"), found(4, "a"))
    assert [text for _, _, text in lines] == ["a.", "b.", "a."]


def test_an_issue_is_as_loud_as_it_is_severe() -> None:
    assert [rows(found(1, "a", severity=one))[0][0] for one in ("medium", "high", "critical")] == [
        "log",
        "warn",
        "critical",
    ]


def test_the_number_of_iterations_left_is_a_note_although_its_severity_is_critical() -> None:
    ((level, word, _),) = rows(found(9, "near_limit", severity="critical"))
    assert (level, word) == ("log", "NOTE")
    ((level, _, _),) = rows(
        ValidationDone(
            iteration=9,
            when="before",
            issues=[
                ValidationIssue(severity="critical", name="near_limit", text="The last one."),
                ValidationIssue(severity="high", name="unproven_promise", text="It fails."),
            ],
        )
    )
    assert level == "warn"


def test_what_the_sensor_warns_of_is_one_statement() -> None:
    assert rows(found(1, "fewer_tests", "changed_configuration", severity="high")) == []
    assert line(found(1, "fewer_tests")) is None
    assert line(found(1, "fewer_tests", "a")) == "note    a."
