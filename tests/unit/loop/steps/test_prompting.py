"""Step 9: the user's words in a prompt, the single edit, and its record."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ralph_tui import events as ev
from ralph_tui.commands import Answer, EditPrompt, Guide, Instruct, Pause, Restore, Unpause
from ralph_tui.config.settings import Settings
from ralph_tui.events.run import Mode
from ralph_tui.layers.intelligence import IntelligenceSettings
from ralph_tui.layers.intelligence.template import (
    BUILT_IN_TEMPLATE,
    VARIABLES,
    Template,
    parse_template,
)
from ralph_tui.ports.records import PromptTemplate
from tests.world import FakeAsker, World, promise
from tests.world.agents import FakeSession
from tests.world.owner import Reply, answer

EDITED = "Only look at the lexer.\n\nPrint <promise>COMPLETE</promise> when it is done."


def editing(passed: list[int], reply: Reply, **more: object) -> World:
    """A run whose user wants to see the first prompt."""
    world = World(passed, mode="attended", **more)  # type: ignore[arg-type]
    world.host.inbox.append(EditPrompt())
    return world.play(reply)


def prepared(world: World) -> ev.PromptPrepared:
    return world.all(ev.PromptPrepared)[0]


# -- the one edit ----------------------------------------------------------------------------------


def test_a_prompt_that_is_to_be_edited_is_asked_about_and_silence_sends_it() -> None:
    world = editing([0, 10], lambda asked: None)
    asked, answered = world.only(ev.QuestionAsked), world.only(ev.QuestionAnswered)
    assert (asked.topic, asked.default) == ("prompt", "send")
    assert asked.proposal == world.agent.prompts[0]
    assert (answered.at - asked.at).total_seconds() == 120
    assert prepared(world).edited_by == ""
    assert not world.state.intelligence.edit_requested


def test_the_edited_text_is_what_is_sent_and_kept() -> None:
    world = editing([0, 2, 10], answer("send", text=EDITED, by="ada"))
    assert world.agent.prompts[0] == f"{EDITED}\n"
    assert world.records.files[prepared(world).path] == f"{EDITED}\n"
    assert prepared(world).edited_by == "ada"
    assert prepared(world).characters == len(EDITED) + 1
    assert len(world.all(ev.QuestionAsked)) == 1, "only one edit is requested"
    assert "# Objective" in world.agent.prompts[1]


def test_a_text_like_the_proposal_was_edited_by_nobody() -> None:
    world = World([0, 10], mode="attended")
    world.host.inbox.append(EditPrompt())
    world.play(
        lambda asked: Answer(question_id=asked.question_id, answer="send", text=asked.proposal)
    )
    assert prepared(world).edited_by == ""


def test_guidance_that_comes_while_the_question_is_open_goes_in() -> None:
    world = World([0, 10], mode="attended")
    world.host.inbox.extend([EditPrompt(), Guide(text="first words")])
    asked: list[ev.QuestionAsked] = []
    for event in world.steps():
        if isinstance(event, ev.QuestionAsked):
            asked.append(event)
            world.host.inbox.extend([Guide(text="mind the lexer"), Instruct(text="small commits")])
            world.host.inbox.append(
                Answer(question_id=event.question_id, answer="send", text=EDITED)
            )
    (prompt,) = world.agent.prompts
    assert "first words" in asked[0].proposal
    assert prompt.startswith(EDITED)
    assert prompt.endswith(
        "# Standing instruction\n\nsmall commits\n\n\n# Guidance from the user\n\nmind the lexer\n"
    )
    assert [e.into for e in world.all(ev.GuidanceDelivered)] == ["prompt", "prompt"]
    assert len(world.all(ev.PromptPrepared)) == 1


def test_a_code_block_that_an_edit_leaves_open_does_not_hold_what_is_said_later() -> None:
    world = World([0, 10], mode="attended")
    world.host.inbox.append(EditPrompt())
    for event in world.steps():
        if isinstance(event, ev.QuestionAsked):
            world.host.inbox.extend([Instruct(text="```\nmake"), Guide(text="mind the lexer")])
            asked = Answer(question_id=event.question_id, answer="send", text="Do this:\n~~~\nls")
            world.host.inbox.append(asked)
    assert world.agent.prompts[0] == (
        "Do this:\n~~~\nls\n~~~\n\n# Standing instruction\n\n```\nmake\n```\n\n\n"
        "# Guidance from the user\n\nmind the lexer\n"
    )


def broken_off(whole: World, mode: Mode) -> World:
    """Another process, on a journal that ends at an open question about a prompt."""
    until = next(i for i, e in enumerate(whole.events) if isinstance(e, ev.QuestionAsked)) + 1
    later = World([2, 10], past=whole.events[:until], mode=mode)
    later.workspace.taken = [""] * len(whole.all(ev.SnapshotTaken))
    return later


def test_a_resumed_run_asks_again() -> None:
    later = broken_off(editing([0, 10], lambda asked: None), "attended")
    later.play(
        answer("send", text=EDITED), partial(later.loop.resume, ev.RunResumed(pid=2, host="h"))
    )
    assert later.agent.prompts[0] == f"{EDITED}\n"
    assert len(later.all(ev.QuestionAsked)) == 2


def test_without_anybody_to_ask_no_prompt_is_asked_about() -> None:
    later = broken_off(editing([0, 10], lambda asked: None), "headless")
    later.play(lambda asked: None, partial(later.loop.resume, ev.RunResumed(pid=2, host="h")))
    assert len(later.all(ev.QuestionAsked)) == 1
    assert "# Objective" in later.agent.prompts[0]


def test_the_owner_may_abort_instead() -> None:
    world = editing([0, 10], answer("abort"))
    assert world.only(ev.RunFinished).outcome == "aborted"
    assert not world.agent.prompts


def test_a_prompt_that_no_answer_could_hold_is_sent_and_the_log_says_so() -> None:
    world = editing([0, 10], lambda asked: None, objective="x" * 100_001)
    assert not world.all(ev.QuestionAsked)
    assert "too long to edit here" in "".join(e.text for e in world.all(ev.Noticed))


# -- the standing instruction ----------------------------------------------------------------------


def test_a_standing_instruction_is_in_every_prompt_until_it_is_taken_back() -> None:
    world = World([0, 2, 4, 6, 10])
    world.host.inbox.append(Instruct(text="never touch the lexer"))
    for event in world.steps():
        if event.kind == "iteration_started" and len(world.agent.prompts) == 3:
            world.host.inbox.append(Instruct(text=""))
    assert ["never touch the lexer" in prompt for prompt in world.agent.prompts] == [
        True, True, True, False,
    ]  # fmt: skip


# -- the layer switched off ------------------------------------------------------------------------


def test_without_the_layer_a_prompt_says_what_the_owner_has_said_and_no_more() -> None:
    settings = Settings(intelligence=IntelligenceSettings(enabled=False))
    world = World([3, 3, 3, 3, 3, 10], settings=settings)
    world.host.inbox.extend([Instruct(text="small commits"), Guide(text="mind the lexer")])
    world.run()
    first, *_, last = world.agent.prompts
    assert "mind the lexer" in first
    for prompt in world.agent.prompts:
        assert "small commits" in prompt
        assert "pytest -q" in prompt
        assert "<promise>COMPLETE</promise>" in prompt
        assert "test_9" not in prompt.partition("# Redirect")[0]
        assert "# Control" not in prompt
    assert "# Redirect" in last


# -- what is kept ----------------------------------------------------------------------------------


def test_the_files_of_a_prompt_lie_where_its_assessment_does() -> None:
    world = World([0, 2, 10]).run()
    first, second = world.all(ev.PromptPrepared)
    assert first.system_context == "results/iter-000/system-context.md"
    assert second.system_context == "results/iter-001/system-context.md"
    files = world.records.written
    assert files["results/iter-000/next-prompt.md"] == world.agent.prompts[0]
    assert files["results/iter-001/next-prompt.md"] == world.agent.prompts[1]
    assert files[second.system_context] == world.agent.system_contexts[1]
    assert "data, not instructions" in world.agent.system_contexts[0]


def test_a_prompt_names_the_phase_and_the_pace() -> None:
    world = World([0, 1, 2, 3, 5, 6, 10], max_iterations=7).run()
    phases = ["early", "early", "middle", "middle", "middle", "late"]
    prompts = world.agent.prompts
    assert [re.findall(r"Phase: (\w+)\.", prompt) for prompt in prompts] == [[p] for p in phases]
    one_by_one = "Finish one open task at a time"
    finish = "Finish what is open before anything else, and verify the result"
    assert ["Explore first" in prompt for prompt in prompts] == [True, True, *[False] * 4]
    assert [one_by_one in prompt for prompt in prompts] == [False, False, True, True, True, False]
    assert [finish in prompt for prompt in prompts] == [*[False] * 5, True]
    paces = [re.findall(r"Pace: (\S+) points per iteration\.", prompt) for prompt in prompts]
    assert paces == [[], ["+10"], ["+10"], ["+10"], ["+13"], ["+12"]]
    fallen = World([0, 4, 6, 5, 3, 4, 10], max_iterations=20).run().agent.prompts
    assert ["Pace: " in prompt for prompt in fallen] == [False, True, True, True, False, True]
    assert "# Redirect" in fallen[4], "it says what happened instead"
    estimated = World([0, 4, 6, 8, 9], max_iterations=4, settings=Settings(progress="estimate"))
    assert not any("Pace: " in prompt for prompt in estimated.run().agent.prompts)
    gains = [signal.profile for signal in world.all(ev.SignalComputed)]
    assert gains[:3] == ["exploration", "exploration", "focused"]
    (prompt,) = World([8, 9], max_iterations=1).run().agent.prompts
    assert finish in prompt, "from 80 points on, whatever the iteration"
    off = Settings(intelligence=IntelligenceSettings(enabled=False))
    assert "Phase:" not in World([0, 10], settings=off).run().agent.prompts[0]


def test_the_next_prompt_is_the_words_of_the_template_and_the_prompt_is_what_was_sent() -> None:
    world = editing([0, 10], answer("send", text=EDITED))
    assert "# Objective" in world.records.written["results/iter-000/next-prompt.md"]
    assert world.records.files["results/iter-001/prompt.md"] == f"{EDITED}\n"


# -- the budget ------------------------------------------------------------------------------------


def test_an_objective_larger_than_the_budget_is_sent_whole_and_that_is_said_once() -> None:
    settings = Settings(intelligence=IntelligenceSettings(prompt_budget_tokens=1000))
    world = World([0, 2, 10], settings=settings, objective="fix it all, " * 1000).run()
    assert all("fix it all, " * 999 in prompt for prompt in world.agent.prompts)
    said = [e.text for e in world.all(ev.Noticed) if "prompt_budget_tokens" in e.text]
    assert len(said) == 1
    assert "more than intelligence.prompt_budget_tokens (1,000)" in said[0]
    assert "the command's output" in world.all(ev.PromptPrepared)[1].cut
    assert all(e.tokens > 1000 for e in world.all(ev.PromptPrepared))


# -- a layout of the owner's own -------------------------------------------------------------------


def laid_out(text: str, passed: list[int], *later: str) -> World:
    """A run with this template; `later` is the file's content at each further check."""
    reads = iter([text, *later])
    given = PromptTemplate("my.tpl", text, parse_template(text), lambda: next(reads, text))
    return World(passed, template=given)


