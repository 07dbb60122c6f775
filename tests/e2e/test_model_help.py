"""Models are asked beside the sessions: whole processes, an agent that answers as Claude does."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.events import parse_event
from tests.doubles.api import Api
from tests.doubles.launch import STUB, environment, real_binary, real_environment
from tests.doubles.scenario import load
from tests.e2e.cli import CLI, events_of, here, processes_of, start
from tests.lines import plain_line
from tests.waiting import until

DONE = "<promise>COMPLETE</promise>"
CRITERION = "Both pages are written"
JUDGE = "Judge whether the work is done"
"""In every question to a judge, and in no other."""


def writes(name: str) -> list[dict[str, Any]]:
    """A session that writes a file and promises to be done."""
    tool = {"name": "Write", "input": {"file_path": f"{{root}}/{name}", "content": f"{name}\n"}}
    return [{"tools": [tool]}, {"text": f"Both are there. {DONE}"}]


@pytest.fixture
def story(git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file for the scenario of an agent that writes a page per session."""
    path = tmp_path / "scenario.json"
    for name, value in environment(path, state=tmp_path / "state", base={}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RALPH_TUI_AGENT__BINARY", str(STUB))
    monkeypatch.setenv("RALPH_TUI_PERMISSIONS__MODE", "skip")
    folder = tempfile.mkdtemp(prefix="rt-")
    monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
    yield path
    shutil.rmtree(folder)


def write_scenario(
    path: Path, questions: dict[str, Any], sessions: list[Any] | None = None
) -> None:
    scenario = {
        "about": "made here",
        "sessions": sessions or [writes("one.txt"), writes("two.txt")],
        "questions": questions,
    }
    path.write_text(json.dumps(scenario))


def says(**answer: object) -> dict[str, Any]:
    return {"text": json.dumps(answer)}


def judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_TUI_INTELLIGENCE__MODEL_JUDGE", "true")


ORDER = ("run", "Write two pages", "--criterion", CRITERION, "--headless", "--json")


def kinds(events: list[Any], kind: str) -> list[Any]:
    return [event for event in events if event["kind"] == kind]


def test_a_human_without_a_verdict_is_asked_and_sees_the_diff(
    git_repo: Path, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(monkeypatch)
    write_scenario(story, {JUDGE: [{"text": "I would rather not."}]})
    with start(*ORDER, "--max-iterations", "1", cwd=git_repo) as process:
        asked = reaches(git_repo, "question_asked")
        assert "+one.txt" in asked["diff"]
        assert asked["evidence"][0] == "the judging model gave no verdict"
        warned = [e["text"] for e in recorded(git_repo) if e["kind"] == "noticed"]
        assert any("contains no JSON object" in text for text in warned)
        assert here("decide", "yes", cwd=git_repo).returncode == 0
        process.communicate()
        assert process.returncode == 0


def recorded(root: Path) -> list[Any]:
    found = [*root.glob(".aiwg/ralph/tasks/*/attempts/*/events.jsonl")]
    return events_of(found[0].read_text().rpartition("\n")[0]) if found else []


def reaches(root: Path, kind: str) -> Any:
    return until(lambda: kinds(recorded(root), kind))[-1]


def test_the_end_of_a_run_cancels_a_question_at_once_and_leaves_no_process(
    git_repo: Path, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(monkeypatch)
    write_scenario(story, {JUDGE: [{"text": "{}", "delay_s": 500}]})
    with start(*ORDER, cwd=git_repo) as process:
        asked = reaches(git_repo, "model_asked")
        run_id = recorded(git_repo)[0]["run_id"]
        # The keeper of the question, and who answers it.
        until(lambda: len(processes_of(run_id)) >= 2)
        process.send_signal(signal.SIGINT)
        process.communicate()
    events = recorded(git_repo)
    (answered,) = kinds(events, "model_answered")
    assert answered["question_id"] == asked["question_id"]
    assert "cancelled" in answered["error"]
    wish = next(e for e in events if e["kind"] == "stop_requested")
    assert answered["seq"] > wish["seq"]
    assert events[-1]["kind"] == "run_finished"
    assert not processes_of(run_id)


def test_guidance_and_pause_are_heard_during_a_question(
    git_repo: Path, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything(monkeypatch)
    write_scenario(story, {WORDING: [{"text": "{}", "delay_s": 500}]})
    with start(*ORDER, cwd=git_repo) as process:
        reaches(git_repo, "model_asked")
        assert here("guide", "Mind the tests", cwd=git_repo).returncode == 0
        assert here("pause", cwd=git_repo).returncode == 0
        heard = [e["kind"] for e in recorded(git_repo)]
        assert {"guidance_queued", "pause_requested"} <= {*heard}
        assert "model_answered" not in heard
        assert here("abort", "--yes", cwd=git_repo).returncode == 0
        process.communicate()
    events = recorded(git_repo)
    (answered,), (wish,) = kinds(events, "model_answered"), kinds(events, "abort_requested")
    assert "cancelled" in answered["error"]
    assert answered["seq"] > wish["seq"]
    assert not kinds(events, "session_started")
    assert not processes_of(events[0]["run_id"])


def test_the_last_question_of_a_run_can_be_cut_short(
    git_repo: Path, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything(monkeypatch)
    slow = {LESSON: [{"text": "{}", "delay_s": 500}]}
    write_scenario(story, {**ANSWERS, JUDGE: [says(met=True, reason="fine")], **slow})
    with start(*ORDER, cwd=git_repo) as process:
        until(lambda: [e for e in kinds(recorded(git_repo), "model_asked")
                       if e["purpose"] == "reflection"])  # fmt: skip
        process.send_signal(signal.SIGINT)
        process.communicate()
    events = recorded(git_repo)
    assert events[-1]["outcome"] == "completed"
    assert kinds(events, "reflection_written")[0]["model"] == ""
    assert not processes_of(events[0]["run_id"])


def test_a_killed_run_leaves_no_question_behind_and_asks_again_when_it_is_resumed(
    git_repo: Path, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(monkeypatch)
    write_scenario(story, {JUDGE: [{"text": "{}", "delay_s": 500}, says(met=True, reason="fine")]})
    with start(*ORDER, cwd=git_repo) as process:
        reaches(git_repo, "model_asked")
        run_id = recorded(git_repo)[0]["run_id"]
        state = story.parent / "state" / "state.json"
        until(lambda: JUDGE in state.read_text())  # it thinks about its answer
        process.kill()
        process.communicate()
    until(lambda: not processes_of(run_id))
    done = here("resume", "--headless", "--json", cwd=git_repo, RALPH_TUI_AGENT__BINARY=str(STUB))
    assert done.returncode == 0, done.stderr
    events = recorded(git_repo)
    assert events[-1]["reason"] == "accepted by the model haiku after iteration 1"
    assert len(kinds(events, "model_asked")) == 2
    assert len(kinds(events, "session_started")) == 1


WORDING = "# Write the next prompt"
OPINION = "# Give a second opinion on an iteration"
LESSON = "# Reflect on an attempt"
"""In every question for these purposes, and in no other."""
ANSWERS = {
    WORDING: [says(prompt="Write two.txt now.", focusAreas=["two.txt"], urgency="high")],
    OPINION: [says(enhancedSummary="One page of two.", suggestedApproach="Write the other.")],
    LESSON: [says(analysis="One by one.", learning="Write both at once.", actionItems=["Plan"])],
    JUDGE: [says(met=False, reason="two.txt is missing"), says(met=True, reason="both are there")],
}


def everything(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    names = ("PROMPTS", "ASSESSMENT", "REFLECTIONS", "JUDGE")
    environ = {f"RALPH_TUI_INTELLIGENCE__MODEL_{name}": "true" for name in names}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return environ


def test_all_four_at_once_each_with_its_cost(
    git_repo: Path, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything(monkeypatch)
    write_scenario(story, ANSWERS)
    done = here(*ORDER, cwd=git_repo, RALPH_TUI_AGENT__BINARY=str(STUB))
    assert done.returncode == 0, done.stderr
    events = events_of(done.stdout)
    end = events[-1]
    assert end["outcome"] == "completed"
    assert end["reason"] == "accepted by the model haiku after iteration 2"
    verdicts = [(e["met"], e["reason"]) for e in kinds(events, "criterion_judged")]
    assert verdicts == [(False, "two.txt is missing"), (True, "both are there")]
    assert not kinds(events, "question_asked")
    purposes = [e["purpose"] for e in kinds(events, "model_answered")]
    assert purposes == ["prompt", "judge", "assessment", "prompt", "judge", "reflection"]
    assert {e["origin"] for e in kinds(events, "prompt_prepared")} == {"model"}
    (attempt,) = git_repo.glob(".aiwg/ralph/tasks/*/attempts/*")
    prompt = (attempt / "results/iter-002/prompt.md").read_text()
    for words in ("Write two pages", CRITERION, "Write two.txt now.", "two.txt is missing", DONE):
        assert words in prompt
    assessed = json.loads((attempt / "results/iter-001/assessment.json").read_text())
    assert assessed["secondOpinion"]["enhancedSummary"] == "One page of two."
    assert kinds(events, "reflection_written")[0]["learning"] == "Write both at once."
    answered = kinds(events, "model_answered")
    assert all(e["cost_usd"] > 0 and e["tokens"] > 0 and not e["error"] for e in answered)
    help_usd = sum(e["cost_usd"] for e in answered)
    sessions_usd = sum(e["cost_usd"] for e in kinds(events, "session_finished"))
    assert end["cost_usd"] == pytest.approx(sessions_usd + help_usd)
    status = json.loads(here("status", "--json", cwd=git_repo).stdout)
    assert status["model_help"]["calls"] == 6
    assert status["model_help"]["cost_usd"] == pytest.approx(help_usd)
    assert status["cost_usd"] > status["model_help"]["cost_usd"]
    assert "6 questions to models" in here("status", cwd=git_repo).stdout
    assert "6 questions to models" in here("report", "--full", cwd=git_repo).stdout
    lines = [plain_line(parse_event(json.dumps(event))) or "" for event in events]
    assert sum("a prompt by haiku in" in line for line in lines) == 2
    judged = "the criterion is not met, according to haiku: two.txt is missing"
    assert sum(judged in line for line in lines) == 1


BINARY = real_binary()


@pytest.mark.real_agent
@pytest.mark.skipif(BINARY is None, reason="Claude Code is not installed")
def test_the_real_binary_words_prompts_and_judges(
    git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "scenario.json"
    write_scenario(file, ANSWERS, [[*writes("one.txt"), *writes("two.txt")]])
    scenario = load(file, root=str(git_repo), python=sys.executable)
    with Api(scenario) as api:
        environ = {
            **real_environment(api.url, tmp_path / "home", scenario),
            **everything(monkeypatch),
            "RALPH_TUI_AGENT__BINARY": BINARY or "",
            "RALPH_TUI_PERMISSIONS__MODE": "skip",
            "XDG_RUNTIME_DIR": os.environ.get("XDG_RUNTIME_DIR", str(tmp_path)),
        }
        done = subprocess.run(
            [*CLI, *ORDER, "--model", scenario.model],
            cwd=git_repo,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        asked = api.asked
    events = events_of(done.stdout)
    assert done.returncode == 0, json.dumps(events[-1]) + done.stderr
    assert not [e["text"] for e in kinds(events, "noticed") if e["source"] == "model help"]
    assert [e["met"] for e in kinds(events, "criterion_judged")] == [False, True]
    assert {e["origin"] for e in kinds(events, "prompt_prepared")} == {"model"}
    assert asked == {WORDING: 2, OPINION: 1, LESSON: 1, JUDGE: 2}
    assert all(e["cost_usd"] > 0 for e in kinds(events, "model_answered"))
    assert (
        "Write two.txt now."
        in next(
            git_repo.glob(".aiwg/ralph/tasks/*/attempts/*/results/iter-002/prompt.md")
        ).read_text()
    )
    assert not processes_of(events[0]["run_id"])
