"""Hooks in any order: one run, increasing numbers, and readable state."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph_tui.events import IterationStarted, RunFinished, RunStarted
from ralph_tui.hooks.program import program as hook_program
from ralph_tui.layers.context.state_file import parse
from tests.hooks import Project

STEP = st.one_of(
    st.tuples(st.just("tool"), st.integers(0, 220_000)),
    st.tuples(st.just("subagent"), st.integers(0, 220_000)),
    st.tuples(st.just("stop"), st.sampled_from(["A step.", "<promise>COMPLETE</promise>", ""])),
    st.tuples(st.just("asked"), st.none()),
    st.tuples(st.just("session"), st.sampled_from(["one", "two", "three"])),
    st.tuples(st.just("compacted"), st.integers(0, 90_000)),
    st.tuples(st.just("refused"), st.sampled_from(["authentication_failed", "overloaded"])),
    st.tuples(st.just("edited"), st.sampled_from([
        {"iteration": 4}, {"status": "running"}, {"hook_sessions": 5}, {"hook_journal": "x"},
        {"context_checkpoint": {"active": True, "handoff_file": "PROMPT.md"}},
        {"context_checkpoint": {"active": True, "session_id": 5}}, {"max_iterations": 2},
        {"hook_sessions": {"one": {"level": "L9", "iteration": "x", "recent": 5}}},
        {"todo_items": [{"title": "a"}], "completed_items": [1]}, {"started_at": "../../x"},
    ])),
)  # fmt: skip


class Story:
    """Hooks called in this process, as a project's sessions call them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.session = "one"
        self.number = 0
        self.codes: set[int] = set()

    def call(self, hook: str, data: bytes) -> None:
        environ = {"CLAUDE_PROJECT_DIR": str(self.project.root)}
        answer = hook_program.answer_to(hook, data, environ)
        fields = json.loads(json.dumps(answer.fields(hook)))
        assert not {"reason", "stopReason"} <= fields.keys()
        assert answer.problems == [p for p in answer.problems if p]
        self.codes.add(answer.code)

    def tool(self, tokens: int, **more: object) -> None:
        self.number += 1
        given = self.project.uses(tokens, "Bash", self.number, command="ls")
        data = self.project.given("PostToolUse", **given | more | {"session_id": self.session})
        self.call("PostToolUse", data)
        self.project.answers(self.number, failed=tokens % 2 == 0)

    def do(self, what: str, how: object) -> None:
        project = self.project
        match what, how:
            case "tool", int(tokens):
                self.tool(tokens)
            case "subagent", int(tokens):
                self.tool(tokens, agent_id="a1")
            case "stop", words:
                given = {"session_id": self.session, "last_assistant_message": words}
                self.call("Stop", project.given("Stop", **given))
            case "asked", _:
                self.call("Stop", b"")
            case "session", str(name):
                self.session = name
                project.transcript.write_text("")
            case "compacted", int(tokens):
                facts = {"postTokens": tokens, "preTokens": 2 * tokens}
                project.entry("system", subtype="compact_boundary", compactMetadata=facts)
            case "refused", kind:
                message = {"model": "<synthetic>", "content": []}
                project.entry("assistant", message=message, isApiErrorMessage=True, error=kind)
            case "edited", dict(fields):
                project.write_state(**project.state | fields)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, max_size=14))
def test_any_order(
    steps: list[tuple[str, object]], program: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = Project(tmp_path_factory.mktemp("story"), program)
    project.transcript.write_text("")
    story = Story(project)
    iteration = 1
    for what, how in steps:
        story.do(what, how)
        found = parse(project.state_path.read_bytes())
        assert what == "edited" or found.problems == ()
        if what == "edited":
            iteration = found.state["iteration"]
        # A dead session's last iteration may end with that of the next session.
        assert 0 <= found.state["iteration"] - iteration <= 2
        iteration = found.state["iteration"]
        assert found.state["objective"] == "Mend the parser"
    assert story.codes <= {0, 1}
    for journal in project.root.rglob("events.jsonl"):
        of_one = Project.events_of(journal)
        assert [event.seq for event in of_one] == list(range(1, len(of_one) + 1))
        assert [event.kind for event in of_one if isinstance(event, RunStarted)] == ["run_started"]
        edited = any(what == "edited" for what, _ in steps)
        numbers = [event.iteration for event in of_one if isinstance(event, IterationStarted)]
        assert edited or numbers == sorted(set(numbers))
        ends = [event for event in of_one if isinstance(event, RunFinished)]
        assert edited or len(ends) <= 1
        assert journal.is_relative_to(project.root / ".aiwg" / "ralph" / "hooks")
