"""The assessment pane, and reading earlier iterations: tests, prompt and assessment together."""

import pytest
from textual.events import Key

from ralph_tui import events as ev
from ralph_tui.commands import Command, EditPrompt, Guide, Instruct
from ralph_tui.config.settings import Settings
from ralph_tui.events.intelligence import Blocker, Statement, TestStatus, ValidationIssue
from ralph_tui.events.sensor import ReadingSource
from ralph_tui.layers.intelligence import IntelligenceSettings
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.state import RunState
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.modals.guide import TextEntry
from ralph_tui.tui.panes.details import DetailsPane
from tests.rows import each_row
from tests.tui.driving import Driver, drive, live, replay, story
from tests.world import FakeAsker, World

MADE = ev.AssessmentMade(
    iteration=1,
    summary="2 tests more pass; lexer.py and one other file changed.",
    phase="mid",
    progress=45,
    accomplishments=[
        Statement(text="test_nested passes now", source="tests"),
        Statement(text="the parser was rewritten", source="text"),
    ],
    pending=["test_quotes fails"],
    blockers=[
        Blocker(text="pytest: command not found", source="gate", standing=True),
        Blocker(text="no network", source="report"),
    ],
    learnings=["quotes carry state"],
    last_action="Bash python -m pytest -q",
    next_step="mend test_quotes",
    tests=TestStatus(passed=19, failed=2, total=21),
    missing=["the commits"],
)
PIVOT = ev.StrategyPlanned(
    iteration=2,
    approach="pivot",
    focus="reframe",
    reasoning="No rise for 3 iterations.",
    priorities=["test_quotes", "see what the lexer is given"],
    confidence=0.85,
    since=2,
)
WRONG = ev.ValidationDone(
    iteration=2,
    when="before",
    issues=[ValidationIssue(severity="critical", name="budget", text="9 of 10 are used.")],
)


def bare() -> list[ev.Event]:
    """A run without assessments, plans or validations."""
    kinds = (ev.AssessmentMade, ev.StrategyPlanned, ev.ValidationDone)
    return [event for event in story("running") if not isinstance(event, kinds)]


def rows(*more: ev.Event, nth: int = 2, width: int = 60) -> list[str]:
    """The pane's rows when iteration n has just begun and the events `more` have followed."""
    events, seen = [], 0
    for event in bare():
        events.append(event)
        seen += event.kind == "iteration_started"
        if seen == nth:
            break
    pane = DetailsPane(Replay(events))
    pane.state = RunState().apply_all([*events, *more])
    built = pane.build(width, 40)
    assert width < 60 or all(cells(row) <= width for row in built)  # a frame clips
    lines = ["".join(text for text, _ in row).rstrip() for row in built]
    return lines[: lines.index("context window"[:width]) - 1] if width > 20 else lines


def test_before_the_session_it_says_how_it_goes_about_it_and_what_the_last_one_came_to() -> None:
    assert rows(MADE, PIVOT, WRONG) == [
        "iteration 2: another approach, reframe",
        "No rise for 3 iterations.",
        "1 test_quotes",
        "2 see what the lexer is given",
        "◆ critical: 9 of 10 are used.",
        "",
        "iteration 1: mid",
        "2 tests more pass; lexer.py and one other file changed.",
        "✓ test_nested passes now",
        "✓ the parser was rewritten (inferred from text)",
        "▲ blocker: pytest: command not found (measured, still open)",
        "▲ blocker: no network (reported by the agent)",
        "last Bash python -m pytest -q",
        "next mend test_quotes",
        "open test_quotes fails",
        "learned quotes carry state",
        "unknown the commits",
    ]


def test_the_number_of_iterations_left_has_no_sign_of_an_alarm() -> None:
    issue = ValidationIssue(severity="critical", name="near_limit", text="Iteration 2 of 2.")
    left = ev.ValidationDone(iteration=2, when="before", issues=[issue])
    assert "· Iteration 2 of 2." in rows(MADE, PIVOT, left)


def test_a_second_opinion_stands_beside_it() -> None:
    opinion = ev.AssessmentRefined(
        iteration=1, summary="Half of it.", progress=52, approach="Bisect."
    )
    lines = rows(MADE, opinion)
    at = lines.index("a model's second opinion  about 52 %")
    assert lines[at + 1 : at + 3] == ["Half of it.", "next Bisect."]


def test_a_models_verdict_is_told_where_it_was_given() -> None:
    said = ev.CriterionJudged(iteration=1, met=False, reason="deep.txt is not read yet.")
    assert "▲ a model judges the criterion not met: deep.txt is not read" in rows(MADE, said)
    assert not any("judges" in row for row in rows(MADE, said.model_copy(update={"iteration": 0})))


