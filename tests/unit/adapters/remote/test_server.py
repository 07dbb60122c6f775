"""The command socket around a real engine: real sockets and arbitrary clients."""

import json
import os
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from uuid import uuid4

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.processes.lineage import name_of
from ralph_tui.adapters.records.journal import Journal, read_journal
from ralph_tui.adapters.remote import client as client_module
from ralph_tui.adapters.remote import server as server_module
from ralph_tui.adapters.remote.client import send
from ralph_tui.adapters.remote.protocol import LIMIT
from ralph_tui.adapters.remote.server import CONNECTIONS, listen, listening
from ralph_tui.base.errors import RalphError
from ralph_tui.commands import Answer, Checkpoint, Guide, Pause, Stop, Unpause
from ralph_tui.ports.host import Accepted, Refused
from ralph_tui.runtime.clock import SystemClock
from ralph_tui.runtime.engine import Engine
from tests.unit.adapters.remote.live_run import (
    PAUSE,
    QUESTION,
    START,
    LiveRun,
    answer_of,
    working_engine,
)
from tests.waiting import PATIENCE_S, until


def test_other_terminals_see_a_question_at_once(tmp_path: Path) -> None:
    class Standing(SystemClock):
        def monotonic(self) -> float:
            return 0.0

    clock, status = Standing(), tmp_path / "status.json"
    engine = Engine(Journal(tmp_path / "events.jsonl", clock), clock, status=status)
    seen: list[object] = []

    def run() -> None:
        for event in (START, QUESTION, ev.QuestionAnswered(question_id="q1", answer="continue")):
            engine.record(event)
            engine.receive(0)
            seen.append(json.loads(status.read_text()).get("question"))
        engine.record(ev.RunFinished(outcome="completed", reason="", iterations=1, completion=0))

    engine.start_thread(run, lambda: None)
    assert engine.join(PATIENCE_S)
    assert [bool(question) for question in seen] == [False, True, False]


def test_a_command_is_obeyed_and_the_answer_names_its_event(live_run: LiveRun) -> None:
    answer = send(live_run.path, Pause())
    assert isinstance(answer, Accepted)
    (paused,) = live_run.events(ev.PauseRequested)
    assert (paused.seq, paused.by) == (answer.seq, name_of(os.getpid()))


def test_what_the_run_refuses_is_told_in_its_words(live_run: LiveRun) -> None:
    assert send(live_run.path, Unpause()) == Refused("the run is not paused")
    assert isinstance(send(live_run.path, Checkpoint()), Refused)


def test_many_requests_may_follow_each_other(live_run: LiveRun) -> None:
    with live_run.connected() as client, client.makefile("rb") as stream:
        for expected in ("accepted", "refused", "refused"):
            client.sendall(PAUSE)
            assert expected in json.loads(stream.readline())


def test_only_the_owner_can_get_at_it(live_run: LiveRun) -> None:
    assert stat.S_IMODE(live_run.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(live_run.path.stat().st_mode) == 0o600
    assert live_run.path.parent.name == "ralph-tui"
    assert len(live_run.path.stem) == 12
    int(live_run.path.stem, 16)


@pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/usr/bin/python3").exists(),
    reason="only root can be somebody else, with a program that everybody may run",
)
def test_another_user_is_refused_even_where_the_folder_lets_them_in(live_run: LiveRun) -> None:
    for folder in (live_run.path.parent, live_run.path.parent.parent):
        folder.chmod(0o755)
    live_run.path.chmod(0o666)
    talk = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        "print(s.makefile().readline())"
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-c", talk, live_run.path],
        user=65534,
        cwd="/",
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["refused"] == "only the user who started a run can command it"


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"pause\n",
        b"\x00\xff\n",
        b'{"version":9,"command":{"name":"pause"}}\n',
        b'{"version":1,"command":{"name":"pause","x":1}}\n',
        b'{"version":1,"command":{"name":"__init__"}}\n',
        PAUSE[:-1],
        PAUSE[:-9],
    ],
)
def test_garbage_is_refused_with_an_answer_and_no_effect(live_run: LiveRun, line: bytes) -> None:
    until(lambda: live_run.engine.state.seq == 2)
    assert live_run.say(line)["refused"]
    assert live_run.engine.state.seq == 2
    assert "accepted" in live_run.say(PAUSE)


def test_ten_megabytes_are_refused_without_being_read(live_run: LiveRun) -> None:
    with live_run.connected() as client:
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            client.sendall(b"x" * (10 << 20))
        assert "bytes" in str(answer_of(client)["refused"])
    assert isinstance(send(live_run.path, Pause()), Accepted)


