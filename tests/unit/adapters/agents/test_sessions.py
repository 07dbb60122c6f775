"""Sessions of real processes always end with one `SessionFinished`."""

import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.agents import AgentContext, choose_agent
from ralph_tui.adapters.agents.claude import stream_agent as streaming
from ralph_tui.adapters.agents.claude.stream_agent import StreamAgent
from ralph_tui.adapters.agents.command import COMMAND
from ralph_tui.adapters.agents.command.agent import SPOKEN, CommandAgent
from ralph_tui.adapters.agents.demo import DEMO
from ralph_tui.adapters.processes import bounded_work
from ralph_tui.adapters.processes import child as running
from ralph_tui.base.errors import AgentError, UsageError
from ralph_tui.config.settings import AgentSettings
from ralph_tui.ports.agents import Turn
from ralph_tui.text.format import lines_not_shown
from tests.agent_sessions import Heard, alive, context_in
from tests.paths import FIXTURES

TRANSCRIPTS = FIXTURES / "transcripts"
PROMPT = "Fix it.\nAlso print <promise>COMPLETE</promise> when done."


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def turn(tmp_path: Path) -> Turn:
    folder = tmp_path / "attempt" / "results" / "iter-003"
    folder.mkdir(parents=True)
    (tmp_path / "repo").mkdir()
    return Turn(
        iteration=3,
        prompt=PROMPT,
        session_id="00000000-0000-4000-8000-000000000000",
        transcript=folder / "transcript.jsonl",
        stderr=folder / "stderr.log",
        command="true",
    )


def context(tmp_path: Path, **fields: object) -> AgentContext:
    return context_in(tmp_path / "repo", **fields)


def command(tmp_path: Path, shell: str, **fields: object) -> CommandAgent:
    return CommandAgent(context(tmp_path, command=shell, **fields))


def stub(tmp_path: Path, code: str, **fields: object) -> StreamAgent:
    return StreamAgent("stub", [sys.executable, "-SE", "-c", code], context(tmp_path, **fields))


# -- the agent `command` ---------------------------------------------------------------------------


