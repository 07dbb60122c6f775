"""While you were away: a short list of episodes, the open question first."""

from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

from ralph_tui import events as ev
from ralph_tui.adapters.records.seen import seen_in
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.away import (
    LONG_S,
    MAX_EPISODES,
    is_long,
    is_news,
    was_left_early,
    while_away,
)
from ralph_tui.state import RunState
from ralph_tui.state.last_seen import LastSeen, seen_of
from ralph_tui.text.format import clock, day_and_clock, duration
from ralph_tui.text.terms import RECORD_BROKEN
from tests.rows import each_row
from tests.unit.state.test_log import demo, made, reading, stuck
from tests.world.decisions import DECISIONS
from tests.world.stories import STORIES
from tests.world.takeovers import never_reported, taken_over


def summary_lines(state: RunState, **later: float) -> list[str]:
    lines = while_away(state, state.at + timedelta(**later))
    return [f"{'  ' * line.below}{line.text}" for line in lines]


def test_an_episode_is_what_was_done_who_decided_and_what_it_changed() -> None:
    rows = summary_lines(RunState().apply_all(demo("stuck")))
    assert rows[0].startswith("✓ completed: ")
    assert "9 iterations, 48 % to 100 %, $" in rows[1]
    assert rows[2] == "13 more tests pass than at the start"
    (at,) = [number for number, row in enumerate(rows) if "STUCK" in row]
    assert rows[at].endswith("▲ STUCK No rise for 3 iterations")
    assert rows[at + 1] == (
        "  REDIRECT no one to ask: approved; over: a new best, 72 %; after 2 iterations: +16 points"
    )


def test_the_open_question_comes_first() -> None:
    state = RunState().apply_all(DECISIONS["redirect"]())
    first, *rest = summary_lines(state, hours=1)
    assert first.startswith("! needs you, since 1h: ")
    assert any(row.endswith("(still open)") for row in rest)


def test_nobody_can_answer_what_a_lost_process_asked() -> None:
    state = RunState().apply_all(DECISIONS["redirect"]())
    assert state.needs.question is not None
    asked, now = state.needs.question.at, state.at + timedelta(hours=2)
    first, sign, then, course, *_ = while_away(state, now, lost=True)
    assert first.text.startswith("◇")
    assert sign.text == f"last activity: {day_and_clock(state.at, now)}, 2h ago"
    began = f"! a question was left open, asked {day_and_clock(asked, now)}, 2h"
    assert then.text.startswith(began)
    assert course.text.startswith(f"in {duration(state.run.worked_s(state.at))}: ")


def test_who_looked_on_while_nothing_was_recorded_saw_that_it_was_there() -> None:
    state = RunState().apply_all(DECISIONS["redirect"]())
    looked, now = state.at + timedelta(minutes=4), state.at + timedelta(minutes=9)
    broken = f"unheard: {RECORD_BROKEN}"
    assert while_away(state, now, lost=broken)[0].text == f"◇ {broken}", "as its screen shows it"
    seen = seen_of(state, looked, lost=False)
    rows = [line.text for line in while_away(state, now, seen, lost=True)]
    assert rows[1] == f"last activity: {day_and_clock(looked, now)}, 5m ago"
    wrote = looked + timedelta(minutes=3)
    rows = [line.text for line in while_away(state, now, seen, lost=True, sign=wrote)]
    assert rows[1] == f"last activity: {day_and_clock(wrote, now)}, 2m ago"
    dead = seen_of(state, looked, lost=True)
    rows = [line.text for line in while_away(state, now, dead, lost=True)]
    assert rows[1] == f"last activity: {day_and_clock(state.at, now)}, 9m ago"


def test_waits_and_denials_are_told() -> None:
    rows = summary_lines(RunState().apply_all(STORIES["limited"]()))
    assert any("LIMIT waiting until " in row for row in rows)
    assert rows[-1] == "3 tool calls denied"


