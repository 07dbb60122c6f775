"""The question dialog: every key, the command it sends, and input that is never lost."""

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.widgets import TextArea

from ralph_tui.commands import Abort, Answer, Command, Extend, Guide, Hold
from ralph_tui.events import Event, QuestionAnswered, QuestionAsked, QuestionHeld, RunFinished
from ralph_tui.events.waiting import Takes
from ralph_tui.runtime.sources.live import Live
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.runtime.sources.run_record import RunRecord
from ralph_tui.state import RunState
from ralph_tui.tui.draw.course import marks_of
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.modals import question_rows
from ralph_tui.tui.modals.abort import AbortDialog
from ralph_tui.tui.modals.question import Question, parse_amount
from ralph_tui.tui.modals.scroll_text import ScrollText
from tests.rows import each_row
from tests.steps import counted
from tests.tui.driving import Driver, drive, live, story
from tests.tui.test_cockpit import frames
from tests.world.decisions import REFRAME, decided, redirect, rolled_back

HELD = Hold(question_id="q1")


def answer(word: str, **fields: Any) -> Answer:
    return Answer(question_id="q1", answer=word, **fields)


def dialog(driver: Driver) -> Question:
    assert isinstance(driver.app.screen, Question)
    return driver.app.screen


async def opened(driver: Driver) -> None:
    await driver.until(lambda: isinstance(driver.app.screen, Question))
    await driver.pilot.pause()


def area(driver: Driver) -> TextArea:
    return dialog(driver).query_one(TextArea)


def happens(driver: Driver, event: Event) -> None:
    state = driver.cockpit.state
    driver.inbox.append(event.model_copy(update={"seq": state.seq + 1, "at": state.at}))


KEYS: list[tuple[str, Sequence[str], list[Command]]] = [
    ("redirect", "y", [answer("approve")]),
    ("redirect", "ay", [answer("abort")]),
    ("redirect", ("a", "n", "a", "escape", "r", "n"), [answer("decline")]),
    ("rollback", "ry", [answer("roll_back")]),
    ("rollback", ("r", "n", "n"), [answer("decline")]),
    ("redirect", ("space", "space", "y"), [HELD, answer("approve")]),
    ("redirect", ("e", "A", "enter", "y"), [HELD, answer("approve", text=REFRAME + "A")]),
    ("redirect", ("e", "A", "escape", "e", "enter", "n"), [HELD, answer("decline")]),
    ("rollback", ("e", "ctrl+a", "A", "enter"), [HELD]),
    ("pause", "y", [answer("continue")]),
    ("pause", ("g", "enter", "a", "ctrl+j", "b", "enter"), [answer("guide", text="a\nb")]),
    ("pause", ("+", "5", "enter"), [answer("extend", iterations=5)]),
    ("pause", ("+", *"$2.50", "enter"), [answer("extend", budget_usd=2.5)]),
    ("pause", ("+", "x", "enter", "escape", "space", "y"), [answer("continue")]),
    ("criterion", "y", [answer("yes")]),
    ("criterion", "n", [answer("no")]),
    ("criterion", ("g", "o", "k", "enter"), [HELD, answer("guide", text="ok")]),
]


@pytest.mark.parametrize(("name", "keys", "sent"), KEYS)
def test_a_key_of_the_dialog(name: str, keys: Sequence[str], sent: list[Command]) -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press(*keys)

    assert drive(live(story(name)), look).sent == sent


def test_a_roll_back_takes_the_edited_instructions_along() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("e")
        area(driver).text = "small steps"
        await driver.press("enter")
        await driver.sees("edited by you")
        await driver.sees("restore iteration 1 (70 %), which changes 23 files, and send")
        await driver.sees("y  approve, as edited")
        await driver.press("r")
        await driver.sees("Restore iteration 1? This changes 23 files and sends the instructions.")
        await driver.press("y")

    commands = drive(live(story("rollback")), look).sent
    assert commands == [HELD, answer("roll_back", text="small steps")]


