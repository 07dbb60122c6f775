"""The table of verdicts: one clear sentence for every state of a run."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ralph_tui import events as ev
from ralph_tui.analysis.context import ends_by
from ralph_tui.analysis.verdict import verdict
from ralph_tui.events.agent import BackgroundTask
from ralph_tui.events.oversight import Detected
from ralph_tui.events.run import Outcome
from ralph_tui.events.waiting import SILENCE, Option
from ralph_tui.state import RunState
from ralph_tui.text.format import clock
from tests.rows import each_row
from tests.world.recorder import Recorder

OPTION = Option(key="y", answer="approve", verb="approve")


def working(*series: float, most: int = 10, **start: Any) -> Recorder:
    """A run at work after these measurements, the baseline first."""
    run = Recorder(most, **start)
    if series:
        run.baseline(series[0])
        run.iterations(*series[1:])
        run.open(len(series))
    return run


def asking(topic: str, text: str, default: str = "") -> ev.QuestionAsked:
    return ev.QuestionAsked.model_validate(
        {
            "iteration": 1,
            "question_id": "q1",
            "topic": topic,
            "text": text,
            "options": [OPTION],
            "default": default,
        }
    )


def question(topic: str, text: str, default: str = "", within_s: int = 0) -> Recorder:
    run = working(10, 30)
    run.add(asking(topic, text, default), 0)
    if within_s:
        asked = run.events[-1]
        late = asked.model_copy(update={"deadline": run.at + timedelta(seconds=within_s)})
        run.world.state.apply(late.model_copy(update={"seq": asked.seq + 1}))
    return run


def with_(run: Recorder, *events: ev.Event, after: float = 0) -> Recorder:
    for event in events:
        run.add(event, after)
    return run


def alarmed(
    about: str, *decided: ev.Event, again: float | None = None, up: bool = True
) -> Recorder:
    """An episode for this alarm, opened after iteration 4, and the decision."""
    run = working(10)
    for k in (1, 2, 3, 4):
        run.gate(k, 30)
    reasons = {
        "stuck": "No rise for 3 iterations; the longest gap between gains so far was 1.",
        "oscillating": "Completion changed direction 3 times in 4 iterations by 5 points or more "
        "and gained nothing.",
        "regressing": "2 falls in a row cost 20 points.",
    }
    reason = reasons.get(about, "3 iterations in a row changed no files and brought no new best.")
    if about in reasons and up:
        severity = "warning" if about == "stuck" else "critical"
        raised = {"iteration": 4, "alarm": about.upper(), "severity": severity, "reason": reason}
        run.add(ev.AlarmRaised.model_validate(raised))
    level = "PAUSE" if about == "circuit" else "REDIRECT"
    run.add(
        ev.InterventionMade.model_validate(
            {"iteration": 4, "level": level, "about": about, "reason": reason}
        )
    )
    with_(run, *decided)
    if again is not None:
        run.add(ev.ReadingTaken(iteration=5, completion=again, source="tests"))
    return run


def answered(topic: str, word: str, by: str = "you", *, instructions: str = "") -> list[ev.Event]:
    """A question of the overseer and its answer."""
    said: list[ev.Event] = [
        asking(topic, "No rise."),
        ev.QuestionAnswered(question_id="q1", answer=word, by=by),
    ]
    if topic == "redirect":
        given = {"iteration": 4, "about": "stuck", "approved": word != "decline"}
        fields = {"by": by, "instructions": instructions}
        said.append(ev.RedirectDecided.model_validate(given | fields))
    return said


APPROVED = answered("redirect", "approve", SILENCE, instructions="Try another way.")
DECLINED = answered("redirect", "decline")
CONTINUED = answered("pause", "continue")
BACK = ev.WorktreeRestored(iteration=4, snapshot=2, present=9, tree="an older tree")
LIMIT = "waiting: usage limit, retry at "


def limited(*wishes: ev.Event, cause: str = "usage_limit", minutes: float | None = 84) -> Recorder:
    run = working(10, 30)
    until = None if minutes is None else run.at + timedelta(minutes=minutes)
    waits = {"iteration": 2, "cause": cause, "until": until}
    if cause in ("overload", "outage"):
        waits["since"] = run.at - timedelta(minutes=2)
    run.add(ev.WaitStarted.model_validate(waits), 0)
    return with_(run, *wishes)


def over(outcome: Outcome, reason: str) -> Recorder:
    return with_(
        working(0, 50), ev.RunFinished(outcome=outcome, reason=reason, iterations=2, completion=50)
    )


def handing_over() -> Recorder:
    run = working(10, 30)
    usage = ev.UsageReported(iteration=2, context_tokens=172_000, context_window=200_000)
    full = ev.ContextLevelReached(
        iteration=2, level="L2", percent=86, tokens=172_000, window=200_000
    )
    return with_(run, usage, full)


def session_held() -> Recorder:
    task = BackgroundTask(task_id="t", what="npm run dev")
    waits = ev.BackgroundAwaited(iteration=2, tasks=[task], silence_s=600)
    return with_(working(10, 30), waits)


def nothing() -> Recorder:
    run = Recorder(10)
    run.world.state = RunState()
    return run


WATCHED = {"watched": True, "session_timeout_s": 0}
NO_ANSWER = "needs you, press d (approves in 1m 59s): "
REDIRECT = ("redirect", "No rise for 3 iterations.", "approve", 119)
PAUSE = ("pause", "Still nothing new 4 iterations after the redirect.")
SILENT = ("silence", "The agent has produced no output for 10 minutes.", "retry", 119)

TABLE: dict[str, tuple[Callable[[], Recorder], str]] = {
    "nothing recorded": (nothing, "○ reading the record"),
    "starting": (working, "○ starting: measuring the current state"),
    "first iteration": (
        lambda: working(30),
        "○ starting from 30 %: the first iteration shows the pace",
    ),
    "watched hook loop": (lambda: Recorder(10, **WATCHED), "○ watched: progress is not measured"),
    "on track": (lambda: working(0, 20, 40, 60), "✓ on track: about 2 more iterations"),
    "on track, nearly": (lambda: working(0, 40, 80), "✓ on track: about 1 more iteration"),
    "slow": (
        lambda: working(0, 30, 32, 34, 36, 50, most=7),
        "▲ slow: needs about 5 more iterations, 2 left",
    ),
    "slow, the last one": (
        lambda: working(0, 30, 50, most=3),
        "▲ slow: needs about 2 more iterations, 1 left",
    ),
    "no progress now, back at the start": (
        lambda: working(0, 50, 0, most=20),
        "○ no progress now: back at 0 %, best 50 % after iteration 1; 18 iterations left",
    ),
    "no progress yet": (lambda: working(10, 10), "○ no progress yet: 9 iterations left"),
    "verifying": (
        lambda: with_(working(0, 20, 40), ev.GateStarted(iteration=3, command="pytest -q")),
        "◐ verifying: the completion command is measuring iteration 3",
    ),
    "measured, its pace not known yet": (
        lambda: with_(
            working(0, 30, 50), ev.ReadingTaken(iteration=3, completion=90, source="tests")
        ),
        "◐ verifying: the completion command is measuring iteration 3",
    ),
    "done, not over": (lambda: working(0, 100), "✓ done: 100 % measured"),
    "limit": (limited, f"◷ {LIMIT}{{at}}, in 1h 24m; press w to retry now"),
    "limit, pausing": (
        lambda: limited(ev.PauseRequested()),
        f"◷ {LIMIT}{{at}}, in 1h 24m; then it pauses",
    ),
    "limit, paused": (lambda: limited(ev.Paused()), f"◷ {LIMIT}{{at}}, in 1h 24m; then paused"),
    "limit, stopping": (
        lambda: limited(ev.StopRequested(mode="after_iteration")),
        f"◷ {LIMIT}{{at}}, in 1h 24m; then it stops",
    ),
    "overload": (
        lambda: limited(cause="overload", minutes=1),
        "◷ waiting: overload since {since}, retry at {at}, in 1m; press w to retry now",
    ),
    "outage": (
        lambda: limited(cause="outage", minutes=8),
        "◷ waiting: service down since {since}, retry at {at}, in 8m; press w to retry now",
    ),
    "disk full": (
        lambda: limited(cause="disk_full", minutes=None),
        "◷ waiting: disk full, until disk space is free; press w to retry now",
    ),
    "paused": (
        lambda: with_(working(0, 20), ev.Paused()),
        "▮ paused: no agent is running; press p to unpause",
    ),
    "pausing": (
        lambda: with_(working(0, 20), ev.PauseRequested()),
        "▮ pausing: this iteration ends first",
    ),
    "stopping": (
        lambda: with_(working(0, 20), ev.StopRequested(mode="after_iteration")),
        "■ stopping: this iteration ends first",
    ),
    "stopping now": (
        lambda: with_(working(0, 20), ev.StopRequested(mode="now")),
        "■ stopping: ending the agent's session now",
    ),
    "aborting": (
        lambda: with_(working(0, 20), ev.AbortRequested()),
        "⊗ aborting: stopping the agent",
    ),
    "aborting, restoring": (
        lambda: with_(working(0, 20), ev.AbortRequested(roll_back_to=3)),
        "⊗ aborting: stopping the agent, then restoring the files of snapshot 3",
    ),
    "redirect": (
        lambda: question(*REDIRECT),
        f"! {NO_ANSWER}Send the agent new instructions? No rise for 3 iterations",
    ),
    "redirect, stopping": (
        lambda: with_(question(*REDIRECT), ev.StopRequested(mode="after_iteration")),
        "! needs you, press d (approves in 1m 59s), then it stops: Send the agent new "
        "instructions? No rise for 3 iterations",
    ),
    "redirect, the stop taken back": (
        lambda: with_(
            question(*REDIRECT),
            ev.StopRequested(mode="after_iteration"),
            ev.StopRequested(mode="taken_back"),
        ),
        f"! {NO_ANSWER}Send the agent new instructions? No rise for 3 iterations",
    ),
    "redirect, countdown stopped": (
        lambda: question("redirect", "No rise for 3 iterations."),
        "! needs you, press d: Send the agent new instructions? No rise for 3 iterations",
    ),
    "pause question": (
        lambda: question(*PAUSE),
        "! needs you, press d: Continue? Still nothing new 4 iterations after the redirect",
    ),
    "criterion": (
        lambda: question("criterion", "Is this true: notes.md explains everything"),
        "! needs you, press d: Is it done? Is this true: notes.md explains everything",
    ),
    "silence": (
        lambda: question(*SILENT),
        "! needs you, press d (interrupts in 1m 59s): The agent has produced no output for 10 "
        "minutes",
    ),
    "handoff": (
        lambda: question("handoff", "The session has ended. Send it, or edit it first?", "send"),
        "! needs you, press d: The session has ended. Send it, or edit it first?",
    ),
    "prompt": (
        lambda: question("prompt", "The prompt of iteration 2 is ready. Send it?", "send", 119),
        "! needs you, press d (sends in 1m 59s): The prompt of iteration 2 is ready. Send it?",
    ),
    "stuck, nothing done": (
        lambda: alarmed("stuck"),
        "▲ stuck: no new best for 3 iterations; asking you",
    ),
    "stuck, instructed": (
        lambda: alarmed("stuck", *APPROVED),
        "▲ stuck: no new best for 3 iterations; instructions sent, not measured since",
    ),
    "stuck, instructed, still": (
        lambda: alarmed("stuck", *APPROVED, again=30),
        "▲ stuck: no new best for 4 iterations; instructions sent after iteration 4",
    ),
    "stuck, declined": (
        lambda: alarmed("stuck", *DECLINED),
        "▲ stuck: no new best for 3 iterations; instructions declined by you, not measured since",
    ),
    "oscillating, instructed": (
        lambda: alarmed("oscillating", *APPROVED),
        "◆ oscillating: changed direction 3 times in 4 iterations; instructions sent, not "
        "measured since",
    ),
    "regressing, restored": (
        lambda: alarmed("regressing", *APPROVED, BACK),
        "◆ regressing: the files of iteration 1 restored, not measured since; 2 falls in a row "
        "cost 20 points",
    ),
    "regressing, better": (
        lambda: alarmed("regressing", *APPROVED, again=31, up=False),
        "◆ regressing: 2 falls in a row cost 20 points; instructions sent after iteration 4; "
        "improved since, but not enough yet",
    ),
    "circuit": (
        lambda: alarmed("circuit", *CONTINUED, again=30),
        "▲ stalled: 3 iterations in a row changed no files and brought no new best; continued by "
        "you after iteration 4",
    ),
    "circuit, files change": (
        lambda: with_(
            alarmed("circuit", *CONTINUED, again=30),
            ev.HealthChecked(iteration=5, status="healthy", level="LOG"),
        ),
        "▲ stalled: 3 iterations in a row changed no files and brought no new best; "
        "continued by you after iteration 4; files change again, no gain yet",
    ),
    "restored": (
        lambda: with_(working(0, 20, 40), BACK),
        "↶ restored: the files of iteration 1; not measured since, 8 iterations left",
    ),
    "handing over": (
        handing_over,
        "⟳ handing off: the context is 86 % full; its current message may take until {late}",
    ),
    "background": (
        session_held,
        "○ waiting: the session waits for 1 background task: npm run dev (since {now}); "
        "it ends after 10m of silence; press i to end it now",
    ),
    "completed": (
        lambda: over("completed", "the completion command passed after iteration 2"),
        "✓ completed: the completion command passed after iteration 2",
    ),
    "limit reached": (
        lambda: over("limit_reached", "10 of 10 iterations are used"),
        "⊖ limit reached: 10 of 10 iterations are used",
    ),
    "aborted": (lambda: over("aborted", "aborted by you"), "⊗ aborted by you"),
    "failed": (
        lambda: over("failed", "the agent cannot be started"),
        "✗ failed: the agent cannot be started",
    ),
    "interrupted": (lambda: over("interrupted", "stopped by a signal"), "■ stopped by a signal"),
    "crashed": (
        lambda: with_(working(0, 20), ev.RunCrashed(error="KeyError: 'x'", traceback="")),
        "✗ failed because of a bug in ralph-tui: KeyError: 'x'",
    ),
}


@each_row("name", TABLE)
def test_every_state_has_its_sentence(name: str) -> None:
    build, says = TABLE[name]
    run = build()
    state, now = run.world.state, run.at
    wait = state.needs.wait
    at = clock(wait.until) if wait is not None and wait.until is not None else ""
    since = clock(wait.since) if wait is not None and wait.since is not None else ""
    ends = ends_by(state)
    late = "" if ends is None else clock(ends, seconds=True)
    found = verdict(state, now)
    assert found.line == says.format(at=at, since=since, now=clock(now), late=late)
    assert found.text.startswith(found.word), "the word is where the sentence begins"
    assert "  " not in found.text
    _recorded_or_lost(run, name)


def _recorded_or_lost(run: Recorder, name: str) -> None:
    """A recorded run needs no user; a lost one differs only in its end."""
    state = run.world.state
    said = verdict(state, run.at, recorded=True)
    assert "needs you" not in said.line
    assert not any(key in said.text for key in ("press d", "w retries", "p goes on", "i ends"))
    lost = verdict(state, run.at, lost=True)
    if state.run.live:
        watched = "watched" in name
        assert lost.word == ("unknown" if watched else "died")
        assert watched or lost.line == (
            "◇ died: its process is gone; ralph-tui resume continues it"
        )
    else:
        assert lost == verdict(state, run.at) or state.run.started is None


def test_a_silent_agent_is_told_about() -> None:
    run = with_(working(0, 20), ev.SessionStarted(iteration=2, agent="claude", session_id="s"))
    state, began = run.world.state, run.world.state.run.last_output_at or run.at
    assert verdict(state, began + timedelta(seconds=119)).word != "quiet"
    later = verdict(state, run.at + timedelta(seconds=245))
    assert later.line.startswith("▲ quiet: no agent output for 4m")


def test_a_session_that_has_just_begun_is_not_silent() -> None:
    """However old the last output is: that session may have been killed and the run resumed."""
    began = ev.SessionStarted(iteration=2, agent="claude", session_id="s")
    run = with_(working(0, 20), began, after=300)
    assert verdict(run.world.state, run.at + timedelta(seconds=60)).word != "quiet"
    assert verdict(run.world.state, run.at + timedelta(seconds=121)).word == "quiet"


def test_a_recorded_question_says_that_it_was_asked() -> None:
    run = question(*REDIRECT)
    rest = " (approves in 1m 59s): Send the agent new instructions? "
    rest += "No rise for 3 iterations"
    assert verdict(run.world.state, run.at, recorded=True).line == f"! asked{rest}"
    assert verdict(run.world.state, run.at, keys=None).line == f"! needs you{rest}"


@each_row(("opened", "asked", "says"), [
    ("circuit",
     "8 iterations in a row changed no files and brought no new best. That is 5 iterations after "
     "the question.",
     "stalled: 8 iterations in a row changed no files and brought no new best; continued by you"),
    ("oscillating",
     "Completion changed direction 5 times in 6 iterations by 50 points or more and gained "
     "nothing. That is 2 iterations after the redirect.",
     "oscillating: changed direction 5 times in 6 iterations; continued by you"),
])  # fmt: skip
def test_an_answer_stands_beside_the_question_that_it_answered(
    opened: str, asked: str, says: str
) -> None:
    first = CONTINUED if opened == "circuit" else DECLINED
    run = alarmed(opened, *first, again=30)
    again = {"iteration": 5, "level": "PAUSE", "about": opened, "reason": asked}
    second = [one.model_copy(update={"question_id": "q2"}) for one in answered("pause", "continue")]
    with_(run, ev.InterventionMade.model_validate(again), *second)
    # A question about money or conflicts says nothing about the episode.
    other = {"iteration": 5, "level": "PAUSE", "about": "conflicts", "reason": "Conflicts."}
    third = [one.model_copy(update={"question_id": "q3"}) for one in answered("pause", "continue")]
    with_(run, ev.InterventionMade.model_validate(other), *third)
    assert verdict(run.world.state, run.at, keys=None).text == f"{says}, not measured since"


@each_row(("alarm", "why", "says"), [
    ("REGRESSING", "3 falls in a row cost 15 points.",
     "regressing: 3 falls in a row cost 15 points; continued by you after "),
    ("STUCK", "No rise.", "stuck: no new best for 7 iterations"),
])  # fmt: skip
def test_of_an_open_episode_the_alarm_that_is_up_is_told(alarm: str, why: str, says: str) -> None:
    run = alarmed("regressing", *DECLINED)
    reason = "2 falls in a row cost 20 points. That is 1 iteration after the redirect."
    again = {"iteration": 5, "level": "PAUSE", "about": "regressing", "reason": reason}
    second = [one.model_copy(update={"question_id": "q2"}) for one in answered("pause", "continue")]
    with_(run, ev.InterventionMade.model_validate(again), *second)
    run.add(ev.AlarmCleared(iteration=6, alarm="REGRESSING"))
    raised = {"iteration": 8, "alarm": alarm, "severity": "critical", "reason": why}
    run.add(ev.AlarmRaised.model_validate(raised))
    run.add(ev.ReadingTaken(iteration=8, completion=15, source="tests"))
    assert verdict(run.world.state, run.at, keys=None).text.startswith(says)


def test_a_health_check_that_finds_the_circuit_open_says_nothing_of_files() -> None:
    found = Detected(name="circuit", severity="high", reason="again")
    check = ev.HealthChecked(iteration=5, status="warning", level="WARN", detections=[found])
    run = with_(alarmed("circuit", *CONTINUED, again=30), check)
    assert "files change again" not in verdict(run.world.state, run.at).text


def test_a_loop_that_hooks_record_says_what_it_starts_with() -> None:
    start = {"run_id": "r", "root": "/r", "objective": "x", "agent": "claude"} | WATCHED
    started = ev.RunStarted.model_validate(start | {"max_iterations": 5})
    state = RunState().apply_all([started])
    assert verdict(state, started.at).line == "○ watched: progress is not measured"