def test_a_command_reads_the_prompt_in_the_worktree(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    shell = 'cat > prompt.txt; echo "iteration $RALPH_ITERATION of $RALPH_RUN_ID"; echo bad >&2'
    command(tmp_path, shell).start(turn, heard)
    finished = heard.finished()
    assert (finished.outcome, finished.reason, finished.exit_code) == ("success", "", 0)
    assert (tmp_path / "repo" / "prompt.txt").read_text() == PROMPT
    assert [event.text for event in heard.of(ev.AgentSpoke)] == ["iteration 3 of test-run"]
    assert turn.transcript.read_text() == "iteration 3 of test-run\n"
    assert turn.stderr.read_text() == "bad\n"
    started = heard.of(ev.SessionStarted)[0]
    assert started.transcript == "results/iter-003/transcript.jsonl"
    assert (started.agent, started.takes_guidance, started.pid > 0) == ("command", False, True)


def test_claims_of_a_command_are_heard_and_an_echoed_prompt_claims_nothing(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    command(tmp_path, "cat").start(turn, heard)
    heard.finished()
    assert not heard.of(ev.PromiseMade)

    report = json.dumps({"ralph": {"completion": 40, "summary": "half"}})
    other = Heard()
    shell = f"echo {shlex.quote(report)}; echo '<promise>COMPLETE</promise>'"
    command(tmp_path, shell).start(turn, other)
    other.finished()
    assert [event.completion for event in other.of(ev.AgentReported)] == [40]
    assert len(other.of(ev.PromiseMade)) == 1


def test_a_claim_that_is_printed_in_two_batches_is_heard_once(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    # The first half of each is reported before the second is printed.
    shell = """
        echo '{"ralph": {'; until [ -e one ]; do sleep 0.02; done; echo '"completion": 40}}'
        echo 'Done: <promise>'; until [ -e two ]; do sleep 0.02; done; echo 'COMPLETE</promise>'
    """
    command(tmp_path, shell).start(turn, heard)
    heard.wait_for(lambda event: isinstance(event, ev.AgentSpoke) and "ralph" in event.text)
    (tmp_path / "repo" / "one").touch()
    heard.wait_for(lambda event: isinstance(event, ev.AgentSpoke) and "Done" in event.text)
    (tmp_path / "repo" / "two").touch()
    heard.finished()
    assert [event.completion for event in heard.of(ev.AgentReported)] == [40]
    assert len(heard.of(ev.PromiseMade)) == 1


@pytest.mark.parametrize(
    ("shell", "outcome", "words"),
    [
        ("exit 3", "error", "exited with code 3"),
        ("echo no luck >&2; exit 1", "error", "no luck"),
        ("no-such-program-at-all", "missing", "cannot be run (127)"),
        ("kill -9 $$", "crashed", "by signal 9"),
    ],
)
def test_a_command_that_fails_says_how(
    tmp_path: Path, turn: Turn, heard: Heard, shell: str, outcome: str, words: str
) -> None:
    command(tmp_path, shell).start(turn, heard)
    finished = heard.finished()
    assert finished.outcome == outcome
    assert words in finished.reason


def test_a_command_that_prints_much_is_told_in_few_words(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    command(tmp_path, "seq 1 50000; printf '\\033[31mlast\\033[0m'").start(turn, heard)
    heard.finished()
    spoken = heard.of(ev.AgentSpoke)
    assert len(spoken) < 20
    assert all(len(event.text) <= SPOKEN for event in spoken)
    shown = [line for event in spoken for line in event.text.splitlines()]
    gaps = [line for line in shown if line.startswith("… ")]
    assert gaps == [lines_not_shown(event.left_out) for event in spoken if event.left_out]
    assert len(shown) - len(gaps) + sum(event.left_out for event in spoken) == 50001
    assert spoken[-1].text.endswith("last")
    assert len(turn.transcript.read_text().splitlines()) == 50001


def test_one_endless_line_harms_nothing(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    command(tmp_path, "head -c 3000000 /dev/zero | tr '\\0' x").start(turn, heard)
    assert heard.finished().outcome == "success"
    assert sum(len(event.text) for event in heard.of(ev.AgentSpoke)) < 20 * SPOKEN


def test_words_come_while_the_command_works(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    # It waits for a file that appears only after its output was read.
    shell = "echo waiting; while [ ! -e go ]; do sleep 0.02; done; echo gone"
    command(tmp_path, shell).start(turn, heard)
    heard.wait_for(lambda event: isinstance(event, ev.AgentSpoke) and event.text == "waiting")
    (tmp_path / "repo" / "go").touch()
    heard.finished()
    assert heard.of(ev.AgentSpoke)[-1].text == "gone"


def test_secrets_reach_neither_files_nor_events(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    secret = "ghp_" + "d4" * 20
    command(tmp_path, f"echo {secret}; echo {secret} >&2; exit 1").start(turn, heard)
    heard.finished()
    written = turn.transcript.read_text() + turn.stderr.read_text() + repr(heard.events)
    assert "d4d4" not in written


def test_a_command_can_be_stopped_with_all_it_started(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    shell = "trap '' INT; setsid sleep 1000 & echo $!; wait"
    session = command(tmp_path, shell).start(turn, heard)
    heard.wait_for(lambda event: isinstance(event, ev.AgentSpoke))
    pid = int(heard.of(ev.AgentSpoke)[0].text)
    assert alive(pid)
    session.stop("stopped")
    session.stop("timeout")
    finished = heard.finished()
    assert finished.outcome == "stopped"
    assert finished.reason
    assert not alive(pid)
    assert not session.send("g", "too late")


def test_a_killed_keeper_takes_the_agent_along(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    session = command(tmp_path, "echo here; exec sleep 1000").start(turn, heard)
    heard.wait_for(lambda event: isinstance(event, ev.AgentSpoke))
    os.kill(session._child.keeper_pid, signal.SIGKILL)
    finished = heard.finished()
    assert (finished.outcome, finished.exit_code) == ("crashed", None)
    assert "keeper was killed" in finished.reason
    assert not alive(session.pid)


def test_a_session_whose_agent_stops_its_keeper_ends(
    tmp_path: Path, turn: Turn, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "ASK_S", 0.2)
    session = command(tmp_path, "cat >prompt.txt; kill -STOP $PPID; exec sleep 1000").start(
        turn, heard
    )
    finished = heard.finished()
    assert (finished.outcome, finished.exit_code) == ("crashed", None)
    assert finished.reason == "The agent's keeper did not answer for 1 s; the agent was stopped."
    assert not alive(session.pid)


def test_a_session_has_a_time_limit(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    command(tmp_path, "exec sleep 1000", timeout_s=0.2).start(turn, heard)
    finished = heard.finished()
    assert finished.outcome == "timeout"


def test_a_transcript_that_cannot_be_written_costs_the_transcript(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    turn.transcript.mkdir()
    command(tmp_path, "echo words").start(turn, heard)
    assert heard.finished().outcome == "success"
    assert [event.text for event in heard.of(ev.AgentSpoke)] == ["words"]
    (noted,) = heard.of(ev.AgentNoted)
    assert noted.level == "error"
    assert "it is a folder, not a regular file; move it out of the way" in noted.text


# -- agents that speak stream-json -----------------------------------------------------------------


def test_a_captured_session(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    captured = TRANSCRIPTS / "ok.jsonl"
    code = f"import sys; print(open({str(captured)!r}).read(), end=''); sys.stdin.read()"
    stub(tmp_path, code).start(turn, heard)
    finished = heard.finished()
    assert finished.outcome == "success"
    assert finished.cost_usd == pytest.approx(0.006074)
    assert (finished.tool_calls, finished.turns, finished.tokens) == (3, 4, 50324)
    assert turn.transcript.read_text() == captured.read_text()
    spoken = heard.of(ev.AgentSpoke)[0]
    line = turn.transcript.read_bytes()[spoken.offset :].split(b"\n")[0]
    assert spoken.text in json.loads(line)["message"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("code", "outcome", "words"),
    [
        ("print('<html>garbage</html>')", "not_started", "no readable output"),
        ("pass", "not_started", "no readable output"),
        (
            "import sys; sys.exit('unknown option --verbose')",
            "not_started",
            "unknown option --verbose",
        ),
        ("import os; os.kill(os.getpid(), 11)", "not_started", "by signal 11"),
        ("import os; os.close(0); os.close(1); os.close(2)", "not_started", "no readable"),
        (
            'print(\'{"type": "system", "subtype": "init", "model": "m"}\')',
            "error",
            "ended without a result",
        ),
        (
            'print(\'{"type": "system", "subtype": "api_retry", "error_status": 401}\'); exit(1)',
            "auth",
            "run `claude` and then /login",
        ),
    ],
)
def test_a_program_that_does_not_do_its_part(
    tmp_path: Path, turn: Turn, heard: Heard, code: str, outcome: str, words: str
) -> None:
    stub(tmp_path, code).start(turn, heard)
    finished = heard.finished()
    assert finished.outcome == outcome
    assert words in finished.reason


def test_a_program_that_never_reads_a_huge_prompt(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    huge = Turn(**{**vars(turn), "prompt": "x" * 5_000_000})
    session = stub(tmp_path, "import time; print('{}', flush=True); time.sleep(1000)").start(
        huge, heard
    )
    heard.wait_for(lambda event: isinstance(event, ev.AgentNoted))
    assert session.send("g", "hello")
    session.stop()
    assert heard.finished().outcome == "stopped"


def test_a_huge_line_is_read_whole(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    code = (
        "import json\n"
        "print(json.dumps({'type': 'assistant', 'message': {'content': [{'type': 'text',"
        " 'text': 'x' * 3_000_000}]}}))\n"
        "print(json.dumps({'type': 'result', 'is_error': False}))"
    )
    stub(tmp_path, code).start(turn, heard)
    assert heard.finished().outcome == "success"
    assert len(heard.of(ev.AgentSpoke)) == 1
    assert not heard.of(ev.AgentNoted)


ECHO = """
import json, sys
def say(**fields): print(json.dumps(fields), flush=True)
json.loads(sys.stdin.readline())
say(type="assistant", message={"model": "m", "content": [{"type": "text", "text": "ready"}]})
note = sys.stdin.readline()
while '"user"' not in note: note = sys.stdin.readline()
say(type="result", is_error=False, result="first")
uuid = json.loads(note)["uuid"]
for state in RECEIPTS: say(type="command_lifecycle", command_uuid=uuid, state=state)
say(type="result", is_error=False, result="second", total_cost_usd=0.5)
sys.stdin.read()
"""


@pytest.mark.parametrize("receipts", [("queued", "started", "completed"), ("queued", "completed")])
def test_stdin_stays_open_while_guidance_is_on_its_way(
    tmp_path: Path, turn: Turn, heard: Heard, receipts: tuple[str, ...]
) -> None:
    session = stub(tmp_path, ECHO.replace("RECEIPTS", repr(receipts))).start(turn, heard)
    heard.wait_for(lambda event: isinstance(event, ev.AgentSpoke))
    assert session.send("g-1", "mind the tests")
    finished = heard.finished()
    assert (finished.outcome, finished.cost_usd) == ("success", 0.5)
    assert [event.guidance_id for event in heard.of(ev.GuidanceDelivered)] == ["g-1"]
    assert [event.guidance_id for event in heard.of(ev.GuidanceAcknowledged)] == ["g-1"]
    assert not session.send("g-2", "too late")


def test_an_agent_without_receipts_is_not_waited_for(
    tmp_path: Path, turn: Turn, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "RECEIPT_S", 0.1)
    session = stub(tmp_path, ECHO.replace("RECEIPTS", "()")).start(turn, heard)
    heard.wait_for(lambda event: isinstance(event, ev.AgentSpoke))
    assert session.send("g-1", "mind the tests")
    assert heard.finished().outcome == "success"
    assert not heard.of(ev.GuidanceDelivered)


def test_a_missing_program_is_one_sentence(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    agent = StreamAgent("stub", ["/no/such/agent"], context(tmp_path))
    with pytest.raises(AgentError, match=r"/no/such/agent.*no such program"):
        agent.start(turn, heard)
    assert not heard.events


# -- the demo's agent, through its adapter ---------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    from ralph_tui import demo

    root = tmp_path / "project"
    demo.prepare(root)
    return root


def test_a_session_of_the_demo_agent(
    tmp_path: Path, project: Path, turn: Turn, heard: Heard
) -> None:
    agent = DEMO.build(context_in(project, fast=True))
    first = Turn(**{**vars(turn), "iteration": 1})
    agent.start(first, heard)
    finished = heard.finished()
    assert finished.outcome == "success"
    assert finished.reason == ""
    assert finished.cost_usd is not None
    assert finished.cost_usd > 0
    assert finished.tool_calls > 5
    assert finished.leftovers == 0
    assert heard.of(ev.AgentReported)[0].completion == 56
    assert not heard.of(ev.PromiseMade)
    assert not heard.of(ev.AgentNoted)
    assert {event.parent is None for event in heard.of(ev.AgentSpoke)} == {True, False}
    assert "exit 1" in [event.summary for event in heard.of(ev.ToolFinished)]
    assert heard.of(ev.UsageReported)[-1].context_window == 200_000


def test_guidance_reaches_the_demo_agent_and_frees_it(
    tmp_path: Path, project: Path, turn: Turn, heard: Heard
) -> None:
    agent = DEMO.build(context_in(project, scenario="stuck", fast=True))
    for iteration in (1, 2):
        work = Heard()
        agent.start(Turn(**{**vars(turn), "iteration": iteration}), work)
        work.finished()
    # The second session knew the window's size of the first from its first message on.
    assert work.of(ev.UsageReported)[0].context_window == 200_000
    session = agent.start(turn, heard)
    assert session.takes_guidance
    assert session.send("7e57ab1e-0000-4000-8000-000000000001", "try the unary rule")
    finished = heard.finished()
    assert finished.outcome == "success"
    assert len(heard.of(ev.GuidanceDelivered)) == len(heard.of(ev.GuidanceAcknowledged)) == 1
    assert heard.of(ev.AgentReported)[-1].completion == 72


def test_the_demo_agent_stopped_in_mid_turn_leaves_nothing(
    tmp_path: Path, project: Path, turn: Turn, heard: Heard
) -> None:
    agent = DEMO.build(context_in(project))
    session = agent.start(turn, heard)
    heard.wait_for(lambda event: isinstance(event, ev.AgentSpoke))
    session.stop()
    finished = heard.finished()
    assert finished.outcome == "stopped"
    assert not alive(heard.of(ev.SessionStarted)[0].pid)
    # It ended normally: the turn's cost is known.
    assert finished.cost_usd is not None


# -- the registry ----------------------------------------------------------------------------------


def test_an_unknown_agent_is_told_the_choices(tmp_path: Path) -> None:
    named = (
        r"unknown agent 'foo' \(--agent\): choose one of claude, codex, gemini, opencode, acp, "
        r"command"
    )
    with pytest.raises(UsageError, match=named):
        choose_agent(AgentSettings(name="foo"))
    with pytest.raises(UsageError, match=r"did you mean claude\?"):
        choose_agent(AgentSettings(name="cloude"))
    with pytest.raises(UsageError, match="no agent found") as nothing:
        choose_agent(AgentSettings(), {"PATH": str(tmp_path)})
    said = "\n".join(nothing.value.ways)
    assert "opencode in the 1 folder of PATH" in said
    assert "npm install -g @anthropic-ai/claude-code" in said
    assert '--agent-command "' in said
    assert "ralph-tui demo" in said
    with pytest.raises(UsageError, match="--agent-command"):
        COMMAND.check(context(tmp_path))


def test_the_environment_is_passed_on(tmp_path: Path, turn: Turn, heard: Heard) -> None:
    environ = {**os.environ, "COLOUR": "green"}
    command(tmp_path, "echo $COLOUR", environ=environ).start(turn, heard)
    heard.finished()
    assert heard.of(ev.AgentSpoke)[0].text == "green"


# -- more than there is time for ---------------------------------------------------------------


def test_a_flood_takes_a_bounded_time_and_what_is_left_out_is_said(
    tmp_path: Path, turn: Turn, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_work, "RESERVE_S", 0.01)
    monkeypatch.setattr(bounded_work, "SHARE", 0.0)
    report = '{"ralph": {"completion": 40, "summary": "flooded"}}'
    shell = f"cat >/dev/null; yes '' | head -c 600000; echo; echo {shlex.quote(report)}"
    command(tmp_path, shell).start(turn, heard)
    heard.wait_for(lambda event: isinstance(event, ev.SessionFinished))
    assert [event.summary for event in heard.of(ev.AgentReported)] == ["flooded"]
    (noted,) = heard.of(ev.AgentNoted)
    assert noted.level == "warn"
    assert noted.text.startswith("The transcript leaves out ")
    kept = turn.transcript.read_text()
    assert "are left out here]" in kept
    assert report in kept.replace("\\", "")
    assert len(kept) < 10_000_000


def test_of_a_line_without_end_the_beginning_is_kept(
    tmp_path: Path, turn: Turn, heard: Heard
) -> None:
    code = "import sys; sys.stdin.readline(); print('{' + 'x' * 5_000_000, flush=True)"
    stub(tmp_path, code).start(turn, heard)
    heard.wait_for(lambda event: isinstance(event, ev.SessionFinished))
    kept = turn.transcript.read_text()
    assert len(kept) < 2_200_000
    assert kept.endswith("characters are left out here]\n")
