"""What a tool was called with is kept whole, without secrets, and never at any length."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tui.adapters.agents.claude.tool_calls import ToolCalls
from ralph_tui.adapters.agents.tools import keep_params
from ralph_tui.adapters.records.aiwg.action_log import Actions
from ralph_tui.events import ToolDenied, ToolFinished, ToolStarted, parse_event

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["a", "file_path", "offset"]), VALUES))
def test_short_parameters_are_kept_as_they_are(arguments: dict[str, object]) -> None:
    assert keep_params(arguments) == arguments


def test_long_ones_are_cut_and_secrets_redacted() -> None:
    kept = keep_params({"new_string": "x" * 10_000, "edits": [{"text": "y" * 10_000}]})
    assert [len(str(value)) for value in kept.values()] == [4096, 4096]
    started = ToolStarted(iteration=1, tool_id="1", tool="Bash", params={"env": [{"a": TOKEN}]})
    assert TOKEN not in started.model_dump_json()
    assert TOKEN not in str(keep_params({"text": "x" * 4000 + " " + TOKEN + "x" * 500}))


def test_an_action_has_its_parameters_and_its_output() -> None:
    calls = ToolCalls(1, "/repo")
    given = {"file_path": "/repo/a.py", "old_string": "a\n", "new_string": "b\n", "offset": 3}
    more = {"long": "x" * 10_000, "key": TOKEN, "nested": {"headers": [TOKEN]}}
    block = {"id": "t1", "name": "Edit", "input": {**given, **more}}
    (started,) = calls.started(block, None)
    said = "Error: string not found in a.py\n" + "z" * 2000
    (ended,) = calls.finished(
        {"tool_use_id": "t1", "content": said, "is_error": True}, structured=None
    )
    assert isinstance(started, ToolStarted)
    assert isinstance(ended, ToolFinished)
    actions = Actions()
    for event in (started, ended):
        reported = parse_event(event.model_copy(update={"seq": 1}).model_dump_json().encode())
        lines = list(actions.take(reported))
    (line,) = lines
    assert TOKEN not in str(line["params"].pop("key"))
    assert TOKEN not in str(line["params"].pop("nested"))
    assert len(line["params"].pop("long")) == 4096
    assert line["params"] == given
    assert line["error"].startswith("Error: string not found in a.py\nzzz")
    assert len(line["error"]) == 1000
    wide = {"id": "t3", "name": "Edit", "input": {f"p{n}": n for n in range(60)}}
    (started,) = calls.started(wide, None)
    assert isinstance(started, ToolStarted)
    assert started.params == {f"p{n}": n for n in range(50)}
    list(actions.take(ToolStarted(iteration=1, tool_id="t4", tool="Bash")))
    list(actions.take(ToolDenied(iteration=1, tool="Bash", tool_id="t4", message=f"Denied.{said}")))
    (line,) = actions.take(ToolFinished(iteration=1, tool_id="t4", ok=False))
    assert line["error"].startswith("Denied.Error: string")
    assert len(line["error"]) == 1000
    calls.started({"id": "t2", "name": "Bash", "input": {"command": "ls"}}, None)
    listed = "a.py\nb.py" + "\nc.py" * 400
    (ended,) = calls.finished({"tool_use_id": "t2", "content": listed}, structured=None)
    assert isinstance(ended, ToolFinished)
    assert ended.output.startswith("a.py\nb.py\nc.py")
    list(actions.take(ToolStarted(iteration=1, tool_id="t2", tool="Bash")))
    (line,) = actions.take(ended)
    assert line["output"].startswith("a.py\nb.py\nc.py")
    assert len(line["output"]) == 1000
    assert len(ended.output) == 1000
    list(actions.take(ToolStarted(iteration=1, tool_id="t3", tool="Bash")))
    (line,) = actions.take(ToolFinished(iteration=1, tool_id="t3", ok=True, output="x" * 1500))
    assert len(line["output"]) == 1000, "of a longer one in the journal, too"
