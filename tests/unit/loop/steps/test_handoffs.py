"""Handoffs of ended sessions: based on evidence, robust to missing data, edited by the user."""

from collections.abc import Callable, Sequence

import pytest

from ralph_tui import events as ev
from ralph_tui.base.errors import WorkspaceError
from ralph_tui.commands import Answer, refusal
from ralph_tui.config.settings import Settings
from ralph_tui.events.run import Mode
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.context.handoff import MAX_CHARACTERS
from ralph_tui.layers.context.resume import Resume, resume_text
from ralph_tui.layers.context.state_file import FileInProgress
from ralph_tui.layers.intelligence.handoff_section import resume_of
from ralph_tui.layers.sensor.plan import Progress
from ralph_tui.layers.settings import ContextSettings
from ralph_tui.ports.agents import Asked
from ralph_tui.text.git_diff import last_changed_line
from tests.world import FakeAsker, FakeSession, World
from tests.world.faults import Fault, Part, injected
from tests.world.owner import answer

DIFF = """\
diff --git a/lexer.py b/lexer.py
--- a/lexer.py
+++ b/lexer.py
@@ -1,2 +1,3 @@
 one
+two
 three
diff --git a/src/parser.py b/src/parser.py
--- a/src/parser.py
+++ b/src/parser.py
@@ -44,3 +44,5 @@
 before
+a
+b
 after
 after
"""
CHANGED = [
    FileChange(path="PLAN.md", status="modified", category="docs", added=1, removed=1),
    FileChange(path="lexer.py", status="modified", category="source", added=1),
    FileChange(path="old.py", status="deleted", category="source", removed=9),
    FileChange(path="src/parser.py", status="modified", category="source", added=2),
]
Calls = Sequence[tuple[str, str, bool]]
EDITS: Calls = (
    ("Edit", "lexer.py", True),
    ("Edit", "PLAN.md", True),
    ("Edit", "/r/src/parser.py", True),
    ("Bash", "pytest -q", False),
)


def works(calls: Calls = EDITS, *, says: str = "", **report: object) -> Callable[..., None]:
    """Act: these calls, a last one that does not end, and a full window."""

    def act(session: FakeSession) -> None:
        k = session.iteration
        for number, (tool, what, ok) in enumerate(calls):
            session.emit(ev.ToolStarted(iteration=k, tool_id=f"{number}", tool=tool, summary=what))
            summary = "+1" if ok else "exit 1"
            session.emit(ev.ToolFinished(iteration=k, tool_id=f"{number}", ok=ok, summary=summary))
        if says:
            session.emit(ev.AgentSpoke(iteration=k, text=says))
        if report:
            session.emit(ev.AgentReported.model_validate({"iteration": k, **report}))
        fill(session)

    return act


def fill(session: FakeSession) -> None:
    """The window is full; the session waits for its end."""
    session.emit(
        ev.UsageReported(iteration=session.iteration, context_tokens=97, context_window=100)
    )


def world(*acts: Callable[..., None], mode: Mode = "headless", **fields: object) -> World:
    made = World([2, 10], mode=mode, plan="PLAN.md", **fields)  # type: ignore[arg-type]
    made.workspace.changed, made.workspace.difference = CHANGED, DIFF
    made.plan = Progress(0, 2, (("read groups", False), ("nest groups", False)))
    made.agent.acts.extend(acts)
    return made


def text_of(made: World, number: int = 1) -> str:
    return str(made.records.written[f"results/iter-001/handoff-{number}.md"])


def ticking(act: Callable[[FakeSession], None], made: Callable[[], World]) -> Callable[..., None]:
    """The same act, in which the first plan item is ticked."""

    def ticks(session: FakeSession) -> None:
        made().plan = Progress(1, 2, (("read groups", True), ("nest groups", False)))
        act(session)

    return ticks


