"""Log, plain lines, agent stream and screen use one wording for an event."""

from datetime import UTC, datetime, timedelta
from typing import Any

from ralph_tui import events as ev
from ralph_tui.analysis.verdict import verdict
from ralph_tui.events.agent import BackgroundTask
from ralph_tui.state import RunState
from ralph_tui.text.format import clock
from ralph_tui.tui.cockpit.question_presenter import alert_text
from ralph_tui.tui.modals.question_rows import readings as readings_row
from ralph_tui.tui.panes.end import EndPane
from ralph_tui.tui.panes.header import header_lines
from ralph_tui.tui.panes.verification import VerificationPane
from tests.lines import plain_line
from tests.rows import each_row

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def folded(*events: ev.Event) -> RunState:
    """The state after these numbered events, all at noon."""
    stamped = [e.model_copy(update={"seq": seq, "at": NOW}) for seq, e in enumerate(events, 1)]
    return RunState().apply_all(stamped)


def line(event: ev.Event) -> str:
    """The plain line without its time."""
    return str(plain_line(event)).split(" ", 1)[1]


def question(question_id: str) -> ev.QuestionAsked:
    return ev.QuestionAsked(
        iteration=1, question_id=question_id, topic="criterion", text="?", options=[]
    )


@each_row(
    ("event", "shared"),
    [
        (ev.StopRequested(mode="after_iteration"), "after this iteration, requested by you"),
        (ev.Unpaused(), "by you"),
        (ev.GuidanceDelivered(guidance_id="g", into="prompt"), "delivered with the prompt"),
        (ev.GuidanceDelivered(guidance_id="g", into="session"), "delivered into the session"),
        (ev.QuestionAnswered(question_id="q", answer="roll_back"), "restored by you"),
        (ev.JournalRestored(path="x"), "the journal was deleted and has been written again"),
        (ev.Noticed(level="error", source="watch", text="no more watches"), "no more watches"),
        (
            ev.GateFinished(
                iteration=1, ok=False, exit_code=None, timed_out=True, duration_s=1.0, tail=""
            ),
            "timed out",
        ),
        (
            ev.ToolDenied(iteration=1, tool_id="t", tool="Bash", permit="Bash(git push)"),
            'permit it with permissions.allow = ["Bash(git push)"]',
        ),
        (
            ev.ToolDenied(
                iteration=1, tool="Bash", permit="Bash(curl:*)", also=["Bash(git push:*)"]
            ),
            'permit it with permissions.allow = ["Bash(curl:*)", "Bash(git push:*)"]',
        ),
        (
            ev.ToolDenied(iteration=1, tool="Write", final=True),
            "permissions.allow cannot permit it",
        ),
    ],
)
def test_a_row_of_the_log_and_a_line_share_their_words(event: ev.Event, shared: str) -> None:
    queued = ev.GuidanceQueued(guidance_id="g", text="no")
    row = folded(queued, question("q"), ev.PauseRequested(), event).log.entries
    lines = [row.text for entry in row for row in entry.rows]
    assert any(text.endswith(shared) for text in lines)
    assert shared in line(event)


def test_what_permits_a_tool_is_not_cut_off_behind_a_long_message() -> None:
    denied = ev.ToolDenied(
        seq=1, at=NOW, iteration=1, tool="Bash", message="no " * 200, permit="Bash(curl:*)"
    )
    first, second = str(plain_line(denied)).splitlines()
    assert "Bash denied: no no" in first
    assert second.endswith('agent   permit it with permissions.allow = ["Bash(curl:*)"]')


def test_a_shared_row_is_told_as_its_word_and_its_text() -> None:
    event = ev.Noticed(level="warn", source="watch", text="slow")
    row = event.row()
    assert (row.word, row.text) == ("WARN", "slow")
    assert line(event) == "warn    slow"