def test_an_answer_counts_once() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        driver.watch.now += 3
        await driver.pilot.press("y", "y", "n")
        await driver.pilot.pause()
        happens(driver, QuestionAnswered(question_id="q1", answer="approve"))
        await driver.until(lambda: driver.cockpit.state.needs.question is None)
        assert "settled" not in driver.cockpit.footer.notice, "it was here"

    assert drive(live(story("redirect")), look).sent == [answer("approve")]


def test_what_is_typed_ahead_confirms_nothing() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        driver.watch.now += 3
        await driver.pilot.press("a", "y")
        await driver.sees("Abort the run? The agent stops; the files stay as they are.")
        await driver.press("y")

    assert drive(live(story("redirect")), look).sent == [answer("abort")]


def test_what_silence_leaves_undone_is_said_of_another_answer_alone() -> None:
    asked = next(e for e in story("redirect") if isinstance(e, QuestionAsked))
    deadline = asked.at + timedelta(minutes=2)
    abort = next(option for option in asked.options if option.answer == "abort")

    def countdown_text(default: str) -> str:
        counting = asked.model_copy(update={"default": default, "deadline": deadline})
        row = question_rows.silence(counting, asked.at, 80, held=False, sure=abort)
        return "".join(text for text, _ in row)

    assert countdown_text("approve").endswith(" approves in 2m, and the run continues")
    assert countdown_text("abort").endswith(" aborts in 2m")


def test_a_stopped_countdown_waits_for_ever() -> None:
    async def look(driver: Driver) -> None:
        await driver.sees("approves in 1m 56s")
        await driver.press("space")
        happens(driver, QuestionHeld(question_id="q1"))
        await driver.sees("countdown stopped; waiting for your answer")
        await driver.press("escape", "d", "space")
        await driver.sees("countdown stopped")

    assert drive(live(story("redirect")), look).sent == [HELD]


def test_a_countdown_that_another_person_stopped_is_not_stopped_again() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        happens(driver, QuestionHeld(question_id="q1", by="ada"))
        await driver.sees("countdown stopped")
        assert ("space", "stop countdown") not in dialog(driver).pairs()
        await driver.press("space", "e", "escape", "n")

    assert drive(live(story("redirect")), look).sent == [answer("decline")]


def test_letters_are_text_in_the_editor_and_kept_when_the_dialog_closes() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("e")
        area(driver).text = ""
        await driver.press(*"ynxbe+d", "space", "q")
        assert area(driver).text == "ynxbe+d q"
        await driver.press("escape")
        assert dialog(driver).editing is None
        await driver.press("escape", "d")
        await driver.sees("edited by you")
        await driver.press("y")

    commands = drive(live(story("redirect")), look).sent
    assert commands == [HELD, answer("approve", text="ynxbe+d q")]


def test_who_is_writing_when_the_question_is_settled_goes_on_writing() -> None:
    """Keys that were meant for words must not fall on the cockpit, where they are commands."""

    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("e")
        area(driver).text = ""
        await driver.press("u", "s", "e")
        happens(driver, QuestionAnswered(question_id="q1", answer="approve", by="ada"))
        await driver.sees("question closed: approve, by ada")
        await driver.sees("your text is kept")
        assert "waiting for your answer" not in "\n".join(driver.text())
        await driver.press("space", "a", "b", "x", "q", "escape")
        await driver.until(lambda: not isinstance(driver.app.screen, Question))
        await driver.press("g")
        assert driver.app.screen.query_one(TextArea).text == "use abxq"

    assert drive(live(story("redirect")), look).sent == [HELD]


def recorded(name: str, root: Path) -> tuple[Driver, Path]:
    """A live story with a record in this worktree, and the file for its unsent text."""
    driver = live(story(name))
    assert isinstance(driver.source, Live)
    attempt = root / ".aiwg" / "ralph" / "tasks" / "task-001" / "attempts" / "001"
    driver.source.record = RunRecord(attempt / "events.jsonl")
    return driver, attempt / "exports" / "unsent.txt"


def test_words_that_an_ended_run_can_no_longer_take_are_in_a_file(tmp_path: Path) -> None:
    driver, unsent = recorded("redirect", tmp_path)

    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("e")
        area(driver).text = "try the lexer; password=hunter2-and-more"
        happens(driver, RunFinished(outcome="aborted", reason="", iterations=1, completion=0))
        await driver.sees("your text is kept")
        await driver.press("escape")
        await driver.sees("your text is in ")

    drive(driver, look)
    assert unsent.read_text() == "try the lexer; password=[redacted]"


