"""The learnings pane and its cards: content, selection and requests."""

import re
from itertools import product

import pytest

from ralph_tui import events as ev
from ralph_tui.commands import ChangeLearning, Command
from ralph_tui.events.memory import Change, unchanged_words
from ralph_tui.state import RunState
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.modals.choice_dialog import Confirm
from ralph_tui.tui.modals.guide import EditLearning
from ralph_tui.tui.modals.learning import LearningCard
from ralph_tui.tui.panes.learning_rows import card_rows
from ralph_tui.tui.panes.learnings import LearningsPane
from tests.tui.driving import Driver, drive, live, replay, story
from tests.world.taught import FIXTURES, LARGE, QUOTES, RUN_ONE


def rows(name: str, width: int, height: int = 40, *, zoomed: bool = False) -> list[str]:
    """The pane's text without its frame."""
    pane = LearningsPane()
    pane.state, pane.zoomed = RunState().apply_all(story(name)), zoomed
    built = pane.build(width, height)
    assert width < 31 or all(cells(row) <= width for row in built)  # a frame clips
    return ["".join(text for text, _ in row).rstrip() for row in built]


def pane(driver: Driver) -> LearningsPane:
    found = driver.cockpit.body.panes["learnings"]
    assert isinstance(found, LearningsPane)
    return found


def recorded(driver: Driver, *events: ev.Event) -> None:
    """Queue these events as the next ones of the live run."""
    last = driver.cockpit.state.seq
    driver.inbox.extend(
        event.model_copy(update={"seq": last + n, "at": driver.cockpit.state.at})
        for n, event in enumerate(events, 1)
    )


def changed(name: str, change: Change, text: str = "") -> ev.LearningChanged:
    return ev.LearningChanged(learning_id=name, change=change, text=text)


# content ------------------------------------------------------------------------------------------


def test_each_learning_says_what_it_is_how_sure_and_how_it_did() -> None:
    lines = rows("taught", 76)
    assert lines[:6] == [
        "→ Run one failing test first, then trace it to its root cause before editing",
        "  anything.",
        "  strategy    confidence .89  helped 8 of 10 times  in the prompt",
        "→ In this project fixtures always end with a newline.",
        "  convention  confidence .72  helped 2 of 3 times  in the prompt",
        "· avoid: Large refactors across many files in one iteration.",
    ]
    assert lines[-2:] == [
        "+ Carry the quote state in the token: the lexer alone cannot know it.",
        "  strategy    confidence .60  not judged yet       ◌ unproven  learned",
    ]


def test_the_smallest_form_keeps_confidence_and_how_often_it_helped() -> None:
    assert rows("taught", 31, 9)[1] == "  strategy  .89  helped 8 of 10"
    assert rows("taught", 29, 9)[-1] == "  .60  ◌ unproven"
    assert rows("taught", 29, 9)[:2] == ["→ Run one failing test first…", "  .89  helped 8 of 10"]


def test_zoomed_it_says_why_and_what_came_of_it_in_this_run() -> None:
    text = "\n".join(rows("taught", 76, zoomed=True))
    assert text.startswith("plan  about 4 iterations, from 6 runs; follows task-001/001 #1: ")
    assert "in the prompt of this iteration\n→ Run one failing test first" in text
    assert "\n  why       It is about test-fix tasks like this one, and it helped 6 of 7" in text
    assert "\n  this run  helped in 2 of 3 uses: 1 +24, 2 +2, 3 +22 points\n" in text
    assert "\nalso fits, not in the prompt\n· avoid: Large" in text
    assert "\nlearned in this run\n+ Carry the quote state" in text


