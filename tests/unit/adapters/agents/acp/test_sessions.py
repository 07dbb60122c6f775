"""Sessions over the Agent Client Protocol, with a double that has the quirks of real agents."""

import pytest

from ralph_tui import events as ev
from tests.agent_sessions import Heard
from tests.doubles import acp
from tests.unit.adapters.agents.acp.bench import EVERY, ROWS, Bench, bash

PROMISE = "<promise>COMPLETE</promise>"


@EVERY
def test_a_prompt_is_worked_on_to_its_end(bench: Bench, plays: str) -> None:
    finished = bench.run(
        plays,
        [{"think": "hm"}, bash("echo hi > out.txt"), {"say": f"all done {PROMISE}"}],
        turn=bench.turn("skip", system_context="Be brief."),
    )
    heard = bench.heard
    assert (finished.outcome, finished.reason, finished.leftovers) == ("success", "", 0)
    assert (finished.turns, finished.tool_calls, finished.tool_errors) == (1, 1, 0)
    assert (bench.root / "out.txt").read_text() == "hi\n"
    assert bench.prompts() == ["Be brief.\n\nFix it."]
    assert [spoke.text for spoke in heard.of(ev.AgentSpoke)] == [f"all done {PROMISE}"]
    assert len(heard.of(ev.PromiseMade)) == 1
    (started,), (over,) = heard.of(ev.ToolStarted), heard.of(ev.ToolFinished)
    assert (started.summary, over.ok, over.summary) == ("echo hi > out.txt", True, "no output")
    described = heard.of(ev.SessionDescribed)[0]
    assert described.version == " ".join(acp.PLAYS[plays]["info"][n] for n in ("name", "version"))
    row = ROWS[plays]
    begun = heard.of(ev.SessionStarted)[0]
    assert begun.takes_guidance == row.abilities.words_mid_turn
    assert begun.tells_context == (plays != "gemini")
    reported = heard.of(ev.UsageReported)[-1]
    assert (reported.context_tokens is not None) == (row.abilities.context != "")
    assert (finished.cost_usd is not None) == row.abilities.cost
    assert finished.tokens == 132


def test_words_are_folded_into_a_turn_by_a_second_prompt(bench: Bench) -> None:
    gate = bench.root / "go"
    session = bench.start(
        "opencode",
        [bash(f"while ! test -e {gate}; do sleep 0.02; done"), {"say": "done"}],
        turn=bench.turn("skip"),
    )
    bench.heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
    assert session.takes_guidance
    assert session.send("g-1", "use plus")
    bench.heard.wait_for(lambda event: isinstance(event, ev.GuidanceDelivered))
    gate.touch()
    finished = bench.heard.finished()
    assert bench.prompts() == ["Fix it.", "use plus"]
    assert [event.guidance_id for event in bench.heard.of(ev.GuidanceAcknowledged)] == ["g-1"]
    # Both answers report the usage of the same call.
    assert (finished.tokens, finished.turns) == (132, 1)
    assert not session.send("g-2", "too late")


@pytest.mark.parametrize("plays", ["claude", "codex"])
def test_words_are_handed_into_a_turn_where_there_is_a_method_for_it(
    bench: Bench, plays: str
) -> None:
    gate = bench.root / "go"
    session = bench.start(
        plays,
        [bash(f"while ! test -e {gate}; do sleep 0.02; done"), {"say": "done"}],
        turn=bench.turn("skip"),
    )
    bench.heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
    assert session.send("g-1", "use plus")
    bench.heard.wait_for(lambda event: isinstance(event, ev.GuidanceAcknowledged))
    gate.touch()
    bench.heard.finished()
    (steering,) = bench.received("_session/steering")
    assert steering["prompt"] == [{"type": "text", "text": "use plus"}]
    assert len(bench.heard.of(ev.GuidanceDelivered)) == 1


def test_words_are_never_sent_to_an_agent_whose_turn_they_would_end(bench: Bench) -> None:
    gate = bench.root / "go"
    session = bench.start(
        "gemini",
        [bash(f"while ! test -e {gate}; do sleep 0.02; done"), {"say": "done"}],
        turn=bench.turn("skip"),
    )
    bench.heard.wait_for(
        lambda event: isinstance(event, ev.AgentSpoke | ev.ToolStarted | ev.UsageReported)
    )
    assert not session.takes_guidance
    assert not session.send("g-1", "use plus")
    gate.touch()
    assert bench.heard.finished().outcome == "success"
    assert not bench.heard.of(ev.GuidanceDelivered)


@pytest.mark.parametrize("plays", ["opencode", "claude", "codex"])
def test_a_session_goes_on_after_its_end(bench: Bench, plays: str) -> None:
    first = bench.turn("skip")
    bench.run(plays, [{"say": "first"}], turn=first)
    bench.heard = Heard()
    second = bench.turn(
        "skip", resume=first.session_id, prompt="Continue.", system_context="Brief."
    )
    finished = bench.run(plays, [{"say": "second"}], turn=second)
    assert finished.outcome == "success"
    # The session's earlier output is not repeated, and its cost is not counted twice.
    assert [spoke.text for spoke in bench.heard.of(ev.AgentSpoke)] == ["second"]
    assert bench.prompts() == ["Brief.\n\nFix it.".removeprefix("Brief.\n\n"), "Continue."]
    assert bench.received("session/resume")[0]["sessionId"] == "ses-1"
    assert finished.cost_usd == (pytest.approx(0.0) if ROWS[plays].abilities.cost else None)


