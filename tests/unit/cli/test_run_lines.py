"""Plain lines of whole runs: each fact once, no glued lines, nothing for screens alone."""

import re
from datetime import UTC, datetime, timedelta

from ralph_tui import events as ev
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.cli.fronts.run_lines import PlainLines
from ralph_tui.events.waiting import SILENCE
from ralph_tui.layers.sensor.passing import PASSES_ALREADY
from tests.fixtures.journals.make import FOLDER
from tests.rows import each_row

NOW = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
KEPT = sorted(FOLDER.glob("*.jsonl"))
REASON = "No rise for 3 iterations."


def lines_of(*events: ev.Event) -> list[str]:
    """Printed lines without the time."""
    printed = PlainLines()
    found = [printed.line(event.model_copy(update={"at": NOW})) for event in events]
    return [line.split(" ", 1)[1] for text in found if text for line in text.splitlines()]


def asked(deadline: timedelta | None, **fields: object) -> ev.QuestionAsked:
    return ev.QuestionAsked.model_validate(
        {
            "iteration": 3,
            "question_id": "q",
            "topic": "redirect",
            "about": "stuck",
            "text": REASON,
            "options": [{"key": "y", "answer": "approve", "verb": "approve"}],
            "default": "approve",
            "deadline": None if deadline is None else NOW + deadline,
            **fields,
        }
    )


STUCK = (
    ev.IterationStarted(iteration=3, max_iterations=10),
    ev.AlarmRaised(iteration=3, alarm="STUCK", severity="warning", reason=REASON, interventions=[]),
    ev.InterventionMade(iteration=3, level="REDIRECT", about="stuck", reason=REASON),
)
DECIDED = ev.RedirectDecided(
    iteration=3, about="stuck", approved=True, by=SILENCE, instructions="x"
)


def test_a_reason_is_told_once_however_many_events_carry_it() -> None:
    answer = ev.QuestionAnswered(question_id="q", answer="approve", by=SILENCE)
    assert lines_of(*STUCK, asked(timedelta()), answer, DECIDED) == [
        " 3/10 iteration 3 of 10",
        f" 3/10 warn    stuck: {REASON}",
        " 3/10 redirect no one to ask: approved (stuck)",
        " 3/10 redirect instructions: x",
    ]


def test_a_budget_that_runs_out_is_one_warning_in_plain_words() -> None:
    used = "9 of 10 iterations are used at 92 %"
    low = {"alarm": "BUDGET_EXCEEDED", "severity": "emergency", "interventions": []}
    warned = {"level": "WARN", "about": "budget", "reason": f"{used}, and the pace is enough."}
    assert lines_of(
        STUCK[0],
        ev.AlarmRaised.model_validate({"iteration": 3, "reason": f"{used}.", **low}),
        ev.InterventionMade.model_validate({"iteration": 3, **warned}),
        ev.AlarmCleared(iteration=3, alarm="BUDGET_EXCEEDED"),
        ev.AlarmCleared(iteration=3, alarm="STUCK"),
    ) == [
        " 3/10 iteration 3 of 10",
        f" 3/10 warn    budget: {used}.",
        " 3/10 alarm   no longer stuck",
    ]


def test_what_is_no_longer_so_and_over_at_once_is_one_line() -> None:
    over = ev.HealthChecked(iteration=3, status="healthy", ended="stuck")
    cleared = ev.AlarmCleared(iteration=3, alarm="STUCK")
    later = ev.IterationStarted(iteration=4, max_iterations=10)
    assert lines_of(cleared, over, later, over) == [
        "alarm   no longer stuck",
        " 4/10 iteration 4 of 10",
        " 4/10 over    stuck: ended by a new best",
    ]


def test_a_wait_does_not_repeat_what_has_ended_the_session() -> None:
    def limited(why: str) -> ev.SessionFinished:
        return ev.SessionFinished(iteration=3, outcome="limited", reason=why, duration_s=3)

    wait = ev.WaitStarted(
        iteration=3, cause="usage_limit", reason="It is reached", until=None, since=NOW
    )
    assert lines_of(limited("It is reached"), wait) == [
        "agent   stopped by a limit after 3s: It is reached",
        "waiting (usage limit since 14:00); the iteration does not count",
    ]
    assert lines_of(limited("Another"), wait)[1].endswith("does not count: It is reached")