def held(*whats: str, **fields: Any) -> ev.BackgroundAwaited:
    """A session of iteration 1 that waits for tasks; each began a minute after the last."""
    tasks = [BackgroundTask(what=what, age_s=600.0 - 60 * n) for n, what in enumerate(whats)]
    return ev.BackgroundAwaited(iteration=1, tasks=tasks, silence_s=540.0, **fields)


STARTED = ev.SessionStarted(iteration=1, session_id="s", agent="claude")


def test_work_that_holds_a_session_is_told_with_its_start_wherever_one_looks() -> None:
    began = [clock(NOW - timedelta(minutes=minutes)) for minutes in (10, 9, 8)]
    state = folded(STARTED, held("npm run dev", "make", "a\nb", "x", unnamed=4))
    words = (
        f"waits for 8 background tasks: npm run dev (since {began[0]}), make (since {began[1]}), "
        f"a⏎b (since {began[2]}), 5 more"
    )
    assert state.agent.rows[-1].text == words
    event = held("npm run dev").model_copy(update={"at": NOW})
    one = f"waits for 1 background task: npm run dev (since {began[0]})"
    assert line(event) == f"agent   {one}"
    later = NOW + timedelta(minutes=5)
    limit = "it ends after 9m of silence"
    said = verdict(folded(STARTED, event), later)
    words = f"waiting: the session {one}; {limit}; press i to end it now"
    assert said.text == words, "no mere silence"
    said = verdict(folded(STARTED, event), later, recorded=True)
    assert said.text == f"waiting: the session {one}; {limit}"


def test_work_that_was_ended_is_told_and_no_longer_waited_for() -> None:
    ended = held("npm run dev", given_up=True).model_copy(update={"at": NOW})
    state = folded(STARTED, held("npm run dev"), ended)
    began = clock(NOW - timedelta(minutes=10))
    words = f"ended after 9m of silence: 1 background task: npm run dev (since {began})"
    assert (state.agent.rows[-1].text, state.agent.rows[-1].level) == (words, "warn")
    assert line(ended) == f"agent   {words}"
    assert "background" not in verdict(state, NOW).text


@each_row(
    "over",
    [
        held(),
        ev.SessionFinished(iteration=1, outcome="success"),
        ev.RunCrashed(error="x", traceback="y"),
    ],
)
def test_what_holds_a_session_is_over_with_it(over: ev.Event) -> None:
    state = folded(STARTED, held("npm run dev"), over)
    assert "background" not in verdict(state, NOW).text
    assert state.run.background is None


@each_row("age_s", [-1e308, 1e308])
def test_an_impossible_age_is_told_all_the_same(age_s: float) -> None:
    task = BackgroundTask(what="x", age_s=age_s)
    event = ev.BackgroundAwaited(iteration=1, tasks=[task], at=NOW)
    assert "x (since " in line(event)


@each_row("ahead", [timedelta(hours=1), timedelta(days=3)])
def test_a_wait_ends_at_one_time_in_log_and_stream(ahead: timedelta) -> None:
    """Another day is shown with its date."""
    state = folded(ev.WaitStarted(iteration=1, cause="overload", until=NOW + ahead))
    (reported,) = state.agent.rows
    (row,) = state.log.rows
    when = reported.text.removeprefix("waiting: overload, ")
    assert when.startswith("retry at ")
    assert ("2026-03-04" in when) == (ahead.days > 0)
    until = when.removeprefix("retry at ")
    assert row.text == f"waiting until {until}; the iteration does not count"
    assert row.word == "OVERLOAD"


def test_a_wait_for_room_says_so() -> None:
    state = folded(ev.WaitStarted(iteration=1, cause="disk_full"))
    assert state.agent.rows[-1].text == "waiting: disk full, until disk space is free"
    row = state.log.rows[-1]
    assert (row.word, row.text) == ("DISK FULL", "waiting; the iteration does not count")


def test_a_session_without_a_reason_tells_its_outcome_in_words() -> None:
    event = ev.SessionFinished(iteration=1, outcome="max_turns", duration_s=5.0)
    state = folded(event)
    assert state.agent.rows[-1].text == state.log.rows[-1].text == "max turns"
    assert line(event).startswith("agent   max turns after 5s")


