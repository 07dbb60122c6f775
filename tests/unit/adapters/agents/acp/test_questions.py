"""Permission requests: who answers, how, and what a refusal does."""

import json
from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.agents.acp.approvals import explain_request
from ralph_tui.adapters.agents.acp.tools import ToolUse
from ralph_tui.adapters.agents.permissions import Permits
from ralph_tui.ports.agents import AgentAnswer, Permissions
from tests.rows import each_row
from tests.unit.adapters.agents.acp.bench import EVERY, ONCE, REJECT, Bench, asked, bash

ENDS_TURN = ("opencode", "codex")
RULE = "A rule of this project forbids it. Continue without it."


@EVERY
def test_with_skip_every_question_is_answered_with_yes(bench: Bench, plays: str) -> None:
    bench.run(plays, [bash("touch x", ask=True), {"say": "ok"}], turn=bench.turn("skip"))
    assert bench.answered() == [ONCE[plays]]
    assert (bench.root / "x").exists()
    assert not bench.heard.of(ev.AgentAsked)


@EVERY
def test_with_edits_the_rules_answer_and_a_refusal_is_told_to_the_model(
    bench: Bench, plays: str
) -> None:
    inside, outside = str(bench.root / "a.py"), str(bench.tmp / "outside.py")
    finished = bench.run(
        plays,
        [
            {"use": "edit", "file": inside, "text": "1", "ask": True},
            bash("true", ask=True),
            bash("touch allowed", ask=True),
            bash("rm -rf src", ask=True),
            {"say": "continued"},
        ],
        [{"use": "edit", "file": outside, "text": "1", "ask": True}, {"say": "continued"}],
        [{"say": "continued"}],
        turn=bench.turn("edits", "Bash(touch:*)"),
    )
    heard = bench.heard
    refusals = 2 if plays in ENDS_TURN else 1
    assert bench.answered() == [ONCE[plays]] * 3 + [REJECT[plays]] * refusals
    assert (bench.root / "a.py").read_text() == "1"
    assert not Path(outside).exists()
    denied = heard.of(ev.ToolDenied)
    assert denied[0].lines == ("Bash(rm:*)",)
    assert len(denied) == refusals
    assert finished.outcome == "success"
    assert finished.tool_errors == 0
    over = {event.tool_id: event for event in heard.of(ev.ToolFinished)}
    assert [over[event.tool_id or ""].prevented for event in denied] == ["denied"] * refusals
    assert [spoke.text for spoke in heard.of(ev.AgentSpoke)] == ["continued"]
    if plays in ENDS_TURN:
        assert bench.prompts()[1:] == [
            f"You requested: rm -rf src. {RULE}",
            f"You requested: {outside}. {RULE}",
        ]
        assert denied[1].lines == (f"Edit(/{bench.tmp}/**)",)
    else:
        assert len(bench.prompts()) == 1


@EVERY
def test_with_ask_the_owner_is_asked_and_what_is_permitted_is_not(bench: Bench, plays: str) -> None:
    session = bench.start(
        plays,
        [bash("true", ask=True), bash("touch x", ask=True), {"say": "ok"}],
        turn=bench.turn("ask"),
    )
    question = asked(bench)
    assert (question.input, question.rule) == ("touch x", "Bash(touch x)")
    assert question.tool in ("bash", "Bash")
    assert not session.answer("another", AgentAnswer("once"))
    assert session.answer(question.request_id, AgentAnswer("once"))
    assert not session.answer(question.request_id, AgentAnswer("refuse"))
    assert bench.heard.finished().outcome == "success"
    assert bench.answered() == [ONCE[plays]] * 2
    assert (bench.root / "x").exists()


@each_row(
    ("piece", "why"),
    [
        ({"title": "touch x", "kind": "execute"}, ""),
        ({"title": "ROOT/calc.py", "kind": "edit", "locations": [{"path": "ROOT/calc.py"}]}, ""),
        (
            {"title": "ROOT/..", "kind": "other", "rawInput": {"filepath": "ROOT/.."}},
            "outside the project: ROOT/..",
        ),
        (
            {"title": "Write the notes", "kind": "edit", "locations": [{"path": "/srv/notes"}]},
            "Write the notes\noutside the project: /srv/notes",
        ),
        ({"title": "https://a.b", "kind": "fetch", "rawInput": {"url": "https://a.b"}}, ""),
    ],
)
def test_what_only_names_what_is_worked_on_is_no_reason(
    tmp_path: Path, piece: dict[str, object], why: str
) -> None:
    use = ToolUse()
    use.update(json.loads(json.dumps(piece).replace("ROOT", str(tmp_path))))
    permits = Permits(Permissions("ask"), "true", tmp_path)
    assert explain_request(use, permits) == why.replace("ROOT", str(tmp_path))


@EVERY
def test_an_answer_for_the_session_allows_the_same_again_and_nothing_else(
    bench: Bench, plays: str
) -> None:
    session = bench.start(
        plays,
        [bash("touch x", ask=True), bash("touch x", ask=True), bash("touch xy", ask=True)],
        turn=bench.turn("ask"),
    )
    session.answer(asked(bench).request_id, AgentAnswer("session"))
    other = bench.heard.wait_for(lambda e: isinstance(e, ev.AgentAsked) and e.input == "touch xy")
    assert isinstance(other, ev.AgentAsked)
    # Options that outlast the session are never chosen.
    assert bench.answered() == [ONCE[plays]] * 2
    session.answer(other.request_id, AgentAnswer("once"))
    bench.heard.finished()


