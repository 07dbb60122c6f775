"""The demo's agent asks: its reaction to each answer, and to none."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ralph_tui import demo
from ralph_tui.adapters.agents.demo import program
from ralph_tui.demo.agent.asking import QUESTION, TAG
from ralph_tui.demo.agent.bugs import BUGS, LEXER, PARSER
from ralph_tui.demo.agent.scenario import plan
from tests.processes import Child
from tests.waiting import PATIENCE_S

Json = dict[str, Any]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    demo.prepare(root, "asking")
    return root


class Talk:
    """An agent session, read and answered line by line."""

    def __init__(self, agent: Child[str]) -> None:
        self.agent = agent
        self.seen: list[Json] = []

    def say(self, **message: object) -> None:
        assert self.agent.stdin is not None
        self.agent.stdin.write(json.dumps(message) + "\n")
        self.agent.stdin.flush()

    def until(self, wanted: Callable[[Json], bool]) -> Json:
        assert self.agent.stdout is not None
        for line in self.agent.stdout:
            self.seen.append(json.loads(line))
            if wanted(self.seen[-1]):
                return self.seen[-1]
        raise AssertionError(f"the stream ended: {self.seen[-3:]}")

    def asked(self) -> Json:
        return self.until(lambda event: event["type"] == "control_request")

    def answer(self, asked: Json, **response: object) -> None:
        fields = {"subtype": "success", "request_id": asked["request_id"], "response": response}
        self.say(type="control_response", response=fields)

    def ends(self) -> Json:
        return self.until(lambda event: event["type"] == "result")

    def edited(self) -> list[str]:
        """Edited files in the order of the turn."""
        blocks = [b for e in self.seen if e["type"] == "assistant" for b in e["message"]["content"]]
        uses = [block["input"] for block in blocks if block.get("name") == "Edit"]
        return [str(Path(use["file_path"]).parent.name + "/" + Path(use["file_path"]).name)
                for use in uses]  # fmt: skip


@contextmanager
def talk(project: Path, iteration: int) -> Iterator[Talk]:
    agent = Child(
        ["env", f"RALPH_ITERATION={iteration}", *program("asking", fast=True)],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with agent:
        it = Talk(agent)
        it.say(type="user", message={"content": "go"})
        yield it
        assert agent.stdin is not None
        agent.stdin.close()


def tags(project: Path) -> str:
    return subprocess.run(
        ["git", "tag"], cwd=project, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_what_is_permitted_is_done(project: Path) -> None:
    with talk(project, 1) as agent:
        asked = agent.asked()
        assert asked["request"]["input"]["command"] == TAG
        assert tags(project) == ""
        agent.answer({"request_id": "another"}, behavior="allow")
        agent.answer(asked, behavior="allow", updatedInput=asked["request"]["input"])
        assert agent.ends()["is_error"] is False
    assert tags(project) == "before-the-fix"


def test_what_is_refused_is_not_done_and_its_words_reach_the_agent(project: Path) -> None:
    with talk(project, 1) as agent:
        agent.answer(agent.asked(), behavior="deny", message="Not now. Continue without it.")
        assert agent.ends()["is_error"] is False
    assert tags(project) == ""
    assert "Not now. Continue without it." in json.dumps(agent.seen)
    assert agent.edited(), "it continued"


@pytest.mark.parametrize(("label", "first"), [("The parser's", PARSER), ("Any.", LEXER)])
def test_a_choice_decides_what_comes_first(project: Path, label: str, first: str) -> None:
    with talk(project, 2) as agent:
        asked = agent.asked()
        given = {**asked["request"]["input"], "answers": {QUESTION: label}}
        agent.answer(asked, behavior="allow", updatedInput=given)
        agent.ends()
    assert agent.edited()[0] == first


def test_who_is_interrupted_while_asking_takes_it_back(project: Path) -> None:
    with talk(project, 1) as agent:
        asked = agent.asked()
        agent.say(type="control_request", request_id="i", request={"subtype": "interrupt"})
        gone = agent.until(lambda event: event["type"] == "control_cancel_request")
        assert gone["request_id"] == asked["request_id"]
        assert agent.ends()["terminal_reason"] == "aborted_tools"
    assert tags(project) == ""


def test_nobody_left_to_answer_is_a_refusal(project: Path) -> None:
    with talk(project, 1) as agent:
        agent.asked()
        assert agent.agent.stdin is not None
        agent.agent.stdin.close()
        agent.ends()
        assert agent.agent.wait(PATIENCE_S) == 0
    assert tags(project) == ""


def test_a_preference_changes_the_order_alone() -> None:
    for first in ("", LEXER, PARSER):
        fixed: set[object] = set()
        for iteration in range(1, 9):
            known = [bug for bug in BUGS if bug in fixed]
            fixed |= {s.bug for s in plan("asking", iteration, known, guided=False, first=first)}
        assert fixed == set(BUGS)
