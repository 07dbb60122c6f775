"""The log shows each episode once: the problem, the action, who decided, the effect."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.events.waiting import SILENCE
from ralph_tui.state import RunState
from ralph_tui.tui.panes.event_log import entry_rows
from tests.rows import each_row
from tests.steps import counted

FIXTURES = Path(__file__).parents[2] / "fixtures"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def log_lines(*events: ev.Event | float) -> list[str]:
    """Log entries as text, nested rows indented; a number advances the clock by seconds."""
    state, at, seq = RunState(), START, 0
    for event in events:
        if isinstance(event, int | float):
            at += timedelta(seconds=event)
            continue
        seq += 1
        state.apply(event.model_copy(update={"seq": seq, "at": at}))
    rows = []
    for entry in state.log.entries:
        counted = f" ({entry.times} times)" if entry.times > 1 else ""
        rows.append(f"{entry.head.word} {entry.head.text}{counted}{' …' * entry.open}")
        rows += [f"  {row.word} {row.text}".replace("   ", "  ") for row in entry.follow]
    return rows


def reading(iteration: int, completion: float) -> ev.ReadingTaken:
    return ev.ReadingTaken(iteration=iteration, completion=completion, source="tests")


def stuck(iteration: int = 4) -> ev.AlarmRaised:
    return ev.AlarmRaised(
        iteration=iteration, alarm="STUCK", severity="warning", reason="No rise for 3 iterations."
    )


def made(
    level: Any = "REDIRECT", about: Any = "stuck", iteration: int = 4, **more: Any
) -> ev.Event:
    reason = more.pop("reason", "No rise for 3 iterations.")
    return ev.InterventionMade(iteration=iteration, level=level, about=about, reason=reason, **more)


def asked(topic: Any = "redirect", wait_s: float = 120, question_id: str = "q") -> ev.QuestionAsked:
    return ev.QuestionAsked(
        iteration=4,
        question_id=question_id,
        topic=topic,
        text="is it so?",
        options=[],
        deadline=START + timedelta(seconds=wait_s),
    )


def answer(name: str, by: str = "you", **more: Any) -> ev.QuestionAnswered:
    return ev.QuestionAnswered(question_id="q", answer=name, by=by, **more)


def test_refused_commands_never_fill_the_log() -> None:
    refused = ev.CommandRefused(command="pause", reason="a pause is already requested")
    assert log_lines(refused, refused) == []


@each_row(
    ("given", "says"),
    [
        (answer("approve", SILENCE), "no answer in 2 min: approved"),
        (answer("approve"), "approved by you"),
        (answer("approve", text="Take another way."), "edited and approved by you"),
        (answer("decline", "the terminal pts/3"), "declined by you (terminal pts/3)"),
        (ev.QuestionWithdrawn(question_id="q", reason="so"), "no answer needed: so"),
        (ev.RunFinished(outcome="interrupted", reason="", iterations=4, completion=5),
         "the run ended without an answer"),
    ],
)  # fmt: skip
def test_an_intervention_says_who_decided(given: ev.Event, says: str) -> None:
    rows = log_lines(stuck(), made(), asked(), 120, given)
    assert rows[:2] == ["STUCK No rise for 3 iterations …", f"  REDIRECT {says}"]


def test_while_nobody_has_answered_it_waits() -> None:
    held = ev.QuestionHeld(question_id="q")
    assert log_lines(stuck(), made(), asked(), held) == [
        "STUCK No rise for 3 iterations …",
        "  REDIRECT waiting for your answer",
        "  countdown stopped by you",
    ]


def test_what_belongs_to_an_episode_is_nested_in_it_until_a_new_best() -> None:
    later = "Still nothing new 3 iterations after the redirect."
    assert log_lines(
        reading(3, 60),
        stuck(),
        made(),
        asked(),
        answer("approve"),
        ev.AlarmCleared(iteration=5, alarm="STUCK"),
        ev.AlarmRaised(iteration=6, alarm="REGRESSING", severity="critical", reason="It fell."),
        made("PAUSE", "stuck", 7, reason=later),
        asked("pause"),
        answer("guide", text="look at b.py"),
        ev.GuidanceQueued(guidance_id="g", text="look at b.py"),
        ev.GuidanceDelivered(guidance_id="g", into="prompt"),
        reading(8, 80),
        ev.HealthChecked(iteration=8, status="healthy", ended="stuck"),
        ev.AlarmCleared(iteration=8, alarm="REGRESSING"),
    ) == [
        "STUCK No rise for 3 iterations",
        "  REDIRECT approved by you",
        "  REGRESSING It fell",
        "  PAUSE guided by you · Still nothing new 3 iterations after the redirect",
        "  GUIDE look at b.py",
        "  delivered with the prompt",
        "  over: a new best, 80 %",
    ]


def test_an_effect_below_a_later_intervention_says_which_it_measures() -> None:
    of = {"of": 4, "level": "REDIRECT", "about": "stuck", "decision": "approved by you"}
    effect = ev.EffectObserved(iteration=6, points=0, **of)
    assert log_lines(stuck(), made(), effect)[-1] == "  after 2 iterations: +0 points"
    later = made("PAUSE", "stuck", 6, reason="Still nothing new.")
    assert log_lines(stuck(), made(), later, effect)[-1] == (
        "  REDIRECT of iteration 4: +0 points after 2 iterations"
    )


def test_an_alarm_that_nobody_was_asked_about_is_over_with_its_condition() -> None:
    ended = ev.AlarmCleared(iteration=5, alarm="STUCK")
    assert log_lines(reading(3, 60), stuck(), reading(5, 60), ended, stuck(9)) == [
        "STUCK No rise for 3 iterations",
        "  over at 60 %",
        "STUCK No rise for 3 iterations …",
    ]


def test_an_episode_may_end_where_the_next_one_opens() -> None:
    rows = log_lines(
        reading(3, 60),
        stuck(),
        made(),
        reading(6, 80),
        made("REDIRECT", "objective_deviation", 6, reason="Off the objective."),
        ev.HealthChecked(iteration=6, status="warning", ended="stuck"),
    )
    assert rows[-2:] == [
        "  over: a new best, 80 %",
        "REDIRECT off the objective: Off the objective …",
    ]


def test_a_question_that_opens_an_episode_has_its_answer_below_it() -> None:
    idle = made("PAUSE", "circuit", 4, reason="3 iterations in a row changed no files.")
    assert log_lines(idle, asked("pause"), answer("continue")) == [
        "PAUSE stalled: 3 iterations in a row changed no files …",
        "  continued by you",
    ]


def test_an_answer_brings_its_consequences_along() -> None:
    restored = ev.WorktreeRestored(iteration=4, snapshot=3, present=9, tree="t", files=1)
    assert log_lines(
        stuck(),
        made(),
        asked(),
        answer("roll_back"),
        restored,
        made("PAUSE", "stuck", 5, reason="Still."),
        asked("pause"),
        answer("extend", iterations=2),
        ev.LimitsChanged(max_iterations=12),
        restored.model_copy(update={"snapshot": 9, "present": 10}),
    ) == [
        "STUCK No rise for 3 iterations …",
        "  REDIRECT restored by you",
        "  RESTORED 1 file to snapshot 3, by you; previous files saved as snapshot 9",
        "  PAUSE extended by you · Still",
        "  now 12 iterations, by you",
        "  undone by you: 1 file to snapshot 9, by you; previous files saved as snapshot 10",
    ]


def test_an_abort_is_one_entry_with_the_end_and_the_resume() -> None:
    assert log_lines(
        ev.AbortRequested(),
        made("ABORT", "owner", reason="aborted by you"),
        ev.RunFinished(outcome="aborted", reason="aborted by you", iterations=4, completion=62),
        ev.RunResumed(away_s=300),
    ) == [
        "ABORT requested by you",
        "  the agent is stopped",
        "  ABORTED 62 % after 4 iterations",
        "  RESUMED after 5m: the run continues",
    ]


def test_a_crash_and_a_stop_are_followed_by_their_resume() -> None:
    end = ev.RunFinished(outcome="interrupted", reason="stopped", iterations=1, completion=9)
    assert log_lines(
        ev.RunCrashed(error="KeyError", traceback=""),
        ev.RunResumed(),
        ev.StopRequested(mode="now"),
        end,
        ev.RunResumed(),
        ev.RunResumed(found="it had died"),
    ) == [
        "FAILED KeyError",
        "  RESUMED the run continues",
        "STOP now, requested by you",
        "  STOPPED 9 % after 1 iteration",
        "  RESUMED the run continues",
        "RESUMED it had died",
    ]


def test_guidance_is_one_entry_from_queued_to_acknowledged() -> None:
    assert log_lines(
        ev.GuidanceQueued(guidance_id="g", text="look at b.py"),
        ev.GuidanceDelivered(guidance_id="g", into="session"),
        ev.GuidanceAcknowledged(guidance_id="g"),
    ) == ["GUIDE look at b.py", "  delivered into the session", "  acknowledged by the agent"]


def test_a_pause_is_one_entry() -> None:
    assert log_lines(ev.PauseRequested(), ev.Paused(), 300, ev.Unpaused()) == [
        "PAUSE requested by you",
        "  paused: no agent is running",
        "  continued after 5m, by you",
    ]
    assert log_lines(ev.PauseRequested(), ev.Unpaused())[-1] == "  withdrawn by you"


def test_waits_in_a_row_are_one_entry() -> None:
    first = ev.WaitStarted(iteration=2, cause="overload", until=START + timedelta(minutes=1))
    again = first.model_copy(update={"attempt": 2, "until": START + timedelta(hours=1)})
    ended = ev.WaitEnded(iteration=2, waited_s=60)
    rows = log_lines(first, ended, again)
    assert rows[1:] == [f"  1 failed attempt; retry at {_clock(hours=1)}"]
    assert rows[0].endswith("the iteration does not count …")
    assert log_lines(first, ended, again, ev.WaitEnded(iteration=2, waited_s=3540, by="you"))[
        1:
    ] == ["  continued after 1h, requested by you"]


def _clock(**after: float) -> str:
    return (START + timedelta(**after)).astimezone().strftime("%H:%M")


def test_a_question_is_one_entry() -> None:
    assert log_lines(asked("silence"), answer("retry")) == [
        "QUESTION is it so?",
        "  interrupted by you",
    ]
    assert log_lines(asked("criterion", 1800), 1800, answer("no", SILENCE)) == [
        "QUESTION is it so?",
        "  no answer in 30 min: not accepted",
    ]


def test_people_are_told_of_an_entry_below_it() -> None:
    carried = ev.EscalationDelivered(escalation_id="e", channel="webhook", ok=True, text="told")
    raised = ev.EscalationRaised(
        iteration=4, escalation_id="e", level="critical", about="stuck", reason="x"
    )
    assert log_lines(stuck(), made(), raised, carried)[-1] == "  WEBHOOK told"
    unanswered = raised.model_copy(update={"about": "question"})
    assert log_lines(asked("silence"), unanswered, carried) == [
        "QUESTION is it so? …",
        "  WEBHOOK told",
    ]


def test_what_comes_again_is_counted() -> None:
    denied = ev.ToolDenied(iteration=1, tool="Bash", message="no", permit="Bash(rm:*)")
    assert log_lines(denied, denied, denied)[0].endswith('["Bash(rm:*)"] (3 times)')
    warned = ev.Noticed(level="warn", source="sensor", text="Test files changed: a.py.")
    other = warned.model_copy(update={"text": "Test files changed: b.py."})
    begun = ev.IterationStarted(iteration=2, max_iterations=9)
    assert log_lines(warned, begun, other, warned) == [
        "WARN Test files changed: a.py. (2 times)",
        "  iteration 2: b.py.",
    ]


def demo(scenario: str) -> list[ev.Event]:
    """An unattended demo, without events that the log ignores."""
    lines = (FIXTURES / "log" / f"{scenario}.jsonl").read_text().splitlines()
    return [ev.parse_event(line) for line in lines]


def drawn(state: RunState, width: int) -> str:
    """The pane's rows."""
    rows = [
        row for entry in state.log.entries for row in entry_rows(entry, width, past=not entry.open)
    ]
    return "\n".join("".join(text for text, _ in row).rstrip() for row in rows) + "\n"


