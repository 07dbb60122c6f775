"""The demo's scenarios from their start to their end, without a screen."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.lab import recompute
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.cli.fronts.run_lines import PlainLines
from ralph_tui.cli.status_words import status_line, status_text
from ralph_tui.events import InterventionMade, StrategyPlanned, parse_event
from ralph_tui.layers.governor import Governor
from ralph_tui.state import RunState
from tests.e2e.cli import events_of, here, run
from tests.e2e.shared import once
from tests.prompt_reading import check_prompts
from tests.words import retired


def keep(folder: Path) -> None:
    """A demo that meets a usage limit: its project and its output."""
    words = ("--scenario", "limit", "--headless", "--fast", "--json")
    done = run("demo", *words, "--keep", str(folder / "project"), cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "printed").write_text(done.stdout)


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return once(tmp_path_factory, "demo", keep)


def test_the_demo_completes_and_a_usage_limit_costs_no_iteration(kept: Path) -> None:
    printed = (kept / "printed").read_text()
    events = events_of(printed)
    (journal,) = kept.rglob("events.jsonl")
    assert events_of(journal.read_text()) == events
    assert (events[-1]["kind"], events[-1]["outcome"]) == ("run_finished", "completed")
    waits = [event for event in events if event["kind"] == "wait_started"]
    assert [(wait["cause"], wait["iteration"]) for wait in waits] == [("usage_limit", 2)]
    assert waits[0]["resets_at"] is not None
    sessions = [event["iteration"] for event in events if event["kind"] == "session_started"]
    assert sessions == [1, 2, 2, 3, 4, 5, 6]
    finished = [event["iteration"] for event in events if event["kind"] == "iteration_finished"]
    assert finished == [1, 2, 3, 4, 5, 6]
    assert "REDIRECT" not in reproduced(printed)
    assert check_prompts(kept) == len(sessions)


def test_the_demos_agent_asks_and_models_help_where_nobody_is(tmp_path: Path) -> None:
    helped: dict[str, Any] = {f"RALPH_TUI_INTELLIGENCE__MODEL_{name}": "true" for name in
              ("PROMPTS", "ASSESSMENT", "REFLECTIONS")}  # fmt: skip
    words = ("--scenario", "asking", "--max-iterations", "2", "--headless", "--fast", "--json")
    done = run("demo", *words, cwd=tmp_path, **helped)
    assert done.returncode == 3, done.stderr
    events = events_of(done.stdout)
    asked = [e for e in events if e["kind"] == "question_asked"]
    assert [(e["iteration"], e["topic"]) for e in asked] == [(1, "permission"), (2, "choice")]
    given = [e["answer"] for e in events if e["kind"] == "question_answered"]
    assert given == ["refuse", "leave"]
    assert events[0]["permissions"] == "ask"
    summaries = [e["summary"] for e in events if e["kind"] == "tool_started"]
    assert "Which failures should I fix first?" in summaries
    assert (events[-1]["kind"], events[-1]["outcome"]) == ("run_finished", "limit_reached")
    assert list(tmp_path.iterdir()) == [], "it works in a temporary copy"
    in_todays_words(done.stdout)
    answered = [event for event in events if event["kind"] == "model_answered"]
    assert {event["purpose"] for event in answered} == {"prompt", "assessment", "reflection"}
    assert not [event["error"] for event in answered if event["error"]]
    prompts = [event for event in events if event["kind"] == "prompt_prepared"]
    assert {event["origin"] for event in prompts} == {"model"}


def redirected(printed: str, readings: list[float], alarm: tuple[int, str]) -> None:
    """These readings were taken, this alarm was raised, and the redirect that followed helped."""
    events = events_of(printed)
    taken = [e["completion"] for e in events if e["kind"] == "reading_taken"]
    assert taken == pytest.approx(readings)
    alarms = [(e["iteration"], e["alarm"]) for e in events if e["kind"] == "alarm_raised"]
    assert alarm in alarms
    assert events[-1]["kind"] == "run_finished"
    assert "REDIRECT" in reproduced(printed)
    effects = [e for e in events if e["kind"] == "effect_observed" and e["level"] == "REDIRECT"]
    assert effects[0]["points"] > 0
    after, _ = alarm
    planned = {event.iteration: event for event in strategies(printed)}
    assert list(planned) == list(range(1, len(readings)))
    assert planned[2].approach == "persist"
    assert planned[after + 1].approach == "pivot"
    # Two reports in a row of the stuck one name what is in its way, before it counts as stuck.
    assert planned[after + 1].focus == "blocker_resolution"


def strategies(stdout: str) -> list[StrategyPlanned]:
    """Strategies in the journal; a fold over it plans each of them again."""
    state, governor, found = RunState(), Governor(), []
    for line in stdout.splitlines():
        event = parse_event(line)
        governor.recall(event, state)
        state.apply(event)
        if isinstance(event, StrategyPlanned):
            found.append(event)
            if event.iteration > 1:
                strategy = asdict(governor.course.strategy)
                assert not strategy.pop("learned"), "the demo has learned nothing before"
                assert strategy | {"priorities": event.priorities} == event.model_dump(
                    include=set(strategy)
                )
                assert list(governor.course.strategy.priorities) == event.priorities
    return found


def reproduced(stdout: str) -> set[str]:
    """The lab makes of a journal, field for field, what the run recorded; its levels."""
    in_todays_words(stdout)
    events = [parse_event(line) for line in stdout.splitlines()]
    compared = recompute(events)
    assert len(compared) >= 5
    assert [one.row for one in compared] == [one.recorded for one in compared]
    made = {event.iteration: event.level for event in events if isinstance(event, InterventionMade)}
    assert made == {
        one.row.iteration: one.row.intervention for one in compared if one.row.intervention
    }
    return set(made.values())


def in_todays_words(stdout: str) -> None:
    """Output lines, report and status of a run."""
    events = [parse_event(line) for line in stdout.splitlines()]
    printed = PlainLines()
    said = [printed.line(event) or "" for event in events]
    assert not retired("\n".join(said))
    assert not retired(report(events, Circumstances()))
    status = summarize(RunState().apply_all(events)) | {"alive": False}
    assert not retired(f"{status_text(status)}\n{status_line(status)}")


@pytest.mark.parametrize(
    "command", ["status", "restore", "report", "history", "context", "prompt show", "memory list"]
)
def test_commands_tell_of_a_run_in_the_words_of_today(kept: Path, command: str) -> None:
    done = here(*command.split(), cwd=kept / "project")
    assert done.returncode == 0
    assert not retired(done.stdout + done.stderr)