def test_words_that_a_lost_run_can_no_longer_take_are_in_a_file(tmp_path: Path) -> None:
    driver, unsent = recorded("running", tmp_path)

    async def look(driver: Driver) -> None:
        driver.source.lost = "died"
        driver.source.refused.append((Guide(text="try the lexer"), "its fleet has ended"))
        await driver.sees("its fleet has ended; your text is in ")

    drive(driver, look)
    assert unsent.read_text() == "try the lexer"


def test_guidance_that_is_open_at_the_end_of_the_run_is_only_kept() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("g", "x")
        await driver.sees("add it to every prompt")
        happens(driver, RunFinished(outcome="aborted", reason="", iterations=1, completion=0))
        await driver.sees("The run has ended and takes no guidance")
        await driver.sees("enter keep")
        await driver.until(lambda: "every prompt" not in "\n".join(driver.text()))
        assert driver.app.screen.query_one(TextArea).text == "x"

    drive(live(story("running")), look)


def test_refused_guidance_is_the_next_draft() -> None:
    driver = live(story("running"))

    async def look(driver: Driver) -> None:
        wish = Guide(text="try the lexer")
        driver.source.refused.append((wish, "20 messages are already waiting"))
        await driver.sees("already waiting; press g to get back the text you wrote")
        await driver.press("g")
        assert driver.app.screen.query_one(TextArea).text == "try the lexer"

    drive(driver, look)


def test_words_that_came_too_late_are_the_next_draft() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("e")
        area(driver).text = "try the lexer"
        await driver.press("escape", "escape")
        happens(driver, QuestionAnswered(question_id="q1", answer="decline", by="ada"))
        await driver.until(lambda: not isinstance(driver.app.screen, Question))
        await driver.sees(
            "question closed: decline, by ada; press g to get back the text you wrote"
        )
        await driver.press("g")
        assert driver.app.screen.query_one(TextArea).text == "try the lexer"
        await driver.press("enter")

    assert drive(live(story("redirect")), look).sent == [HELD, Guide(text="try the lexer")]


def test_words_of_an_answer_that_lost_are_kept_too() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("g", "h", "i", "enter")
        happens(driver, QuestionAnswered(question_id="q1", answer="continue", by="ada"))
        await driver.sees("question closed: continue, by ada")
        await driver.press("g")
        assert driver.app.screen.query_one(TextArea).text == "hi"

    drive(live(story("pause")), look)


def test_an_untouched_proposal_is_no_draft() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("e")
        happens(driver, QuestionAnswered(question_id="q1", answer="approve", by="the default"))
        await driver.sees("question closed: no answer in 2 min: approved")
        await driver.press("escape")
        await driver.until(lambda: not isinstance(driver.app.screen, Question))
        await driver.press("g")
        assert driver.app.screen.query_one(TextArea).text == ""

    drive(live(story("redirect")), look)


@each_row(
    ("typed", "complaint"),
    [
        ("", "nothing entered"),
        ("five", "is not an amount"),
        ("2.5", "is not an amount"),
        ("-3", "is not an amount"),
        ("0", "iterations must be from 1 to 1000"),
        ("9999", "iterations must be from 1 to 1000"),
        ("$0", "dollars must be more than 0"),
        ("$9999999", "dollars must be more than 0"),
        ("5 $2", "is not an amount"),
        ("٣", "is not an amount"),
        ("[/foo]" * 99, "is not an amount"),
    ],
)
def test_what_cannot_be_granted_says_why(typed: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint.replace("$", r"\$")):
        parse_amount(typed)


def test_a_complaint_outlives_the_typing_that_came_before_it() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("+")
        area(driver).insert("abc")  # the news of it arrives after the enter
        dialog(driver).on_text_entry_sent()
        await driver.pilot.pause()
        await driver.sees("“abc” is not an amount: enter 5 for iterations")
        await driver.press("d")
        await driver.until(lambda: "is not an amount" not in "\n".join(driver.text()))

    drive(live(story("pause")), look)


