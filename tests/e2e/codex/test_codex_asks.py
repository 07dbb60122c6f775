"""Codex's questions, with the stub and with Codex itself: rules and the user's answers."""

import sys

from ralph_tui import events as ev
from ralph_tui.ports.agents import AgentAnswer, Permissions
from tests.agent_sessions import Heard
from tests.doubles.scenario import Answer
from tests.e2e.codex.lab import Lab, bash, is_asked, nth_question, scripted, write


def test_what_the_rules_do_not_permit_is_denied_and_the_turn_goes_on(lab: Lab) -> None:
    outside = lab.tmp / "outside" / "x.txt"
    answers = (bash("touch a"), bash("touch ok"), write(f"{outside}"), write("in.txt"))
    rules = Permissions("edits", ("Bash(touch ok)",))
    heard, finished = lab.work(*answers, Answer(text="continued"), permissions=rules)
    assert finished.outcome == "success"
    assert [event.text for event in heard.of(ev.AgentSpoke)] == ["continued"]
    denied = [(event.tool, event.permit) for event in heard.of(ev.ToolDenied)]
    assert denied == [("Bash", "Bash(touch:*)"), ("Edit", f"Edit(/{outside.parent}/**)")]
    assert not (lab.root / "a").exists()
    assert not outside.exists()
    assert (lab.root / "ok").exists()
    assert (lab.root / "in.txt").read_text() == "new\n"
    prevented = [event.prevented for event in heard.of(ev.ToolFinished)]
    assert prevented == ["denied", "", "denied", ""]
    assert finished.tool_errors == 0
    # The lines that were named permit it.
    named = Permissions(
        "edits", tuple(line for event in heard.of(ev.ToolDenied) for line in event.lines)
    )
    heard, finished = lab.work(*answers, Answer(text="continued"), permissions=named)
    assert not heard.of(ev.ToolDenied)
    assert (lab.root / "a").exists()
    assert outside.exists()


def test_the_completion_command_is_permitted(lab: Lab) -> None:
    command = f"{sys.executable} -c 'print((1, 2))' && echo ok"
    heard, _ = lab.work(bash(command), Answer(text="done"), command=command,
                        permissions=Permissions())  # fmt: skip
    assert not heard.of(ev.ToolDenied)
    assert [event.ok for event in heard.of(ev.ToolFinished)] == [True]


def test_the_owner_is_asked_and_answers(lab: Lab) -> None:
    answers = (bash("touch a"), bash("touch b"), bash("touch b"), bash("touch c"), write("in.txt"))
    with lab.agent(scripted(*answers, Answer(text="continued"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(permissions=Permissions("ask")), heard)
        given = [AgentAnswer("once"), AgentAnswer("session"), AgentAnswer("refuse", "no c here")]
        for number, answer in enumerate(given):
            request = nth_question(heard, number)
            assert session.answer(request, answer)
            assert not session.answer(request, answer), "it is answered once"
        finished = heard.finished()
    assert finished.outcome == "success"
    asked = [(event.tool, event.input, event.rule) for event in heard.of(ev.AgentAsked)]
    assert asked == [("Bash", f"touch {name}", f"Bash(touch {name})") for name in ("a", "b", "c")]
    assert [(lab.root / name).exists() for name in ("a", "b", "c", "in.txt")] == [
        True, True, False, True,
    ]  # fmt: skip
    assert [event.prevented for event in heard.of(ev.ToolFinished)] == ["", "", "", "denied", ""]
    assert not heard.of(ev.ToolDenied)
    assert not heard.of(ev.AgentAskedNoMore)
    said = (lab.tmp / "attempt/results/iter-001/transcript.jsonl").read_text()
    assert "About touch c: no c here" in said


def test_edits_outside_are_asked_about_with_their_change(lab: Lab) -> None:
    outside = lab.tmp / "outside.txt"
    with lab.agent(scripted(write(str(outside)), Answer(text="done"))) as agent:
        heard = Heard()
        session = agent.start(lab.turn(permissions=Permissions("ask")), heard)
        asked = heard.wait_for(is_asked)
        assert isinstance(asked, ev.AgentAsked)
        assert asked.input == f"add {outside}\nnew"
        assert asked.rule == f"Edit({outside})"
        assert session.answer(asked.request_id, AgentAnswer("once"))
        heard.finished()
    assert outside.read_text() == "new\n"