def test_a_deadline_within_ten_minutes_has_seconds() -> None:
    def at(seconds: int) -> str:
        wait = ev.WaitStarted(
            iteration=3, cause="usage_limit", reason="", until=NOW + timedelta(seconds=seconds)
        )
        question, until = lines_of(asked(timedelta(seconds=seconds)), wait)
        time = until.split()[2].rstrip(";")
        assert f" at {time} unless you answer" in question
        return time

    assert at(20) == f"{NOW.astimezone():%H:%M}:20"
    assert at(599).endswith(":59")
    assert at(600) == f"{(NOW + timedelta(seconds=600)).astimezone():%H:%M}"


def test_the_last_line_tells_the_cost_where_it_is_known() -> None:
    end = ev.RunFinished(
        outcome="completed", reason="so", iterations=2, completion=100, duration_s=6
    )
    costly = end.model_copy(update={"cost_usd": 1.84})
    measured = ev.ReadingTaken(iteration=2, completion=100, source="tests")
    assert lines_of(measured, end, costly)[-2:] == [
        "completed: so · 2 iterations, 100 %, 6s",
        "completed: so · 2 iterations, 100 %, 6s, $1.84",
    ]
    assert lines_of(end) == ["completed: so · 2 iterations, never measured, 6s"]


def test_a_report_of_the_agent_is_a_line_for_each_claim() -> None:
    """The summary has its own line unless the agent has just said the same."""
    report = ev.AgentReported(
        iteration=3, completion=64, summary="fixed\ntwo", blockers=["no\nnetwork"], next="more"
    )
    ended = ev.SessionFinished(iteration=3, outcome="success", duration_s=3, tool_calls=13)
    claims = ["agent   claims 64 %", "agent   blocked by no network", "agent   next: more"]
    assert lines_of(report, ev.AgentReported(iteration=3, summary="fixed\ntwo"), ended) == [
        "agent   fixed two",
        *claims,
        "agent   fixed two",
        "agent   ended after 3s, 13 tool calls",
    ]
    spoke = ev.AgentSpoke(iteration=3, text="Well: Fixed two.")
    assert lines_of(spoke, report) == ["agent   Well: Fixed two.", *claims]
    alone = ev.AgentSpoke(iteration=3, text='{"ralph": {"summary": "fixed two"}}')
    assert lines_of(alone, report) == ["agent   fixed two", *claims]


def test_a_question_that_somebody_may_answer_has_a_line() -> None:
    answer = ev.QuestionAnswered(question_id="q", answer="approve", by=SILENCE)
    *_, question, decided, sent = lines_of(*STUCK, asked(timedelta(minutes=2)), answer, DECIDED)
    assert question.startswith(
        " 3/10 question answer with ralph-tui decide ANSWER (approve; approves at "
    )
    assert question.endswith(" unless you answer)")
    assert decided == " 3/10 redirect no answer in 2 min: approved (stuck)"
    assert sent == " 3/10 redirect instructions: x"


def test_a_strategy_is_told_when_it_changes() -> None:
    def planned(k: int, approach: str) -> ev.StrategyPlanned:
        return ev.StrategyPlanned.model_validate(
            {"iteration": k, "approach": approach, "focus": "continue", "reasoning": "So it is."}
        )

    lines = lines_of(planned(1, "persist"), planned(2, "pivot"), planned(3, "pivot"))
    assert lines == ["strategy another approach: So it is."]


def test_the_control_law_has_no_line() -> None:
    events = read_journal(FOLDER / "v1-stuck.jsonl").events
    computed = [event for event in events if isinstance(event, ev.SignalComputed)]
    assert computed
    assert lines_of(*computed) == []


def test_what_the_agent_says_has_a_line_for_each_of_its_own() -> None:
    report = '{"ralph": {"completion": 100, "summary": "x"}}'
    text = f"Repaired toolz/itertoolz.py\n\nAll is done.\n{report}\n<promise>COMPLETE</promise>"
    assert lines_of(ev.AgentSpoke(iteration=1, text=text)) == [
        "agent   Repaired toolz/itertoolz.py",
        "agent   All is done.",
    ]


@each_row("journal", KEPT)
def test_every_line_of_a_kept_run_is_one_with_its_time_and_its_iteration(journal: object) -> None:
    path = FOLDER / f"{getattr(journal, 'stem', '')}.jsonl"
    printed = PlainLines()
    texts = [printed.line(event) for event in read_journal(path).events]
    lines = [line for text in texts if text for line in text.splitlines()]
    assert lines
    for line in lines:
        assert re.match(r"\d\d:\d\d:\d\d +\d+/\d+ \S", line), line
        assert "⏎" not in line
        assert "\x1b" not in line
        assert "<promise>" not in line
        assert '{"ralph"' not in line