def test_pastes_bring_no_control_sequences_and_their_lines_stay_lines() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("g")
        driver.app.post_message(events.Paste("\x1b[31mred alpha\x07 beta\n"))
        await driver.until(lambda: area(driver).text == "red alpha beta\n")
        for end in ("\n", "\r", "\r\n"):  # terminals differ
            area(driver).text = ""
            driver.app.post_message(events.Paste(end.join(["one", "two", "", "four"])))
            await driver.until(lambda: area(driver).text == "one\ntwo\n\nfour")
        area(driver).text = "x" * 100_001
        await driver.press("enter")
        await driver.sees("100001 characters")
        assert len(area(driver).text) == 100_001, "more than an answer holds is refused and kept"

    assert drive(live(story("pause")), look).sent == []


@given(st.integers(1, 1000), st.integers(1, 10**8))
def test_what_can_be_granted(iterations: int, cents: int) -> None:
    assert parse_amount(f" +{iterations} ") == (iterations, 0.0)
    assert parse_amount(f"${cents / 100:.2f}") == (0, cents / 100)
    assert parse_amount(f"+{iterations}", "iterations") == (iterations, 0.0)
    assert parse_amount(f"{cents / 100:.2f}", "money") == parse_amount(
        f"${cents / 100:.2f}", "money"
    )
    assert parse_amount(f"{iterations}", "money") == (0, iterations)