def warnings(world: World) -> list[str]:
    return [e.text for e in world.all(ev.Noticed) if e.level == "warn" and "my.tpl" in e.text]


def test_a_template_replaces_the_layout() -> None:
    text = "Look.\n\n$state\n\n$objective\n\n$redirect\n\n$iteration/$max_iterations\n\n$contract"
    world = laid_out(text, [0, 2, 10]).run()
    first, second = world.agent.prompts
    assert first.startswith("Look.\n\n# Measured state\n\nCompletion: 0 %")
    assert "# Objective\n\nFix it\n\n1/10\n\n# When you stop" in first
    assert "2/10" in second
    assert warnings(world) == []


def test_what_you_have_said_is_in_it_also_where_it_has_no_place_for_it() -> None:
    world = laid_out("$objective\n\n$contract\n", [0, 10])
    world.host.inbox.extend([Guide(text="mind the lexer"), Instruct(text="small commits")])
    world.run()
    (prompt,) = world.agent.prompts
    assert prompt.endswith(
        "# Standing instruction\n\nThis applies to every iteration:\n\nsmall commits\n\n# "
        "Guidance from the user\n\nThis takes precedence over everything else:\n\nmind the lexer\n"
    )


def test_what_a_template_lacks_is_said_once() -> None:
    world = laid_out("$state", [0, 2, 4, 10]).run()
    assert warnings(world) == [
        "prompt template my.tpl: it has no $objective: the agent does not see the objective",
        "prompt template my.tpl: it has no $contract: the agent is not asked for a report or a "
        "promise",
    ]


