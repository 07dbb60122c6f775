"""The session after an ended one learns of it in its prompt; no other does."""

from collections.abc import Callable
from functools import partial

import pytest

from ralph_tui import events as ev
from ralph_tui.commands import Answer, EditPrompt, Guide
from ralph_tui.config.settings import Settings
from ralph_tui.layers.context.resume import DO_NOT_RESTART
from ralph_tui.layers.intelligence import IntelligenceSettings
from ralph_tui.layers.intelligence.handoff_section import HEADING
from ralph_tui.layers.intelligence.template import parse_template
from ralph_tui.ports.records import PromptTemplate
from tests.unit.loop.steps.rollovers import fills
from tests.unit.loop.test_recovery import broken_off
from tests.world import FakeAsker, FakeSession, World
from tests.world.faults import PROMPT, Fault, Part, injected
from tests.world.owner import first


def test_only_the_session_that_takes_over_is_told() -> None:
    world = World([2, 4, 10])
    world.agent.acts.append(fills(86))
    world.run()
    reported = [HEADING in prompt for prompt in world.agent.prompts]
    assert reported == [False, True, False]
    objective, _, rest = world.agent.prompts[1].partition(f"# {HEADING}")
    assert "# This iteration" in objective
    assert "# Measured state" in rest
    assert DO_NOT_RESTART in rest
    assert world.only(ev.HandoffWritten).read_at in rest
    prompts = world.all(ev.PromptPrepared)
    assert [event.path.rpartition("/")[2] for event in prompts[:2]] == ["prompt.md", "prompt-2.md"]
    assert world.records.files[prompts[1].path] == world.agent.prompts[1]
    assert prompts[1].tokens > prompts[0].tokens


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("part", [None, *PROMPT], ids=str)
def test_it_is_told_whatever_of_the_layer_is_off_or_fails(
    *, enabled: bool, part: Part | None
) -> None:
    world = World([4, 10], settings=Settings(intelligence=IntelligenceSettings(enabled=enabled)))
    world.agent.acts.append(fills(86))
    with injected(world, *([Fault(part)] if part else [])):
        world.run()
    prompt = world.agent.prompts[1]
    assert HEADING in prompt
    assert world.only(ev.HandoffWritten).read_at in prompt
    assert "restart the task" in prompt
    assert HEADING not in world.agent.prompts[0]


def test_a_template_without_its_variable_loses_nothing() -> None:
    text = "$objective\n\nBe quick.\n"
    given = PromptTemplate("my.tpl", text, parse_template(text), lambda: text)
    world = World([4, 10], template=given)
    world.agent.acts.append(fills(86))
    world.run()
    assert HEADING in world.agent.prompts[1]
    assert HEADING not in world.agent.prompts[0]


def limited(session: FakeSession) -> None:
    """Act: the service refuses before any work."""
    session.finish("limited")


def test_a_session_that_is_tried_again_is_told_again() -> None:
    world = World([4, 10])
    world.agent.acts.extend([fills(86), limited, limited])
    world.run()
    reported = [HEADING in prompt for prompt in world.agent.prompts]
    assert reported == [False, True, True, True]


def hears(*words: str) -> Callable[[FakeSession], None]:
    """Act: the user speaks to the session, and then its window fills."""

    def act(session: FakeSession) -> None:
        for text in words:
            session.emit(ev.GuidanceQueued(guidance_id=text, text=text))
            session.emit(ev.GuidanceDelivered(guidance_id=text, into="session"))
        fills(86)(session)

    return act


def test_what_you_said_to_the_ended_sessions_is_told_again() -> None:
    world = World([2, 4, 10])
    world.host.inbox.append(Guide(text="Leave the lexer alone."))
    world.agent.acts.extend([hears("Look at groups first."), hears("Then at escapes.")])
    world.run()
    first, second, third, later = world.agent.prompts[:4]
    assert "Leave the lexer alone." in first
    assert "> Leave the lexer alone." in second
    assert "> Look at groups first." in second
    for words in ("Leave the lexer alone.", "Look at groups first.", "Then at escapes."):
        assert third.count(words) == 1
        assert words not in later
    assert len(world.all(ev.GuidanceDelivered)) == 3


@pytest.mark.parametrize("kind", ["handoff_written", "prompt_prepared", "session_started"])
def test_who_takes_over_after_a_kill_is_told_too(kind: str) -> None:
    whole = World([2, 4, 10], mode="attended")
    whole.agent.acts.append(hears("Look at groups first."))
    whole.run()
    written = whole.only(ev.HandoffWritten)
    number = next(e.seq for e in whole.events if e.seq >= written.seq and e.kind == kind)
    later = broken_off(whole, number)
    later.play(first, partial(later.loop.resume, ev.RunResumed(pid=2, host="h")))
    assert "> Look at groups first." in later.agent.prompts[0]
    assert written.read_at in later.agent.prompts[0]
    assert all(HEADING not in prompt for prompt in later.agent.prompts[1:])
    starts = [
        e for e in later.events[number:] if isinstance(e, ev.IterationStarted | ev.SessionStarted)
    ]
    assert starts[0].iteration == 2, "the iteration that was cut off is not gone on with"


def test_after_an_iteration_that_came_to_its_end_nobody_is_told() -> None:
    whole = World([2, 4, 10], mode="attended")
    whole.agent.acts.append(fills(86))
    whole.run()
    number = next(e.seq for e in whole.events if e.kind == "iteration_finished")
    later = broken_off(whole, number)
    later.play(first, partial(later.loop.resume, ev.RunResumed(pid=2, host="h")))
    assert all(HEADING not in prompt for prompt in later.agent.prompts)


def test_your_edit_of_a_prompt_stands_in_the_next_ones_of_its_iteration() -> None:
    def reply(asked: ev.QuestionAsked) -> Answer:
        words = "Only the lexer.\n\n```\nopen" if asked.topic == "prompt" else ""
        return Answer(question_id=asked.question_id, answer="send", text=words)

    world = World([2, 4, 10], mode="attended")
    world.host.inbox.append(EditPrompt())
    world.agent.acts.extend([hears("Look at groups first."), fills(86)])
    world.play(reply)
    mine, second, third, later = world.agent.prompts[:4]
    assert mine == "Only the lexer.\n\n```\nopen\n"
    for prompt in (second, third):
        assert prompt.startswith(f"# {HEADING}")
        assert "Only the lexer." in prompt
        assert prompt.count("> Look at groups first.") == 1
    assert "Only the lexer." not in later
    asked = [event.topic for event in world.all(ev.QuestionAsked)]
    assert asked.count("prompt") == 1
    assert [event.edited_by for event in world.all(ev.PromptPrepared)[:4]] == ["you"] * 3 + [""]


def test_a_models_words_stand_in_the_next_prompts_without_asking_again() -> None:
    asker = FakeAsker()
    asker.answers.append({"prompt": "Mend the lexer.", "focusAreas": [], "urgency": "normal"})
    settings = Settings(intelligence=IntelligenceSettings(model_prompts=True))
    world = World([4, 10], asker=asker, settings=settings)
    world.agent.acts.append(fills(86))
    world.run()
    first, second = world.agent.prompts[:2]
    assert "Mend the lexer." in first
    assert "Mend the lexer." in second
    assert second.index(HEADING) < second.index("Mend the lexer.")
    assert [event.origin for event in world.all(ev.PromptPrepared)[:2]] == ["model", "model"]
    assert len(asker.asked) == world.end.iterations, "once for each iteration"