def test_every_story_is_told_in_a_few_short_lines() -> None:
    for name in ("stuck", "regressing", "limited", "hostile", "empty", "rolled_back", "nasty"):
        story = (STORIES | DECISIONS)[name]
        rows = summary_lines(RunState().apply_all(story()))
        assert 1 <= len(rows) < 40, name
        assert all(len(row) <= 310 and len(row.splitlines()) == 1 for row in rows), name


def test_very_many_episodes_are_counted() -> None:
    state = RunState()
    for k in range(1, 41, 2):
        for event in (reading(k, k), stuck(k), made(iteration=k)):
            state.apply(event.model_copy(update={"seq": state.seq + 1}))
    assert sum("STUCK" in row for row in summary_lines(state)) <= MAX_EPISODES


def test_a_run_that_has_just_begun_is_no_news() -> None:
    state = RunState().apply_all(STORIES["empty"]())
    assert not is_long(state, state.at + timedelta(hours=3))
    state = RunState().apply_all(STORIES["running"]())
    assert is_long(state, state.at)


def halves(name: str, at: int) -> tuple[RunState, LastSeen, RunState]:
    """A story at an iteration's end, what the user had seen of it, and its end."""
    events = STORIES[name]()
    finished = [i for i, event in enumerate(events) if isinstance(event, ev.IterationFinished)]
    cut = finished[at - 1]
    then = RunState().apply_all(events[: cut + 1])
    return then, seen_of(then, then.at, lost=False), RunState().apply_all(events)


def test_what_was_seen_is_not_told_again() -> None:
    then, seen, now = halves("stuck", 5)
    rows = [line.text for line in while_away(now, now.at, seen)]
    since = f"since you last looked, {clock(then.at)}"
    assert rows[1].startswith(f"{since}: 5 iterations, 31 % to 31 %, $")
    assert rows[2] == "the same number of tests pass as before"
    assert not any("5 iterations are used" in row for row in rows)
    before = [line.text for line in while_away(then, then.at)]
    old = [row for row in before if "STUCK" in row and "(still open)" not in row]
    assert not set(old) & set(rows)


def test_a_verification_that_was_cut_short_counts_no_tests() -> None:
    events = STORIES["steady"]()
    last = max(i for i, event in enumerate(events) if isinstance(event, ev.GateFinished))
    now = RunState().apply_all(events[: last + 1])
    rows = [line.text for line in while_away(now, now.at)]
    measured = [
        g.passed or 0 for s in now.timeline.spans[:-1] if (g := s.gate) and g.passed is not None
    ]
    assert f"{measured[-1] - measured[0]} more tests pass than at the start" in rows


def test_where_nothing_came_since_nothing_is_told() -> None:
    then, seen, now = halves("stuck", 5)
    assert not is_news(then, then.at, seen, lost=False)
    assert is_news(now, now.at, seen, lost=False)
    end = seen_of(now, now.at, lost=False)
    assert not is_news(now, now.at + timedelta(days=1), end, lost=False)


def test_a_run_that_was_killed_is_told_once() -> None:
    then, seen, _ = halves("stuck", 5)
    assert is_news(then, then.at, seen, lost=True)
    assert while_away(then, then.at, seen, lost=True)[0].text.startswith("◇")
    again = seen_of(then, then.at, lost=True)
    assert not is_news(then, then.at, again, lost=True)


@each_row(
    ("reason", "news"),
    [
        ("aborted by you; the work stays as it is", False),
        ("stopped by you (terminal pts/3)", False),
        ("stopped by a script (process 7)", True),
        ("aborted: no answer within 30m", True),
    ],
)
def test_what_the_user_ended_is_no_news_to_the_user(reason: str, *, news: bool) -> None:
    then, seen, _ = halves("stuck", 5)
    then.apply(ev.AbortRequested(by="you", seq=then.seq + 1, at=then.at))
    end = ev.RunFinished(outcome="aborted", reason=reason, iterations=5, completion=0.3)
    then.apply(end.model_copy(update={"seq": then.seq + 1, "at": then.at}))
    assert is_news(then, then.at, seen, lost=False) is news