def test_after_the_iteration_the_mark_says_whether_it_helped() -> None:
    judged = [event for event in story("taught") if event.seq]
    until = next(e.seq for e in judged if e.kind == "learnings_retrieved" and e.seq > 120)
    last = max(e.seq for e in judged if e.kind == "learning_credited" and e.seq < until)
    shown = LearningsPane()
    shown.state = RunState().apply_all(event for event in judged if event.seq <= last)
    lines = ["".join(text for text, _ in row).rstrip() for row in shown.build(76, 40)]
    assert lines[0].startswith("✓ Run one failing test first")
    assert lines[2].endswith("helped 6 of 7 times  helped: +22 points")


def test_marks_of_its_owner_have_a_word_each() -> None:
    text = "\n".join(rows("marked", 76))
    assert "helped 6 of 7 times  ◉ pinned  in the prompt" in text
    assert "helped 1 of 2  ⊘ muted since  in the prompt" in text
    last = ev.LearningsRetrieved(iteration=2, task_type="test-fix", learnings=[FIXTURES])
    later = "\n".join(after("marked", last))
    assert "⊘ muted  earlier" in later
    assert "since" not in later


def after(name: str, *events: ev.Event, zoomed: bool = False) -> list[str]:
    """The pane after the story and these events."""
    shown = LearningsPane()
    shown.state, shown.zoomed = RunState().apply_all(story(name)), zoomed
    shown.state.apply_all(events)
    return ["".join(text for text, _ in row).rstrip() for row in shown.build(76, 40)]


def test_what_this_iterations_prompt_carries_stays_whatever_is_done_to_it() -> None:
    wishes = [
        changed(RUN_ONE.learning_id, "edit", "Run the whole suite."),
        changed(FIXTURES.learning_id, "delete"),
        changed(LARGE.learning_id, "mute"),
    ]
    lines = after("taught", *wishes)
    assert lines[:8] == [
        "→ Run one failing test first, then trace it to its root cause before editing",
        "  anything.",
        "  strategy  confidence .89  helped 8 of 10  edited since  in the prompt",
        "→ In this project fixtures always end with a newline.",
        "  convention  confidence .72  helped 2 of 3  deleted since  in the prompt",
        "· avoid: Large refactors across many files in one iteration.",
        "  to avoid    confidence .70  helped 3 of 5 times  ⊘ muted since  fits",
        "· About 4 iterations and 52 minutes.",
    ]
    came = [
        ev.LearningCredited(iteration=4, learning_id=one.learning_id, success=True, points=9)
        for one in (RUN_ONE, FIXTURES)
    ]
    judged = after("taught", *wishes, *came, zoomed=True)
    assert [row[:10] for row in judged if row.startswith("✓")] == ["✓ Run one ", "✓ In this "]
    assert any("1 +24, 2 +2, 3 +22, 4 +9 points" in row for row in judged)
    reworded = RUN_ONE.model_copy(update={"text": "Run the whole suite."})
    again = ev.LearningsRetrieved(iteration=5, task_type="test-fix", learnings=[reworded])
    later = "\n".join(after("taught", *wishes, *came, again))
    assert "→ Run the whole suite." in later
    assert "newline" not in later
    assert "since" not in later


def test_the_card_of_what_was_edited_tells_both_wordings_once() -> None:
    state = RunState().apply_all(story("taught"))
    state.apply(changed(FIXTURES.learning_id, "edit", "End fixtures with a newline."))
    built = card_rows(state.memory.seen[FIXTURES.learning_id], 4, 80)
    shown = "\n".join("".join(text for text, _ in row) for row in built)
    assert shown.startswith("End fixtures with a newline.\n")
    assert shown.count(FIXTURES.text) == 1
    assert f"wording then  {FIXTURES.text}" in shown


def test_what_was_joined_to_another_stays_as_it_was_sent() -> None:
    known = QUOTES.model_copy(update={"learning_id": "learn-known", "standing": "proven"})
    promoted = [
        ev.LearningPromoted(
            iteration=4, staged_id=one.learning_id, learning=known, merged=True, because="b"
        )
        for one in (FIXTURES, LARGE)
    ]
    lines = after("taught", *promoted)
    assert lines[3] == "→ In this project fixtures always end with a newline."
    assert lines[4] == "  convention  .72  helped 2 of 3  merged into another since  in the prompt"
    state = RunState().apply_all(story("taught")).apply_all(promoted)
    assert [one.shown.text for one in state.memory.in_prompt] == [RUN_ONE.text, FIXTURES.text]
    assert [one.shown.text for one in state.memory.current][2] == LARGE.text


