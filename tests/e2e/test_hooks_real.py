"""The hook program in sessions of Claude Code itself, against a scripted service."""

import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import events as ev
from tests.doubles.api import Api
from tests.doubles.launch import real_binary, real_environment
from tests.doubles.scenario import Answer, Scenario, ToolUse
from tests.hooks import INTERPRETER, Project, install, settings_for

BINARY = real_binary()

pytestmark = [
    pytest.mark.real_agent,
    pytest.mark.skipif(BINARY is None, reason="Claude Code is not installed"),
]


class Listening(Api):
    """Records complete requests."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.heard: list[str] = []

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        if body.get("tools"):
            self.heard.append(json.dumps(body["messages"], ensure_ascii=False))
        return super().answer(path, body)


class Sessions:
    """A project with the hooks in its settings, and the requests to the model."""

    def __init__(self, tmp: Path) -> None:
        program = install(tmp / "hooks" / "ralph-tui")
        self.project = Project(tmp, program).with_git
        settings = self.project.root / ".claude" / "settings.json"
        settings.write_text(json.dumps(settings_for(program)))
        self._home = tmp / "home"
        self.asked: list[str] = []

    def session(
        self, *answers: Answer, prompt: str = "Do the work", loop: str = "", **environ: str
    ) -> list[Any]:
        """One session, or those of a shell loop; gives the messages of its stream."""
        scenario = Scenario("here", "made here", [answers])
        api = Listening(scenario)
        with api:
            flags = ("-p", "--output-format", "stream-json", "--verbose", "--model")
            claude = [BINARY or "", *flags, scenario.model, "--dangerously-skip-permissions"]
            hook = [str(INTERPRETER), "-I", "-S", str(self.project.program)]
            words = {"claude": shlex.join(claude), "hook": shlex.join(hook)}
            done = subprocess.run(
                ["sh", "-c", loop.format(**words)] if loop else [*claude, prompt],
                cwd=self.project.root,
                env=real_environment(api.url, self._home, scenario) | environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        self.asked = api.heard
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path)


def at(tokens: int, command: str = "echo hi") -> Answer:
    """A tool's call when so much of the window is used; it waits until its message is on disk."""
    written = f"until grep -q {tokens - 12} ~/.claude/projects/*/*.jsonl; do sleep 0.02; done"
    tool = ToolUse("Bash", {"command": f"{written}; {command}", "description": "run"})
    return Answer(tools=[tool], cached_tokens=tokens - 12)


def says(text: str, tokens: int = 20_000) -> Answer:
    return Answer(text=text, cached_tokens=tokens - 12)


ALONE = {"DISABLE_AUTO_COMPACT": "1"}
"""Else a window of 200,000 tokens is summed up at 167,000, before it counts as full."""
DONE = says("<promise>COMPLETE</promise>")


def holds(asked: Sequence[str], words: str) -> list[bool]:
    return [words in request for request in asked]


def test_the_warning_reaches_the_model_once(sessions: Sessions) -> None:
    sessions.session(at(100_000), at(144_000), at(150_000), DONE)
    line = "CCS_WARNING|L1|72|Context at 72%"
    assert holds(sessions.asked, line) == [False, False, True, True]
    assert sessions.asked[-1].count(line) == 1
    run = sessions.project.run
    assert run.run.finished is not None
    assert run.run.finished.outcome == "completed"
    assert run.context.history[-1].peak_percent == 75.0
    assert sessions.project.state["context_history"][-1]["peak_percent"] == 75


def test_a_full_window_is_handed_over_and_a_fresh_session_goes_on(sessions: Sessions) -> None:
    project = sessions.project
    edit = "sed -i s/-/+/ calc.py"
    sessions.session(at(100_000, edit), at(174_000), says("I hand over.", 175_000), **ALONE)
    handoff = project.state["context_checkpoint"]["handoff_file"]
    line = f"CCS_CHECKPOINT_TRIGGERED|L2|87|{handoff}"
    assert holds(sessions.asked, line) == [False, False, True]
    assert "Finish the edit" in sessions.asked[-1]
    text = (project.root / handoff).read_text()
    assert "calc.py" in text
    assert "Mend the parser" in text
    prompt = (project.root / "PROMPT.md").read_text()
    assert handoff in prompt
    assert "DO NOT restart" in prompt
    state = project.state
    assert (state["iteration"], state["status"]) == (2, "running")
    assert state["context_checkpoint"]["active"] is False
    ends = [event for event in project.events if isinstance(event, ev.SessionFinished)]
    assert [event.outcome for event in ends] == ["rolled_over"]
    assert [e.read_at for e in project.events if isinstance(e, ev.HandoffWritten)] == [handoff]
    sessions.session(at(30_000), DONE, prompt=prompt)
    assert holds(sessions.asked, handoff) == [True, True]
    assert project.state["status"] == "completed"
    assert project.run.run.iteration == 2


