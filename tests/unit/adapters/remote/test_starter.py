"""Commands through an inherited socket: the stated sender is trusted, and nothing else."""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ralph_tui.adapters.remote.starter import hearing, starter_of
from ralph_tui.base.errors import UsageError
from ralph_tui.commands import Command
from ralph_tui.events import Event
from ralph_tui.fleet.host.supervisor import Channel
from ralph_tui.fleet.ports import CommandAnswered, SendCommand
from ralph_tui.ports.host import Accepted, Refused
from tests.waiting import PATIENCE_S, until


class Receiver:
    """Accepts every command, and answers unless it is set to be silent."""

    def __init__(self) -> None:
        self.heard: list[Command] = []
        self.silent = False

    def request(self, command: Command, reply: Callable[[Accepted | Refused], None]) -> None:
        self.heard.append(command)
        if not self.silent:
            reply(Refused("not now") if command.name == "pause" else Accepted(len(self.heard)))

    def emit(self, event: Event) -> None:
        raise AssertionError(event)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def theirs(receiver: Receiver) -> Iterator[socket.socket]:
    """The socket end of the process that started the run."""
    with ExitStack() as held:
        ours, inherited = socket.socketpair()
        held.enter_context(ours)
        ours.settimeout(10)
        starter = starter_of(inherited.detach())
        assert starter is not None
        assert not os.get_inheritable(starter.fileno())
        held.enter_context(hearing(receiver, starter))
        yield ours


def ask(theirs: socket.socket, *lines: bytes) -> list[dict[str, Any]]:
    theirs.sendall(b"".join(line + b"\n" for line in lines))
    text = b""
    while text.count(b"\n") < len(lines):
        text += theirs.recv(1 << 16)
    return [json.loads(line) for line in text.splitlines()]


def line(request: str, **command: object) -> bytes:
    return json.dumps({"version": 1, "id": request, "command": command}).encode()


def test_who_gave_a_command_is_what_its_line_says(
    theirs: socket.socket, receiver: Receiver
) -> None:
    empowering = {"name": "answer", "question_id": "q1", "answer": "allow"}
    answers = ask(theirs, line("a", by="the terminal pts/1", **empowering), line("b", name="pause"))
    assert answers == [
        {"version": 1, "id": "a", "accepted": 1},
        {"version": 1, "id": "b", "refused": "not now"},
    ]
    assert [command.by for command in receiver.heard] == ["the terminal pts/1", "the fleet"]


def test_what_is_no_command_is_refused_and_the_next_is_heard(
    theirs: socket.socket, receiver: Receiver
) -> None:
    wrong = [b"{", b"[]", b'{"version": 2}', line("x", name="sing"), b'{"version":1,"command":3}']
    answers = ask(theirs, *wrong, line("good", name="stop", by="a\x1b[2Jb\nc"))
    assert all("refused" in answer for answer in answers[:-1])
    assert answers[3]["id"] == "x"
    assert answers[-1]["accepted"] == 1
    assert "\x1b" not in receiver.heard[0].by
    assert "\n" not in receiver.heard[0].by


def test_a_line_without_end_ends_it(theirs: socket.socket, receiver: Receiver) -> None:
    def fill() -> None:
        try:
            for _ in range(60):
                theirs.sendall(bytes(1 << 16))
        except OSError:
            return

    filling = threading.Thread(target=fill)
    filling.start()
    filling.join(PATIENCE_S)
    assert not filling.is_alive()
    assert not receiver.heard


def test_only_a_socket_is_taken(tmp_path: Path) -> None:
    assert starter_of(None) is None
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(UsageError, match="not a socket"):
            starter_of(descriptor)
    finally:
        os.close(descriptor)
    with pytest.raises(UsageError, match="Bad file descriptor"):
        starter_of(descriptor)


def test_the_hosts_end_gets_its_answers_by_id(receiver: Receiver) -> None:
    reported: list[CommandAnswered] = []
    channel = Channel(reported.append)
    starter = starter_of(channel.theirs.detach())
    with hearing(receiver, starter):
        for request, name in (("1", "stop"), ("2", "pause"), ("3", "sing")):
            channel.send(SendCommand(id=request, loop="1", command={"name": name}))

        def all_reported() -> bool:
            channel.receive()
            return len(reported) == 3

        until(all_reported)
        assert {each.id: each.accepted for each in reported} == {"1": 1, "2": None, "3": None}
        assert {each.refused for each in reported} == {"", "not now", "unknown command"}
        receiver.silent = True
        channel.send(SendCommand(id="4", loop="1", command={"name": "stop"}))
        channel.send(
            SendCommand(id="5", loop="1", command={"name": "guide", "text": "x" * (3 << 20)})
        )
        assert "longer than" in reported[-1].refused
        until(lambda: len(receiver.heard) == 3)

    def refused() -> bool:
        channel.receive()
        return reported[-1].id == "4"

    until(refused)  # the run is gone
    assert reported[-1].refused == "the run ended before it answered"
    channel.send(SendCommand(id="6", loop="1", command={"name": "stop"}))
    assert reported[-1].id == "6"
    assert reported[-1].refused