@pytest.mark.parametrize(
    ("name", "head"),
    [("untaught", "no learnings yet for a test-fix task"), ("running", "none yet")],
)
def test_where_nothing_is_known_it_says_what_will_stand_here(name: str, head: str) -> None:
    lines = rows(name, 46)
    assert lines[0] == head
    assert re.search("appears? here", " ".join(lines))


@pytest.mark.parametrize("name", ["marked", "badly_taught"])
def test_nothing_breaks_the_frame(name: str) -> None:
    for width, zoomed in product((1, 20, 31, 200), (False, True)):
        rows(name, width, zoomed=zoomed)


# what is selected ---------------------------------------------------------------------------------


def test_arrows_select_and_the_selection_stays_with_its_learning() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5")
        assert pane(driver).selected == RUN_ONE.learning_id
        await driver.press("down", "down")
        assert pane(driver).selected == LARGE.learning_id
        recorded(driver, changed(LARGE.learning_id, "pin"))
        await driver.sees("◉ pinned")
        assert pane(driver).selected == LARGE.learning_id
        await driver.press("end")
        assert pane(driver).selected == QUOTES.learning_id
        await driver.press("down")
        await driver.sees("nothing more in that direction")
        await driver.press("home", "up")
        await driver.sees("nothing more in that direction")
        assert pane(driver).selected == RUN_ONE.learning_id

    drive(live(story("taught")), look)


def test_where_nothing_is_listed_enter_says_so() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5", "enter")
        await driver.sees("nothing to open")
        await driver.press("down")
        await driver.sees("nothing more in that direction")

    drive(live(story("untaught")), look)


# the card -----------------------------------------------------------------------------------------


def test_the_card_tells_all_and_closes() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5", "down", "down", "enter")
        assert isinstance(driver.app.screen, LearningCard)
        for text in (
            "learning: to avoid",
            "refactor tasks; proven, reported by 2 runs",
            "helped 3 of 5 times, success rate .67",
            "Its words are close to the objective: parser.",
            "in prompts of iterations 1-3",
            "helped in 2 of 3 uses: 1 +24, 2 +2, 3 +22 points",
            "alternative",
            LARGE.learning_id,
        ):
            await driver.sees(text)
        await driver.press("b")
        await driver.sees("b does nothing here; esc closes")
        await driver.press("escape")
        assert pane(driver).has_focus

    drive(live(story("taught")), look)


@pytest.mark.parametrize(
    ("key", "change", "expected", "verb"),
    [
        ("asterisk", "pin", "pinned: in every prompt from the next iteration on", "* unpin"),
        ("m", "mute", "muted: in no prompt from the next iteration on", "m unmute"),
    ],
)
def test_a_wish_is_told_as_done_when_the_run_has_recorded_it(
    key: str, change: Change, expected: str, verb: str
) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5", "enter", key)
        assert driver.sent == [ChangeLearning(learning_id=RUN_ONE.learning_id, change=change)]
        await driver.sees("sent; waiting for the run to record it")
        assert expected not in "\n".join(driver.text())
        recorded(driver, changed(RUN_ONE.learning_id, change))
        await driver.sees(expected)
        await driver.sees(verb)
        await driver.press(key)
        assert driver.sent[1:] == [
            ChangeLearning.model_validate(
                {"learning_id": RUN_ONE.learning_id, "change": f"un{change}"}
            )
        ]

    drive(live(story("taught")), look)