def test_the_client_does_not_even_send_what_is_too_long(live_run: LiveRun) -> None:
    command = Guide.model_construct(name="guide", text="x" * LIMIT)
    answer = send(live_run.path, command)
    assert isinstance(answer, Refused)
    assert "shorten" in answer.reason
    assert live_run.events(ev.GuidanceQueued) == []


def test_control_characters_do_not_reach_the_record(live_run: LiveRun) -> None:
    command = {"name": "guide", "text": "a\x1b[2J\x07b\x00\nc", "by": "x\x1b]0;y\x07\nz"}
    answer = live_run.say(json.dumps({"version": 1, "command": command}).encode() + b"\n")
    assert "accepted" in answer
    (queued,) = live_run.events(ev.GuidanceQueued)
    assert (queued.text, queued.by) == ("ab\nc", name_of(os.getpid()))
    assert b"\\u001b" not in live_run.engine.journal.path.read_bytes()


def test_of_answers_at_once_the_first_counts_and_the_others_are_told(live_run: LiveRun) -> None:
    until(lambda: live_run.engine.state.needs.question is not None)
    start, answers = threading.Barrier(8), []

    def answer(number: int) -> None:
        word = "continue" if number % 2 else "abort"
        command = Answer(question_id="q1", answer=word, by=f"terminal {number}")
        start.wait()
        answers.append(send(live_run.path, command))

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(type(got).__name__ for got in answers) == ["Accepted"] + ["Refused"] * 7
    assert len(live_run.events(ev.QuestionAnswered)) == 1
    assert all("already" in got.reason for got in answers if isinstance(got, Refused))


def test_an_answer_to_another_question_or_in_other_words_is_refused(live_run: LiveRun) -> None:
    until(lambda: live_run.engine.state.needs.question is not None)
    for question, word in (("q0", "continue"), ("q1", "maybe")):
        assert isinstance(send(live_run.path, Answer(question_id=question, answer=word)), Refused)
    assert live_run.events(ev.QuestionAnswered) == []


def test_silent_clients_make_room(live_run: LiveRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "READ_SECONDS", 1000)  # none disconnects
    with ExitStack() as crowd:
        clients = [crowd.enter_context(live_run.connected()) for _ in range(2 * CONNECTIONS)]
        clients[-1].sendall(PAUSE[:7])
        assert isinstance(send(live_run.path, Pause()), Accepted)
        # The first ones were disconnected, the last ones may continue.
        assert clients[0].recv(1) == b""
        clients[-1].sendall(PAUSE[7:])
        assert "refused" in answer_of(clients[-1])


def test_a_slow_client_is_left(live_run: LiveRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "READ_SECONDS", 0.05)
    with live_run.connected() as client:
        client.sendall(PAUSE[:7])
        assert client.recv(1) == b""


def test_a_client_that_never_reads_blocks_nobody(live_run: LiveRun) -> None:
    with live_run.connected() as deaf:
        deaf.setblocking(False)
        with pytest.raises(BlockingIOError):
            deaf.sendall(PAUSE * 100_000)
        assert isinstance(send(live_run.path, Guide(text="x")), Accepted)


def test_a_leftover_of_the_same_name_is_replaced(tmp_path: Path, place: Path) -> None:
    run_id = str(uuid4())
    leftover = place / "ralph-tui" / f"{run_id.replace('-', '')[:12]}.sock"
    leftover.parent.mkdir(mode=0o700)
    with closing(socket.socket(socket.AF_UNIX)) as dead:
        dead.bind(str(leftover))
    with pytest.raises(RalphError, match="gone"):
        send(leftover, Pause())
    with working_engine(tmp_path) as engine, listening(engine, run_id) as path:
        assert path == leftover
        assert isinstance(send(path, Pause()), Accepted)
    assert not leftover.exists()