def test_a_session_that_is_not_known_any_more_is_unresumable(bench: Bench) -> None:
    turn = bench.turn("skip", resume="00000000-0000-4000-8000-000000000099")
    assert bench.run("opencode", [{"say": "x"}], turn=turn).outcome == "unresumable"
    assert not bench.received("session/prompt")


def test_a_session_that_the_agent_has_lost_is_unresumable(bench: Bench) -> None:
    first = bench.turn("skip")
    lost = {"session/resume": {"code": -32002, "message": "Resource not found"}}
    bench.run("opencode", [{"say": "first"}], turn=first)
    bench.heard = Heard()
    again = bench.turn(resume=first.session_id)
    finished = bench.run("opencode", [{"say": "x"}], turn=again, refuses=lost)
    assert (finished.outcome, "Resource not found" in finished.reason) == ("unresumable", True)


@pytest.mark.parametrize(
    ("plays", "mode", "wanted"),
    [
        ("gemini", "edits", None),
        ("gemini", "ask", None),
        ("gemini", "skip", "yolo"),
        ("claude", "edits", None),
        ("claude", "skip", "bypassPermissions"),
        ("opencode", "edits", None),
    ],
)
def test_the_mode_is_set_by_its_name_there(
    bench: Bench, plays: str, mode: str, wanted: str | None
) -> None:
    bench.run(plays, [{"say": "on"}], turn=bench.turn(mode))
    reported = [params["modeId"] for params in bench.received("session/set_mode")]
    assert reported == ([] if wanted is None else [wanted])
    asks = None if plays == "opencode" else "default"
    assert bench.heard.of(ev.SessionDescribed)[0].permission_mode == (wanted or asks)


def test_a_mode_that_is_refused_is_said_and_the_rules_stand(bench: Bench) -> None:
    refuses = {"session/set_mode": {"code": -32603, "message": "untrusted folder"}}
    finished = bench.run(
        "gemini", [bash("touch x", ask=True)], turn=bench.turn("skip"), refuses=refuses
    )
    assert finished.outcome == "success"
    assert (
        "stays in its own mode instead of 'yolo': untrusted folder"
        in bench.heard.of(ev.AgentNoted)[0].text
    )
    assert (bench.root / "x").exists()


def test_a_model_that_the_agent_does_not_have_is_one_sentence(bench: Bench) -> None:
    refuses = {"session/set_config_option": {"code": -32602, "message": "no such value"}}
    finished = bench.run("opencode", [{"say": "x"}], refuses=refuses, settings={"model": "nosuch"})
    assert finished.outcome == "unknown_model"
    assert finished.reason == (
        "OpenCode has no model 'nosuch' (no such value); choose another one with --model."
    )
    assert bench.received("session/set_config_option")[0]["value"] == "nosuch"


def test_words_that_the_agent_refuses_do_not_end_its_turn(bench: Bench) -> None:
    gate = bench.root / "go"
    session = bench.start(
        "opencode",
        [bash(f"while ! test -e {gate}; do sleep 0.02; done"), {"say": "done"}],
        turn=bench.turn("skip"),
        quirks={"second": "refused"},
    )
    bench.heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
    assert session.send("g-1", "use plus")
    bench.heard.wait_for(lambda event: isinstance(event, ev.AgentNoted))
    gate.touch()
    assert bench.heard.finished().outcome == "success"
    assert [spoke.text for spoke in bench.heard.of(ev.AgentSpoke)] == ["done"]
    assert "did not accept your guidance: busy" in bench.heard.of(ev.AgentNoted)[0].text


@EVERY
def test_what_the_table_says_an_agent_can_do_is_what_its_sessions_do(
    bench: Bench, plays: str
) -> None:
    """Try each ability: words within a turn, a refusal, context, cost, and resuming."""
    row, gate, first = ROWS[plays], bench.root / "go", bench.turn("edits")
    command = f"while ! test -e {gate}; do sleep 0.02; done"
    session = bench.start(
        plays,
        [{"say": "a"}, bash(command), bash("rm x", ask=True), {"say": "continued"}],
        [{"say": "prompted again"}],
        turn=first,
    )
    bench.heard.wait_for(lambda event: isinstance(event, ev.ToolStarted))
    assert session.send("g-1", "words") == row.abilities.words_mid_turn
    if row.abilities.words_mid_turn:
        bench.heard.wait_for(lambda event: isinstance(event, ev.GuidanceDelivered))
    gate.touch()
    finished = bench.heard.finished()
    said = [spoke.text for spoke in bench.heard.of(ev.AgentSpoke)]
    goes_on = row.abilities.refusal_continues or plays == "any"
    assert said[1:] == ["continued" if goes_on else "prompted again"]
    reported = bench.heard.of(ev.UsageReported)
    assert any(usage.context_tokens for usage in reported) == (row.abilities.context != "")
    assert (finished.cost_usd is not None) == row.abilities.cost
    again = bench.turn("skip", resume=first.session_id)
    bench.heard = Heard()
    outcome = bench.run(plays, [{"say": "on"}], turn=again).outcome
    assert (outcome == "success") == row.abilities.resume