def test_a_question_that_came_since_is_news_and_first() -> None:
    events = DECISIONS["redirect"]()
    asked = next(i for i, e in enumerate(events) if e.kind == "question_asked")
    then = RunState().apply_all(events[: asked - 3])
    now = RunState().apply_all(events)
    seen = seen_of(then, then.at, lost=False)
    assert is_news(now, now.at, seen, lost=False)
    assert while_away(now, now.at, seen)[0].text.startswith("! needs you")


@each_row("changes", [{"run": "another run"}, {"seq": 10**9}])
def test_what_was_seen_of_something_else_counts_for_nothing(changes: dict[str, Any]) -> None:
    _, seen, now = halves("stuck", 5)
    assert while_away(now, now.at, replace(seen, **changes)) == while_away(now, now.at)


def test_denials_since_are_counted() -> None:
    state = RunState().apply_all(STORIES["limited"]())
    seen = replace(seen_of(state, state.at, lost=False), denied=1)
    assert while_away(state, state.at, seen)[-1].text == "2 tool calls denied"


def detached(name: str) -> RunState:
    first, *events = STORIES[name]()
    assert isinstance(first, ev.RunStarted)
    return RunState().apply_all([first.model_copy(update={"mode": "detached"}), *events])


def test_who_began_a_run_in_the_background_left_it_then() -> None:
    state = detached("running")
    at = state.run.started_at + timedelta(seconds=LONG_S / 2) if state.run.started_at else state.at
    assert is_news(state, at, None, lost=False)
    assert while_away(state, at)[1].text.startswith("in ")
    assert not is_news(detached("empty"), at, None, lost=False)
    assert is_news(detached("empty"), at, None, lost=True)
    assert not is_news(state, at, seen_of(state, at, lost=False), lost=False)


def test_a_run_was_left_before_its_end_or_as_it_began_in_the_background() -> None:
    state, background = RunState().apply_all(STORIES["running"]()), detached("running")
    assert not was_left_early(None, None)
    assert not was_left_early(state.run.started, None)
    assert was_left_early(background.run.started, None)
    seen = seen_of(state, state.at, lost=False)
    assert was_left_early(state.run.started, seen)
    assert not was_left_early(state.run.started, replace(seen, over=True))
    assert not was_left_early(state.run.started, replace(seen, lost=True))
    assert not was_left_early(state.run.started, replace(seen, run="another run"))


def test_of_a_cost_that_not_all_have_told_it_is_said_whose_it_lacks() -> None:
    events = taken_over()
    state = RunState().apply_all(events)
    (course,) = [row for row in summary_lines(state) if "iterations," in row]
    assert course.endswith("0 % to 100 %, ~$0.52 without the cost of codex")
    (course,) = [
        row for row in summary_lines(RunState().apply_all(never_reported())) if "iterations," in row
    ]
    assert "$" not in course
    then = (
        next(at for at, event in enumerate(events) if isinstance(event, ev.IterationFinished)) + 1
    )
    later = max(at for at, one in enumerate(events) if isinstance(one, ev.SessionStarted)) - 20
    seen = seen_of(RunState().apply_all(events[:then]), events[then].at, lost=False)
    rows = while_away(RunState().apply_all(events[:later]), events[later].at, seen)
    (course,) = [line.text for line in rows if line.text.startswith("since you last looked")]
    assert "$" not in course, "Codex's own work has an unknown cost"


def test_who_read_the_status_has_seen_the_same() -> None:
    for story, alive in product(DECISIONS.values(), (True, False)):
        state = RunState().apply_all(story())
        looked = state.at + timedelta(minutes=4)
        seen = seen_in(summarize(state, looked) | {"alive": alive}, looked)
        assert seen == seen_of(state, looked, lost=not alive and state.run.live)
        assert not is_news(state, looked, seen, lost=not alive and state.run.live)