def test_what_could_not_be_written_down_is_told_with_its_reason() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5", "enter", "m")
        why = unchanged_words(RUN_ONE.learning_id, "the disk is full")
        recorded(driver, ev.Noticed(level="warn", source="memory", text=why))
        await driver.sees("was not changed: the disk")
        await driver.sees("m mute")

    drive(live(story("taught")), look)


def test_a_refusal_stands_on_the_card() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5", "enter", "asterisk")
        command: Command = driver.sent[0]
        driver.source.refused.append((command, "the run is ending"))
        await driver.sees("pin: the run is ending")
        await driver.press("escape")
        driver.source.refused.append((command, "the run is ending"))
        await driver.until(lambda: driver.cockpit.footer.notice == "pin: the run is ending")

    drive(live(story("taught")), look)


def test_other_words_are_sent_and_a_draft_is_kept() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5", "enter", "e")
        assert isinstance(driver.app.screen, EditLearning)
        await driver.press("exclamation_mark", "escape")
        assert driver.sent == []
        await driver.press("e")
        await driver.sees("anything.!")
        await driver.press("enter")
        words = f"{RUN_ONE.text}!"
        wish = ChangeLearning(learning_id=RUN_ONE.learning_id, change="edit", text=words)
        assert driver.sent == [wish]
        recorded(driver, changed(RUN_ONE.learning_id, "edit", words))
        await driver.sees("reworded: later prompts use your wording")
        await driver.sees("wording then  Run one failing test first")
        await driver.press("e", "enter")
        await driver.sees("no change: the text is the same")
        assert driver.sent == [wish]

    drive(live(story("taught")), look)


def test_the_question_closes_when_the_learning_was_deleted_elsewhere() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5", "down", "enter", "x")
        assert isinstance(driver.app.screen, Confirm)
        recorded(driver, changed(FIXTURES.learning_id, "delete"))
        await driver.until(lambda: driver.app.screen is driver.cockpit)
        assert driver.sent == []

    drive(live(story("taught")), look)


def test_deleting_asks_first() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5", "down", "enter", "x")
        assert isinstance(driver.app.screen, Confirm)
        await driver.press("n")
        assert driver.sent == []
        await driver.press("x", "y")
        assert driver.sent == [ChangeLearning(learning_id=FIXTURES.learning_id, change="delete")]
        recorded(driver, changed(FIXTURES.learning_id, "delete"))
        await driver.until(lambda: driver.app.screen is driver.cockpit)
        await driver.sees("the learning is deleted; no run retrieves it again")
        # This iteration's prompt carries it all the same; its card is for reading now.
        await driver.sees("deleted since")
        await driver.sees("→ 2 in the prompt")
        await driver.press("enter")
        assert isinstance(driver.app.screen, LearningCard)
        await driver.press("m")
        await driver.sees("m mute: the learning is deleted")
        assert len(driver.sent) == 1

    drive(live(story("taught")), look)


def test_a_recorded_run_is_for_reading() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5", "enter")
        await driver.sees("this is a recorded run; to change it: ralph-tui memory pin,")
        assert "p pin" not in "\n".join(driver.text())
        await driver.press("m")
        await driver.sees("m mute: this is a recorded run")
        await driver.press("escape")
        assert driver.app.screen is driver.cockpit

    drive(replay(story("taught")), look)


def test_when_the_run_ends_its_cards_are_for_reading() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5", "enter")
        await driver.sees("* pin")
        recorded(
            driver, ev.RunFinished(outcome="aborted", reason="by you", iterations=4, completion=48)
        )
        await driver.sees("the run has ended; to change it: ralph-tui memory pin,")
        await driver.press("asterisk")
        assert driver.sent == []

    drive(live(story("taught")), look)


def test_a_hostile_card_stays_in_its_frame() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("5")
        for _ in range(3):
            await driver.press("enter")
            assert isinstance(driver.app.screen, LearningCard)
            await driver.press("end", "pageup", "escape", "down")

    drive(live(story("badly_taught")), look, (60, 15))