def test_an_approach_that_goes_on_says_since_when() -> None:
    later = PIVOT.model_copy(update={"iteration": 3})
    assert rows(later, nth=3)[0] == "iteration 3: another approach, reframe since iteration 2"


def test_nothing_is_said_as_such() -> None:
    assert rows() == ["no assessment yet"]


@each_row("width", [1, 12, 31, 76])
def test_it_fits_any_width(width: int) -> None:
    assert rows(MADE, PIVOT, WRONG, width=width)


def test_the_frame_says_what_the_help_of_models_has_cost() -> None:
    pane, state = DetailsPane(Replay([])), RunState()
    asked = ev.ModelAsked(iteration=1, question_id="a", purpose="judge")
    state.apply(asked)
    pane.state = state
    assert pane.subtitle(60)[0][0] == "asking a model: judge"
    for error, cost in (("", 0.02), ("no answer in time", None)):
        state.apply(
            ev.ModelAnswered(
                iteration=1, question_id="a", purpose="judge", seconds=6, cost_usd=cost, error=error
            )
        )
    text = "model help: 2 questions, 1 unanswered, 12s, $0.0200"
    assert pane.subtitle(70)[0][0] == text


# earlier iterations -------------------------------------------------------------------------------


def test_in_a_live_run_the_keys_step_through_its_iterations() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("7", "z")
        latest = driver.cockpit.state.run.iteration
        await driver.press("less_than_sign")
        await driver.sees(f"iteration {latest - 1}: tests, prompt, details; esc: latest")
        await driver.sees(f"iteration {latest - 1}  < > other iterations, esc latest")
        span = driver.cockpit.state.timeline.spans[-2]
        assert span.gate is not None
        await driver.sees(f"{span.gate.passed}/{span.gate.total}")
        await driver.press("9")
        await driver.sees(f"iteration {latest - 1}  < > other iterations")
        for _ in range(latest - 1):
            await driver.press("less_than_sign")
        await driver.sees("before iteration 1  < >")
        await driver.press("less_than_sign")
        await driver.sees("no more iterations in that direction")
        await driver.press("escape")
        await driver.sees("showing the latest iteration")
        assert "< > other iterations" not in "\n".join(driver.text())

    drive(live(story("running")), look, (80, 24))


def test_an_earlier_iteration_stays_while_the_run_goes_on() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("9", "less_than_sign")
        place = driver.cockpit.body.panes["details"]
        assert isinstance(place, DetailsPane)
        chosen = place.chosen
        assert chosen is not None
        state = driver.cockpit.state
        made = MADE.model_copy(update={"iteration": 99, "seq": state.seq + 1, "at": state.at})
        driver.inbox.append(made)
        await driver.until(lambda: 99 in driver.cockpit.state.intelligence.assessments)
        assert place.chosen == chosen

    drive(live(story("running")), look, (80, 24))


def test_in_a_replay_the_same_keys_move_in_its_time() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("end", "less_than_sign")
        assert driver.cockpit.navigator.end() is False
        player = driver.source.player
        assert player is not None
        assert player.position < player.length

    drive(replay(story("running")), look)