def test_a_socket_file_that_was_taken_away_comes_back(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at a logout, which removes the runtime folder, and the next login."""
    monkeypatch.setattr(server_module, "LOOK_SECONDS", 0.02)
    with working_engine(tmp_path) as engine, listening(engine, str(uuid4())) as path:
        assert path is not None
        gone = place.with_name(f"{place.name}-gone")
        place.rename(gone)  # at once: the server recreates missing files
        shutil.rmtree(gone)
        with pytest.raises(RalphError, match="gone"):
            send(path, Pause())
        place.mkdir()
        assert isinstance(until(lambda: attempt(path)), Accepted)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("reason", ["Connection refused", "No such file or directory"])
def test_of_a_living_run_that_nobody_answers_for_path_and_reason_are_told(
    place: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    monkeypatch.setattr(client_module, "RETURN_S", 0.1)
    path = place / "s"
    with closing(socket.socket(socket.AF_UNIX)) as deaf:
        if "refused" in reason:
            deaf.bind(str(path))
        with pytest.raises(RalphError) as error:
            send(path, Pause(), alive=lambda: True)
    sentence = f"its command socket {path} does not answer ({reason}); use its own terminal"
    assert str(error.value) == f"the run is active, but {sentence}"


def test_a_socket_is_waited_for_no_longer_than_its_run_lives(place: Path) -> None:
    looks = iter([True, True, False])
    with pytest.raises(RalphError, match="the run is gone"):
        send(place / "s", Pause(), alive=lambda: next(looks))
    assert [*looks] == []


def attempt(path: Path) -> Accepted | Refused | None:
    try:
        return send(path, Pause())
    except RalphError:
        return None


def spoil_mode(folder: Path) -> None:
    folder.mkdir(mode=0o755)


def spoil_link(folder: Path) -> None:
    aim = folder.with_name("aim")
    aim.mkdir(mode=0o700)
    folder.symlink_to(aim)


def spoil_file(folder: Path) -> None:
    folder.write_text("in the way")


@pytest.mark.parametrize("spoil", [spoil_mode, spoil_link, spoil_file])
def test_a_folder_that_is_not_private_is_not_used(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None]
) -> None:
    spoil(place / "ralph-tui")
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    second = place / f"ralph-tui-{os.geteuid()}"
    with working_engine(tmp_path) as engine, listening(engine, str(uuid4())) as path:
        assert path is not None
        assert path.parent == second
        assert isinstance(send(path, Pause()), Accepted)
    assert stat.S_IMODE(second.stat().st_mode) == 0o700


def test_without_any_socket_the_run_goes_on_and_is_told_once(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = place / ("d" * 120)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with working_engine(tmp_path) as engine, listening(engine, str(uuid4())) as path:
        assert path is None
        engine.send(Pause())
        until(lambda: engine.state.run.pause_requested)
        events = read_journal(engine.journal.path).events
    (reported,) = [event for event in events if isinstance(event, ev.Noticed)]
    assert "no other terminal can command this run" in reported.text


def test_when_the_run_is_over_that_is_said(tmp_path: Path, place: Path) -> None:
    with working_engine(tmp_path) as engine, listening(engine, str(uuid4())) as path:
        assert path is not None
        engine.send(Stop())
        assert engine.join(PATIENCE_S)
        assert send(path, Pause()) == Refused("the run has ended")
    with pytest.raises(RalphError, match="the run is gone"):
        send(path, Pause())


def test_the_end_waits_for_no_client(tmp_path: Path, place: Path) -> None:
    with ExitStack() as crowd:
        with working_engine(tmp_path) as engine, listening(engine, str(uuid4())) as path:
            assert path is not None
            live_run = LiveRun(engine, path)
            clients = [crowd.enter_context(live_run.connected()) for _ in range(CONNECTIONS)]
            clients[0].sendall(PAUSE)
            assert "accepted" in answer_of(clients[0])
        assert not path.exists()
        assert [client.recv(1) for client in clients[1:]] == [b""] * (CONNECTIONS - 1)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"hello\n", "unknown answer"),
        (b'{"version":2,"accepted":1}\n', "unknown answer"),
        (b"x" * 200_000, "unknown answer"),
        (b"", "without an answer"),
    ],
)
def test_a_strange_answer_is_one_sentence(place: Path, said: bytes, words: str) -> None:
    path = place / "s"
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(path))
        listener.listen()

        def speak() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                try:
                    connection.sendall(said)
                except OSError:
                    return

        thread = threading.Thread(target=speak)
        thread.start()
        with pytest.raises(RalphError, match=words):
            send(path, Pause())
        thread.join(PATIENCE_S)


def test_a_run_that_does_not_answer_is_not_waited_for_long(place: Path) -> None:
    path = place / "s"
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(path))
        listener.listen()
        with pytest.raises(RalphError, match=r"within 0\.1 s"):
            send(path, Pause(), 0.1)


def test_sockets_that_nobody_listens_at_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    live_run = listen(folder / "living.sock")
    deserted = listen(folder / "deserted.sock")
    deserted.close()
    new = listen(folder / "new.sock")
    assert sorted(path.name for path in folder.iterdir()) == ["living.sock", "new.sock"]
    live_run.close()
    new.close()