@each_row(
    ("typed", "takes", "complaint"),
    [
        ("$2", "iterations", "“$2” is not a number of iterations: enter 5"),
        ("", "iterations", "nothing entered: enter 5"),
        ("much", "money", "“much” is not an amount of dollars: enter 2.50"),
    ],
)
def test_a_grant_of_one_kind_names_that_kind(typed: str, takes: Takes, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        parse_amount(typed, takes)


@pytest.mark.parametrize("shape", ["lines", "one line"])
def test_a_hundred_kilobytes_of_instructions_do_not_slow_typing(shape: str) -> None:
    text = "reframe the task\n" * 5800 if shape == "lines" else "reframe the task " * 5800
    *before, last = redirect()
    events = [*before, last.model_copy(update={"proposal": text})]

    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.press("end")
        await driver.sees("reframe the task")
        await driver.press("e")
        with counted() as steps:
            await driver.press(*"abc")
        assert area(driver).text.endswith("abc")
        assert steps.count < 3 * 400_000, "some 30 calls a line and key, at the most"
        await driver.press("escape", "y")

    commands = drive(live(events), look).sent[-1]
    assert isinstance(commands, Answer)
    assert commands.text.endswith("abc")


@pytest.mark.parametrize(
    ("name", "size"),
    [("nasty", (100, 30)), ("nasty", (60, 15)), ("redirect", (80, 24)), ("rollback", (60, 15))],
)
def test_nothing_of_a_question_is_out_of_reach(name: str, size: tuple[int, int]) -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        sheet, foot = (
            dialog(driver).query_one(f"#{part}", ScrollText) for part in ("body", "foot")
        )
        assert len(driver.text()) == size[1]
        height = sheet.size.height
        assert height > 0
        await driver.press("pagedown")
        assert sheet.top in range(max(1, height) + 1), "no row is jumped over"
        await driver.press("end")
        assert sheet.top + height == max(height, len(sheet.rows))
        await driver.press("home", "down")
        assert sheet.top == min(1, len(sheet.rows) - height)
        assert foot.region.bottom < size[1], "the ways to answer are always in view"
        for widget in (sheet, foot):
            for row in widget._rows:
                assert cells(row) <= widget.size.width
        await driver.press("e", "A", "escape")
        assert foot.region.bottom < size[1]
        await driver.press("n", "y")

    commands = drive(live(story(name)), look, size).sent[-1]
    assert isinstance(commands, Answer)
    assert commands.answer == "decline"


@pytest.mark.parametrize("name", ["nasty", "decided", "rolled_back"])
def test_its_story_keeps_its_frames(name: str) -> None:
    async def look(driver: Driver) -> None:
        if isinstance(driver.app.screen, Question):
            await driver.press("e", "A", "enter", "escape")
        for digit in "1237":
            await driver.press(digit)
            frames(driver.text())
        await driver.press("2", "home", "enter", "escape")
        if name == "nasty":
            await driver.press("d", "r", "y")
            commands = driver.sent[-1]
            assert isinstance(commands, Answer)
            assert commands.text.endswith("A"), "foreign words are answered as they are"

    drive(live(story(name)), look, (100, 30))


# beside the dialog --------------------------------------------------------------------------------


def test_iterations_are_granted_and_taken_back_by_a_key() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("+", "-")

    commands = drive(live(story("running")), look).sent
    assert commands == [Extend(iterations=1), Extend(iterations=-1)]


def test_no_iteration_that_was_begun_is_taken_back() -> None:
    events = [
        e.model_copy(update={"max_iterations": 7})
        if e.kind in ("run_started", "iteration_started")
        else e
        for e in story("running")
    ]

    async def look(driver: Driver) -> None:
        await driver.press("-")
        await driver.sees("no more iterations can be removed")

    assert drive(live(events), look).sent == []


@pytest.mark.parametrize(
    ("name", "keys", "sent"),
    [
        ("decided", "y", [Abort()]),
        ("decided", "r", [Abort(roll_back_to=13)]),
        ("decided", "n", []),
        ("empty", "r", []),
        ("empty", "ry", [Abort()]),
    ],
)
def test_giving_up_keeps_the_work_or_rolls_it_back(
    name: str, keys: str, sent: list[Command]
) -> None:
    async def look(driver: Driver) -> None:
        await driver.press("a")
        assert isinstance(driver.app.screen, AbortDialog)
        if name == "decided":
            await driver.sees("abort and restore iteration 6, 44 %")
        await driver.press(*keys)

    assert drive(live(story(name)), look).sent == sent


def test_the_log_tells_what_came_of_an_intervention() -> None:
    async def look(driver: Driver) -> None:
        await driver.sees("approved by you")
        await driver.sees("└ after 2 iterations: +14 points")
        entries = driver.cockpit.state.log.entries
        number = next(entry.number for entry in entries if entry.kind == "episode")
        await driver.press("2", "home", *["down"] * number, "enter")
        await driver.sees("approved by you")
        await driver.sees("after 2 iterations: +14 points")
        await driver.sees("instructions sent:")
        await driver.sees("pivot strategy")

    drive(live(story("decided")), look, (140, 45))


def test_an_effect_that_arrives_finds_its_intervention() -> None:
    events = decided()
    at = next(i for i, e in enumerate(events) if e.kind == "effect_observed")

    async def look(driver: Driver) -> None:
        await driver.press("2")
        await driver.sees("approved by you")
        pane = driver.cockpit.body.panes["log"]
        before = pane.row_count(pane.inner_width, pane.inner_height)
        driver.inbox.extend(events[at : at + 1])
        await driver.sees("└ after 2 iterations: +14 points")
        assert pane.row_count(pane.inner_width, pane.inner_height) > before

    drive(live(events[:at]), look, (140, 45))


def test_timeline_and_chart_know_interventions_and_rollbacks() -> None:
    state = RunState().apply_all(rolled_back())
    assert {(m.iteration, m.name) for m in marks_of(state)} >= {(3, "REDIRECT"), (3, "ROLLBACK")}

    async def look(driver: Driver) -> None:
        await driver.press("3", "left")
        await driver.sees("↶ restored snapshot 3, iteration 1  23 files, by you")
        await driver.press("left")
        await driver.sees("◆ REDIRECT regressing")
        assert "3 −10 ◆ ↶" in "\n".join(driver.text())

    drive(live(rolled_back()), look)


def test_a_replay_steps_to_interventions() -> None:
    events = decided()
    marks = [events[position - 1].kind for position, *_ in Replay(events).marks]
    assert marks == ["alarm_raised", "intervention_made"]


def test_what_silence_does_cannot_be_taken_for_the_roll_back_that_waits_for_its_yes() -> None:
    async def look(driver: Driver) -> None:
        await opened(driver)
        await driver.sees("approves in 1m 56s")
        await driver.press("r")
        await driver.sees("approves in 1m 5")
        await driver.sees(", and nothing is restored")

    drive(live(story("rollback")), look)