@EVERY
def test_a_refusal_of_the_owner_reaches_the_model_with_its_words(bench: Bench, plays: str) -> None:
    session = bench.start(
        plays,
        [bash("touch x", ask=True), {"say": "first"}],
        [{"say": "second"}],
        turn=bench.turn("ask"),
    )
    session.answer(asked(bench).request_id, AgentAnswer("refuse", "The owner refused it: use make"))
    finished = bench.heard.finished()
    assert finished.outcome == "success"
    assert bench.answered() == [REJECT[plays]]
    assert bench.prompts()[1:] == ["You requested: touch x. The owner refused it: use make"]
    assert finished.turns == 2
    said = [spoke.text for spoke in bench.heard.of(ev.AgentSpoke)]
    assert said == (["second"] if plays in ENDS_TURN else ["first", "second"])
    assert [event.prevented for event in bench.heard.of(ev.ToolFinished)] == ["denied"]
    assert not bench.heard.of(ev.ToolDenied)


def test_an_agent_that_is_unknown_is_prompted_again_where_a_refusal_ended_its_turn(
    bench: Bench,
) -> None:
    session = bench.start(
        "any",
        [bash("touch x", ask=True), {"say": "never"}],
        [{"say": "continued"}],
        quirks={"refusal": "end_turn"},
        turn=bench.turn("ask"),
    )
    session.answer(asked(bench).request_id, AgentAnswer("refuse", "Continue without it."))
    bench.heard.finished()
    assert [spoke.text for spoke in bench.heard.of(ev.AgentSpoke)] == ["continued"]


def test_an_agent_that_insists_is_not_prompted_for_ever(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph_tui.adapters.agents.acp.approvals.MAX_REFUSALS", 3)
    finished = bench.run("opencode", [bash("rm x", ask=True)])
    assert (finished.turns, finished.outcome) == (4, "success")


def test_what_is_refused_three_turns_in_a_row_ends_the_session_and_the_log_says_so(
    bench: Bench,
) -> None:
    finished = bench.run("opencode", [bash("rm x", ask=True)])
    assert (finished.turns, finished.outcome) == (4, "success")
    (note,) = [each.text for each in bench.heard.of(ev.AgentNoted) if "in a row" in each.text]
    assert note == (
        "The agent repeated a refused request in 3 turns in a row; its session was ended."
    )


def test_an_agent_that_asks_for_something_else_each_time_goes_on(bench: Bench) -> None:
    others = [[bash(f"rm {name}", ask=True)] for name in "abcdef"]
    finished = bench.run("opencode", *others, [{"say": "done"}])
    assert finished.turns == 7
    assert not [each for each in bench.heard.of(ev.AgentNoted) if "in a row" in each.text]


def test_a_question_that_the_agent_takes_back_is_withdrawn(bench: Bench) -> None:
    session = bench.start(
        "claude", [bash("touch x", ask=True, withdrawn=True), {"say": "on"}], turn=bench.turn("ask")
    )
    bench.heard.finished()
    (gone,) = bench.heard.of(ev.AgentAskedNoMore)
    assert gone.request_id == asked(bench).request_id
    assert not session.answer(gone.request_id, AgentAnswer("once"))
    assert bench.answered() == []


def test_a_question_that_is_asked_twice_is_asked_and_answered_once(bench: Bench) -> None:
    session = bench.start(
        "claude", [bash("touch x", ask=True, twice=True), {"say": "on"}], turn=bench.turn("ask")
    )
    session.answer(asked(bench).request_id, AgentAnswer("once"))
    assert bench.heard.finished().outcome == "success"
    assert len(bench.heard.of(ev.AgentAsked)) == 1
    assert set(bench.answered()) == {"allow-once"}


def test_an_agent_that_asks_and_dies_ends_its_session(bench: Bench) -> None:
    session = bench.start(
        "claude", [bash("touch x", ask=True, dies="out of memory")], turn=bench.turn("ask")
    )
    finished = bench.heard.finished()
    assert finished.outcome == "crashed"
    assert finished.reason == (
        "The agent was terminated by signal 9 while it was working: out of memory."
    )
    assert not session.answer(asked(bench).request_id, AgentAnswer("once"))


def test_what_can_only_be_allowed_for_ever_is_not_allowed(bench: Bench) -> None:
    options = [{"optionId": "for-ever", "kind": "allow_always", "name": "Always"}]
    bench.run(
        "any", [bash("true", ask=True, options=options), {"say": "on"}], turn=bench.turn("skip")
    )
    assert bench.answered() == ["cancelled"]
    assert "offers no one-time permission" in bench.heard.of(ev.AgentNoted)[0].text


def test_a_mere_no_is_not_repeated_to_a_model_that_has_heard_it(bench: Bench) -> None:
    session = bench.start(
        "gemini", [bash("touch x", ask=True), {"say": "on"}], turn=bench.turn("ask")
    )
    mere = AgentAnswer("refuse", "The owner refused it. Continue without it.")
    session.answer(asked(bench).request_id, mere)
    assert bench.heard.finished().turns == 1


@each_row(
    ("kind", "lines", "line"),
    [("edit", (12, 88), 88), ("edit", (12, None), 12), ("edit", (), None), ("read", (12,), None)],
)
def test_an_edit_names_the_line_of_its_last_place(
    kind: str, lines: tuple[int | None, ...], line: int | None
) -> None:
    use = ToolUse()
    use.update({"kind": kind, "locations": [{"path": "a.py", "line": one} for one in lines]})
    assert use.last_line == line
