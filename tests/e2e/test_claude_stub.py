"""The agent `claude` on the stub: each scenario has the outcome in the table, reported once."""

import json
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters import agents
from ralph_tui.adapters.agents import AgentContext
from ralph_tui.adapters.agents.claude import CLAUDE, one_shot
from ralph_tui.adapters.agents.claude import stream_agent as streaming
from ralph_tui.adapters.agents.claude.agent import ClaudeAgent
from ralph_tui.adapters.agents.claude.stream_agent import StreamSession
from ralph_tui.adapters.agents.command import COMMAND
from ralph_tui.base.errors import UsageError
from ralph_tui.config.settings import AgentSettings
from ralph_tui.ports.agents import Ask, Permissions, Turn
from tests.agent_sessions import Heard, alive, context_in, numbered_turn
from tests.doubles.launch import environment, on_path, prepare
from tests.doubles.scenario import load
from tests.waiting import until

GUIDANCE = "22222222-0000-4000-8000-000000000001"


class Bench:
    """A project, the stub on PATH, and an agent that drives it."""

    def __init__(self, tmp_path: Path) -> None:
        self.tmp = tmp_path
        self.root = tmp_path / "project"
        self.root.mkdir()
        self.budget: float | None = None
        self.permissions = Permissions("skip")
        self.sessions = 0

    def agent(self, scenario: str | dict[str, object], **environ: str) -> ClaudeAgent:
        if isinstance(scenario, dict):
            path = self.tmp / "scenario.json"
            path.write_text(json.dumps({"about": "made here", **scenario}))
            scenario = str(path)
        story = load(scenario, root=str(self.root), python=sys.executable)
        prepare(story, self.root)
        flags = list(story.arguments)
        if "--max-budget-usd" in flags:
            self.budget = float(flags[flags.index("--max-budget-usd") + 1])
        if "--permission-mode" in flags:
            self.permissions = Permissions("edits")
        inherited = {key: value for key, value in os.environ.items() if "ANTHROPIC" not in key}
        inherited.setdefault("CLAUDE_CODE_MAX_RETRIES", "2")
        base = environment(scenario, state=self.tmp / "state", base=inherited)
        agent = CLAUDE.build(self.context(environ=on_path({**base, **environ})))
        assert isinstance(agent, ClaudeAgent)
        return agent

    def context(self, **fields: object) -> AgentContext:
        return context_in(self.root, **fields)

    def turn(self, **fields: object) -> Turn:
        self.sessions += 1
        return numbered_turn(
            self.tmp,
            self.sessions,
            **{"permissions": self.permissions, "budget_usd": self.budget, **fields},
        )

    def play(self, scenario: str | dict[str, object], **environ: str) -> Heard:
        heard = Heard()
        self.agent(scenario, **environ).start(self.turn(), heard)
        heard.finished()
        assert len(heard.of(ev.SessionFinished)) == 1
        return heard


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def notes(heard: Heard) -> str:
    return "\n".join(note.text for note in heard.of(ev.AgentNoted))


# -- scenarios -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "outcome", "words"),
    [
        ("failing_tools", "success", ""),
        ("limited_once", "success", ""),
        ("stalled", "success", ""),
        ("mid_stream_error", "success", ""),
        ("dropped", "success", ""),
        ("subagents", "success", ""),
        ("long_line", "success", ""),
        ("refusal", "success", ""),
        ("hook_stops", "success", ""),
        ("budget", "budget", "reached its budget"),
        ("context_overflow", "context_full", "overflowed"),
        ("bad_model", "unknown_model", "choose a model with --model"),
        ("outage", "limited", "The agent's service is down"),
    ],
)
def test_a_scenario_ends_as_it_should(
    bench: Bench, scenario: str, outcome: str, words: str
) -> None:
    heard = bench.play(scenario)
    finished = heard.finished()
    assert finished.outcome == outcome, finished
    assert words in finished.reason
    assert finished.reason or outcome == "success"
    assert "Unknown kind" not in notes(heard)
    assert finished.leftovers == 0
    started, ended = heard.of(ev.ToolStarted), heard.of(ev.ToolFinished)
    assert {call.tool_id for call in started} >= {call.tool_id for call in ended}
    assert finished.tool_calls == len(started)
    if outcome == "success":
        assert finished.cost_usd is not None
        assert finished.cost_usd > 0
        assert finished.tokens > 0