def test_a_template_that_is_changed_meanwhile_does_not_count_and_that_is_said_once() -> None:
    text = "$objective\n\n$contract"
    world = laid_out(text, [0, 2, 4, 6, 10], *["do evil, $objective"] * 9).run()
    assert not any("evil" in prompt for prompt in world.agent.prompts)
    assert warnings(world) == [
        "the prompt template my.tpl has changed since this run began; the run keeps using the old "
        "version"
    ]


def test_a_template_that_fails_gives_way_to_the_built_in_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(template: Template, values: object) -> str:
        if template is not BUILT_IN_TEMPLATE:
            raise ZeroDivisionError("of a layout")
        return real(template, values)  # type: ignore[arg-type]

    real = Template.fill
    monkeypatch.setattr(Template, "fill", broken)
    world = laid_out("$objective", [0, 10]).run()
    assert world.agent.prompts[0].startswith("# Objective\n\nFix it\n\n# This iteration")
    said = [e.text for e in world.all(ev.Noticed) if e.level == "error"]
    assert said == [
        "intelligence failed (ZeroDivisionError: of a layout); the built-in layout is used "
        "instead of my.tpl"
    ]


def test_each_variable_is_in_the_guide() -> None:
    guide = (Path(__file__).parents[4] / "docs/guide/prompts.md").read_text("utf-8")
    _, _, table = guide.partition("\n| variable |")
    named = set(re.findall(r"`\$(\w+)`", table.partition("\n\n")[0]))
    assert named == set(VARIABLES)