def test_what_a_redirect_sends_is_told_whole() -> None:
    first = "Stop editing the parser. " + "Run one failing test alone. " * 20
    words = f"\n  {first}\nThen the rest."
    decided = ev.RedirectDecided(iteration=3, about="stuck", approved=True, instructions=words)
    question = asked(timedelta(minutes=2))
    answer = ev.QuestionAnswered(question_id="q", answer="approve")
    *_, lines = lines_of(*STUCK, question, answer, decided)
    assert lines == f" 3/10 redirect instructions: {first.strip()}"
    (alone,) = lines_of(decided)
    assert alone == f"redirect stuck: approved, by you; instructions: {first.strip()}"
    declined = decided.model_copy(update={"approved": False})
    assert lines_of(declined) == ["redirect stuck: declined, by you"]


@each_row(
    ("fields", "says"),
    [
        ({}, "progress 100 % after iteration 2 (the completion command passed)"),
        ({"passed": 5, "total": 5}, "progress 100 % after iteration 2 (from tests)"),
        ({"source": "plan"}, "progress 100 % after iteration 2 (from plan)"),
        (
            {"source": "estimate", "held": True, "completion": 0, "note": PASSES_ALREADY},
            f"progress 0 % after iteration 2 ({PASSES_ALREADY})",
        ),
    ],
)
def test_a_command_that_counts_nothing_is_called_what_it_is(
    fields: dict[str, object], says: str
) -> None:
    given = {"iteration": 2, "completion": 100, "source": "tests", **fields}
    assert lines_of(ev.ReadingTaken.model_validate(given)) == [says]


def test_a_call_that_shows_failing_tests_has_not_failed() -> None:
    tests = ev.ToolStarted(iteration=1, tool_id="a", tool="Bash", summary="python -m pytest -q")
    other = ev.ToolStarted(iteration=1, tool_id="b", tool="Bash", summary="make install")
    ended = [
        ev.ToolFinished(iteration=1, tool_id=each, ok=False, summary="exit 1")
        for each in ("a", "b")
    ]
    assert lines_of(tests, other, *ended)[2:] == ["agent   ✗ exit 1"]


def test_what_is_waited_for_is_said_once_in_an_iteration() -> None:
    tries = [
        ev.AgentNoted(iteration=1, level="warn", text=f"The service is not there: try {n}")
        for n in (1, 2, 3)
    ]
    plan = ev.AgentNoted(iteration=1, text="Plan: 1 of 2 done")
    began = [ev.IterationStarted(iteration=k, max_iterations=9) for k in (1, 2)]
    said = lines_of(began[0], *tries, plan, began[1], tries[2])
    reported = [line for line in said if "agent" in line]
    assert [line.partition("agent   ")[2] for line in reported] == [
        "The service is not there: try 1",
        "The service is not there: try 3",
    ]


def test_the_same_failure_of_a_layer_is_reported_once_then_counted() -> None:
    lines = PlainLines()
    failures = [
        ev.Noticed(
            level="error",
            source="control",
            text=f"control failed (ValueError: {k} is wrong); the alarms stay as they are",
            detail="Traceback",
        )
        for k in range(12)
    ]
    said = [line for event in failures if (line := lines.line(event))]
    other = lines.line(failures[0].model_copy(update={"source": "sensor"}))

    assert len(said) == 2
    assert said[0].endswith("(ValueError: 0 is wrong); the alarms stay as they are")
    assert said[1].endswith("(10 times so far)")
    assert other


@each_row(
    ("event", "said"),
    [
        (
            ev.ReadingTaken(
                iteration=4, completion=0, source="tests", broken="SyntaxError", total=1
            ),
            "progress 0 % after iteration 4 (build broken)",
        ),
        (
            ev.ReadingTaken(iteration=4, completion=99.9, source="tests"),
            "progress 99.9 % after iteration 4 (command passes)",
        ),
        (
            ev.ReadingTaken(
                iteration=4, completion=60, source="tests", held=True, note="no counts"
            ),
            "progress 60 % after iteration 4 (not measured: no counts)",
        ),
        (
            ev.ReadingTaken(iteration=4, completion=60, source="tests", passed=3, total=5),
            "progress 60 % after iteration 4 (from tests)",
        ),
        (
            ev.GateFinished(iteration=4, ok=False, exit_code=2, passed=0, errors=1, broken="oops"),
            "tests   build broken, exit 2 (0s)",
        ),
    ],
)
def test_a_source_is_named_only_where_something_was_counted(event: ev.Event, said: str) -> None:
    assert said in (PlainLines().line(event) or "")
