"""The header answers its questions at every width, and never wraps."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.verdict import verdict
from ralph_tui.cli.status_words import status_line, status_text
from ralph_tui.state import RunState
from ralph_tui.text.format import clock, count, duration, money, percent
from ralph_tui.tui.draw.spans import Line, cells
from ralph_tui.tui.draw.words import fraction, short_duration
from ralph_tui.tui.modals.question import Question
from ralph_tui.tui.panes.header import Header, OneLine, activity, header_lines
from ralph_tui.tui.panes.header_fields import CONTEXT, GAUGE, context
from tests.rows import each_row
from tests.tui.driving import Driver, drive, live, story
from tests.world.decisions import DECISIONS
from tests.world.recorder import START, Recorder
from tests.world.stories import STORIES

ANY = (
    st.text(max_size=80) | st.just("日本語" * 40) | st.just("[/foo]" * 9) | st.just("e\u0301" * 90)
)


@given(
    width=st.integers(1, 200),
    objective=ANY,
    model=ANY,
    mode=ANY,
    step=ANY,
    tokens=st.integers(0, 10**12),
    cost=st.none() | st.floats(0, 10**9),
    completion=st.floats(0, 100),
    seconds=st.integers(-5, 10**8),
)
@example(
    width=1,
    objective="\U0001f3fb",
    model="",
    mode="",
    step="x",
    tokens=0,
    cost=None,
    completion=0,
    seconds=0,
)
def test_no_text_at_any_width_makes_it_wrap(
    width: int,
    objective: str,
    model: str,
    mode: str,
    step: str,
    tokens: int,
    cost: float | None,
    completion: float,
    seconds: int,
) -> None:
    run = Recorder(10, objective=objective, agent=model)
    run.baseline(3)
    run.open(1)
    for event in (
        ev.SessionDescribed(iteration=1, model=model, permission_mode=mode),
        ev.StepEntered(iteration=1, step=10, name=step),
        ev.UsageReported(
            iteration=1, tokens=tokens, cost_usd=cost, context_tokens=tokens, context_window=1000
        ),
        ev.ReadingTaken(
            iteration=1, completion=completion, source="tests", passed=tokens, total=tokens
        ),
    ):
        run.add(event)
    state = RunState().apply_all(run.events)
    for line in header_lines(state, run.at + timedelta(seconds=seconds), width):
        assert cells(line) == width
        assert "\n" not in "".join(text for text, _ in line)


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize(
    "name", ["running", "stuck", "paused", "empty", "crashed", "regressing", "limited", "asked"]
)
def test_every_story_fits(name: str, width: int) -> None:
    events = STORIES[name]()
    state = RunState().apply_all(events)
    assert all(cells(row) == width for row in header_lines(state, events[-1].at, width))


def header(name: str, width: int) -> str:
    events = STORIES[name]()
    state = RunState().apply_all(events)
    rows = header_lines(state, events[-1].at + timedelta(seconds=3), width)
    return "\n".join("".join(text for text, _ in row) for row in rows)


@each_row("width", [80, 100, 140, 170])
def test_it_answers_every_question(width: int) -> None:
    text = header("running", width)
    for answer in ("Fix the failing parser tests", "iteration 7/12", "● agent  3s: pytest"):
        assert answer in text, text
    for answer in ("48 %", "32/66 tests", "best 48 % (6)", "$1.86", "21m", "context  67 %"):
        assert answer in text, text
    assert ("output  3s" in text) == (width >= 100), "at 80 columns the context has its place"
    assert ("file  9s ago" in text) == (width >= 100)
    assert "▲ slow: needs about 8 more iterations, 6 left" in text
    assert ("claude sonnet" in text) == (width >= 140)
    assert ("990k tokens" in text) == (width >= 160)
    for retired in (" it ", "ctx", " tok ", "gate", "step", "L0", " · "):
        assert retired not in text, text


def test_what_may_do_everything_is_never_hidden() -> None:
    assert " unrestricted " in header("regressing", 80)


@each_row("width", [60, 70, 80, 100, 140])
def test_a_wait_tells_its_cause_and_its_end(width: int) -> None:
    first = header("limited", width).split("\n")[0]
    assert "◷ 1h 24m: usage l" in first


@each_row(
    ("wish", "then"),
    [
        (ev.PauseRequested(), "then it pauses"),
        (ev.StopRequested(mode="after_iteration"), "then it stops"),
    ],
)
def test_no_wish_hides_what_a_run_waits_for(wish: ev.Event, then: str) -> None:
    """Otherwise the user could not see why the run is silent; the request is shown beside it."""
    events = STORIES["limited"]()
    state = RunState().apply_all(events)
    at = events[-1].at
    state.apply(wish.model_copy(update={"at": at, "seq": len(events) + 1}))
    says = verdict(state, at)
    assert says.text == f"waiting: usage limit, retry at 10:59, in 1h 24m; {then}"
    for width in (80, 100, 140):
        assert "1h 24m" in "".join(text for text, _ in header_lines(state, at, width)[0])
    state.apply(ev.AbortRequested(at=at, seq=len(events) + 2))
    assert verdict(state, at).word == "aborting", "that ends the wait"


def test_a_wait_for_room_has_no_end() -> None:
    run = Recorder(10)
    run.add(ev.WaitStarted(iteration=0, cause="disk_full", reason="snapshot: no space"))
    state = RunState().apply_all(run.events)
    text = "".join(text for text, _ in header_lines(state, run.at, 140)[0])
    assert "◷ waiting: disk full" in text
    words = "waiting: disk full, until disk space is free; press w to retry now"
    assert verdict(state, run.at).text == words


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_an_open_question_is_never_hidden(width: int) -> None:
    events = STORIES["asked"]()
    state = RunState().apply_all(events)
    spans = header_lines(state, events[-1].at, width)[2]
    assert (" ! needs you ", "warn badge") in spans
    lines = header_lines(state, events[-1].at, width, recorded=True)
    assert "needs you" not in str(lines)


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_permissions_that_are_given_now_are_shown_at_once(width: int) -> None:
    run = Recorder(10)
    run.baseline(0)
    run.open(1)
    run.add(ev.PermissionsChanged(mode="skip"))
    state = RunState().apply_all(run.events)
    spans = header_lines(state, run.at, width)[0]
    assert any("unrestricted" in text and style == "bad badge" for text, style in spans)


def test_denied_tools_are_counted_in_one_place() -> None:
    """Beside the sentence, where that leaves room."""
    state = RunState().apply_all(STORIES["limited"]())
    rows = [text_of(header_lines(state, state.at, width)[2]) for width in (100, 120, 140)]
    assert all("3 denied" in row for row in rows)
    at = {len(row) - row.index("3 denied") for row in rows}
    assert len(at) == 1


@each_row(
    ("name", "says"),
    [
        ("running", "slow: needs about"),
        ("steady", "completed: the completion command passed"),
        ("stuck", "limit reached: 10 of 10 iterations are used"),
        ("oscillating", "oscillating: "),
        ("regressing", "regressing: "),
        ("limited", "waiting: usage limit, retry at 10:59, in 1h 24m; press w to retry now"),
        ("asked", "needs you, press d (interrupts in 4m 59s): The agent has produced no output"),
        ("paused", "paused: no agent is running; press p to unpause"),
        ("empty", "starting: measuring"),
        ("crashed", "failed because of a bug in ralph-tui: KeyError"),
    ],
)
def test_the_headline_says_what_the_owner_should_know_first(name: str, says: str) -> None:
    events = STORIES[name]()
    assert verdict(RunState().apply_all(events), events[-1].at).text.startswith(says)


def test_an_outage_is_told_with_its_beginning_and_the_next_try() -> None:
    run = Recorder(10)
    run.baseline(0)
    run.open(1)
    until, since = run.at + timedelta(minutes=8), run.at - timedelta(minutes=2)
    run.add(ev.WaitStarted(iteration=1, cause="outage", until=until, since=since, attempt=4))
    says = verdict(RunState().apply_all(run.events), until - timedelta(minutes=8)).text
    assert says == (
        f"waiting: service down since {clock(since)}, retry at {clock(until)}, in 8m; "
        "press w to retry now"
    )


def test_a_state_without_events_has_a_verdict() -> None:
    assert verdict(RunState(), START).text == "reading the record"


def test_a_fast_run_is_on_track() -> None:
    run = Recorder(10, objective=ev.RunStarted.__name__)
    run.baseline(0)
    run.iterations(20, 40, 60)
    state = RunState().apply_all(run.events)
    assert verdict(state, run.at).text == "on track: about 2 more iterations"


@each_row(
    ("seconds", "long", "short"),
    [
        (0, "0s", "0s"),
        (59.9, "59s", "59s"),
        (90, "1m 30s", "1m"),
        (2460, "41m", "41m"),
        (5400, "1h 30m", "1h"),
        (7200, "2h", "2h"),
        (-3, "0s", "0s"),
        (300_000, "83h 20m", "3d"),
    ],
)
def test_durations(seconds: float, long: str, short: str) -> None:
    assert (duration(seconds), short_duration(seconds)) == (long, short)


def test_numbers() -> None:
    assert [percent(p) for p in (0, 48.4, 99.4, 99.9, 100)] == [
        "0 %",
        "48 %",
        "99 %",
        "99.9 %",
        "100 %",
    ]
    assert [fraction(f) for f in (0.26, 1.0, -0.12, 0.0)] == [".26", "1.0", "-.12", ".00"]
    assert [money(1.819), money(1, estimated=True), money(0, known=False)] == [
        "$1.82",
        "~$1.00",
        "—",
    ]


def test_what_a_person_accepted_is_no_claim_of_the_agent() -> None:
    run = Recorder(10)
    run.baseline()
    run.add(ev.ReadingTaken(iteration=1, completion=100, source="agent", note="accepted by you"))
    lines = header_lines(RunState().apply_all(run.events), run.at, 140)
    text = "".join(text for line in lines for text, _ in line)
    assert "accepted by you" in text
    assert "claim" not in text


def test_a_wish_to_pause_ends_with_the_run() -> None:
    *before, last = STORIES["steady"]()
    wish = ev.PauseRequested(by="you").model_copy(update={"seq": last.seq, "at": last.at})
    end = last.model_copy(update={"seq": last.seq + 1})
    state = RunState().apply_all([*before, wish])
    going = summarize(state) | {"alive": True}
    assert "pausing: this iteration ends first" in status_text(going)
    state.apply(end)
    for alive in (False, True):
        over = summarize(state) | {"alive": alive}
        assert over["outcome"] == "completed"
        assert "pausing" not in status_text(over)
        assert "pausing" not in status_line(over)
    dead = going | {"alive": False, "phase": "died"}
    assert "pausing" not in status_text(dead), "nor after a death"


@each_row("width", [80, 100, 140, 200])
def test_the_plans_current_item_is_named_on_a_wide_screen(width: int) -> None:
    state = RunState().apply_all(STORIES["running"]())
    text = "write the lexer tests for quotes in quotes"
    last = state.gate.readings[-1]
    state.gate.readings[-1] = last.model_copy(update={"next_item": text})
    state.run.started = state.run.started and state.run.started.model_copy(
        update={"objective": "Fix it"}
    )
    first = text_of(header_lines(state, state.at, width)[0])
    assert ("→ write the" in first) == (width >= 140)


def test_a_question_to_a_model_is_shown_while_it_is_open() -> None:
    state = RunState().apply_all(STORIES["running"]())
    asked = ev.ModelAsked(iteration=7, question_id="a", purpose="judge")
    state.apply(asked)
    first = "".join(span for span, _ in header_lines(state, state.at, 140)[0])
    assert "asking a model: judge" in first
    state.apply(ev.ModelAnswered(iteration=7, question_id="a", purpose="judge"))
    first = "".join(span for span, _ in header_lines(state, state.at, 140)[0])
    assert "asks a model" not in first


# the context --------------------------------------------------------------------------------------


def filled(
    tokens: int | None, window: int = 200_000, *further: ev.Event, **config: float
) -> RunState:
    """A session whose window holds so many tokens."""
    run = Recorder(10, config={f"context.{name}": value for name, value in config.items()})
    run.baseline(0)
    run.open(1)
    if tokens is not None:
        run.add(ev.UsageReported(iteration=1, context_tokens=tokens, context_window=window))
    for event in further:
        run.add(event)
    return RunState().apply_all(run.events)


def context_text(state: RunState) -> str:
    return text_of(context(state, CONTEXT + 1 + GAUGE))


@each_row(
    ("tokens", "says", "style"),
    [
        (124_000, "context  62 % ▰▰▰▰▱▱", "dim"),
        (139_999, "context  69 % ▰▰▰▰▱▱", "dim"),
        (140_000, "context  70 % ▰▰▰▰▱▱", "warn"),
        (172_000, "context  86 % ▰▰▰▰▰▱", "warn"),
        (199_100, "context  99 % ▰▰▰▰▰▰", "bad"),
    ],
)
def test_the_context_says_how_full_the_window_is(tokens: int, says: str, style: str) -> None:
    assert context_text(filled(tokens)) == says
    assert context(filled(tokens), CONTEXT + 1 + GAUGE)[-1][1] == style


def test_of_a_window_that_nobody_knows_nothing_is_said() -> None:
    assert context_text(filled(None)) == ""


def test_the_context_keeps_to_the_runs_own_thresholds() -> None:
    early = filled(90_000, warn_percent=30.0, checkpoint_percent=40.0, stop_percent=60.0)
    assert context(early, CONTEXT)[-1] == (" 45 %", "warn")
    reached = ev.ContextLevelReached(iteration=1, level="L2", percent=86, tokens=1, window=2)
    shrunk = ev.ContextCompacted(iteration=1, before=172_000, after=40_000, window=200_000)
    emptied = filled(172_000, 200_000, reached, shrunk)
    assert context(emptied, CONTEXT)[-1] == (" 20 %", "text"), "it shows the state"


@each_row(("tokens", "expected"), [(20_000, "10"), (120_000, "60")])
def test_at_80_columns_the_context_has_the_place_of_the_last_output(
    tokens: int, expected: str
) -> None:
    state = filled(tokens)
    row = text_of(header_lines(state, state.at, 80)[1])
    assert row.endswith(f"context  {expected} % ")
    assert "last" not in row


def test_of_an_agent_that_reports_no_context_the_last_output_is_told_there() -> None:
    state = RunState().apply_all(STORIES["running"]())
    state.context.reports_tokens, state.context.tokens = False, None
    assert re.search(r"last +\d+s ago *$", text_of(header_lines(state, state.at, 80)[1]))


def test_while_the_command_runs_no_output_of_the_agent_is_a_sign_of_life() -> None:
    state = RunState().apply_all(STORIES["regressing"]())
    assert state.run.phase == "verifying"
    assert "last output" not in text_of(header_lines(state, state.at, 140)[1])


def test_a_cost_that_the_agent_does_not_report_is_a_dash() -> None:
    silent = [
        event.model_copy(update={"cost_usd": None}) if hasattr(event, "cost_usd") else event
        for event in STORIES["running"]()
    ]
    state = RunState().apply_all(silent)
    assert "  cost —  " in text_of(header_lines(state, state.at, 80)[1])
    assert "$" in header("running", 80)
    assert "cost" not in header("empty", 80), "no agent has worked yet"


def test_a_run_that_is_over_tells_no_context() -> None:
    state = RunState().apply_all(STORIES["steady"]())
    for width in (80, 100, 140):
        assert "context" not in text_of(header_lines(state, state.at, width)[1])


@pytest.mark.parametrize("width", [80, 100, 140])
def test_a_run_that_is_over_tells_its_whole_time_and_its_iterations(width: int) -> None:
    """As in the end summary: 1m beside 1m 58s would be two formats for one clock."""
    *worked, end = STORIES["steady"]()
    events = [*worked, end.model_copy(update={"duration_s": 118.0})]
    state = RunState().apply_all(events)
    first, second, _ = map(text_of, header_lines(state, state.at, width))
    took = duration(state.run.worked_s(state.at))
    assert len(took) > 3, "longer than the field of a run that works"
    assert f" {took} " in f"{second} "
    assert f"  {count(state.run.iteration, 'iteration')}  " in first


def test_the_header_is_drawn_anew_when_the_window_fills_or_a_call_begins() -> None:
    """The run's own fold is the same: the agent said nothing but how full its window is."""
    state = filled(100_000)
    head = Header()
    head.repaint = lambda: None  # type: ignore[method-assign]
    head.sync(state, state.at)
    before = text_of(head.line(1, 140))
    state.apply(
        ev.UsageReported(iteration=1, context_tokens=150_000, seq=state.seq + 1, at=state.at)
    )
    head.sync(state, state.at)
    assert text_of(head.line(1, 140)) != before
    call = ev.ToolStarted(
        iteration=1, tool_id="t", tool="Bash", summary="make all", seq=state.seq + 1
    )
    state.apply(call.model_copy(update={"at": state.at}))
    head.sync(state, state.at)
    assert "● agent  0s: make all" in text_of(head.line(0, 140))