def test_a_window_that_is_all_but_full_ends_the_session_at_once(sessions: Sessions) -> None:
    project = sessions.project
    stream = sessions.session(at(100_000), at(192_000), says("never said"), **ALONE)
    assert len(sessions.asked) == 2
    assert stream[-1]["type"] == "result"
    levels = [event.level for event in project.events if isinstance(event, ev.ContextLevelReached)]
    assert levels == ["L3"]
    assert (project.root / "PROMPT.md").exists()
    assert project.state["iteration"] == 2
    assert project.call("stop", b"").code == 1


def test_a_session_goes_on_until_it_is_stuck(sessions: Sessions) -> None:
    sessions.session(*[says(f"Step {number}.") for number in range(8)])
    assert len(sessions.asked) == 3
    assert "Stop hook feedback" in sessions.asked[1]
    assert "Iteration 2 of 10" in sessions.asked[1]
    assert sessions.project.state["status"] == "circuit_breaker"
    finished = sessions.project.run.run.finished
    assert finished is not None
    assert "left the files unchanged" in finished.reason


def test_work_goes_on_until_the_promise(sessions: Sessions) -> None:
    steps = [[at(20_000, f"echo {n} >> log"), says(f"Step {n}.")] for n in range(4)]
    sessions.session(*[answer for step in steps for answer in step], DONE)
    assert sessions.project.state["status"] == "completed"
    assert sessions.project.state["iteration"] == 5
    finished = sessions.project.events[-1]
    assert isinstance(finished, ev.RunFinished)
    assert finished.outcome == "completed"
    assert finished.iterations == 5


def test_an_outer_loop_decides_by_the_exit_code(sessions: Sessions) -> None:
    project = sessions.project
    sessions.session(at(20_000, "echo 1 >> log"), says("Step 1."), RALPH_LOOP="shell")
    assert len(sessions.asked) == 2
    assert project.call("stop", b"", {"RALPH_LOOP": "shell"}).code == 1
    assert project.state["iteration"] == 2
    sessions.session(DONE, RALPH_LOOP="shell")
    assert project.call("stop", b"", {"RALPH_LOOP": "shell"}).code == 0


LOOP = """
set -u
while :; do
  {claude} "$(cat PROMPT.md)" </dev/null >>"$HOME/out.jsonl"
  {hook} stop </dev/null && break
done
"""


def test_a_shell_loop_comes_to_its_end(sessions: Sessions) -> None:
    """As in the README; the second session receives the handoff of the first."""
    project = sessions.project
    (project.root / "PROMPT.md").write_text("Mend the parser, as my notes say.\n")
    answers = [at(100_000, "echo 1 >> log"), at(174_000), says("I hand over."), at(30_000), DONE]
    sessions.session(*answers, loop=LOOP, RALPH_LOOP="shell", **ALONE)
    handoff = project.state["context_checkpoint"]["handoff_file"]
    assert holds(sessions.asked, "as my notes say") == [True] * 5
    assert holds(sessions.asked, "DO NOT restart the task") == [False] * 3 + [True] * 2
    assert holds(sessions.asked, f"Read its handoff first: {handoff}") == [False] * 3 + [True] * 2
    assert (project.state["status"], project.state["iteration"]) == ("completed", 2)
    assert (project.root / "PROMPT.md").read_text().endswith("as my notes say.\n")


def test_a_tool_that_fails_is_seen(sessions: Sessions) -> None:
    sessions.session(at(20_000, "exit 3"), at(21_000, "echo hi"), DONE)
    ends = [event for event in sessions.project.events if isinstance(event, ev.ToolFinished)]
    assert [event.ok for event in ends] == [False, True]
    assert ends[0].summary == "Exit code 3"


def test_a_service_that_refuses_ends_the_loop(sessions: Sessions) -> None:
    sessions.session(at(20_000), says("Step 1."), Answer(fault="401", times=9))
    project = sessions.project
    assert project.call("stop", b"").code == 0
    assert project.state["status"] == "fatal_error"


def test_a_handoff_outlives_the_compaction_that_comes_with_it(sessions: Sessions) -> None:
    sessions.session(at(100_000), at(174_000), says("I hand over."))
    project = sessions.project
    handoff = project.state["context_checkpoint"]["handoff_file"]
    assert f"|L2|87|{handoff}" in sessions.asked[-1]
    assert (project.state["iteration"], project.state["status"]) == (2, "running")
    assert [event.before for event in project.events if isinstance(event, ev.ContextCompacted)]
    assert handoff in (project.root / "PROMPT.md").read_text()


def test_sessions_that_never_begin_are_not_started_for_ever(sessions: Sessions) -> None:
    """A service that refuses at once calls no hook."""
    project = sessions.project
    sessions.session(at(20_000), says("Step 1."), RALPH_LOOP="shell")
    codes: list[int] = []
    while (code := project.call("stop", b"", {"RALPH_LOOP": "shell"}).code) and len(codes) < 9:
        codes.append(code)
        sessions.session(Answer(fault="401", times=9), RALPH_LOOP="shell")
    assert len(codes) < 5
    assert project.state["status"] == "circuit_breaker"
    assert project.run.run.finished is not None
