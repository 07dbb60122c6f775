"""Iterations of an external run: times, measurements, ends, checkpoints, verdicts."""

from pathlib import Path
from typing import Any

from ralph_tui import events as ev
from ralph_tui.layers.control.history import Sample
from ralph_tui.layers.control.law import Budget
from ralph_tui.layers.governor import Governor
from tests.foreign import (
    BEGAN,
    INIT,
    External,
    at,
    entry,
    find_imported,
    of_kind,
    printed_times,
    read_imported,
    read_run,
    result,
    row_of,
    spoke,
)
from tests.rows import each_row


def minutes(project: Path) -> list[tuple[float, float]]:
    """Start and end of each session, in minutes from the run's start."""
    _, recording, _ = read_run(project)

    def since(event: ev.Event) -> float:
        return round((event.at - BEGAN).total_seconds() / 60, 3)

    starts = [since(event) for event in of_kind(recording, ev.SessionStarted)]
    ends = [since(event) for event in of_kind(recording, ev.SessionFinished)]
    return list(zip(starts, ends, strict=True))


# -- times -----------------------------------------------------------------------------------------


def sessions(foreign: External, *numbers: int) -> None:
    for number in numbers:
        foreign.printed(number, INIT, spoke(f"session {number}"), result())


def test_times_are_those_of_the_transcript(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    summary = {"checkpoints": [{"number": 1, "timestamp": at(50), "duration": 0}]}
    foreign.state(entry(1, 10), entry(2, 20, checkpointSummary=summary))
    sessions(foreign, 1, 2)
    printed_times(foreign, (1, 5, 9), (2, 12, 20))
    assert minutes(tmp_path) == [(5, 9), (12, 20)]


def test_a_transcript_in_the_folder_of_an_iteration_repeats_those_before_it(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10), entry(2, 20))
    sessions(foreign, 1, 2)
    printed_times(foreign, (1, 5, 9), name="iterations/001/session-transcript.jsonl")
    printed_times(foreign, (1, 5, 9), (2, 12, 20), name="iterations/002/session-transcript.jsonl")
    assert minutes(tmp_path) == [(5, 9), (12, 20)]


def test_an_output_that_is_gone_is_read_from_the_transcript_of_its_iteration(
    tmp_path: Path,
) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10), entry(2, 20))
    sessions(foreign, 1, 2)
    printed_times(foreign, (1, 5, 9), name="iterations/001/session-transcript.jsonl")
    printed_times(foreign, (1, 5, 9), (2, 12, 20), name="iterations/002/session-transcript.jsonl")
    for number in (1, 2):
        (foreign.folder / f"outputs/{number:03}-stdout.log").unlink()
    assert minutes(tmp_path) == [(5, 9), (12, 20)]
    _, recording, state = read_run(tmp_path)
    words = [(event.iteration, event.text) for event in of_kind(recording, ev.AgentSpoke)]
    assert words == [(1, "session 1"), (2, "session 2")]
    assert state.run.cost_usd == 1.0


def test_a_session_that_no_transcript_has_takes_no_time_of_another(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10), entry(2, 20), entry(3, 30))
    sessions(foreign, 1, 2, 3)
    printed_times(foreign, (1, 5, 9), (3, 40, 50))
    assert minutes(tmp_path) == [(5, 9), (9, 40), (40, 50)]


def checkpoints(foreign: External, *rows: tuple[float, float], session: str = "s1") -> None:
    for number, (minute, since) in enumerate(rows, 1):
        moment = {"number": number, "timestamp": at(minute), "duration": since * 60_000,
                  "sessionId": session, "filesModified": ["a.py"]}  # fmt: skip
        foreign.write(f"outputs/checkpoints/{number:03}-checkpoint.json", moment)


def test_else_they_are_those_of_checkpoints_in_groups(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10), entry(2, 20))
    sessions(foreign, 1, 2)
    checkpoints(foreign, (3, 0), (8, 5), (11, 0), (13, 2), (15, 4))
    assert minutes(tmp_path) == [(3, 8), (11, 15)]


@each_row("field", ["healthReport", "postSnapshot"])
def test_else_the_check_or_the_snapshot_after_it_is_the_end(field: str, tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10, duration=120_000, **{field: {"timestamp": at(9)}}))
    sessions(foreign, 1)
    assert minutes(tmp_path) == [(7, 9)]