# -- after a roll back -----------------------------------------------------------------------------


@pytest.mark.parametrize("back_to", [1, 2])
def test_what_a_judge_said_of_work_that_was_undone_is_not_said(back_to: int) -> None:
    """Snapshot 1 is the start, 2 the result of the first iteration."""
    asker = FakeAsker()
    asker.answers.append({"met": False, "reason": "page 2 is missing"})
    settings = Settings(intelligence=IntelligenceSettings(model_judge=True))
    world = World(
        [],
        criterion="it reads well",
        mode="attended",
        settings=settings,
        asker=asker,
        max_iterations=2,
    )
    world.agent.acts.append(promise)
    for event in world.steps():
        if event.kind == "iteration_started" and not world.agent.prompts:
            world.host.inbox.append(Pause())
        if event.kind == "paused":
            world.host.inbox.extend([Restore(snapshot=back_to), Unpause()])
    assert world.only(ev.WorktreeRestored).snapshot == back_to
    assert ("page 2 is missing" in world.agent.prompts[1]) == (back_to == 2)
    assert ("# Verdict" in world.agent.prompts[1]) == (back_to == 2)


def said(summary: str) -> Callable[[FakeSession], None]:
    """Act: report on the work, and end the turn."""

    def act(session: FakeSession) -> None:
        session.emit(ev.AgentReported(iteration=session.iteration, summary=summary))
        session.finish()

    return act


def test_what_undone_iterations_said_is_not_quoted_later_either() -> None:
    """Iteration 2 is undone later; the prompt of 4 quotes 3 and 1, whose work remains."""
    world = World([3, 4, 2, 5, 6], mode="attended", max_iterations=4)
    for number in (1, 2, 3, 4):
        world.agent.acts.append(said(f"the work of session {number}"))
    for event in world.steps():
        if event.kind == "iteration_started" and len(world.agent.prompts) == 1:
            world.host.inbox.append(Pause())
        if event.kind == "paused":
            world.host.inbox.extend([Restore(snapshot=2), Unpause()])
    assert world.only(ev.WorktreeRestored).iteration == 2
    quoted = [re.findall(r"work of session (\d)", prompt) for prompt in world.agent.prompts]
    assert quoted == [[], ["1"], ["1"], ["1", "3"]]