@pytest.mark.parametrize("version", ["2.1.328", "2.1.197"])
def test_the_bug_is_fixed(bench: Bench, version: str) -> None:
    heard = bench.play("success", STUB_VERSION=version)
    finished = heard.finished()
    assert (finished.outcome, finished.tool_calls, finished.leftovers) == ("success", 3, 0)
    assert finished.cost_usd
    assert finished.tokens > 0
    assert heard.of(ev.SessionDescribed)[0].version == version
    assert "a + b" in (bench.root / "calc.py").read_text()
    assert [event.ok for event in heard.of(ev.ToolFinished)] == [True] * 3
    described = heard.of(ev.SessionDescribed)[0]
    assert (described.billing, described.permission_mode) == ("no API key", "bypassPermissions")
    assert heard.of(ev.UsageReported)[-1].context_window == 1_000_000


def test_the_bill_goes_where_the_key_says(bench: Bench) -> None:
    heard = bench.play("success", ANTHROPIC_API_KEY="sk-test")
    assert heard.of(ev.SessionDescribed)[0].billing == "API key"


def test_a_usage_limit_names_its_end(bench: Bench) -> None:
    finished = bench.play("limited_until_reset").finished()
    assert (finished.outcome, finished.limit) == ("limited", "usage_limit")
    assert finished.resets_at is not None
    assert finished.resets_at.microsecond == 0, "the time that the service named"


def test_an_overload_has_no_end(bench: Bench) -> None:
    finished = bench.play("overloaded").finished()
    assert finished.outcome == "limited"
    assert "overloaded" in finished.reason
    assert (finished.limit, finished.resets_at) == ("overload", None)


def test_a_refused_key_ends_at_the_first_sign(bench: Bench) -> None:
    # A second of waiting takes a second: ten tries would take minutes.
    heard = bench.play("auth_401", STUB_PACE="1", CLAUDE_CODE_MAX_RETRIES="10")
    assert heard.finished().outcome == "auth"
    assert "run `claude` and then /login, or set ANTHROPIC_API_KEY" in heard.finished().reason
    assert notes(heard).count("retry") == 1


def test_denied_tools_name_what_would_permit_them(bench: Bench) -> None:
    heard = bench.play("denied_tools")
    denied = heard.of(ev.ToolDenied)
    assert denied
    finished = heard.finished()
    assert finished.tool_errors == 0, "a denial is not a tool failure"
    assert finished.tool_calls == len(heard.of(ev.ToolStarted))
    assert all(event.permit.startswith("Bash(") for event in denied)
    assert heard.of(ev.SessionDescribed)[0].permission_mode == "acceptEdits"


def test_the_completion_command_is_permitted(bench: Bench) -> None:
    def use(shell: str) -> dict[str, object]:
        return {"tools": [{"name": "Bash", "input": {"command": shell, "description": "x"}}]}

    bench.permissions = Permissions("edits", ("Bash(touch:*)",))
    answers = [use("echo ok && test -d ."), use("touch a"), use("rm -f a")]
    agent, heard = bench.agent({"answers": answers}), Heard()
    agent.start(bench.turn(command="echo ok && test -d ."), heard)
    heard.finished()
    assert [event.permit for event in heard.of(ev.ToolDenied)] == ["Bash(rm:*)"]
    assert (bench.root / "a").exists()


def test_of_a_large_output_its_size_is_told(bench: Bench) -> None:
    heard = bench.play("kept_output")
    reported = [event.summary for event in heard.of(ev.ToolFinished)]
    assert reported == ["2.7 MB of output", "195.3 KB of output"]


def test_background_work_brings_another_turn(bench: Bench) -> None:
    heard = bench.play("background_bash")
    assert heard.finished().outcome == "success"
    assert "In the background" in notes(heard)
    assert heard.of(ev.AgentSpoke)[-1].text == "It is finished."
    held, free = heard.of(ev.BackgroundAwaited)
    assert held.tasks[0].what.endswith("touch background")
    assert not free.tasks, "its end brought another turn: nothing holds the session any more"


