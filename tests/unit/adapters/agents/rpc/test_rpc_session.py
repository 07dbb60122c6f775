"""The peer against real processes: requests, answers and output in any order and size."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from ralph_tui.adapters.agents.ends import SessionEnd
from ralph_tui.adapters.agents.process_session import start_child
from ralph_tui.adapters.agents.rpc import rpc_session
from ralph_tui.adapters.agents.rpc.messages import Notification, Request
from ralph_tui.adapters.agents.rpc.rpc_session import RpcSession
from ralph_tui.events import AgentNoted, AgentSpoke, Event
from ralph_tui.ports.agents import Turn
from tests.agent_sessions import Heard, alive, context_in
from tests.waiting import until

PEER = """
import json, sys
def say(**fields): print(json.dumps(fields), flush=True)
def hear(): return json.loads(sys.stdin.readline())
"""


class Talk(RpcSession):
    """Records every answer and message as words; answers calls to ``sum``."""

    def _on_request(self, request: Request) -> Iterable[Event] | None:
        match request.method:
            case "sum":
                numbers = request.params.get("numbers")
                assert isinstance(numbers, list)
                self.respond(request.id, sum(numbers))
            case "later":
                pass
            case _:
                return None
        return [self._said(f"asked {request.method}")]

    def _on_notification(self, notification: Notification) -> Iterable[Event] | None:
        if notification.method != "tell":
            return None
        return [self._said(f"told {len(str(notification.params.get('text')))}")]

    def _end_by_itself(self, exit_code: int | None) -> SessionEnd:
        return SessionEnd("success" if exit_code == 0 else "crashed", f"exit {exit_code}")

    def ask(self, method: str) -> None:
        self.call(
            method,
            {"from": "us"},
            lambda result: [self._said(f"{method}: {result}")],
            lambda failure: [self._said(f"{method} failed: {failure.message}")],
        )

    def finish(self) -> None:
        self._close_stdin()

    def _said(self, text: str) -> AgentSpoke:
        return AgentSpoke(iteration=self._turn.iteration, text=text, offset=self.offset)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def turn(tmp_path: Path) -> Turn:
    folder = tmp_path / "attempt" / "results" / "iter-001"
    folder.mkdir(parents=True)
    return Turn(1, "Fix it.", "a" * 8, folder / "transcript.jsonl", folder / "stderr.log", "true")


def talk(code: str, turn: Turn, heard: Heard, tmp_path: Path) -> Talk:
    child = start_child([sys.executable, "-c", PEER + code], context_in(tmp_path), turn)
    session = Talk(child, turn, heard, 30.0)
    session.begin("peer")
    return session


def words(heard: Heard) -> list[str]:
    return [event.text for event in heard.of(AgentSpoke)]


def test_both_sides_ask_and_their_numbers_do_not_meet(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    code = """
first = hear()
say(jsonrpc="2.0", id=first["id"], method="sum", params={"numbers": [1, 2]})
answer = hear()
say(id=first["id"], result=[first["jsonrpc"], first["method"], first["params"], answer["result"]])
second = hear()
say(id=second["id"], error={"code": -32000, "message": "no"})
say(method="tell", params={"text": "bye"})
sys.exit(hear()["method"] != "thanks")
"""
    session = talk(code, turn, heard, tmp_path)
    session.ask("one")
    until(lambda: len(words(heard)) == 2)
    session.ask("two")
    heard.wait_for(lambda event: isinstance(event, AgentSpoke) and event.text == "told 3")
    session.notify("thanks")
    assert heard.finished().outcome == "success"
    assert words(heard) == [
        "asked sum",
        "one: ['2.0', 'one', {'from': 'us'}, 3]",
        "two failed: no",
        "told 3",
    ]
    # Events point at their lines.
    last = turn.transcript.read_bytes()[heard.of(AgentSpoke)[-1].offset :]
    assert json.loads(last.splitlines()[0])["method"] == "tell"


def test_unknown_kinds_and_noise_are_said_once_and_unknown_requests_refused(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    code = """
print("\\x1b[31mWARNING: noise", flush=True)
print("more noise", flush=True)
print(flush=True)
for _ in range(2): say(method="news", params={})
for _ in range(2): say(method="tell", params={"text": "known"})
say(id="q", method="dance")
refused = hear()
say(method="tell", params={"text": refused["error"]["code"]})
for number in range(20): say(method=f"news/{number}")
say(id=99, result="nobody asked")
say(id="q", result="nor this")
"""
    talk(code, turn, heard, tmp_path)
    assert heard.finished().outcome == "success"
    assert words(heard) == ["told 5", "told 5", "told 6"]
    noted = [event.text for event in heard.of(AgentNoted)]
    assert noted[:3] == [
        "Not a message: WARNING: noise",
        "Unknown kind of message, kept in the transcript: news",
        "Unknown kind of message, kept in the transcript: dance",
    ]
    assert len(noted) == rpc_session.MAX_REPORTS
    assert "more noise" in turn.transcript.read_text()


def test_a_request_is_answered_once(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    code = """
say(id=0, method="later")
say(id=0, method="later")
say(id="0", method="later")
answers = [hear(), hear()]
say(method="tell", params={"text": sorted([a["id"] == 0, a.get("result")] for a in answers)})
say(id=0, method="later")
same = hear()
say(id=0, method="later", params={"text": same["result"]})
say(method="tell", params={"text": hear()["result"]})
"""
    session = talk(code, turn, heard, tmp_path)
    until(lambda: len(words(heard)) == 2)
    assert session.respond(0, "yes")
    assert not session.respond(0, "again")
    assert not session.refuse(0, 1, "no")
    assert not session.respond(7, "nobody asked")
    assert session.respond("0", "yes")
    # A repeated request gets the same answer; a different one with that number is asked.
    until(lambda: words(heard)[-1] == "asked later" and len(words(heard)) == 4)
    assert session.respond(0, "yes" * 3)
    heard.finished()
    assert words(heard)[-1] == "told 9"


def test_a_line_of_ten_megabytes_is_a_message(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    code = 'say(method="tell", params={"text": "x" * 10_000_000}); say(method="tell")'
    talk(code, turn, heard, tmp_path)
    assert heard.finished().outcome == "success"
    assert words(heard) == ["told 10000000", "told 4"]
    assert turn.transcript.stat().st_size < 2_200_000


def test_what_never_begins_is_given_up(
    tmp_path: Path, turn: Turn, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc_session, "HANDSHAKE_S", 0.2)
    session = talk("hear(); import time; time.sleep(60)", turn, heard, tmp_path)
    session.ask("initialize")
    finished = heard.finished()
    assert finished.outcome == "not_started"
    assert finished.reason.startswith("The agent was not ready within 0.2 s of its start;")
    assert not alive(session.pid)


class Start:
    """An agent that starts after a number of seconds on its own clock."""

    def __init__(self, begins_s: float, busy_until_s: float) -> None:
        self.seconds = 0.0
        self._begins_s, self._busy_until_s = begins_s, busy_until_s
        self.offset = self._noise = 0
        self._child, self._exited = SimpleNamespace(pid=1), self
        self.ends: list[SessionEnd] = []

    @property
    def began(self) -> bool:
        return self.seconds >= self._begins_s

    def wait(self, timeout: float) -> bool:
        self.seconds = min(self._begins_s, self.seconds + timeout)
        return self.began

    def worked(self, _: int) -> int:
        return int(min(self.seconds, self._busy_until_s))

    def _end(self, end: SessionEnd, *, at_once: bool) -> None:
        assert at_once
        self.ends.append(end)


@pytest.mark.parametrize(
    ("begins_s", "busy_until_s", "given_up_at_s"),
    [
        (56, 0, None),  # no sign of life until it begins
        (61, 0, 60),
        (179, 200, None),
        (200, 200, 180),
        (200, 100, 120),  # aborted at the first check without a sign of life
    ],
)
def test_a_slow_start_is_waited_for_while_the_agent_works(
    monkeypatch: pytest.MonkeyPatch,
    begins_s: float,
    busy_until_s: float,
    given_up_at_s: float | None,
) -> None:
    start = Start(begins_s, busy_until_s)
    monkeypatch.setattr(rpc_session, "ticks_used", start.worked)
    RpcSession._await_handshake(cast("RpcSession", start))
    assert bool(start.ends) == (given_up_at_s is not None)
    assert start.seconds == (given_up_at_s or begins_s)
    for end in start.ends:
        assert end.reason.startswith(f"The agent was not ready within {given_up_at_s} s of its")


def test_what_dies_with_questions_open_on_both_sides_ends(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    session = talk('say(id=0, method="later"); hear(); sys.exit(3)', turn, heard, tmp_path)
    session.began = True
    session.ask("one")
    finished = heard.finished()
    assert (finished.outcome, finished.exit_code) == ("crashed", 3)
    assert session.respond(0, "too late"), "it was never withdrawn"
    session.ask("two")


def test_an_agent_that_does_not_read_holds_nobody_up(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    session = talk('say(method="tell"); import time; time.sleep(60)', turn, heard, tmp_path)
    heard.wait_for(lambda event: isinstance(event, AgentSpoke))
    session.call("prompt", {"text": "x" * 5_000_000})
    session.stop()
    assert heard.finished().outcome == "stopped"
    assert not alive(session.pid)


def test_failures_of_any_form_reach_who_asked(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    code = """
for error in ("text", {"message": 3}, [], {"code": 1e999, "message": "m", "data": [1]}):
    say(id=hear()["id"], error=error)
"""
    session = talk(code, turn, heard, tmp_path)
    for name in "abcd":
        session.ask(name)
    heard.finished()
    assert words(heard) == ["a failed: text", "b failed: ", "c failed: ", "d failed: m"]


def test_one_that_takes_its_time_to_begin_is_waited_for_aloud(
    tmp_path: Path, turn: Turn, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc_session, "NOT_READY_S", 0.1)
    session = talk("hear()", turn, heard, tmp_path)
    noted = heard.wait_for(lambda event: isinstance(event, AgentNoted))
    assert isinstance(noted, AgentNoted)
    assert noted.text == "The agent is not ready yet; still waiting"
    session.notify("go")
    heard.finished()
    assert len(heard.of(AgentNoted)) == 1