# what it does now ---------------------------------------------------------------------------------


def doing_text(*events: ev.Event, after: float = 0) -> str:
    run = Recorder(10)
    run.baseline(0)
    run.open(1)
    for event in events:
        run.add(event)
    state = RunState().apply_all(run.events)
    return text_of(activity(state, run.at + timedelta(seconds=after)))


def call(tool: str, text: str, number: int = 1) -> ev.ToolStarted:
    return ev.ToolStarted(iteration=1, tool_id=f"t{number}", tool=tool, summary=text)


@each_row(
    ("events", "after", "says"),
    [
        ([call("Bash", "pytest -q")], 41, "● agent 41s: pytest -q"),
        ([call("Bash", "/opt/venv/bin/python3.11 -m pytest")], 150, "● agent  2m: pytest"),
        ([call("Bash", "/usr/bin/make -j")], 1, "● agent  1s: make -j"),
        ([call("Read", "lexer.py")], 3, "● agent  3s: Read lexer.py"),
        ([call("Read", "a"), call("Grep", "b", 2)], 3, "● agent  3s: Grep b"),
        ([ev.AgentSpoke(iteration=1, text="Hm.")], 9, "● agent 11s"),
        ([], 3, "● agent  5s"),
        (
            [ev.GateStarted(iteration=1, command="/a/b/python -m pytest -q")],
            12,
            "◐ verifying 12s: pytest -q",
        ),
        ([ev.Paused()], 5, "▮ paused"),
    ],
)
def test_it_says_what_the_run_does_now_and_for_how_long(
    events: list[ev.Event], after: float, says: str
) -> None:
    reported = doing_text(*events, after=after)
    assert reported == says