@pytest.mark.parametrize("version", ["2.1.328", "2.1.197"])
def test_background_work_that_holds_the_session_is_told_and_ended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(streaming, "BACKGROUND_S", 0.5)
    commands = ("sleep 301 & echo $! > first; wait", "sleep 302 & echo $! > second; wait")
    start = [
        {"name": "Bash", "input": {"command": one, "description": "x", "run_in_background": True}}
        for one in commands
    ]
    wait = "until [ -s first ] && [ -s second ]; do sleep 0.05; done"
    check = {"name": "Bash", "input": {"command": wait, "description": "x"}}
    answers = [{"tools": start}, {"tools": [check]}, {"text": "Both run."}]
    heard = bench.play({"answers": answers}, STUB_VERSION=version)
    held, ended = heard.of(ev.BackgroundAwaited)
    assert [task.what for task in held.tasks] == list(commands)
    assert all(task.age_s < 60 for task in held.tasks)
    assert (held.silence_s, held.given_up, ended.given_up) == (0.5, False, True)
    assert [task.what for task in ended.tasks] == list(commands)
    assert ended.tasks[0].age_s > held.tasks[0].age_s
    assert heard.finished().outcome == "success", "the turn itself was over"
    assert not any(alive(int((bench.root / name).read_text())) for name in ("first", "second"))


def test_the_owner_ends_background_work_that_holds_the_session(bench: Bench) -> None:
    serve = {"command": "sleep 303", "description": "x", "run_in_background": True}
    answers = [{"tools": [{"name": "Bash", "input": serve}]}, {"text": "It runs."}]
    heard = Heard()
    session = bench.agent({"answers": answers}).start(bench.turn(), heard)
    heard.wait_for(lambda event: isinstance(event, ev.BackgroundAwaited))
    session.stop("interrupted")
    assert heard.finished().outcome == "success", "the turn itself was over"
    assert not any(event.given_up for event in heard.of(ev.BackgroundAwaited))


def test_compaction_restarts_the_context(bench: Bench) -> None:
    heard = bench.play("compaction")
    assert [event.trigger for event in heard.of(ev.ContextCompacted)] == ["auto"]
    contexts = [event.context_tokens or 0 for event in heard.of(ev.UsageReported)]
    assert min(contexts[contexts.index(max(contexts)) :]) < max(contexts)


# -- the owner speaks ------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.1.328", "2.1.197"])
def test_guidance_is_delivered_and_acknowledged(bench: Bench, version: str) -> None:
    heard = Heard()
    agent = bench.agent("guidance_in_tool", STUB_VERSION=version)
    session = agent.start(bench.turn(), heard)
    heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
    assert session.takes_guidance
    assert session.send(GUIDANCE, "also update README")
    assert heard.finished().outcome == "success"
    receipts = [
        e for e in heard.events if isinstance(e, ev.GuidanceDelivered | ev.GuidanceAcknowledged)
    ]
    assert [event.kind for event in receipts] == ["guidance_delivered", "guidance_acknowledged"]
    assert {event.guidance_id for event in receipts} == {GUIDANCE}


@pytest.mark.parametrize("why", ["interrupted", "rolled_over"])
def test_an_interrupted_agent_ends_in_order_and_is_resumed(bench: Bench, why: str) -> None:
    sleeper = f"{sys.executable} -c 'import time; time.sleep(30)'"
    tool = {"name": "Bash", "input": {"command": sleeper, "description": "x"}}
    heard = Heard()
    agent = bench.agent({"sessions": [[{"tools": [tool]}], [{"text": "continued"}]]})
    turn = bench.turn()
    session = agent.start(turn, heard)
    assert isinstance(session, StreamSession)
    heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
    session.stop(why)
    finished = heard.finished()
    assert finished.outcome == why
    assert finished.reason
    assert finished.tool_errors == 0, "a tool that its owner stopped has not failed"
    # Its result arrived: it was asked, not killed.
    assert finished.cost_usd is not None
    assert finished.cost_usd > 0
    assert not alive(session.pid)
    again = Heard()
    agent.start(bench.turn(resume=turn.session_id), again)
    resumed = again.finished()
    assert resumed.outcome == "success", resumed
    assert again.of(ev.SessionStarted)[0].session_id == turn.session_id
    # The totals of a resumed session include its past; only the difference is reported.
    assert resumed.cost_usd == pytest.approx(agent.ledger.totals[turn.session_id].cost_usd / 2)


