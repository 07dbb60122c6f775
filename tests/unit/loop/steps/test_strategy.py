"""Steps 3, 8 and the validation of step 11 in a run."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from ralph_tui import events as ev
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.lab import recompute
from ralph_tui.cli.status_words import status_text
from ralph_tui.config.settings import Settings
from ralph_tui.events.run import Mode
from ralph_tui.events.workspace import FileChange
from ralph_tui.layers.intelligence import IntelligenceSettings
from ralph_tui.layers.oversight import OversightSettings
from ralph_tui.layers.settings import ControlSettings
from ralph_tui.state import RunState
from tests.unit.loop.invariants import check
from tests.unit.loop.test_recovery import broken_off, go_on, world
from tests.world import FakeSession, World, promise, report
from tests.world.moments import moments
from tests.world.owner import answer, first


def blocked(*blockers: str) -> Callable[[FakeSession], None]:
    """Act: report a blocker, and end the turn."""

    def act(session: FakeSession) -> None:
        session.emit(ev.AgentReported(iteration=session.iteration, blockers=list(blockers)))
        session.finish()

    return act


def failing(calls: int) -> Callable[[FakeSession], None]:
    def act(session: FakeSession) -> None:
        session.emit(
            ev.SessionFinished(
                iteration=session.iteration, outcome="success", tool_calls=9, tool_errors=calls
            )
        )

    return act


def issues(world: World) -> list[tuple[int, str, str, str]]:
    return [
        (done.iteration, done.when, issue.severity, issue.name)
        for done in world.all(ev.ValidationDone)
        for issue in done.issues
    ]


def between(events: list[ev.Event], kind: type[ev.Event]) -> list[tuple[int, int]]:
    """Iteration and step in which each event of a type was recorded."""
    found, at = [], (0, 0)
    for event in events:
        if isinstance(event, ev.StepEntered):
            at = event.iteration, event.step
        elif isinstance(event, kind):
            found.append(at)
    return found


def test_each_iteration_has_its_strategy_at_step_3() -> None:
    world = World([2, 3, 3, 3, 3, 10]).run()
    planned = world.all(ev.StrategyPlanned)
    assert [event.iteration for event in planned] == [1, 2, 3, 4, 5]
    assert between(world.events, ev.StrategyPlanned) == [(k, 3) for k in range(1, 6)]
    assert [(event.approach, event.focus, event.since) for event in planned] == [
        ("persist", "continue", 1),
        ("persist", "continue", 1),
        ("persist", "continue", 1),
        ("persist", "continue", 1),
        ("pivot", "reframe", 5),
    ]
    assert planned[0].priorities == ["test_2", "test_3", "test_4"]
    assert planned[4].priorities == ["test_3", "test_4", "test_5"]
    assert all(event.reasoning for event in planned)


def test_what_the_agent_meant_to_do_is_a_priority() -> None:
    world = World([2, 4, 10])
    world.agent.acts.append(report("look at the lexer"))
    world.run()
    assert world.all(ev.StrategyPlanned)[1].priorities == ["test_4", "test_5", "look at the lexer"]


def test_the_limit_and_what_does_not_fit_a_session_are_validated() -> None:
    world = World([2, 4, 5, 6], max_iterations=3)
    world.agent.acts.extend([promise, failing(6), failing(5)])
    world.workspace.changed = [
        FileChange(path="pyproject.toml", status="modified", category="config", added=1)
    ]
    world.run()
    assert issues(world) == [
        (1, "after", "high", "unproven_promise"),
        (1, "after", "high", "changed_configuration"),
        (2, "after", "medium", "excessive_errors"),
        (2, "after", "high", "changed_configuration"),
        (3, "before", "critical", "near_limit"),
        (3, "after", "high", "changed_configuration"),
    ]
    before = [e for e in world.all(ev.ValidationDone) if e.when == "before"]
    assert before[0].issues[0].text == "Iteration 3 of 3: the last one."
    assert between(world.events, ev.ValidationDone) == [(1, 11), (2, 11), (3, 8), (3, 11)]


def unproven(
    settings: Settings | None = None, mode: Mode = "attended", passed: Sequence[int] = (4,) * 9
) -> World:
    """A run whose agent promises completion in every iteration and is never done."""
    run = World([*passed], max_iterations=8, settings=settings or Settings(), mode=mode)
    run.gate.total = 1000  # patient: STUCK comes much later
    run.agent.acts.extend([promise] * 8)
    return run


def about_validation(run: World) -> list[tuple[int, str]]:
    made = run.all(ev.InterventionMade)
    return [(e.iteration, e.level) for e in made if e.about == "validation"]


def test_an_unproven_promise_warns_then_redirects_with_the_errors_in_the_prompt() -> None:
    patient = Settings(control=ControlSettings(stuck_after=50))
    run = unproven(patient)
    run.play(answer("approve"))
    assert about_validation(run)[:2] == [(1, "WARN"), (3, "REDIRECT")]
    redirect = run.all(ev.RedirectDecided)[0]
    assert "Errors that validation found" in redirect.instructions
    assert "the completion command fails." in redirect.instructions
    assert "Fix these errors before you do anything else." in run.agent.prompts[3]
    words = [row.word for entry in run.state.log.entries for row in entry.rows]
    assert "VALIDATION" not in words, "the row of the issue itself says it"
    check(run)
    rising = unproven(patient, passed=[4, 4, *[5] * 7])
    rising.play(answer("approve"))
    assert about_validation(rising) == [(1, "WARN"), (5, "REDIRECT")], "a new best after 2"
    gone = unproven(patient)
    gone.agent.acts[2] = failing(0)
    gone.agent.acts[5] = failing(0)
    gone.play(answer("approve"))
    warned = [(1, "WARN"), (4, "WARN"), (7, "WARN")]
    assert about_validation(gone) == warned, "never three in a row"


def test_strict_validation_holds_the_next_session_back_and_asks() -> None:
    strict = Settings(intelligence=IntelligenceSettings(strict_validation=True))
    assert not [e for e in unproven().run().all(ev.QuestionAsked) if e.about == "validation"]
    run = unproven(strict)
    run.play(answer("abort"))
    asked = run.only(ev.QuestionAsked)
    assert (asked.topic, asked.about, asked.iteration) == ("pause", "validation", 1)
    assert "the completion command fails" in asked.text
    assert len(run.agent.prompts) == 1
    assert run.end.outcome == "aborted"


def test_the_next_prompt_names_the_errors_of_validation() -> None:
    run = World([2, 4, 5, 10])
    run.agent.acts.append(failing(6))
    run.workspace.changed = [
        FileChange(path="pyproject.toml", status="modified", category="config", added=1)
    ]
    run.run()
    assert "fix these first" not in run.agent.prompts[0]
    assert "- Test configuration changed: pyproject.toml." in run.agent.prompts[1]
    status = summarize(run.state)["validation"]
    assert status == {"valid": True, "errors": [], "warnings": []}, "nothing at 100"
    early = RunState().apply_all(run.events[: run.all(ev.ValidationDone)[0].seq])
    assert summarize(early)["validation"] == {
        "valid": False,
        "errors": ["Test configuration changed: pyproject.toml."],
        "warnings": ["6 tool calls failed in this session."],
    }


def test_validation_separates_errors_from_warnings() -> None:
    run = World([2, 4, 6], max_iterations=2)
    run.agent.acts.extend([failing(6), failing(6)])
    run.workspace.changed = [
        FileChange(path="pyproject.toml", status="modified", category="config", added=1)
    ]
    run.run()
    assert summarize(run.state)["validation"] == {
        "valid": False,
        "errors": [
            "Iteration 2 of 2: the last one.",
            "Test configuration changed: pyproject.toml.",
        ],
        "warnings": ["6 tool calls failed in this session."],
    }
    done = run.all(ev.ValidationDone)[0]
    assert [one.name for one in done.errors] == ["changed_configuration"]


def test_a_pivot_is_asked_about_when_the_setting_says() -> None:
    """A blocker stands throughout, and nothing is ever counted."""
    found = []
    for escalate_at in (7, 9):
        settings = Settings(
            progress="estimate", intelligence=IntelligenceSettings(escalate_at=escalate_at)
        )
        run = World([3] * 20, max_iterations=20, settings=settings, mode="attended")
        run.agent.acts.extend([blocked("No database.")] * 20)
        run.play(answer("continue"))
        found.append([e.iteration for e in run.all(ev.StrategyPlanned) if e.approach == "escalate"])
        later = IntelligenceSettings(escalate_at=escalate_at + 3)
        rows = recompute(run.events, intelligence=later)
        pauses = [one.row.iteration for one in rows if one.row.intervention == "PAUSE"]
        assert pauses[0] == found[-1][0] + 2, "planned after the PAUSE's measurement"
    assert found[0]
    assert found[1][0] == found[0][0] + 2


def measured_and_blocked() -> World:
    """A run whose tests are counted, with a blocker that stands throughout."""
    run = world([3] * 30, max_iterations=20)
    run.agent.acts.extend([blocked("no network")] * 20)
    return run


def test_a_blocker_of_a_measured_run_is_asked_about_once_in_place_of_the_episode() -> None:
    run = measured_and_blocked().play(first)
    (planned,) = [e for e in run.all(ev.StrategyPlanned) if e.approach == "escalate"]
    asked = [(e.iteration, e.about) for e in run.all(ev.QuestionAsked) if e.topic == "pause"]
    at = planned.iteration - 1
    assert planned.iteration - planned.since >= IntelligenceSettings().escalate_at
    assert (at, "strategy") in asked
    assert asked[0][1] == "stuck"
    assert len({k for k, _ in asked}) == len(asked)
    (question,) = [e for e in run.all(ev.QuestionAsked) if e.about == "strategy"]
    assert any("STUCK" in one for one in question.evidence)
    assert at not in [k for k, about in asked if about == "stuck"]
    check(run)
    never = Settings(intelligence=IntelligenceSettings(escalate_at=1000))
    other = world([3] * 30, max_iterations=20, settings=never)
    other.agent.acts.extend([blocked("no network")] * 20)
    other.play(first)
    pauses = [e.iteration for e in other.all(ev.QuestionAsked) if e.topic == "pause"]
    assert pauses == [k for k, _ in asked], "no question more than without it"


def test_a_resumed_measured_run_asks_about_its_strategy_once() -> None:
    whole = measured_and_blocked().play(first)
    asked = next(event.seq for event in whole.all(ev.QuestionAsked) if event.about == "strategy")
    for cut in range(asked - 40, asked + 12, 7):
        again = broken_off(whole, cut)
        again.agent.acts.extend([blocked("no network")] * 20)
        again.play(first, partial(again.loop.resume, ev.RunResumed(pid=2, host="h")))
        about = [e.iteration for e in again.all(ev.QuestionAsked) if e.about == "strategy"]
        # An iteration that was cut off before its measurement is followed by another.
        assert about in ([14], [15]), cut
        planned = [e.iteration for e in again.all(ev.StrategyPlanned) if e.approach == "escalate"]
        assert len(planned) == 1, cut


def test_a_strategy_says_what_it_adjusts() -> None:
    run = World([2, 3, 3, 3, 3, 10]).run()
    assert [one.adjustments for one in run.all(ev.StrategyPlanned)] == [
        *[{}] * 4, {"focus": "reframe", "urgency": "high"},
    ]  # fmt: skip
    status = summarize(run.state)["strategy"]
    assert status is not None
    assert status["adjustments"] == {"focus": "reframe", "urgency": "high"}
    near = World([8, 9, 10]).run().all(ev.StrategyPlanned)
    assert [(one.approach, one.adjustments) for one in near][-1:] == [
        ("persist", {"focus": "finish"})
    ]


def test_conflicts_that_are_still_there_are_told_before_the_session() -> None:
    """The user continues without resolving them; in the third iteration they are resolved."""
    run = world([2, 4, 5, 6, 7], max_iterations=4)
    run.workspace.conflicting = ("a.py", "b.py")

    def resolve(session: FakeSession) -> None:
        run.workspace.conflicting = ()
        session.finish()

    run.agent.acts.extend([FakeSession.finish, resolve])
    run.play(first)
    reported = [(k, when) for k, when, _, name in issues(run) if name == "unresolved_conflicts"]
    assert reported == [(2, "before")]
    assert "in a.py, b.py." in run.all(ev.ValidationDone)[0].issues[0].text


def test_where_the_layer_is_off_nothing_of_it_is_recorded() -> None:
    off = Settings(intelligence=IntelligenceSettings(enabled=False))
    world = World([2, 3, 3, 3, 3, 3], max_iterations=5, settings=off).run()
    assert not world.all(ev.StrategyPlanned)
    assert not world.all(ev.ValidationDone)
    assert world.end.outcome == "aborted" or world.end.iterations == 5


@pytest.mark.parametrize(
    "settings",
    [
        Settings(oversight=OversightSettings(enabled=False)),
        Settings(control=ControlSettings(enabled=False)),
    ],
)
def test_without_another_layer_strategies_are_planned_all_the_same(settings: Settings) -> None:
    world = World([2, 3, 3, 3, 3, 10], settings=settings).run()
    focuses = [event.focus for event in world.all(ev.StrategyPlanned)]
    assert focuses[:5] == ["continue"] * 4 + ["reframe"]


def test_a_resumed_run_records_no_strategy_and_no_issue_twice() -> None:
    """Wherever it was cut off."""
    whole = world([2, 3, 3, 3, 3, 3, 3], max_iterations=5)
    whole.agent.acts.extend([promise] * 5)
    whole.play(first)
    assert len(whole.all(ev.ValidationDone)) >= 5
    for cut in moments(whole.events)[::2]:
        again = go_on(whole, cut)
        planned = [event.iteration for event in again.all(ev.StrategyPlanned)]
        assert planned == sorted(set(planned)), cut
        found = [(event.iteration, event.when) for event in again.all(ev.ValidationDone)]
        assert len(found) == len(set(found)), cut


NEVER_COUNTED = Settings(progress="estimate")
"""An estimate causes no REDIRECT: a pivot stays without an episode."""


def blocked_run(mode: str = "attended", most: int = 12) -> World:
    run = world([2] * 30, max_iterations=most, settings=NEVER_COUNTED, mode=mode)
    run.agent.acts.extend([blocked("no network")] * most)
    return run


def test_a_blocker_that_stands_turns_the_run_around_and_in_the_end_asks() -> None:
    run = blocked_run().play(first)
    planned = [(event.approach, event.focus, event.since) for event in run.all(ev.StrategyPlanned)]
    assert planned[:2] == [("persist", "continue", 1)] * 2
    assert planned[2:9] == [("pivot", "blocker_resolution", 3)] * 7
    assert planned[9] == ("escalate", "blocker_resolution", 3)
    assert planned[10:] == [("pivot", "blocker_resolution", 3)] * 2
    assert run.all(ev.StrategyPlanned)[2].priorities[0] == "no network"
    (made,) = [event for event in run.all(ev.InterventionMade) if event.about == "strategy"]
    assert (made.iteration, made.level) == (9, "PAUSE")
    (asked,) = [event for event in run.all(ev.QuestionAsked) if event.about == "strategy"]
    assert asked.topic == "pause"
    assert "still blocked by: no network" in asked.evidence
    assert [option.answer for option in asked.options] == ["continue", "guide", "extend", "abort"]
    assert asked.default == "abort"
    assert asked.deadline is not None
    check(run)


def test_an_approach_that_is_given_up_is_urgent_however_near_the_end_is() -> None:
    run = World([0, 8, 9, 9, 9, 9], max_iterations=4)
    run.agent.acts.extend([blocked("no network")] * 4)
    run.run()
    assert run.all(ev.SignalComputed)[1].urgency in ("low", "normal")
    assert "Urgency: high." in run.agent.prompts[2]
    assert run.all(ev.PromptPrepared)[2].urgency == "high"


def test_where_nobody_is_there_it_ends_as_other_pauses_do() -> None:
    run = blocked_run("headless").run()
    assert run.end.outcome == "aborted"
    assert run.end.iterations == 9


def test_a_run_that_is_resumed_asks_about_its_strategy_once() -> None:
    whole = blocked_run().play(first)
    asked = next(event.seq for event in whole.all(ev.QuestionAsked))
    for cut in range(asked - 12, asked + 12, 3):
        again = broken_off(whole, cut, settings=NEVER_COUNTED)
        again.agent.acts.extend([blocked("no network")] * 12)
        again.play(first, partial(again.loop.resume, ev.RunResumed(pid=2, host="h")))
        made = [e.iteration for e in again.all(ev.InterventionMade) if e.about == "strategy"]
        assert made == [9], cut
        check(again)


def test_what_was_brought_back_leaves_nothing_stale_in_the_strategy() -> None:
    run = World([0, 7, 6, 5, 8, 10], mode="attended").play(answer("roll_back"))
    fourth = run.all(ev.StrategyPlanned)[3]
    assert (fourth.approach, fourth.focus, fourth.priorities) == ("pivot", "review", [])
    assert "The files were restored since" in fourth.reasoning
    assert "files were restored" not in run.all(ev.StrategyPlanned)[4].reasoning


def test_what_layer_2_found_is_evidence_in_the_questions_of_the_overseer() -> None:
    run = world([0, 3, 3, 3, 3, 3, 10])
    run.agent.acts.extend([promise] * 6)
    run.play(first)
    asked = run.all(ev.QuestionAsked)[0]
    assert asked.topic == "redirect"
    says = "validation: The agent says it is done, but the completion command fails."
    assert says in asked.evidence


def test_a_passed_command_ends_the_run_with_nothing_asked_or_planned_after_it() -> None:
    """Also with a blocker, a missing promise, or in the last iteration."""
    run = world([2, 3, 4, 5, 10], max_iterations=5)
    run.agent.acts.extend([blocked("no network")] * 4)
    run.play(first)
    assert run.end.outcome == "completed"
    assert (run.end.iterations, len(run.agent.sessions)) == (4, 4)
    reading = next(event.seq for event in run.all(ev.ReadingTaken) if event.completion == 100)
    after = {event.kind for event in run.events if event.seq > reading}
    assert not after & {
        "alarm_raised",
        "intervention_made",
        "question_asked",
        "strategy_planned",
        "validation_done",
        "learnings_retrieved",
        "model_asked",
        "prompt_prepared",
        "iteration_started",
    }


def test_a_status_names_a_changed_approach_and_leaves_out_an_unchanged_one() -> None:
    run = World([2, 3, 3, 3, 3, 3], max_iterations=5, mode="headless").run()
    summary: Any = summarize(run.state) | {"alive": False}
    assert summary["strategy"]["focus"] == "reframe"
    rows = dict(line.split(maxsplit=1) for line in status_text(summary).splitlines())
    assert rows["strategy"].startswith("another approach: No new best since iteration 1.")
    calm = World([2, 4], max_iterations=1).run()
    summary = summarize(calm.state) | {"alive": False}
    assert summary["strategy"]["approach"] == "persist"
    older = summary | {"strategy": None}
    for status in (summary, older):
        assert "\nstrategy" not in status_text(status)


def test_the_lab_repeats_what_the_strategy_asked() -> None:
    run = blocked_run().play(first)
    compared = recompute(run.events)
    assert [one.row.iteration for one in compared if one.row.intervention == "PAUSE"] == [9, 11]
    for one in compared:
        assert one.recorded is not None
        assert one.row.intervention == one.recorded.intervention
    off = recompute(run.events, oversight=OversightSettings(enabled=False))
    assert {one.row.intervention for one in off} == {None}