def test_it_says_what_was_done_and_what_is_in_progress() -> None:
    made = world(ticking(works(says="Nesting works but for escapes."), lambda: made))
    made.run()
    text, left = text_of(made), made.only(ev.HandoffWritten)
    assert left.done == ["read groups"]
    assert left.item == "nest groups"
    # Since the plan was edited, one file was.
    assert [(f.path, f.lines, f.description, f.status, f.last_line) for f in left.files] == [
        ("src/parser.py", "45-46", "nest groups", "+2 −0", "46")
    ]
    assert left.summary == "Nesting works but for escapes."
    assert left.snapshot is not None
    assert left.characters == len(text)
    for words in (
        "- `read groups`",
        "First open item in the plan: `nest groups`",
        "- `src/parser.py`, lines `45-46`, last edited at line `46`: `nest groups` (`+2 −0`)",
        "Nesting works but for escapes.",
        "`old.py`: `deleted`",
        "On its last run before iteration 1, 2 passed, 8 failed",
        "- `test_2`",
        "git diff refs/ralph/x/001 refs/ralph/x/002",
        "`attempt/results/iter-001/prompt.md`",
    ):
        assert words in text, words
    next_prompt = made.agent.prompts[1]
    assert "src/parser.py, lines 45-46: nest groups (+2 −0)" in next_prompt
    assert "First open item in the plan: nest groups" in next_prompt


def test_it_says_how_far_the_open_item_is_according_to_the_agent() -> None:
    made = world(works(summary="Half of it reads.", item_progress=70))
    made.run()
    assert made.only(ev.HandoffWritten).progress == "70 % done, according to the agent"
    assert "`read groups` (`70 % done, according to the agent`)" in text_of(made)
    assert "read groups (70 % done, according to the agent)" in made.agent.prompts[1]
    assert '"item_progress": 0-100' in made.agent.prompts[0]
    made = world(works(summary="Half of it reads.", item_progress=70))
    made.plan = NESTED
    made.run()
    assert made.only(ev.HandoffWritten).progress == "50 % done: 1 of 2 sub-items"
    made = world(works(summary="Half of it reads."))
    made.run()
    assert made.only(ev.HandoffWritten).progress == ""
    parts = world(works(summary="Half of it reads.", item_progress=70))
    parts.plan = NESTED
    parts.run()
    assert "read groups (50 % done: 1 of 2 sub-items)" in parts.agent.prompts[1]
    unknown = world(works(summary="Half of it reads."))
    unknown.run()
    assert "First open item in the plan: read groups\n" in unknown.agent.prompts[1]


def test_progress_on_an_item_that_is_ticked_since_is_not_the_next_ones() -> None:
    made = world(ticking(works(summary="Read.", item_progress=100), lambda: made))
    made.run()
    assert made.only(ev.HandoffWritten).progress == ""


NESTED = Progress(
    1, 3, (("read groups", False), ("validate them", True), ("nest them", False)), (0, 2, 2)
)


def test_ticked_sub_items_say_how_far_the_item_is_what_is_complete_and_what_is_next() -> None:
    edits = (("Edit", "PLAN.md", True), ("Edit", "lexer.py", True), *EDITS[2:])
    made = world(works(edits, summary="Half of it reads.", item_progress=90))
    made.plan = NESTED
    made.run()
    left, prompt = made.only(ev.HandoffWritten), made.agent.prompts[1]
    assert left.progress == "50 % done: 1 of 2 sub-items"
    assert (left.parts_done, left.focus) == (["validate them"], "nest them")
    assert left.files[0].status == "+2 −0, 50 % done"
    for words in (
        "What is listed as completed is complete: do not redo it. Focus on the next part",
        "Completed: validate them",
        "First open item in the plan: read groups (50 % done: 1 of 2 sub-items)",
        "Its next part: nest them",
        "src/parser.py, lines 45-46: read groups (+2 −0, 50 % done)",
        "lexer.py, line 2: read groups (+1 −0, 50 % done)",
    ):
        assert words in prompt, words
    block = resume_text(Resume("", files=tuple(FileInProgress(f"{n}.py", "3") for n in range(9))))
    assert "7.py, line 3\nand 1 more" in block
    text = text_of(made)
    assert "Its completed parts:\n\n- `validate them`" in text
    place = "from line `46` of `src/parser.py`"
    assert f"Continue with the item's next part, `nest them`, {place}." in text