@each_row(
    ("reason", "said"),
    [
        ("aborted by you; the work stays", "aborted by you; the work stays"),
        ("the budget is used up", "aborted: the budget is used up"),
    ],
)
def test_an_end_says_its_outcome_once_on_the_screen(reason: str, said: str) -> None:
    end: dict[str, Any] = {"iterations": 1, "completion": 0.0, "duration_s": 1.0}
    event = ev.RunFinished(outcome="aborted", reason=reason, **end)
    state = folded(event)
    shown = verdict(state, NOW)
    assert (shown.word, shown.text) == ("aborted", said)
    assert alert_text(state) == said
    assert line(event).startswith(f"{said} · ")


def test_one_number_is_written_alike_by_all_who_show_it() -> None:
    """84.9 and 85.4: whole points would hide the rise."""
    readings = [
        ev.ReadingTaken(iteration=k, completion=points, source="tests")
        for k, points in enumerate((80.0, 84.9, 85.4, 84.9))
    ]
    state = folded(
        ev.RunStarted.model_validate(
            {
                "run_id": "r",
                "root": "/r",
                "objective": "o",
                "mode": "attended",
                "agent": "a",
                "max_iterations": 9,
                "session_timeout_s": 60,
            }
        ),
        *(
            event
            for reading in readings
            for event in (
                *(
                    [ev.IterationStarted(iteration=reading.iteration, max_iterations=9)]
                    if reading.iteration
                    else []
                ),
                reading,
            )
        ),
    )
    assert state.log.entries == []  # a new best is in the chart
    header = " ".join("".join(text for text, _ in row) for row in header_lines(state, NOW, 180))
    assert "84.9 %" in header
    assert "best 85.4 %" in header
    asked = ev.QuestionAsked(iteration=3, question_id="q", topic="redirect", text="?", options=[])
    dialog = ["".join(text for text, _ in row) for row in readings_row(asked, state, 80)]
    assert dialog == ["completion 80 84.9 85.4★ 84.9 %"]


def test_failing_tests_without_a_name_are_counted_where_some_are_named() -> None:
    names = [f"test_{n} (tests.test_all)" for n in range(20)]
    gate = ev.GateFinished(
        iteration=1, ok=False, exit_code=1, runner="unittest", passed=1, failed=29, failing=names
    )
    assert gate.failing_words == "test_0, test_1, test_2, test_3, test_4 and 24 more"
    pane = VerificationPane()
    pane.state, pane.now = folded(gate), NOW
    rows = ["".join(text for text, _ in row) for row in pane.build(60, 40)]
    assert rows[-1].strip() == "and 9 more, not listed"
    all_named = gate.model_copy(update={"failed": 20})
    pane.state = folded(all_named)
    assert "not named" not in str(pane.build(60, 40))
    assert all_named.failing_words.endswith("test_4 and 15 more")
    long = [f"tests/test_a.py::test_{'x' * 500}_{number:06}" for number in (1, 9)]
    reported = gate.model_copy(update={"failing": long, "failed": 2, "errors": 0}).failing_words
    assert "_000001, " in reported, "the end, which differs most often, is visible"
    assert reported.endswith("_000009")