def test_a_command_that_would_be_cut_to_a_few_letters_is_left_out() -> None:
    run = Recorder(10)
    run.baseline(0)
    run.open(1)
    run.add(ev.GateStarted(iteration=1, command="pytest -q"))
    state, now = RunState().apply_all(run.events), run.at + timedelta(seconds=12)
    assert text_of(activity(state, now, 22)) == "◐ verifying 12s"
    assert text_of(activity(state, now, 23)) == "◐ verifying 12s: pytest -q", (
        "it is cut in its field"
    )


def test_a_call_that_was_answered_is_over() -> None:
    end = ev.ToolFinished(iteration=1, tool_id="t1", ok=True, summary="", duration_s=1)
    assert "pytest" not in doing_text(call("Bash", "pytest"), end)


# columns ------------------------------------------------------------------------------------------

JOURNALS = Path(__file__).parents[1] / "fixtures/journals"
DEMOS = ("stuck", "limit", "steady", "command", "step8-intelligence")
FIELDS = {
    "iteration": (0, r"iteration \d+/\d+"),
    "doing": (0, r"(?<=/\d\d|./\d)\s+[●◌◐◔◷▮■✓▲◆◇○!] "),
    "percent": (1, r"(?:—|\d+(?:\.\d)?) %"),
    "counts": (1, r"\d+/\d+ tests"),
    "best": (1, r"best \d"),
    "context": (1, r"context +\d+ %"),
    "last output": (1, r"(?:last )?output +\d+[smhd]"),
    "file": (1, r"file +\d+[smhd] ago"),
}
"""Start column of each header field; a duration's format changes inside its cell."""
ENDS = {"cost": (1, r"~?\$\d+\.\d\d(?= )"), "time": (1, r"(?<= )\d+[smhd](?: \d+[sm])?(?=  )")}
"""Cells aligned to the right."""