def test_the_block_names_completed_items_and_what_was_worked_on() -> None:
    made = world(ticking(works(summary="Nesting works but for escapes."), lambda: made))
    made.run()
    prompt = made.agent.prompts[1]
    assert (
        "Completed: read groups\nFirst open item in the plan: nest groups\n"
        "Last edit: src/parser.py, line 46\nNesting works but for escapes." in prompt
    )
    assert "Focus on the open item." in prompt
    left = made.only(ev.HandoffWritten)
    edited = resume_text(resume_of(left.model_copy(update={"edited_by": "you"})))
    assert "Completed: read groups" in resume_text(resume_of(left))
    assert "Work in progress" not in edited

    def ticks_more(session: FakeSession) -> None:
        items = [(f"item {n}", n < 7) for n in range(8)]
        many.plan = Progress(7, 8, tuple(items))
        fill(session)

    many = world(ticks_more)
    many.plan = Progress(0, 8, tuple((f"item {n}", False) for n in range(8)))
    many.run()
    five = "\n".join(f"Completed: item {n}" for n in range(5))
    listed = f"{five}\nCompleted: 2 more\nFirst open item in the plan: item 7"
    assert listed in many.agent.prompts[1]


def test_the_place_to_continue_is_that_of_the_edits_own_hunk() -> None:
    def edits(session: FakeSession) -> None:
        for number, start in enumerate((298, 88)):
            name = f"e{number}"
            hunk = {"newStart": start, "lines": [" a", "-b", "+c", "+d", " e"]}
            line = last_changed_line({"structuredPatch": [hunk]})
            began = ev.ToolStarted(iteration=1, tool_id=name, tool="Edit", summary="lexer.py")
            session.emit(began)
            done = ev.ToolFinished(iteration=1, tool_id=name, ok=True, last_line=line)
            session.emit(done)
        fill(session)

    made = world(edits)
    made.run()
    assert made.only(ev.HandoffWritten).files[0].last_line == "90"
    assert "Last edit: lexer.py, line 90" in made.agent.prompts[1]
    assert "Continue from there, in the place edited last." in made.agent.prompts[1]


def test_a_file_is_described_in_the_agents_words_or_by_its_item_or_not_at_all() -> None:
    about = "lexer.py now splits groups at brackets."
    edits: Calls = (("Edit", "lexer.py", True), ("Edit", "src/parser.py", True))
    made = world(works(edits, says=f"Well. {about}"))
    made.run()
    files = {file.path: file.description for file in made.only(ev.HandoffWritten).files}
    assert files == {"src/parser.py": "read groups", "lexer.py": about}
    silent = world(works(()))  # no edits are reported, and the plan changed meanwhile
    silent.run()
    assert {file.description for file in silent.only(ev.HandoffWritten).files} == {""}


@pytest.mark.parametrize(("tokens", "level"), [(86, "handoff due"), (97, "stop now")])
def test_percent_and_level_are_named(tokens: int, level: str) -> None:
    def fills(session: FakeSession) -> None:
        used = ev.UsageReported(iteration=1, context_tokens=tokens, context_window=100)
        session.emit(used)
        session.emit(ev.ToolStarted(iteration=1, tool_id="t", tool="Read"))
        session.emit(ev.ToolFinished(iteration=1, tool_id="t", ok=True))

    made = world(fills)
    made.run()
    said = f"at {tokens} % of its context window ({level})"
    assert said in text_of(made)
    assert said in made.agent.prompts[1]


def test_what_is_only_planned_is_not_called_done() -> None:
    made = world(works(next="nest groups", summary="I plan to nest groups."))
    made.run()
    assert made.only(ev.HandoffWritten).done == []
    assert "Ticked off" not in text_of(made)
    assert made.only(ev.HandoffWritten).next_step == "nest groups"


def test_an_item_that_was_ticked_before_is_not_done_again() -> None:
    made = world(works())
    made.plan = Progress(1, 2, (("read groups", True), ("nest groups", False)))
    made.run()
    assert made.only(ev.HandoffWritten).done == []


def test_the_last_session_alone_is_told_of() -> None:
    made = world(works(says="The first one."), works((), says=""))
    made.run()
    second = text_of(made, 2)
    assert "The first one." not in second
    assert "tool calls" not in second
    assert "Handoff 1 of this iteration" in second
    assert "git diff refs/ralph/x/002 refs/ralph/x/003" in second
    assert "git diff refs/ralph/x/001 refs/ralph/x/003" in second


def test_an_agent_that_tells_of_no_tools_is_told_by_what_changed_most() -> None:
    made = world(works(()))
    made.run()
    assert [f.path for f in made.only(ev.HandoffWritten).files] == ["src/parser.py", "lexer.py"]