def test_a_session_that_is_gone_is_told_to_be(bench: Bench) -> None:
    agent, first, again = bench.agent("success"), Heard(), Heard()
    turn = bench.turn()
    agent.start(turn, first)
    first.finished()
    (bench.tmp / "state").rename(bench.tmp / "lost")
    agent.start(bench.turn(resume=turn.session_id), again)
    assert again.finished().outcome == "unresumable"
    assert "No conversation found" in again.finished().reason


def test_a_second_order_makes_an_agent_end_at_once(bench: Bench) -> None:
    heard, agent = Heard(), bench.agent("never_exits")
    session = agent.start(bench.turn(), heard)
    session.stop("interrupted")
    session.stop("stopped")
    assert heard.finished().outcome == "interrupted"


def test_an_agent_that_does_not_listen_is_made_to_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph_tui.adapters.agents.process_session.ProcessSession.interrupt_s", 0.2)
    heard, agent = Heard(), bench.agent("never_exits")
    session = agent.start(bench.turn(), heard)
    assert isinstance(session, StreamSession)
    session.stop("silent")
    assert heard.finished().outcome == "silent"
    assert not alive(session.pid)


# -- programs that are no agent --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("habit", "outcome", "words"),
    [
        ("garbage", "not_started", "exited with code 1 without a result"),
        ("nothing", "not_started", "exited with code 3"),
        ("other_json", "not_started", "no readable output"),
        ("exit0_after_init", "error", "ended without a result"),
        ("stdin_closed_early", "success", ""),
        ("stays_after_result", "success", ""),
    ],
)
def test_a_bad_program_has_a_name(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, habit: str, outcome: str, words: str
) -> None:
    monkeypatch.setattr(streaming, "LINGER_S", 0.2)
    finished = bench.play(habit).finished()
    assert finished.outcome == outcome, finished
    assert words in finished.reason
    assert "\n" not in finished.reason


def test_a_killed_agent_has_crashed(bench: Bench) -> None:
    signum = signal.SIGKILL
    heard, agent = Heard(), bench.agent("interrupt")
    session = agent.start(bench.turn(), heard)
    assert isinstance(session, StreamSession)
    heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
    os.kill(session.pid, signum)
    finished = heard.finished()
    assert (finished.outcome, finished.exit_code) == ("crashed", 128 + signum)


def script(folder: Path, text: str) -> str:
    path = folder / "claude"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("text", ["echo '<html>'", "exit 0", 'echo \'{"type": "x"}\'', "exit 7"])
def test_a_program_without_a_version_is_tried_all_the_same(bench: Bench, text: str) -> None:
    agent = CLAUDE.build(bench.context(binary=script(bench.tmp, text)))
    heard = Heard()
    agent.start(bench.turn(permissions=Permissions()), heard)
    finished = heard.finished()
    assert finished.outcome == "not_started"
    assert finished.reason


def test_a_program_that_hangs_is_not_waited_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph_tui.adapters.agents.installed.PROBE_S", 0.2)
    CLAUDE.build(bench.context(binary=script(bench.tmp, "exec sleep 1000")))


# -- what is found before a run begins -------------------------------------------------------------


def test_an_old_version_is_told_what_to_do(bench: Bench) -> None:
    with pytest.raises(UsageError, match=r"1\.0\.50.*too old.*1\.0\.60.*claude update"):
        bench.agent("success", STUB_VERSION="1.0.50")


def test_a_missing_program_is_told_what_to_do(bench: Bench) -> None:
    with pytest.raises(UsageError, match="no agent found") as missing:
        CLAUDE.build(bench.context(environ={"PATH": str(bench.tmp)}))
    assert "opencode in the 1 folder of PATH" in missing.value.ways[0]


def test_claude_is_the_default_where_it_is_installed(bench: Bench) -> None:
    assert agents.find_agent(AgentSettings(), {"PATH": str(bench.tmp)}) is None
    path = script(bench.tmp, "exit 0")
    assert agents.find_agent(AgentSettings(), {"PATH": str(bench.tmp)}) is CLAUDE
    assert agents.find_agent(AgentSettings(binary=path), {"PATH": ""}) is CLAUDE


def test_a_program_that_is_named_chooses_claude_and_is_told_to_be_missing(bench: Bench) -> None:
    named = AgentSettings(binary=str(bench.tmp / "gone"))
    assert agents.find_agent(named, {"PATH": ""}) is CLAUDE
    assert not CLAUDE.is_ready(named, {"PATH": ""})
    with pytest.raises(UsageError, match=r"gone' \(agent.binary\) is not an executable program"):
        CLAUDE.check(bench.context(binary=named.binary))