def test_e_in_the_prompt_asks_for_one_edit_and_takes_it_back() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("8", "e")
        assert driver.sent == [EditPrompt()]
        await driver.sees("e edit: the next prompt is shown to you before it is sent")
        state = driver.cockpit.state
        driver.inbox.append(ev.PromptEditRequested(seq=state.seq + 1, at=state.at))
        await driver.sees("the next prompt is shown to you before it is sent; press e again to")
        await driver.press("e")
        assert driver.sent[-1] == EditPrompt(wanted=False)
        always = ev.StandingInstructionChanged(text="mind it", seq=state.seq + 1, at=state.at)
        ended = ev.RunFinished(outcome="aborted", reason="aborted", iterations=1, completion=1)
        driver.inbox.append(always)
        await driver.sees("in every prompt: mind it")
        # There is no next prompt any more.
        driver.inbox.append(ended.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        await driver.sees("never sent to the agent: mind it")
        await driver.press("8")
        await driver.until(lambda: "mind it" not in "\n".join(driver.text()))
        assert "next prompt" not in "\n".join(driver.text())

    drive(live(story("running")), look, (80, 24))


@pytest.mark.parametrize("name", ["paused", "pause"])
def test_e_says_when_the_next_prompt_can_be_edited_while_the_run_waits(name: str) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("escape", "8", "e")
        await driver.sees(
            "e edit: the next prompt is composed when the run continues; you can edit"
        )
        state = driver.cockpit.state
        driver.inbox.append(ev.PromptEditRequested(seq=state.seq + 1, at=state.at))
        await driver.sees("you can edit it then; press e again to")

    drive(live(story(name)), look, (100, 30))


def test_e_edits_nothing_when_the_run_is_over() -> None:
    async def look(driver: Driver) -> None:
        state = driver.cockpit.state
        ended = ev.RunFinished(outcome="aborted", reason="aborted", iterations=1, completion=1)
        driver.inbox.append(ended.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        await driver.until(lambda: driver.cockpit.state.run.finished)
        await driver.press("8", "e")
        await driver.sees("e edit: the run has ended")
        assert not driver.sent

    drive(live(story("running")), look, (80, 24))


def test_every_session_of_an_iteration_has_its_prompt() -> None:

    state = RunState().apply_all(story("running"))
    first = ev.PromptPrepared(iteration=7, path="results/iter-007/prompt.md", seq=9001)
    state.timeline.spans[-1].prompts = []
    for event in (first, first.model_copy(update={"seq": 9002})):
        state.apply(event)
    assert len(state.timeline.spans[-1].prompts) == 1, "the same file was written again"
    second = first.model_copy(update={"seq": 9003, "path": "results/iter-007/prompt-2.md"})
    state.apply(second)
    assert [p.seq for p in state.timeline.spans[-1].prompts] == [9002, 9003]


def test_words_can_stand_in_every_prompt_and_be_taken_back() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("g")
        await driver.sees("ctrl+t add it to every prompt from now on")
        await driver.press(*"mind it", "ctrl+t")
        assert driver.sent == [Instruct(text="mind it")]
        state = driver.cockpit.state
        said = ev.StandingInstructionChanged(text="mind it", seq=state.seq + 1, at=state.at)
        driver.inbox.append(said)
        await driver.press("8")
        await driver.sees("in every prompt: mind it")
        await driver.press("g")
        await driver.sees("now in every prompt: mind it")
        await driver.press("ctrl+t")
        assert driver.sent[-1] == Instruct(text="")

    drive(live(story("running")), look, (80, 24))


@pytest.mark.parametrize(
    ("key", "sent", "draft"),
    [
        ("ctrl+t", [Instruct(text="mind the tests")], ""),
        ("enter", [Guide(text="mind the tests")], ""),
        ("escape", [], "mind the tests"),
    ],
)
def test_words_that_are_typed_faster_than_they_are_drawn_are_not_lost(
    key: str, sent: list[Command], draft: str
) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("g")
        await driver.until(lambda: not driver._opens())
        driver.watch.now += 3.0
        for each in "mind the tests":
            driver.app.post_message(Key(key_of(each), each))
        driver.app.post_message(Key(key, None))
        await driver.until(lambda: driver.app.screen is driver.cockpit)
        assert driver.sent == sent
        await driver.press("g")
        assert driver.app.screen.query_one(TextEntry).text == draft

    drive(live(story("running")), look, (80, 24))


def key_of(character: str) -> str:
    return "space" if character == " " else character


def test_an_estimate_is_told_only_where_nothing_is_measured() -> None:
    pane = DetailsPane(Replay([]))
    pane.state = RunState().apply_all([*bare(), MADE.model_copy(update={"iteration": 7})])
    fields: dict[ReadingSource, str] = {"tests": "mid", "estimate": "mid · about 45 % by activity"}
    for source, head in fields.items():
        pane.state.run.source = source
        assert "".join(text for text, _ in pane.build(60, 9)[0]) == f"iteration 7: {head}"


def test_a_models_estimate_stands_beside_the_measurement_and_never_is_one() -> None:
    asker = FakeAsker()
    asker.answers.append({"enhancedSummary": "Half done.", "refinedProgress": 52})
    settings = Settings(intelligence=IntelligenceSettings(model_assessment=True))
    asked = World([3, 4, 10], settings=settings, asker=asker).run()
    refined = asked.only(ev.AssessmentRefined)
    assert (refined.progress, refined.measured) == (52, 40)
    measured = [event.completion for event in asked.all(ev.ReadingTaken)]
    assert measured == [30, 40, 100]
    assert asked.state.run.completions == [40, 100]
    pane = DetailsPane(Replay([]))
    pane.state = RunState().apply_all(asked.events[: refined.seq])
    shown = ["".join(text for text, _ in row).rstrip() for row in pane.build(60, 40)]
    assert "a model's second opinion  about 52 %, measured 40 %" in shown