def test_a_tool_that_did_not_end_is_told() -> None:
    def runs(session: FakeSession) -> None:
        session.emit(ev.ToolStarted(iteration=1, tool_id="t", tool="Bash", summary="make all"))
        fill(session)

    made = world(runs)
    made.run()
    how = "still running when the session was ended: check whether it finished"
    assert f"- `Bash make all`, {how}" in text_of(made)
    assert "make all" in made.only(ev.HandoffWritten).summary


@pytest.mark.parametrize("what", ["changes", "excerpt", "snapshot"])
def test_what_git_cannot_tell_is_left_out(what: str) -> None:
    made = world(works(says="Here I am."))
    real = getattr(made.workspace, what)

    def broken(*args: object) -> object:
        if what == "snapshot" and "checkpoint iter" not in str(args[1]):
            return real(*args)
        raise WorkspaceError("git is gone")

    setattr(made.workspace, what, broken)
    made.run()
    text = text_of(made)
    assert "Here I am." in text
    assert ("- `src/parser.py`" in text) == (what == "excerpt")
    assert "45-46" not in text
    assert made.end.outcome == "completed"
    assert len(made.agent.prompts) == 2


def test_a_folder_that_cannot_be_written_costs_the_file_alone() -> None:
    made = world(works(says="Here I am."))
    real = made.records.write_iteration_file

    def refuses(iteration: int, name: str, content: object) -> object:
        if name.startswith("handoff"):
            raise PermissionError(13, "Permission denied", f"/r/{name}")
        return real(iteration, name, content)

    made.records.write_iteration_file = refuses  # type: ignore[assignment,method-assign]
    made.run()
    said = [e.text for e in made.all(ev.Noticed) if e.source == "context"]
    assert any("the handoff of iteration 1 could not be saved" in text for text in said), said
    assert made.only(ev.HandoffWritten).read_at == ""
    assert "Here I am." in made.agent.prompts[1]
    assert "Read its handoff" not in made.agent.prompts[1]
    assert made.end.outcome == "completed"


STEPS = "ralph_tui.loop.steps"


@pytest.mark.parametrize("name", ["build_handoff", "handoff_text", "written_event", "TreeDiff"])
@pytest.mark.parametrize("kind", ["raise", "none", "object"])
def test_one_that_cannot_be_made_ends_no_run(name: str, kind: str) -> None:
    made = world(works(says="Here I am."))
    part = Part("context", f"{STEPS}.handoff_writer", name)
    with injected(made, Fault(part, kind)):
        made.run()
    assert made.end.outcome == "completed"
    assert "Fix it" in text_of(made)
    assert made.only(ev.HandoffWritten).read_at in made.agent.prompts[1]


def attended(*acts: Callable[..., None], **settings: object) -> World:
    context = ContextSettings.model_validate(settings)
    return world(*acts, mode="attended", settings=Settings(context=context))


def test_its_owner_is_asked_and_silence_sends_it() -> None:
    made = attended(works())
    made.run()
    asked = made.only(ev.QuestionAsked)
    assert (asked.topic, asked.default, asked.proposal) == ("handoff", "send", text_of(made))
    assert asked.deadline is not None
    assert (asked.deadline - asked.at).total_seconds() == 60
    assert made.only(ev.QuestionAnswered).by == "the default"
    assert made.only(ev.HandoffWritten).edited_by == ""


def test_an_edit_takes_its_place() -> None:
    made = attended(works(says="Nesting works."))
    made.play(answer("send", text="# Handoff\n\nLeave escapes alone."))
    first_text = made.only(ev.QuestionAsked).proposal
    assert text_of(made) == "# Handoff\n\nLeave escapes alone.\n"
    first, second = made.all(ev.HandoffWritten)
    assert (first.edited_by, second.edited_by) == ("", "you")
    assert second.characters == len(text_of(made))
    assert made.state.context.handoffs == [second]
    prompt = made.agent.prompts[1]
    assert second.made_at.endswith("results/iter-001/handoff-1-as-made.md")
    assert made.records.written["results/iter-001/handoff-1-as-made.md"] == first_text
    edited = f"{second.read_at} (edited by the user); the original is in"
    assert f"Read its handoff first: {edited} {second.made_at}" in prompt
    assert "Nesting works." not in prompt, "the handoff says what counts"


