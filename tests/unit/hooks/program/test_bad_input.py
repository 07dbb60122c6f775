"""Errors cost a sentence and never a session; no one's data is lost."""

import json
import os
import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread

import pytest

from ralph_tui.adapters.records.journal import read_journal
from ralph_tui.base.file_lock import locked
from ralph_tui.events import ToolStarted
from ralph_tui.hooks.program import store
from ralph_tui.layers.context.state_file import parse
from tests.forks import Forked
from tests.hooks import INTERPRETER, HookResult, Project, served
from tests.small_disk import run_on_small_disk
from tests.unit.hooks.program.test_stop import SHELL
from tests.unit.hooks.program.test_watch import used

as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


def sentence(said: HookResult) -> str:
    """The one sentence shown; the session continues."""
    assert said.code == 0
    assert said.err.startswith("ralph-tui: ")
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    assert "continue" not in said.fields
    assert "decision" not in said.fields
    return said.err


@pytest.mark.parametrize("hook", ["post-tool-use", "stop"])
@pytest.mark.parametrize(
    "data", [b"{", b"[]", b"null", b"\xff\xfe", b'{"a":' * 300, b"[" * 100_000, b'"x"']
)
def test_input_that_is_none(project: Project, hook: str, data: bytes) -> None:
    before = project.state
    assert "cannot read the hook's input" in sentence(project.call(hook, data))
    assert project.state == before


@pytest.mark.parametrize(
    "given",
    [
        {"session_id": 7, "transcript_path": [], "tool_input": "x", "tool_name": {}},
        {"session_id": "s", "transcript_path": "\0", "duration_ms": "long", "cwd": 5},
        {"session_id": "s" * 10_000, "tool_name": "x" * 100_000, "tool_use_id": "\x1b[31m"},
        {"session_id": "../../..", "transcript_path": "/", "duration_ms": 1e400},
        {"session_id": "s", "transcript_path": "/dev/zero", "tool_input": {"command": 5}},
        {"session_id": "\ud800", "tool_name": "\ud800", "tool_input": {"command": "\ud800"}},
    ],
)
@pytest.mark.parametrize("hook", ["post-tool-use", "stop"])
def test_input_of_odd_types(project: Project, hook: str, given: dict[str, object]) -> None:
    said = project.call(hook, json.dumps(given).encode(), {"CLAUDE_PROJECT_DIR": str(project.root)})
    assert said.code == 0
    assert "failed" not in said.err
    for journal in project.root.rglob("events.jsonl"):
        assert read_journal(journal).problem == ""
        assert journal.is_relative_to(project.root / ".aiwg" / "ralph" / "hooks")