@pytest.mark.parametrize("scenario", ["stuck", "oscillating", "regressing", "limit", "context"])
@pytest.mark.parametrize("width", [38, 58])
def test_a_demo_reads_as_a_short_list(
    scenario: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = RunState().apply_all(demo(scenario))
    times = [row[:5] for row in drawn(state, width).splitlines() if row[:1].isdigit()]
    assert times == sorted(times), "nested rows have no time, so the order shows it"
    assert len(times) == len(state.log.entries)
    monkeypatch.setattr("ralph_tui.tui.panes.event_log.clock", lambda at: "09:00")
    golden = FIXTURES / "log" / f"{scenario}-{width}.txt"
    assert drawn(state, width) == golden.read_text()


@each_row("journal", (FIXTURES / "journals").glob("*.jsonl"))
def test_every_journal_that_is_kept_can_be_told(journal: Path) -> None:
    state = RunState().apply_all(read_journal(journal).events)
    seqs = [entry.head.seq for entry in state.log.entries]
    assert seqs == sorted(seqs)
    for entry in state.log.entries:
        assert [row.seq for row in entry.rows] == sorted(row.seq for row in entry.rows)
        assert entry.head.word


def test_thousands_of_alarms_are_folded_and_drawn_in_time() -> None:
    state, taken = RunState(), []
    for part in range(10):
        with counted() as steps:
            for number in range(300 * part, 300 * part + 300):
                state.apply(stuck().model_copy(update={"seq": number + 1, "at": START}))
        taken.append(steps.count)
    assert taken[-1] < 1.1 * taken[1], "the last 300 cost no more than an early one"
    (entry,) = state.log.entries
    assert len(entry.follow) == 2_999
    assert len(entry_rows(entry, 58, past=False)) < 20