def text_of(line: Line) -> str:
    return "".join(text for text, _ in line)


@each_row("name", DEMOS)
def test_no_field_moves_or_changes_its_unit_over_a_whole_run(name: str) -> None:
    state = RunState()
    seen: dict[int, dict[str, set[int]]] = {width: {} for width in (60, 80, 140)}
    for event in read_journal(JOURNALS / f"v1-{name}.jsonl").events:
        state.apply(event)
        if state.run.total is None:
            continue  # until it is known what is counted
        for width, places in seen.items():
            rows = [text_of(row) for row in header_lines(state, event.at, width)]
            for field, (number, pattern) in (FIELDS | ENDS).items():
                if found := re.search(pattern, rows[number]):
                    place = found.end() if field in ENDS or field == "doing" else found.start()
                    places.setdefault(field, set()).add(place)
    for width, places in seen.items():
        assert not {field: at for field, at in places.items() if len(at) > 1}, width
        assert {"iteration", "doing", "percent", "time"} <= set(places)
        assert width < 100 or "best" in places
        if width >= 100 and not name.startswith(("command", "step8")):
            assert {"counts", "cost"} <= set(places)


@given(
    width=st.integers(20, 240),
    objective=st.just("日本語のテスト👩‍🚀" * 30) | st.just("x" * 200) | st.just("Fix it"),
    total=st.sampled_from([None, 7, 66, 1200, 10**6]),
    cost=st.sampled_from([None, 0.4, 99.99, 1234.5]),
    tool=ANY,
    denied=st.integers(0, 3),
)
def test_no_field_overlaps_another(
    width: int, objective: str, total: int | None, cost: float | None, tool: str, denied: int
) -> None:
    run = Recorder(10, objective=objective)
    run.baseline(30)
    run.open(1)
    run.add(call("Bash", tool))
    passed = None if total is None else total // 2
    run.add(ev.ReadingTaken(iteration=1, completion=50, source="tests", passed=passed, total=total))
    run.add(
        ev.UsageReported(iteration=1, cost_usd=cost, context_tokens=150_000, context_window=200_000)
    )
    for _ in range(denied):
        run.add(ev.ToolDenied(iteration=1, tool="Bash", message=tool))
    state = RunState().apply_all(run.events)
    rows = header_lines(state, run.at, width, replay=True)
    assert [cells(row) for row in rows] == [width] * 3
    text = [text_of(row) for row in rows]
    if width >= 80:
        assert "iteration 1/10  " in text[0]
        assert re.search(r"\S  +● agent", text[0])
        if total is not None:
            assert f" {passed}/{total} tests  " in text[1]
        assert "  context  75 %" in text[1]
        assert "  last output" in text[1] or "  output" in text[1] or width < 100