def test_else_the_analytics_are(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    path = foreign.state(entry(1, 10, duration=180_000))
    rows = [{"iteration_number": 1, "timestamp": (BEGAN.timestamp() + 600) * 1000}]
    foreign.write(
        "analytics/0a1b2c3d-0000-4000-8000-000000000001.json",
        {"loop_id": "0a1b2c3d-0000-4000-8000-000000000001", "iterations": rows},
    )
    sessions(foreign, 1)
    assert path.exists()
    assert minutes(tmp_path) == [(7, 10)]


def test_else_they_share_the_time_of_the_run(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(*(entry(k, 10 * k) for k in (1, 2, 3)))
    sessions(foreign, 1, 2, 3)
    assert minutes(tmp_path) == [(0, 20), (20, 40), (40, 60)]


def test_times_never_go_back_and_none_is_believed_long_after_the_end(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(
        entry(1, 10, healthReport={"timestamp": "2099-01-01T00:00:00Z"}),
        entry(2, 20, healthReport={"timestamp": at(-500)}),
        entry(3, 30, healthReport={"timestamp": at(40)}),
    )
    _, recording, _ = read_run(tmp_path)
    times = [event.at for event in recording.events]
    assert times == sorted(times)
    assert times[0] == BEGAN
    assert (times[-1] - BEGAN).total_seconds() == 3600


def test_a_run_without_any_time_is_told_all_the_same(tmp_path: Path) -> None:
    External(tmp_path).state(entry(1, 10), startTime=None, lastUpdate="yesterday")
    assert read_run(tmp_path)[2].run.completions == [10]


# -- readings --------------------------------------------------------------------------------------


@each_row(
    ("analysis", "points", "held"),
    [
        ({"completionPercentage": 1}, 1, False),
        ({"completionPercentage": 0}, 0, False),
        ({"completionPercentage": 100}, 100, False),
        ({"completionPercentage": None}, 40, True),
        ({"error": "no JSON"}, 40, True),
        (None, 40, True),
        ("none", 40, True),
        ({"completionPercentage": "60"}, 40, True),
        ({"completionPercentage": 101}, 40, True),
        ({"completionPercentage": True}, 40, True),
        ({"type": "result", "result": 'ok\n```json\n{"completionPercentage": 55}\n```'}, 55, False),
        ({"type": "result", "result": 'So: {"completionPercentage": 56} it is'}, 56, False),
        ({"type": "result", "result": "all is well"}, 40, True),
    ],
)
def test_a_reading_is_the_analysis_percentage_or_held(
    analysis: Any, points: float, held: Any, tmp_path: Path
) -> None:
    External(tmp_path).state(entry(1, 40), entry(2, 0) | {"analysis": analysis})
    run, recording, _ = read_run(tmp_path)
    reading = of_kind(recording, ev.ReadingTaken)[1]
    assert (reading.completion, reading.held, reading.source) == (points, held, "agent")
    assert row_of(run).completions == (0.4, points / 100)


def test_it_is_said_where_the_reading_stands_in_an_answer(tmp_path: Path) -> None:
    answer = {"type": "result", "result": '```json\n{"completionPercentage": 55}\n```'}
    External(tmp_path).state(entry(1, 0) | {"analysis": answer})
    _, recording, _ = read_run(tmp_path)
    (reading,) = of_kind(recording, ev.ReadingTaken)
    assert "JSON in the analysis" in reading.note
    (note,) = of_kind(recording, ev.Noticed)
    assert reading.note in note.text


def test_an_analysis_that_failed_is_told_why(tmp_path: Path) -> None:
    External(tmp_path).state(entry(1, 0) | {"analysis": {"error": "no JSON found"}})
    (note,) = of_kind(read_run(tmp_path)[1], ev.Noticed)
    assert note.text == "aiwg could not analyse iteration 1: no JSON found"


def test_an_analysis_that_the_state_lacks_is_read_from_its_file(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    bare = entry(1)
    del bare["analysis"]
    foreign.state(bare)
    foreign.write(
        "analysis/001-analysis.json",
        {"completionPercentage": 35, "learnings": "run one first", "blockers": ["no network"],
         "nextApproach": "ask"},
    )  # fmt: skip
    _, recording, state = read_run(tmp_path)
    assert state.run.completions == [35]
    (report,) = of_kind(recording, ev.AgentReported)
    assert (report.learnings, report.blockers, report.next) == (
        ["run one first"], ["no network"], "ask",
    )  # fmt: skip


# -- ends ------------------------------------------------------------------------------------------


@each_row(
    ("status", "outcome"),
    [
        *((one, one) for one in ("completed", "limit_reached", "aborted", "failed")),
        ("interrupted", "interrupted"),
        ("paused", "interrupted"),
        ("running", None),
        ("recovering", None),
        ("sideways", None),
        (None, None),
        (7, None),
    ],
)
def test_the_end_is_the_status(status: Any, outcome: str | None, tmp_path: Path) -> None:
    External(tmp_path).state(entry(1, 0), status=status)
    run, _, state = read_run(tmp_path)
    assert (state.run.finished.outcome if state.run.finished else None) == outcome
    assert row_of(run).status == (outcome or "died")
    assert state.run.completion == 0, "completed at 0 % occurs: status and reading stand"


def test_why_it_was_paused_is_the_reason_of_its_end(tmp_path: Path) -> None:
    External(tmp_path).state(entry(1, 5), status="paused", abortReason="the owner slept")
    (end,) = of_kind(read_run(tmp_path)[1], ev.RunFinished)
    assert (end.reason, end.completion, end.duration_s) == ("the owner slept", 5, 3600)


def test_an_exit_code_makes_no_success(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, None, exitCode=0, status="error"))
    foreign.printed(1, INIT, spoke("I begin"))
    (end,) = of_kind(read_run(tmp_path)[1], ev.SessionFinished)
    assert end.outcome != "success"
    assert "without a result" in end.reason


# -- checkpoints -----------------------------------------------------------------------------------


def summary(*minutes_: float, total: int | None = None) -> dict[str, Any]:
    rows = [
        {"number": k, "timestamp": at(minute), "duration": k * 1000, "filesModified": k}
        for k, minute in enumerate(minutes_, 1)
    ]
    return {"total": len(rows) if total is None else total, "checkpoints": rows}


def captured(project: Path) -> list[tuple[int, int, str]]:
    _, recording, _ = read_run(project)
    found = of_kind(recording, ev.CheckpointCaptured)
    return [(event.iteration, event.number, event.trigger) for event in found]


def test_summaries_beside_shared_outputs_repeat_what_was_before(tmp_path: Path) -> None:
    External(tmp_path).state(
        entry(1, 10, checkpointSummary=summary(1, 2)),
        entry(2, 20, checkpointSummary=summary(1, 2, 5, 6, 7)),
    )
    assert captured(tmp_path) == [
        (1, 1, "start"), (1, 2, "end"), (2, 1, "start"), (2, 2, "timer"), (2, 3, "end"),
    ]  # fmt: skip


def test_summaries_of_a_folder_per_iteration_are_their_own(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(
        entry(1, 10, checkpointSummary=summary(1, 2)), entry(2, 20, checkpointSummary=summary(5, 6))
    )
    foreign.write("iterations/001/snapshot-diff.json", {})
    assert captured(tmp_path) == [(1, 1, "start"), (1, 2, "end"), (2, 1, "start"), (2, 2, "end")]


def test_checkpoints_of_a_crash_are_those_that_no_summary_claims(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    rows = [entry(1, 10, checkpointSummary=summary(1, 2)),
            entry(3, 30, checkpointSummary=summary(1, 2, 5, 8, 9))]  # fmt: skip
    foreign.state(*rows, currentIteration=3)
    checkpoints(foreign, (1, 0), (2, 1), (5, 0), (8, 0), (9, 1))
    found = captured(tmp_path)
    assert [iteration for iteration, _, _ in found] == [1, 1, 3, 3, 3]
    foreign.state(rows[0], entry(2, 20, checkpointSummary=summary(1, 2, 5)), currentIteration=3,
                  status="running")  # fmt: skip
    assert captured(tmp_path)[-2:] == [(3, 1, "start"), (3, 2, "timer")]


# -- verdicts of its own, and ours -----------------------------------------------------------------


def report(minute: float = 9, level: str = "redirect") -> dict[str, Any]:
    detection = {"type": "deviation", "severity": "high", "message": "it strays"}
    made = {"level": level, "reason": "it strays", "detection": detection,
            "strategyOverride": "come back"}  # fmt: skip
    return {"timestamp": at(minute), "iterationNumber": 1, "detections": [detection],
            "interventions": [made]}  # fmt: skip


def verdicts(project: Path, layer: str = "oversight") -> list[ev.ForeignVerdict]:
    _, recording, _ = read_run(project)
    return [event for event in of_kind(recording, ev.ForeignVerdict) if event.layer == layer]


def test_detections_have_our_names_and_levels_capitals(tmp_path: Path) -> None:
    wraps = {"level": "log", "detection": report(), "action": "Logged"}
    External(tmp_path).state(entry(1, 10, healthReport=report(), interventionResult=wraps))
    found, made = verdicts(tmp_path)
    assert (found.act, found.about, found.level, found.text) == (
        "", "objective_deviation", "critical", "it strays",
    )  # fmt: skip
    assert (made.act, made.about, made.detail) == ("REDIRECT", "objective_deviation", "come back")
    assert row_of(find_imported(tmp_path)[0]).interventions == 1


@each_row("named", ["[object Object]", "0a1b2c3d-0000-4000-8000-000000000001"])
@each_row("wrapped", [True, False])
def test_else_the_overseers_log_tells(named: str, wrapped: Any, tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10))
    loop = "0a1b2c3d-0000-4000-8000-000000000001"
    whose: Any = {"loopId": loop} if wrapped else loop
    log = {"loopId": whose, "healthCheckLog": [report()]}
    foreign.write(f"overseer/{named}-overseer-log.json", log)
    assert [one.act for one in verdicts(tmp_path)] == ["", "REDIRECT"]


def test_the_log_of_another_run_tells_nothing(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10))
    log = {"loopId": "another", "healthCheckLog": [report()]}
    foreign.write("overseer/[object Object]-overseer-log.json", log)
    assert verdicts(tmp_path) == []


def test_what_its_layers_said_before_a_session_stands_before_it(tmp_path: Path) -> None:
    signals = {"action": "pause", "controlSignal": 0.4, "urgency": "critical",
               "metrics": {"proportional": 0.5}, "gains": {"name": "damped", "kp": 0.3},
               "timestamp": BEGAN.timestamp() * 1000 + 1}  # fmt: skip
    strategy = {"approach": "pivot", "reasoning": "it does not work", "confidence": 0.7}
    foreign = External(tmp_path)
    foreign.state(
        entry(1, 10, controlSignals=signals, strategy=strategy,
              assessment={"summary": "half way", "phase": "mid", "estimatedProgress": 50},
              postValidation={"issues": [{"type": "test_failure", "message": "1 fails"}]})
    )  # fmt: skip
    foreign.printed(1, INIT, result())
    kinds = [(e.kind, getattr(e, "layer", "")) for e in read_run(tmp_path)[1].events]
    session = kinds.index(("session_started", ""))
    for layer in ("control", "strategy", "assessment"):
        assert kinds.index(("foreign_verdict", layer)) < session
    assert kinds.index(("foreign_verdict", "validation")) > session
    (control,) = verdicts(tmp_path, "control")
    assert control.values == {"signal": 0.4, "proportional": 0.5, "kp": 0.3}
    assert (control.act, control.level) == ("pause", "critical")


def test_test_results_that_lay_there_are_no_measurement_of_ours(tmp_path: Path) -> None:
    results = {"found": True, "summary": {"total": 5, "passed": 4, "failed": 1, "skipped": 0}}
    foreign = External(tmp_path)
    foreign.state(entry(1, 10, postSnapshot={"timestamp": at(5), "tests": results}))
    (found,) = verdicts(tmp_path, "validation")
    assert (found.about, found.values["passed"], found.values["total"]) == ("tests", 4, 5)
    assert of_kind(read_run(tmp_path)[1], ev.GateFinished) == []


def test_control_and_interventions_are_those_of_our_governor(tmp_path: Path) -> None:
    readings = [30, 30, 31, 30, 31, 30]
    External(tmp_path).state(*(entry(k, points) for k, points in enumerate(readings, 1)))
    _, recording, _ = read_run(tmp_path)
    governor, expected = Governor(), []
    for k, points in enumerate(readings, 1):
        evaluated = governor.take(Sample(k, points), Budget(10))
        expected.append(round(evaluated.evaluation.signal.output, 9))
        if evaluated.finding is not None and evaluated.finding.opened:
            governor.answered(approved=True)
    signals = of_kind(recording, ev.SignalComputed)
    assert [round(event.output, 9) for event in signals] == expected
    assert [(e.iteration, e.alarm) for e in of_kind(recording, ev.AlarmRaised)] == [(4, "STUCK")]
    made = [(e.iteration, e.level) for e in of_kind(recording, ev.InterventionMade)]
    assert made == [(4, "REDIRECT"), (6, "PAUSE")]
    assert [e.iteration for e in of_kind(recording, ev.HealthChecked)] == [1, 2, 3, 4, 5, 6]


# -- what else there is ----------------------------------------------------------------------------


def test_changed_files_are_those_between_the_snapshots(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    diff = "--- a/src/a.py\n+++ b/src/a.py\n+one\n+two\n-three"
    after = {"fileDiffs": [{"path": "src/a.py", "status": "modified", "diff": diff}]}
    foreign.state(
        entry(1, 10, postSnapshot=after),
        entry(2, 20, postSnapshot=after),
        entry(3, 30, filesModified=["/home/dev/project/tests/test_a.py"]),
    )
    foreign.write(
        "iterations/001/snapshot-diff.json",
        {"filesAdded": ["new.py"], "filesModified": ["src/a.py"], "filesDeleted": ["old.py"]},
    )
    told_ = [
        [(change.path, change.status, change.added, change.removed) for change in event.changes]
        for event in of_kind(read_run(tmp_path)[1], ev.FilesChanged)
    ]
    assert told_ == [
        [("new.py", "added", 0, 0), ("src/a.py", "modified", 2, 1), ("old.py", "deleted", 0, 0)],
        [("src/a.py", "modified", 2, 1)],
        [("tests/test_a.py", "modified", 0, 0)],
    ]


def test_prompts_are_found_by_number_and_no_path_of_a_record_is_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("nobody's business\n")
    foreign = External(tmp_path / "project")
    names = ("promptFile", "stdoutFile", "stderrFile", "transcriptPath", "parsedEventsPath")
    foreign.state(entry(1, 10, **dict.fromkeys(names, str(secret))))
    _, recording, _ = read_run(tmp_path / "project")
    assert of_kind(recording, ev.PromptPrepared) == []
    assert of_kind(recording, ev.SessionStarted) == []
    foreign.prompt(1, "Do it.\n")
    (prompt,) = of_kind(read_run(tmp_path / "project")[1], ev.PromptPrepared)
    assert (prompt.path, prompt.characters) == ("prompts/001-prompt.md", 7)


@each_row("place", ["prompts", "prompts/001-prompt.md", "outputs/001-stdout.log"])
def test_a_link_out_of_the_folder_is_not_followed(place: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("001-prompt.md", "001-stdout.log"):
        (outside / name).write_text('{"type": "assistant", "message": {"content": "stolen"}}\n')
    foreign = External(tmp_path / "project")
    foreign.state(entry(1, 10))
    link = foreign.folder / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside if place == "prompts" else outside / Path(place).name)
    _, recording, _ = read_run(tmp_path / "project")
    assert "stolen" not in "".join(event.model_dump_json() for event in recording.events)
    opened = [e.path for e in of_kind(recording, ev.PromptPrepared)]
    assert opened in ([], ["prompts/001-prompt.md"])


def test_reflections_and_knowledge_of_the_run_are_told(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10))
    foreign.write(
        "reflections/reflection-1.json",
        {"iteration": 1, "content": "one test first", "type": "strategy_change",
         "timestamp": at(9)},
    )  # fmt: skip
    learning = {"id": "learn-1", "type": "strategy", "taskType": "feature", "confidence": 0.9,
                "content": {"description": "small steps"}, "createdAt": at(59)}  # fmt: skip
    mine = learning | {"sourceLoops": ["0a1b2c3d-0000-4000-8000-000000000001"]}
    other = learning | {"id": "learn-2", "sourceLoops": ["another"]}
    knowledge = {"learnings": [mine, other, {"id": 7}, None]}
    foreign.write("../knowledge/ralph-learnings.json", knowledge)
    assert [one.text for one in verdicts(tmp_path, "memory")] == ["one test first"]
    (promoted,) = of_kind(read_run(tmp_path)[1], ev.LearningPromoted)
    assert (promoted.learning.learning_id, promoted.learning.text) == ("learn-1", "small steps")


def test_the_output_that_was_selected_is_told_at_the_end(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10), entry(2, 5), bestIterationSelected=1, selectionSource="best-output")
    (chosen,) = verdicts(tmp_path, "selection")
    assert chosen.text == "iteration 1 was selected: best-output"


def test_an_iterations_record_sums_up_its_session(tmp_path: Path) -> None:
    foreign = External(tmp_path)
    foreign.state(entry(1, 10, duration=90_000, filesModified=["a.py", "b.py"]))
    foreign.printed(1, INIT, result(cost=0.25, tokens=70))
    (end,) = of_kind(read_run(tmp_path)[1], ev.IterationFinished)
    assert (end.cost_usd, end.tokens, end.duration_s, end.files) == (0.25, 70, 90, 2)
    (run,) = find_imported(tmp_path)
    (finished,) = of_kind(read_imported(run), ev.RunFinished)
    assert (finished.cost_usd, finished.tokens, finished.iterations) == (0.25, 70, 1)
