"""The header answers its questions at every width, and never wraps."""

from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.verdict import verdict
from ralph_tui.cli.status_words import status_line, status_text
from ralph_tui.events import (
    AbortRequested,
    ContextCompacted,
    ContextLevelReached,
    Event,
    ModelAnswered,
    ModelAsked,
    PauseRequested,
    PermissionsChanged,
    ReadingTaken,
    RunStarted,
    SessionDescribed,
    StepEntered,
    StopRequested,
    UsageReported,
    WaitStarted,
)
from ralph_tui.state import RunState
from ralph_tui.text.format import clock, duration, money, percent
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.draw.words import fraction, short_duration
from ralph_tui.tui.panes.header import Header, HeadlineRow, header_lines
from ralph_tui.tui.panes.header_fields import gauge
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
        SessionDescribed(iteration=1, model=model, permission_mode=mode),
        StepEntered(iteration=1, step=10, name=step),
        UsageReported(
            iteration=1, tokens=tokens, cost_usd=cost, context_tokens=tokens, context_window=1000
        ),
        ReadingTaken(
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


@pytest.mark.parametrize("width", [80, 100, 140, 170])
def test_it_answers_every_question(width: int) -> None:
    text = header("running", width)
    for answer in ("Fix the failing parser tests", "7/12", "agent", "10", "48 %", "32/66", "tests"):
        assert answer in text, text
    for answer in ("3s", "9s", "1m", "$1.86", "67 % L0", "21m", "▃▄▄▄█"):
        assert answer in text, text
    assert ("65k left" in text) == (width >= 100)
    assert ("990k" in text) == (width >= 160)


def test_what_may_do_everything_is_never_hidden() -> None:
    assert "skip permissions" in header("regressing", 80)


@pytest.mark.parametrize("width", [60, 70, 80, 100, 140])
def test_a_wait_tells_its_cause_and_its_end(width: int) -> None:
    first = header("limited", width).split("\n")[0]
    assert "1h 24m" in first
    assert ("waiting: usage limit" if width >= 140 else "limit") in first


@pytest.mark.parametrize(
    ("wish", "then"),
    [
        (PauseRequested(), "then it pauses"),
        (StopRequested(mode="after_iteration"), "then it stops"),
    ],
)
def test_no_wish_hides_what_a_run_waits_for(wish: Event, then: str) -> None:
    """Else nobody knows why nothing is heard of it; what was wished for is said beside it."""
    events = STORIES["limited"]()
    state = RunState().apply_all(events)
    at = events[-1].at
    state.apply(wish.model_copy(update={"at": at, "seq": len(events) + 1}))
    says = verdict(state, at)
    assert says.text == f"waiting: usage limit, next try at 10:59, in 1h 24m; {then}"
    for width in (80, 100, 140):
        assert "1h 24m" in "".join(text for text, _ in header_lines(state, at, width)[0])
    state.apply(AbortRequested(at=at, seq=len(events) + 2))
    assert verdict(state, at).word == "aborting", "that ends the wait"


def test_a_wait_for_room_has_no_end() -> None:
    run = Recorder(10)
    run.add(WaitStarted(iteration=0, cause="disk_full", reason="snapshot: no space"))
    state = RunState().apply_all(run.events)
    text = "".join(text for text, _ in header_lines(state, run.at, 140)[0])
    assert "waiting: disk full · for room" in text
    assert verdict(state, run.at).text == "waiting: disk full, until there is room; w retries now"


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_an_open_question_is_never_hidden(width: int) -> None:
    assert " needs you " in header("asked", width)


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_permissions_that_are_given_now_are_shown_at_once(width: int) -> None:
    run = Recorder(10)
    run.baseline(0)
    run.open(1)
    run.add(PermissionsChanged(mode="skip"))
    state = RunState().apply_all(run.events)
    spans = header_lines(state, run.at, width)[0]
    assert any("skip" in text and style == "bad badge" for text, style in spans)


def test_there_is_room_for_bill_window_and_the_cost_of_the_iteration() -> None:
    text = header("running", 140)
    for answer in ("claude sonnet · api", "65k left", "$1.86", "iteration  $0.30"):
        assert answer in text, text


def test_denied_tools_are_counted() -> None:
    assert "1 denied" in header("oscillating", 100)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("running", "slow: needs about"),
        ("steady", "completed: the completion command passed"),
        ("stuck", "limit reached: 10 of 10 iterations are used"),
        ("oscillating", "oscillating: "),
        ("regressing", "regressing: "),
        ("limited", "waiting: usage limit, next try at 10:59, in 1h 24m; w retries now"),
        (
            "asked",
            "needs you, press d (no answer in 4m 59s: interrupt): Nothing was heard of the agent",
        ),
        ("paused", "paused: no agent works; p goes on"),
        ("empty", "starting: measuring"),
        ("crashed", "crashed: KeyError"),
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
    run.add(WaitStarted(iteration=1, cause="outage", until=until, since=since, attempt=4))
    says = verdict(RunState().apply_all(run.events), until - timedelta(minutes=8)).text
    assert says == (
        f"waiting: service down since {clock(since)}, next try at {clock(until)}, in 8m; w retries now"
    )


def test_a_state_without_events_has_a_verdict() -> None:
    assert verdict(RunState(), START).text == "starting: nothing is recorded yet"


def test_a_fast_run_is_on_track() -> None:
    run = Recorder(10, objective=RunStarted.__name__)
    run.baseline(0)
    run.iterations(20, 40, 60)
    state = RunState().apply_all(run.events)
    assert verdict(state, run.at).text == "on track: about 2 more iterations"


@pytest.mark.parametrize(
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
    run.add(ReadingTaken(iteration=1, completion=100, source="agent", note="accepted by you"))
    lines = header_lines(RunState().apply_all(run.events), run.at, 100)
    text = "".join(text for line in lines for text, _ in line)
    assert "accepted by you" in text
    assert "claim" not in text


def test_a_wish_to_pause_ends_with_the_run() -> None:
    *before, last = STORIES["steady"]()
    wish = PauseRequested(by="you").model_copy(update={"seq": last.seq, "at": last.at})
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


@pytest.mark.parametrize("width", [80, 100, 140, 200])
def test_the_plans_current_item_is_named(width: int) -> None:
    state = RunState().apply_all(STORIES["running"]())
    text = "write the lexer tests for quotes in quotes"
    last = state.gate.readings[-1]
    state.gate.readings[-1] = last.model_copy(update={"next_item": text})
    row = HeadlineRow()
    row.state, row.now = state, state.at
    told = "".join(span for span, _ in row.line(0, width))
    above = "".join(span for span, _ in header_lines(state, state.at, width)[0])
    assert "→ write the" in (told if width < 100 else above)
    state.gate.readings[-1] = last
    assert "→" not in "".join(span for span, _ in header_lines(state, state.at, width)[0])


def test_a_question_to_a_model_is_shown_while_it_is_open() -> None:
    state = RunState().apply_all(STORIES["running"]())
    asked = ModelAsked(iteration=7, question_id="a", purpose="judge")
    state.apply(asked)
    first = "".join(span for span, _ in header_lines(state, state.at, 140)[0])
    assert "a model is asked: judge" in first
    state.apply(ModelAnswered(iteration=7, question_id="a", purpose="judge"))
    first = "".join(span for span, _ in header_lines(state, state.at, 140)[0])
    assert "a model is asked" not in first


# the gauge ----------------------------------------------------------------------------------------


def filled(tokens: int | None, window: int = 200_000, *told: Event, **config: float) -> RunState:
    """A session whose window holds so many tokens."""
    run = Recorder(10, config={f"context.{name}": value for name, value in config.items()})
    run.baseline(0)
    run.open(1)
    if tokens is not None:
        run.add(UsageReported(iteration=1, context_tokens=tokens, context_window=window))
    for event in told:
        run.add(event)
    return RunState().apply_all(run.events)


def gauge_text(state: RunState, width: int = 140) -> str:
    return "".join(text for text, _ in gauge(state, width).forms[0])


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (124_000, "context  62 % L0 ▰▰▰▰▱▱   76k left"),
        (139_999, "context  69 % L0 ▰▰▰▰▱▱   60k left"),
        (140_000, "context  70 % L1 ▰▰▰▰▱▱   60k left"),
        (172_000, "context  86 % L2 ▰▰▰▰▰▱   28k left"),
        (199_100, "context  99 % L3 ▰▰▰▰▰▰   900 left"),
        (None, "context unknown                   "),
    ],
)
def test_the_gauge_says_how_full_the_window_is(tokens: int | None, says: str) -> None:
    assert gauge_text(filled(tokens)) == says


