"""Codex approval requests: which rule permits them, and how they are answered."""

from ralph_tui.adapters.agents.codex.approvals import approval_of
from ralph_tui.adapters.agents.codex.reader import CodexReader
from ralph_tui.adapters.agents.permissions import Permits
from ralph_tui.adapters.agents.rpc.approvals import Approval
from ralph_tui.adapters.agents.rpc.messages import Request
from ralph_tui.ports.agents import AgentAnswer, Permissions
from tests.unit.adapters.agents.codex.test_reader import ROOT, Read


def test_what_is_asked_for_and_by_what_it_is_permitted() -> None:
    read = Read("codex-appserver-interrupt-pending")
    (request,) = read.asked
    asked = approval_of(request, read.reader)
    assert asked is not None
    assert (asked.tool, asked.shown, asked.rule) == ("Bash", "touch x.txt", "Bash(touch x.txt)")
    assert not asked.permitted(Permits(Permissions(), "make test", ROOT))
    assert asked.permitted(Permits(Permissions("edits", ("Bash(touch:*)",)), "", ROOT))
    assert asked.permitted(Permits(Permissions("skip"), "", ROOT))
    assert asked.answer(AgentAnswer("once")) == {"decision": "accept"}
    assert asked.answer(AgentAnswer("refuse", "no")) == {"decision": "decline"}
    denied = asked.denied(1, str(ROOT))
    assert (denied.permit, denied.final) == ("Bash(touch:*)", False)
    assert read.reader.end is not None
    assert read.reader.end.outcome == "interrupted"


def command(**params: object) -> Approval:
    fields = {"command": "/bin/bash -lc 'git push'", "cwd": str(ROOT), **params}
    request = Request(1, "item/commandExecution/requestApproval", fields)
    asked = approval_of(request, CodexReader(1, ROOT))
    assert asked is not None
    return asked


def test_a_rule_permits_a_command_where_it_was_meant_to_run() -> None:
    rules = Permits(Permissions("edits", ("Bash(git push)",)), "", ROOT)
    assert command().permitted(rules)
    assert command(cwd=f"{ROOT}/sub").permitted(rules)
    elsewhere = command(cwd="/srv/other one")
    assert not elsewhere.permitted(rules)
    assert elsewhere.shown == "cd '/srv/other one' && git push"
    assert elsewhere.rule == "Bash(cd '/srv/other one' && git push)"
    assert not command(command=f"{ROOT}/bash -lc 'git push'").permitted(rules)
    words = command(kind="writeStdin")
    assert not words.permitted(rules)
    assert (words.rule, words.denied(1, str(ROOT)).final) == ("", True)


def test_network_further_room_servers_and_questions_are_asked_about() -> None:
    host = command(networkApprovalContext={"host": "x.org", "protocol": "https"})
    assert (host.tool, host.shown, host.why) == ("WebFetch", "https://x.org", "needed by: git push")
    assert host.permitted(Permits(Permissions("edits", ("WebFetch(domain:x.org)",)), "", ROOT))
    assert host.denied(1, str(ROOT)).permit == "WebFetch(domain:x.org)"
    reader = CodexReader(1, ROOT)

    def asked(method: str, **params: object) -> Approval | None:
        return approval_of(Request(1, method, params), reader)

    room = asked("item/permissions/requestApproval", permissions={"network": {"enabled": True}})
    assert room is not None
    assert not room.permitted(Permits(Permissions(), "", ROOT))
    given = {"permissions": {"network": {"enabled": True}}, "scope": "turn"}
    assert room.answer(AgentAnswer("session")) == given, "never longer than the turn"
    assert room.answer(AgentAnswer("refuse")) == {"permissions": {}}
    server = asked("mcpServer/elicitation/request", serverName="db", message="Drop it?")
    assert server is not None
    assert (server.tool, server.shown) == ("mcp__db", "Drop it?")
    assert server.answer(AgentAnswer("refuse")) == {"action": "decline"}
    form = {"properties": {"name": {"type": "string"}}}
    assert asked("mcpServer/elicitation/request", message="Who?", requestedSchema=form) is None
    questions = [
        {"id": "q1", "question": "Which?", "options": [{"label": "A"}, {"label": "B"}]},
        {"id": "q2", "question": "Why?"},
    ]
    choice = asked("item/tool/requestUserInput", questions=questions)
    assert choice is not None
    assert not choice.permitted(Permits(Permissions("skip"), "", ROOT))
    assert [one.question for one in choice.event(1, "r").choices] == ["Which?", "Why?"]
    reply = choice.answer(AgentAnswer("once", choices=(("B",), ("because", "so"))))
    assert reply == {"answers": {"q1": {"answers": ["B"]}, "q2": {"answers": ["because", "so"]}}}
    assert choice.answer(AgentAnswer("refuse", "you choose")) == {"answers": {}}
    assert asked("item/tool/call") is None
