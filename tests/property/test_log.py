"""The log of any journal lists each alarm and intervention once, in order."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.state import RunState

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
iterations = st.integers(0, 5)
ids = st.sampled_from(["a", "b"])
alarms = st.sampled_from(["STUCK", "OSCILLATING", "REGRESSING", "BUDGET_EXCEEDED"])
subjects = st.sampled_from(
    ["stuck", "oscillating", "budget", "pace", "circuit", "conflicts", "owner", "agent_error"]
)
levels = st.sampled_from(["LOG", "WARN", "REDIRECT", "PAUSE", "ABORT"])
reasons = st.sampled_from(["No rise; so.", "It fell.", "It fell. Again."])
snapshots = st.integers(1, 4)
answers = st.sampled_from(["approve", "roll_back", "guide", "extend", "abort", "retry"])
topics = st.sampled_from(["redirect", "pause", "silence", "criterion", "handoff"])


def made(kind: type[ev.Event], **fields: Any) -> st.SearchStrategy[ev.Event]:
    return st.builds(kind, **fields)


EVENTS = st.one_of(
    made(ev.IterationStarted, iteration=iterations, max_iterations=st.just(9)),
    made(ev.ReadingTaken, iteration=iterations, completion=st.integers(0, 100),
         source=st.just("tests"), restarted=st.booleans()),
    made(ev.AlarmRaised, iteration=iterations, alarm=alarms, severity=st.just("warning"),
         reason=reasons),
    made(ev.AlarmCleared, iteration=iterations, alarm=alarms),
    made(ev.InterventionMade, iteration=iterations, level=levels, about=subjects, reason=reasons),
    made(ev.HealthChecked, iteration=iterations, status=st.just("healthy"),
         ended=st.none() | st.just("stuck")),
    made(ev.EffectObserved, iteration=iterations, of=iterations, level=levels, about=subjects,
         decision=st.just("so"), points=st.integers(-9, 9)),
    made(ev.QuestionAsked, iteration=iterations, question_id=ids, topic=topics, text=reasons,
         options=st.just([])),
    made(ev.QuestionHeld, question_id=ids),
    made(ev.QuestionAnswered, question_id=ids, answer=answers),
    made(ev.QuestionWithdrawn, question_id=ids, reason=reasons),
    made(ev.EscalationRaised, iteration=iterations, escalation_id=ids, level=st.just("info"),
         about=subjects | st.just("question"), reason=reasons),
    made(ev.EscalationDelivered, escalation_id=ids, channel=st.just("webhook"), ok=st.booleans(),
         text=reasons),
    made(ev.GuidanceQueued, guidance_id=ids, text=reasons),
    made(ev.GuidanceDelivered, guidance_id=ids, into=st.just("prompt")),
    made(ev.GuidanceAcknowledged, guidance_id=ids),
    made(ev.LimitsChanged, max_iterations=st.just(9)),
    made(ev.WorktreeRestored, iteration=iterations, snapshot=snapshots, present=snapshots,
         tree=st.just("t")),
    made(ev.WaitStarted, iteration=iterations, cause=st.just("overload"),
         attempt=st.integers(1, 3)),
    made(ev.WaitEnded, iteration=iterations),
    made(ev.ToolDenied, iteration=iterations, tool=st.just("Bash")),
    st.sampled_from([ev.PauseRequested(), ev.Paused(), ev.Unpaused(), ev.AbortRequested(),
                     ev.RunResumed(), ev.StopRequested(mode="now"),
                     ev.RunCrashed(error="x", traceback="")]),
    made(ev.RunFinished, outcome=st.sampled_from(["completed", "aborted", "interrupted"]),
         reason=st.just("so"), iterations=iterations, completion=st.just(5)),
)  # fmt: skip


def stamped(events: list[ev.Event]) -> list[ev.Event]:
    """Numbered, a minute apart."""
    return [
        event.model_copy(update={"seq": seq, "at": START + timedelta(minutes=seq)})
        for seq, event in enumerate(events, 1)
    ]


def next_episodes(events: list[ev.Event]) -> list[ev.Event]:
    """The REDIRECTs that may end one episode and open another: never two in an iteration."""
    openers = [
        e
        for e in events
        if isinstance(e, ev.InterventionMade)
        and (e.level == "REDIRECT" or (e.level, e.about) == ("PAUSE", "circuit"))
    ]
    return [
        e
        for before, e in pairwise(openers)
        if e.level == "REDIRECT" and e.iteration != before.iteration
    ]


def shown(state: RunState) -> list[tuple[Any, ...]]:
    return [
        (entry.number, entry.kind, entry.open, entry.times, *entry.rows)
        for entry in state.log.entries
    ]


@example([ev.InterventionMade(iteration=2, level="REDIRECT", about="stuck", reason="It fell.")] * 2)
@given(st.lists(EVENTS, max_size=40))
def test_each_alarm_and_intervention_is_told_once_in_order(made: list[ev.Event]) -> None:
    events = stamped(made)
    state = RunState().apply_all(events)
    entries = state.log.entries
    assert [entry.number for entry in entries] == list(range(len(entries)))
    heads = [(entry.head.at, entry.head.seq) for entry in entries]
    assert heads == sorted(heads)
    for entry in entries:
        rows = [(row.at, row.seq) for row in entry.rows]
        assert rows == sorted(rows)
        assert entry.head.word
        assert all(row.text for row in entry.follow)
    reported = Counter(row.seq for entry in entries for row in entry.rows)
    by_seq = {event.seq: event for event in events}
    twice = [by_seq[seq] for seq, times in reported.items() if times > 1]
    # An end settles whatever is open, each in its entry.
    ends = next_episodes(events)
    assert all(
        isinstance(e, ev.RunFinished | ev.RunCrashed | ev.RunResumed)
        for e in twice
        if e not in ends
    )
    must = [e for e in events if isinstance(e, ev.AlarmRaised | ev.InterventionMade)]
    assert [e for e in must if reported[e.seq] not in ((1, 2) if e in ends else (1,))] == []


@given(st.lists(EVENTS, max_size=30), st.integers(0, 30))
def test_a_look_in_between_changes_nothing_and_finds_what_changed(
    made: list[ev.Event], cut: int
) -> None:
    events = stamped(made)
    state = RunState().apply_all(events[:cut])
    before, (clock, _) = shown(state), state.log.changed_since(0)
    state.apply_all(events[cut:])
    assert shown(state) == shown(RunState().apply_all(events))
    _, first = state.log.changed_since(clock)
    assert shown(state)[:first] == before[:first]
