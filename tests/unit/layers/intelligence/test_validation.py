"""Findings of validation, rule by rule."""

from ralph_tui.events import ReadingTaken, StrategyPlanned
from ralph_tui.events.intelligence import ValidationIssue
from ralph_tui.layers.intelligence.validation import Session, after, before
from tests.rows import each_row


def severities(issues: list[ValidationIssue]) -> list[tuple[str, str]]:
    return [(issue.severity, issue.name) for issue in issues]


def strategy(approach: str, reasoning: str) -> StrategyPlanned:
    return StrategyPlanned.model_validate(
        {"iteration": 3, "approach": approach, "reasoning": reasoning}
    )


def readings(*points: float, **last: object) -> list[ReadingTaken]:
    """Measurements, the baseline first; `last` adds fields to the last one."""
    made = [
        ReadingTaken(iteration=k, completion=one, source="tests", total=10)
        for k, one in enumerate(points)
    ]
    return [*made[:-1], made[-1].model_copy(update=last)]


FINE = Session()


def test_nothing_is_found_where_all_fits() -> None:
    assert before(1, 10, strategy("persist", "continue")) == []
    assert before(1, 10, strategy("pivot", "it is stuck")) == []
    assert after(readings(0, 40), FINE) == []
    assert after([], FINE) == []


@each_row("approach", ["pivot", "escalate"])
def test_a_change_without_a_reason_does_not_fit(approach: str) -> None:
    assert severities(before(1, 10, strategy(approach, " "))) == [
        ("high", "pivot_without_reasoning")
    ]
    assert before(1, 10, strategy("persist", "")) == []


def test_blockers_are_named_and_counted() -> None:
    (one,) = before(1, 10, None, ["no network"])
    assert (one.severity, one.text) == ("medium", "Still blocked by: no network.")
    (two,) = before(1, 10, None, ["no network", "no disk"])
    assert two.text == "Still blocked by: no network and 1 more."


@each_row(
    ("k", "most", "says"),
    [
        (9, 10, None),
        (10, 10, "the last one."),
        (18, 20, None),
        (19, 20, "1 iteration left after this one."),
        (1, 1, "the last one."),
        (200, 100, "the last one."),
    ],
)
def test_more_than_nine_tenths_of_the_iterations_are_critical(
    k: int, most: int, says: str | None
) -> None:
    found = before(k, most, None)
    assert severities(found) == ([("critical", "near_limit")] if says else [])
    assert not says or found[0].text.endswith(says)


def test_conflicts_are_critical_and_come_first() -> None:
    found = before(10, 10, None, ["x"], [f"f{n}.py" for n in range(7)])
    assert severities(found)[0] == ("critical", "unresolved_conflicts")
    assert found[0].text.endswith("f4.py and 2 more.")


@each_row(
    ("reached", "session", "names"),
    [
        (94.9, FINE, []),
        (95, FINE, []),
        (99.9, Session(passed=True), ["missing_completion_signal"]),
        (95, Session(command=False), ["missing_completion_signal"]),
        (99.9, Session(promised=True, passed=True), []),
        (100, Session(tool_errors=9), []),
        (40, Session(promised=True), ["unproven_promise"]),
        (97, Session(promised=True), ["unproven_promise"]),
        (40, Session(promised=True, command=False), []),
        (40, Session(tool_errors=5), []),
        (40, Session(tool_errors=6), ["excessive_errors"]),
        (40, Session(config_files=["pytest.ini"]), ["changed_configuration"]),
        (40, Session(named_files=["notes.md"]), ["changed_configuration"]),
    ],
)
def test_a_session_is_held_against_what_was_measured(
    reached: float, session: Session, names: list[str]
) -> None:
    assert [issue.name for issue in after(readings(0, reached), session)] == names


def test_fewer_tests_are_told_with_both_numbers() -> None:
    (one,) = after(readings(0, 40, total=7), FINE)
    assert (one.severity, one.text) == ("high", "7 tests counted, 10 before.")
    assert after(readings(0, 40, total=None), FINE) == []
    assert after(readings(0, 40, total=7, source="plan"), FINE) == []
    assert after(readings(0, 40, total=12), FINE) == []
    gone = readings(0, 40, 40, 40, total=6)
    gone[2] = gone[2].model_copy(update={"total": None})
    assert severities(after(gone, FINE)) == [("high", "fewer_tests")]


@each_row(
    ("series", "times"),
    [
        ((0, 40, 59, 68, 72), 1),
        ((0, 40, 59, 68), 0),  # two shrinking rises
        ((0, 40, 60, 69, 73), 0),  # a half is not under a half
        ((0, 40, 59, 68, 72, 72), 0),  # it was reported with the last of them
        ((0, 40, 40, 59, 50, 68, 72), 1),  # waits and falls between them
        ((0, 1, 2, 3, 4), 0),
    ],
)
def test_diminishing_returns_are_told_once(series: tuple[float, ...], times: int) -> None:
    names = [issue.name for issue in after(readings(*series), FINE)]
    assert names == ["diminishing_returns"] * times


def test_diminishing_returns_are_counted_on_one_scale() -> None:
    whole = readings(0, 40, 59, 68, 72)
    (one,) = after(whole, FINE)
    assert one.text == "The last gains shrank: 40, 19, 9, 4 points."
    for update in ({"restarted": True}, {"grew": True}):
        other = [*whole]
        other[2] = other[2].model_copy(update=update)
        assert after(other, FINE) == []