def test_a_longer_one_is_refused_and_asked_for_again() -> None:
    made = attended(works())
    for event in made.steps():
        if isinstance(event, ev.QuestionAsked):
            long = Answer(question_id=event.question_id, answer="send", text="x" * 4000)
            said = refusal(long, made.state)
            assert said == "a handoff has at most 3,999 characters; yours has 4,000"
            fits = long.model_copy(update={"text": "x" * 3999})
            assert refusal(fits, made.state) is None
            made.host.inbox.extend([long, fits])
    assert len(text_of(made)) == MAX_CHARACTERS


def test_an_abort_ends_the_run_with_its_handoff_kept() -> None:
    made = attended(works())
    made.play(answer("abort"))
    assert made.end.outcome == "aborted"
    assert made.only(ev.HandoffWritten).path
    assert len(made.agent.prompts) == 1


@pytest.mark.parametrize("mode", ["headless", "detached"])
def test_nobody_is_asked_who_is_not_there(mode: Mode) -> None:
    made = world(works(), mode=mode)
    made.run()
    assert made.all(ev.QuestionAsked) == []


WORDED: dict[str, object] = {
    "summary": "parse() nests two levels and loses a bracket below.",
    "nextStep": "Count brackets in parse().",
    "openQuestions": ["Are empty groups allowed?"],
}


def helped(*answers: dict[str, object] | Asked) -> World:
    settings = Settings(context=ContextSettings(model_handoff=True))
    asker = FakeAsker()
    asker.answers.extend(answers)
    says = works(says="Two levels work.", blockers=["no network"], summary="It nests.")
    return world(says, settings=settings, asker=asker)


def asked_of(made: World) -> str:
    """The only question to its model."""
    asker = made.loop.ports.asker
    assert isinstance(asker, FakeAsker)
    (ask,) = asker.asked
    return ask.prompt


def test_a_model_words_what_was_in_progress_and_changes_no_fact() -> None:
    made = helped(WORDED)
    made.run()
    text, left = text_of(made), made.only(ev.HandoffWritten)
    assert (left.origin, left.next_step) == ("model", "Count brackets in parse().")
    assert "parse() nests two levels" in left.summary
    for words in (
        "In the words of a model:",
        "Count brackets in parse().",
        "- `Are empty groups allowed?`",
    ):
        assert words in text
    assert "- `no network`" in text, "the agent's own terms stay"
    place = "- `src/parser.py`, lines `45-46`, last edited at line `46`"
    assert f"{place}: `read groups` (`+2 −0`)" in text
    assert "2 passed, 8 failed" in text
    assert "Count brackets" in made.agent.prompts[1]
    asked = made.only(ev.ModelAsked)
    assert (asked.purpose, asked.model, asked.timeout_s) == ("handoff", "tiny", 60)
    assert made.end.cost_usd == 0.01
    question = asked_of(made)
    assert "Two levels work." in question
    assert "+a\n+b" in question


@pytest.mark.parametrize(
    "answer",
    [{"summary": ""}, {}, Asked(None, "Nobody is there."), {"summary": 1, "nextStep": "x"}],
    ids=str,
)
def test_without_a_usable_answer_the_template_stands(answer: dict[str, object] | Asked) -> None:
    made = helped(answer)
    made.run()
    assert made.only(ev.HandoffWritten).origin == "template"
    assert "It nests." in text_of(made)
    said = [e.text for e in made.all(ev.Noticed) if e.source == "model help"]
    assert len(said) == 1
    assert said[0].startswith("the model's handoff cannot be used: ")
    assert said[0].endswith("; the template's handoff is used")
    assert made.end.outcome == "completed"


def test_a_model_that_never_answers_costs_its_time_alone() -> None:
    made = helped(WORDED)
    made.host.hangs = lambda name: name == "question"
    made.run()
    assert made.only(ev.HandoffWritten).origin == "template"
    assert made.only(ev.ModelAnswered).error


def test_an_agent_that_cannot_be_asked_is_told_once() -> None:
    made = world(works(), settings=Settings(context=ContextSettings(model_handoff=True)))
    made.run()
    said = [e.text for e in made.all(ev.Noticed) if e.source == "model help"]
    assert len(said) == 1
    assert said[0].startswith(
        "context.model_handoff is on but ignored: the agent `fake` cannot answer questions"
    )


def test_nobody_is_asked_where_that_is_switched_off() -> None:
    made = attended(works(), handoff_edit_s=0)
    made.run()
    assert made.all(ev.QuestionAsked) == []