def test_the_agents_words_are_lines_and_what_it_claims_is_a_sentence() -> None:
    report = '{"ralph": {"completion": 100, "summary": "repaired"}}'
    spoken = (
        f"Looked at it.\n\nRepaired toolz/{'x' * 300}.py\n{report}\n<promise>COMPLETE</promise>"
    )
    lines = str(plain_line(ev.AgentSpoke(seq=1, at=NOW, iteration=1, text=spoken))).splitlines()
    assert [text.split(" ", 1)[1] for text in lines] == [
        "agent   Looked at it.",
        f"agent   Repaired toolz/{'x' * 300}.py",
    ]
    assert plain_line(ev.AgentSpoke(iteration=1, text=report)) is None
    claimed = ev.AgentReported(
        iteration=1, completion=60, summary="wrote half", blockers=["no network"], next="the rest"
    )
    lines = str(plain_line(claimed)).splitlines()
    assert [text.split(" ", 1)[1] for text in lines] == [
        "agent   wrote half",
        "agent   claims 60 %",
        "agent   blocked by no network",
        "agent   next: the rest",
    ]
    assert line(ev.PromiseMade(iteration=1)) == "agent   says it is done"
    rows = folded(ev.AgentSpoke(iteration=1, text=spoken), claimed).agent.rows
    assert [row.text.splitlines()[-1][:8] for row in rows] == ["Repaired", "claims 6"]
    many = "\n".join(str(n) for n in range(50))
    lines = str(plain_line(ev.AgentSpoke(iteration=1, text=many))).splitlines()
    assert len(lines) == 41
    assert lines[-1].endswith("agent   … and 10 more lines, in the transcript of iteration 1")


@each_row(
    ("fields", "judge"),
    [({"command": "pytest"}, "the completion command decides"), ({"criterion": "x"}, "you decide")],
)
def test_who_decides_on_a_promise_is_who_is_there(fields: dict[str, str], judge: str) -> None:
    start = ev.RunStarted.model_validate(
        {
            "run_id": "r",
            "root": "/r",
            "objective": "o",
            "agent": "a",
            "max_iterations": 9,
            "session_timeout_s": 60,
            **fields,
        }
    )
    rows = folded(start, ev.PromiseMade(iteration=1)).agent.rows
    assert [row.text for row in rows] == [f"says it is done; {judge}"]


def test_what_is_not_known_and_where_the_best_is_are_told_in_words() -> None:
    start = ev.RunStarted.model_validate(
        {
            "run_id": "r",
            "root": "/r",
            "objective": "o",
            "agent": "a",
            "max_iterations": 9,
            "session_timeout_s": 60,
        }
    )
    measured = [
        ev.ReadingTaken(iteration=0, completion=85, source="tests"),
        ev.IterationStarted(iteration=1, max_iterations=9),
        ev.ReadingTaken(iteration=1, completion=60, source="tests"),
    ]
    ended = ev.RunFinished(
        outcome="interrupted", reason="", iterations=1, completion=60, best=85, duration_s=5
    )
    header = str(header_lines(folded(start, *measured), NOW, 180))
    assert "(start)" in header
    assert "iteration 0" not in header
    pane = EndPane(lambda _: None)
    pane.state, pane.now = folded(start, *measured, ended), NOW
    first = "".join(text for text, _ in pane.build(76, 10)[0])
    assert first.startswith("85 % → 60 %   best 85 % at the start   1 iteration in ")


def test_a_command_that_was_refused_is_no_entry_of_the_log() -> None:
    """The sender gets the answer; others need not see it."""
    state = RunState()
    state.apply(ev.PauseRequested(seq=1, by="you"))
    before = len(state.log.rows)
    state.apply(ev.CommandRefused(seq=2, command="pause", reason="the run is already paused"))
    assert len(state.log.rows) == before == 1


def test_changes_that_cannot_be_counted_are_not_told_as_none() -> None:
    fields = {
        unknown: ev.FilesChanged(iteration=1, live=False, totals=[], unknown=unknown).line()
        for unknown in (True, False)
    }
    assert fields == {True: "files   changes unknown", False: "files   nothing changed"}


def test_a_checkpoint_is_named_by_the_number_that_restores_it() -> None:
    taken = ev.CheckpointCaptured(
        iteration=3, number=2, trigger="key", snapshot=9, by="you", note="before the rewrite"
    )
    assert taken.line() == "saved   snapshot 9, requested by you: before the rewrite"
    failed = taken.model_copy(update={"snapshot": None, "error": "the disk is full"})
    assert failed.line() == "warn    the checkpoint failed, requested by you: the disk is full"