def test_another_hook_is_refused(project: Project) -> None:
    assert "called with post-tool-use or stop" in project.call("pre-tool-use", b"").err
    done = subprocess.run(
        [INTERPRETER, "-I", "-S", project.program, "stop", "now"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "called with post-tool-use or stop" in done.stderr


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\x00" * 100, b"not json"])
def test_a_state_file_that_is_garbage_is_set_aside(project: Project, content: bytes) -> None:
    project.state_path.write_bytes(content)
    reported = sentence(project.stop())
    assert "is not valid" in reported
    assert not project.state_path.exists()
    (aside,) = project.state_path.parent.glob("ralph-state.json.*.bad")
    assert aside.read_bytes() == content
    assert aside.name in reported
    assert project.stop() == HookResult(0, {}, "")


@pytest.mark.parametrize("hook", ["post-tool-use", "stop"])
def test_who_writes_the_state_file_in_place_and_slowly_loses_nothing(
    project: Project, hook: str
) -> None:
    """As a shell does with ``jq ... >file``: the file is empty until the program ends."""
    whole = project.state_path.read_bytes()
    with project.state_path.open("wb") as file:
        said = project.call(hook, project.given("Stop"))
        file.write(whole)
    (aside,) = project.state_path.parent.glob("ralph-state.json.*.bad")
    assert aside.read_bytes() == whole
    assert aside.name in said.user
    assert not project.state_path.exists()


def test_a_state_file_that_is_emptied_during_a_call_is_kept(project: Project) -> None:
    """Between its read and its write; the loop continues with the old content."""
    path, opened = project.state_path, []
    with store.state_file(path) as held:
        assert held is not None
        held.state = held.state | {"iteration": 4}
        opened.append(path.open("wb"))
        held.save()
    opened[0].write(b"what they wrote")
    opened[0].close()
    assert held.aside is not None
    assert held.aside.read_bytes() == b"what they wrote"
    assert (project.state["iteration"], project.state["objective"]) == (4, "Mend the parser")


def test_a_state_file_with_odd_fields_is_kept_and_mended(project: Project) -> None:
    odd = {"iteration": "five", "context_window": 200_000, "theirs": [1, {"a": None}]}
    project.write_state(**odd)
    written = project.state_path.read_bytes()
    said = used(project, 20_000)
    assert said.code == 0
    assert "`iteration` is not a number" in said.err
    (aside,) = project.state_path.parent.glob("ralph-state.json.*.bad")
    assert aside.read_bytes() == written
    assert aside.name in said.err
    state = project.state
    assert (state["iteration"], state["theirs"]) == (1, [1, {"a": None}])
    assert used(project, 20_500, 2).err == ""


def test_a_writer_that_is_not_done_yet_is_waited_for(project: Project) -> None:
    """A program that writes in place, and is interrupted by a read."""
    whole = project.state_path.read_bytes()
    project.state_path.write_bytes(whole[:20])
    begun = time.monotonic()

    def finish() -> None:
        os.utime(project.state_path)
        while time.monotonic() < begun + 0.05:
            time.sleep(0.01)
        project.state_path.write_bytes(whole)

    writer = Thread(target=finish)
    writer.start()
    said = project.after_tool(tool_name="Bash", tool_use_id="toolu_1", tool_input={})
    writer.join()
    assert said.err == ""
    assert [*project.state_path.parent.glob("*.bad")] == []


@pytest.mark.parametrize("kind", ["folder", "link", "dangling", "fifo"])
@pytest.mark.parametrize("hook", ["post-tool-use", "stop"])
def test_a_state_file_that_is_none(project: Project, kind: str, hook: str, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.json"
    project.state_path.rename(theirs)
    before = theirs.read_bytes()
    if kind == "folder":
        project.state_path.mkdir()
    elif kind == "fifo":
        os.mkfifo(project.state_path)
    else:
        project.state_path.symlink_to(theirs if kind == "link" else tmp_path / "nowhere")
    reported = sentence(project.call(hook, project.given("Stop")))
    assert str(project.state_path) in reported
    assert theirs.read_bytes() == before
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", [".claude/handoffs", "PROMPT.md", ".aiwg", ".aiwg/ralph/hooks"])
@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_stands_in_the_way_costs_only_itself(
    project: Project, name: str, kind: str, tmp_path: Path
) -> None:
    path, theirs = project.root / name, tmp_path / "theirs"
    path.parent.mkdir(parents=True, exist_ok=True)
    theirs.write_text("theirs")
    if kind == "file" and name != "PROMPT.md":
        path.write_text("theirs")
    elif kind == "link":
        path.symlink_to(theirs)
    said = used(project, 174_000)
    assert said.code == 0
    assert said.model.startswith("CCS_CHECKPOINT_TRIGGERED|L2|87|")
    stopped = project.stop()
    assert project.state["iteration"] == 2
    assert project.state["context_checkpoint"]["active"] is False
    assert theirs.read_text() == "theirs"
    if kind == "link":
        assert "ralph-tui: " in said.err + stopped.err
        assert "Traceback" not in said.err + stopped.err


@pytest.mark.parametrize("percent", [87, 97])
def test_a_handoff_that_cannot_be_written_is_named_where_it_is(
    project: Project, percent: int
) -> None:
    (project.root / ".claude" / "handoffs").write_text("in the way")
    said = used(project.with_git, 2000 * percent)
    stopped = project.stop()
    (copy,) = project.root.glob(".aiwg/ralph/hooks/*/handoff-1.md")
    name = str(copy.relative_to(project.root))
    assert "the handoff" in said.user.partition("\n")[0]
    assert said.user.partition("\n")[0].endswith(f"; a copy is in {name}")
    reported = said.model if percent == 87 else said.fields["stopReason"]
    prompt = (project.root / "PROMPT.md").read_text()
    checkpoint = project.state["context_checkpoint"]
    for text in (reported, stopped.user, prompt, checkpoint["handoff_file"]):
        assert name in text
        assert ".claude/handoffs" not in text
    assert "Mend the parser" in copy.read_text()


@as_root
def test_a_folder_that_is_not_writable(project: Project) -> None:
    handoffs = project.root / ".claude" / "handoffs"
    handoffs.mkdir()
    handoffs.chmod(0o500)
    said = used(project, 174_000)
    assert "cannot be written" in said.err
    assert said.model.startswith("CCS_CHECKPOINT_TRIGGERED|L2|87|")


def test_a_lock_that_is_held_costs_a_sentence(project: Project) -> None:
    with locked(project.state_path.with_name(f".{project.state_path.name}.lock")):
        assert "another process holds it" in sentence(project.stop())


@pytest.mark.parametrize(
    "content", [b"garbage\n", b"{}\n", b'{"seq": 1}\n', b'{"seq":"x","at":1}\n']
)
def test_a_journal_that_is_none_is_not_written_to(project: Project, content: bytes) -> None:
    used(project, 20_000)
    project.journal.write_bytes(content)
    said = used(project, 20_500, 2)
    assert said.code == 0
    assert "recording there has stopped" in said.err
    assert project.journal.read_bytes() == content
    assert "decision" in project.stop().fields


def test_a_torn_line_is_cut(project: Project) -> None:
    used(project, 20_000)
    whole = project.journal.read_bytes()
    with project.journal.open("ab") as file:
        file.write(b'{"seq": 99, "kind": "tool_st')
    assert used(project, 20_500, 2).err == ""
    assert project.journal.read_bytes().startswith(whole)
    assert [event.seq for event in project.events] == list(range(1, len(project.events) + 1))


def test_a_journal_that_was_removed_begins_anew(project: Project) -> None:
    used(project, 20_000)
    project.journal.unlink()
    used(project, 20_500, 2)
    assert project.run.run.started is not None
    assert project.run.run.session_running


def test_who_edits_the_state_meanwhile_keeps_the_edit(project: Project) -> None:
    """Without the lock, while hooks of many tools run."""
    fields = {"theirs": 0}

    def edit() -> None:
        for number in range(1, 40):
            state = project.state | {"theirs": number, "todo_items": [f"item {number}"]}
            fresh = project.state_path.with_name("fresh")
            fresh.write_text(json.dumps(state))
            fresh.replace(project.state_path)
            fields["theirs"] = number

    editor = Thread(target=edit)
    givens = [project.uses(20_000 + n, "Bash", n, command="ls") for n in range(6)]
    editor.start()
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(project.after_tool_installed, givens))
    editor.join()
    assert [one.err for one in said] == [""] * 6
    assert project.state["objective"] == "Mend the parser"
    assert parse(project.state_path.read_bytes()).problems == ()
    assert [event.seq for event in project.events] == list(range(1, len(project.events) + 1))


def killed_at(project: Project, data: bytes, hook: str, after_s: float) -> int:
    with TemporaryFile() as given, Path(os.devnull).open("w") as nobody:
        given.write(data)
        given.seek(0)
        streams = (given.fileno(), nobody.fileno(), nobody.fileno())
        process = Forked(served(project.program), [hook], project.root, project.environ, streams)
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.kill()
    return process.wait()


def test_a_kill_at_any_moment_leaves_all_of_it_whole(project: Project) -> None:
    project = project.with_git
    chance = random.Random(7)
    killed = 0
    for number in range(12):
        given = project.uses(174_000, "Bash", number, command="ls")
        data = project.given("PostToolUse", **given)
        killed += killed_at(project, data, "post-tool-use", chance.uniform(0, 0.08)) != 0
        assert parse(project.state_path.read_bytes()).problems == ()
    assert killed > 1
    said = used(project, 175_000, 100)
    assert said.code == 0
    assert "Traceback" not in said.err
    state = project.state
    handoff = project.root / state["context_checkpoint"]["handoff_file"]
    assert project.stop().code == 0
    assert handoff.read_text()
    assert handoff.name in (project.root / "PROMPT.md").read_text()
    assert project.state["iteration"] == 2
    events = project.events
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    ids = [event.tool_id for event in events if isinstance(event, ToolStarted)]
    assert len(ids) == len(set(ids))


def test_stops_that_are_killed_go_on_where_they_were(project: Project) -> None:
    project = project.with_git
    chance = random.Random(8)
    used(project, 174_000)
    data = project.given("Stop", last_assistant_message="I hand over.")
    for _ in range(6):
        killed_at(project, data, "stop", chance.uniform(0, 0.08))
    project.stop(SHELL)
    assert project.state["context_checkpoint"]["active"] is False
    assert (project.root / "PROMPT.md").exists()
    assert project.run.run.started is not None


def test_a_full_disk_costs_a_sentence(program: Path, tmp_path: Path) -> None:
    script = f"""
import json, subprocess
from pathlib import Path
Path(".claude").mkdir()
state = Path(".claude/ralph-state.json")
state.write_text(json.dumps({{"objective": "x", "context_window": 200000}}))
before = state.read_bytes()
fill()
given = json.dumps({{"session_id": "s", "tool_name": "Bash", "tool_use_id": "t"}})
for hook in ("post-tool-use", "stop"):
    done = subprocess.run(["{INTERPRETER}", "-I", "-S", "{program}", hook], input=given,
                          capture_output=True, text=True)
    print(done.returncode, "No space left" in done.stderr, "decision" in done.stdout,
          state.read_bytes() == before)
make_room()
done = subprocess.run(["{INTERPRETER}", "-I", "-S", "{program}", "stop"], input=given,
                      capture_output=True, text=True)
print(done.returncode, "decision" in done.stdout)
"""
    said = run_on_small_disk(script, tmp_path, size="512k")
    assert said.split("\n")[:3] == ["0 True False True", "0 True False True", "0 True"]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_who_does_not_listen_is_no_error(project: Project, stream: str) -> None:
    given = project.uses(144_000, "Bash", 1, command="ls")
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | {stream: writing}
    try:
        done = subprocess.run(
            [INTERPRETER, "-I", "-S", project.program, "post-tool-use"],
            input=project.given("PostToolUse", **given),
            env=project.environ,
            check=False,
            **streams,  # type: ignore[call-overload]
        )
    finally:
        os.close(writing)
    assert done.returncode == 0


def test_a_bug_of_ours_is_no_bug_of_the_session(project: Project, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    for path in project.program.rglob("*.py"):
        copy = broken / path.relative_to(project.program)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    with (broken / "ralph_tui" / "hooks" / "program" / "watch.py").open("a") as file:
        file.write("\ndef watch(call):\n    raise RecursionError('deep')\n")
    project.program = broken
    said = project.after_tool_installed(project.uses(20_000, "Bash", 1, command="make check"))
    assert said.code == 0
    assert said.err == "ralph-tui: its hook failed (RecursionError('deep')): nothing was watched\n"