@each_row("width", [30, 40, 59])
def test_one_line_says_the_verdict(width: int) -> None:
    state = RunState().apply_all(STORIES["running"]())
    row = OneLine()
    row.state, row.now = state, state.at
    assert text_of(row.line(0, width)).startswith("▲ 7/12 48 % slow: needs")


def test_a_replay_says_that_it_is_one() -> None:
    state = RunState().apply_all(STORIES["asked"]())
    rows = header_lines(state, state.at, 80, recorded=True, replay=True)
    assert text_of(rows[0]).startswith("  REPLAY  Fix the failing parser")
    assert "REPLAY" not in text_of(header_lines(state, state.at, 80)[0])


def test_that_a_question_is_open_has_one_sign_everywhere() -> None:
    state = RunState().apply_all(DECISIONS["pause"]())
    assert activity(state, state.at) == [("! awaiting an answer", "warn")]


@each_row(("why", "word"), [
    ("died: the fleet's process is gone", "died"),
    ("stopped: the fleet was stopped", "unknown"),
])  # fmt: skip
def test_the_first_row_and_the_sentence_have_one_word_for_an_end(why: str, word: str) -> None:
    state = RunState().apply_all(STORIES["running"]())
    assert activity(state, state.at, lost=why) == [(f"◇ {word}", "bad strong")]
    says = verdict(state, state.at, lost=why)
    assert (says.word, says.text) == (word, why)


def test_beside_an_open_question_no_key_opens_it() -> None:
    async def look(driver: Driver) -> None:
        await driver.until(lambda: isinstance(driver.app.screen, Question))
        await driver.until(lambda: "press d" not in _above(driver))
        await driver.press("escape")
        await driver.until(lambda: "press d" in _above(driver))

    drive(live(story("redirect")), look, (140, 45))


def _above(driver: Driver) -> str:
    header = driver.cockpit.heads[1]
    return "".join(text for y in range(3) for text, _ in header.line(y, 140))