def test_a_check_and_the_build_after_it_ask_the_program_once(bench: Bench) -> None:
    asked = bench.tmp / "asked"
    path = script(bench.tmp, f"echo once >> {asked}; echo 2.1.300")
    CLAUDE.check(bench.context(binary=path))
    CLAUDE.build(bench.context(binary=path)._replace(run_id="another"))
    assert asked.read_text() == "once\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_root_without_a_sandbox_is_told_what_to_do(bench: Bench) -> None:
    heard = Heard()
    agent = bench.agent("success", IS_SANDBOX="")
    assert not agent.start(bench.turn(), heard).send("g", "x")
    finished = heard.finished()
    assert finished.outcome == "missing"
    assert "IS_SANDBOX=1" in finished.reason
    assert [event.kind for event in heard.events] == ["session_started", "session_finished"]


def test_starting_does_not_hold_anybody_up(bench: Bench) -> None:
    speaks = bench.tmp / "speaks"
    mute = script(bench.tmp, f"until [ -e {speaks} ]; do sleep 0.02; done; exit 3")
    heard = Heard()
    ClaudeAgent(bench.context(binary=mute)).start(bench.turn(permissions=Permissions()), heard)
    speaks.touch()  # it has said nothing so far
    assert "code 3" in heard.finished().reason


# -- questions -------------------------------------------------------------------------------------


def asked(bench: Bench, words: str, **fields: object) -> tuple[object, str]:
    agent = bench.agent({"answers": [{"text": words, **fields}]})
    answer = agent.ask(Ask("How is it?", timeout_s=20))
    assert answer.error or answer.cost_usd
    return answer.answer, answer.error


def test_a_question_is_answered_with_an_object(bench: Bench) -> None:
    agent = bench.agent({"answers": [{"text": 'So:\n```json\n{"risk": "low"}\n```'}]})
    answer = agent.ask(Ask("How is it?"))
    assert (answer.answer, answer.error) == ({"risk": "low"}, "")
    assert answer.cost_usd is not None
    assert answer.cost_usd > 0
    assert answer.tokens > 0


def test_a_question_without_an_answer_says_why(bench: Bench) -> None:
    assert asked(bench, "I would rather not.") == (
        None,
        "The answer contains no JSON object: I would rather not.",
    )
    answer, error = asked(bench, "", fault="401", times=99)
    assert answer is None
    assert "/login" in error
    late = bench.agent({"answers": [{"text": "{}", "delay_s": 100}]}).ask(Ask("?", timeout_s=0.5))
    assert late.error == "There was no answer within 0.5 s."
    broken = ClaudeAgent(bench.context(binary=script(bench.tmp, "echo no luck >&2; exit 3")))
    assert broken.ask(Ask("?")).error == "Claude Code exited with code 3: no luck"


def test_a_cancelled_question_ends_soon_and_leaves_nothing(bench: Bench) -> None:
    version = '[ "$1" = --version ] && { echo "2.1.330 (Claude Code)"; exit; }'
    deaf = f"{version}; trap '' INT TERM; echo $$ > pid; while :; do sleep 0.1; done"
    agent = ClaudeAgent(bench.context(binary=script(bench.tmp, deaf)))
    question, answers = Ask("?", timeout_s=60), []
    asking = threading.Thread(target=lambda: answers.append(agent.ask(question)))
    asking.start()
    file = bench.root / "pid"
    pid = int(until(lambda: file.exists() and file.read_text()))
    question.cancelled = True
    asking.join()
    assert answers[0].error == "The question was cancelled."
    assert not alive(pid)


def test_an_answer_without_end_is_cut_off(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_shot, "LONGEST_ANSWER", 1 << 20)
    agent = ClaudeAgent(bench.context(binary=script(bench.tmp, "exec yes '{}'")))
    assert agent.ask(Ask("?", timeout_s=60)).error == "The answer is longer than 1 MB."


def test_an_agent_of_any_program_cannot_be_asked(bench: Bench) -> None:
    assert not hasattr(COMMAND.build(bench.context(command="cat")), "ask")
    assert not COMMAND.small_model