def test_the_gauge_keeps_to_the_runs_own_thresholds() -> None:
    early = filled(90_000, warn_percent=30.0, checkpoint_percent=40.0, stop_percent=60.0)
    assert "45 % L2" in gauge_text(early)
    told = ContextLevelReached(iteration=1, level="L2", percent=86, tokens=1, window=2)
    shrunk = ContextCompacted(iteration=1, before=172_000, after=40_000, window=200_000)
    emptied = filled(172_000, 200_000, told, shrunk)
    assert "20 % L0" in gauge_text(emptied), "it tells what is, not what was reached"


@given(
    tokens=st.none() | st.integers(0, 10**7),
    window=st.integers(0, 10**7),
    width=st.sampled_from([60, 80, 100, 140]),
)
def test_no_number_moves_the_gauge(tokens: int | None, window: int, width: int) -> None:
    forms = gauge(filled(tokens, window), width).forms
    assert [cells(form) for form in forms] == [cells(gauge(RunState(), width).forms[0])]


def test_the_header_is_drawn_anew_when_the_window_fills() -> None:
    """The run's own fold is the same: the agent said nothing but how full its window is."""
    state = filled(100_000)
    head = Header()
    head.repaint = lambda: None  # type: ignore[method-assign]
    head.sync(state, state.at)
    before = "".join(text for text, _ in head.line(1, 140))
    more = UsageReported(iteration=1, context_tokens=150_000, seq=state.seq + 1, at=state.at)
    state.apply(more)
    head.sync(state, state.at)
    assert "".join(text for text, _ in head.line(1, 140)) != before


@pytest.mark.parametrize("width", [80, 100, 140, 170])
def test_nothing_moves_while_time_and_tokens_pass(width: int) -> None:
    """Ages, cost and tokens keep to their columns; only a reading may move them."""
    run = Recorder(10)
    run.baseline(30)
    run.open(1)

    def columns() -> list[int]:
        state = RunState().apply_all(run.events)
        row = "".join(text for text, _ in header_lines(state, run.at, width)[1])
        return [row.index(word) for word in ("30 %", "tests", "c", "out", "file")]

    at_first = columns()
    for tokens, cost in ((9_000, 0.02), (99_000, 0.4), (172_000, 9.5), (199_500, 40.0)):
        run.add(
            UsageReported(iteration=1, context_tokens=tokens, context_window=200_000, cost_usd=cost)
        )
        run.wait(seconds=tokens / 1000)
        run.tool(1, "Edit", "a.py", "+1", 1)
        run.files(1, 1, live=True)
        assert columns() == at_first
