"""Claims in a command's output, however it is split into batches."""

import json

from ralph_tui.adapters.agents.claims import LONGEST, ClaimReader
from ralph_tui.events import AgentReported, Event, PromiseMade
from tests.rows import each_row

REPORT = '{"ralph": {"completion": 40, "summary": "half", "blockers": ["no {net}"]}}'
OVER_LINES = json.dumps(json.loads(REPORT), indent=2).splitlines()


def heard(*lines: str, echo: frozenset[str] = frozenset()) -> list[Event]:
    reader = ClaimReader(3, echo)
    return [claim for line in lines for claim in reader.feed(line)]


def reported(*lines: str, echo: frozenset[str] = frozenset()) -> list[float | None]:
    return [e.completion for e in heard(*lines, echo=echo) if isinstance(e, AgentReported)]


def promises(*lines: str, echo: frozenset[str] = frozenset()) -> int:
    return sum(isinstance(event, PromiseMade) for event in heard(*lines, echo=echo))


@each_row(
    "lines",
    [
        [REPORT],
        OVER_LINES,
        ["```json", *OVER_LINES, "```"],
        [f"So: {OVER_LINES[0]}", *OVER_LINES[1:-1], f"{OVER_LINES[-1]} that is all"],
        ["{", "", *OVER_LINES[1:]],
        ["{"] * 50 + OVER_LINES,
    ],
)
def test_a_report_is_heard_once_with_the_line_that_ends_it(lines: list[str]) -> None:
    assert reported(*lines) == [40]
    assert reported(*lines, "and", "more {}", "}") == [40]
    last = len(lines) - 1 - (lines[-1] == "```")
    assert reported(*lines[:last]) == []


@each_row(
    "lines",
    [
        ["<promise>COMPLETE</promise>"],
        ["<promise>", "COMPLETE", "</promise>"],
        ["Done: <promise>COMPLETE", "</promise>"],
        ["<promise>", "COMPLETE</promise> and </promise>"],
    ],
)
def test_a_promise_is_heard_once(lines: list[str]) -> None:
    assert promises(*lines) == 1
    assert promises(*lines, "</promise>", ">") == 1
    assert promises(*lines[:-1]) == 0
    assert promises(*lines, *OVER_LINES) == 1
    assert promises(*OVER_LINES, *lines) == 1


def test_what_is_said_again_is_told_once_and_what_is_said_anew_again() -> None:
    newer = REPORT.replace("40", "50")
    assert reported(REPORT, REPORT, newer, *OVER_LINES) == [40, 50, 40]
    assert promises(*["<promise>COMPLETE</promise>"] * 3) == 1


def test_a_report_in_which_a_promise_begins_is_heard_with_it() -> None:
    reported = heard(f"{REPORT} <promise>", "COMPLETE</promise>")
    assert [event.kind for event in reported] == ["agent_reported", "promise_made"]


def test_the_orders_claim_nothing_and_an_answer_between_them_does() -> None:
    orders = frozenset([REPORT, "<promise>COMPLETE</promise>", '  "ralph": {', "}", ""])
    assert heard(*sorted(orders), echo=orders) == []
    assert reported("{", '  "ralph": {', '"completion": 1}', "}", echo=orders) == []
    assert reported('{"ralph":', '{"completion": 1', "}", "}", echo=orders) == [1]


def test_what_never_ends_costs_no_memory_and_hides_nothing() -> None:
    reader = ClaimReader(1, frozenset())
    for _ in range(2_000):
        assert not list(reader.feed('{"ralph": {' + "x" * 500))
    assert reader.held <= 2 * LONGEST
    assert [event.kind for event in reader.feed(REPORT)] == ["agent_reported"]
