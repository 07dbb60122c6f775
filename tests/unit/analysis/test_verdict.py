"""One verdict: whatever a run goes through, no two sentences about it contradict each other."""

from datetime import datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.adapters.records.run_status import RunStatus
from ralph_tui.adapters.records.summary import summarize
from ralph_tui.analysis.report import Circumstances, report
from ralph_tui.analysis.verdict import Verdict, verdict
from ralph_tui.cli.status_words import status_line, status_text
from ralph_tui.events.workspace import FileChange
from ralph_tui.state import RunState
from ralph_tui.tui.draw.spans import Line
from ralph_tui.tui.panes.event_log import EventLog
from ralph_tui.tui.panes.header import OneLine, header_lines
from ralph_tui.tui.panes.progress import ProgressPane
from tests.rows import each_row
from tests.world import FakeSession, World
from tests.world.decisions import DECISIONS
from tests.world.owner import answer, first

STUCK = [0, 3, 3, 3, 3]


def verdicts(world: World) -> list[str]:
    """The verdict after each event."""
    state, found = RunState(), []
    for event in world.events:
        state.apply(event)
        found.append(verdict(state, event.at).text)
    return found


def test_an_open_episode_says_what_since_when_and_what_was_done() -> None:
    world = World([*STUCK, 3, 4, 6, 10], mode="attended")
    world.play(answer("approve"))
    reason = "stuck: no new best for 3 iterations; instructions sent"
    said = verdicts(world)
    assert f"{reason}, not measured since" in said
    assert any(one.startswith("needs you, press d (approves in 2m): Send") for one in said)
    assert any(one.endswith("improved since, but not enough yet") for one in said)
    assert said[-1].startswith("completed")


def test_a_declined_redirect_leaves_its_episode_open() -> None:
    world = World([*STUCK, 3, 8, 10], mode="attended")
    world.play(answer("decline"))
    assert any("; instructions declined by you" in one for one in verdicts(world))


@settings(max_examples=8)
@given(
    st.lists(st.integers(0, 10), min_size=3, max_size=8),
    st.sampled_from([4, 10]),
    st.sampled_from(["approve", "decline", "continue", "roll_back"]),
)
def test_screen_status_and_prompt_never_contradict_each_other(
    passed: list[int], most: int, word: str
) -> None:
    world = World([*passed, *[passed[-1]] * most], max_iterations=most, mode="attended")
    world.play(lambda asked: answer(word)(asked) if _offered(asked, word) else first(asked))
    state, prompt, before = RunState(), 0, None
    for event in world.events:
        state.apply(event)
        said = verdict(state, event.at)
        if said != before:
            _all_places_say(said, state, event.at)
        before = said
        if state.run.live and (state.control.alarms or state.oversight.episode):
            assert said.word != "on track" or (state.run.completion or 0) >= 100
        if isinstance(event, ev.PromptPrepared):
            text = world.agent.prompts[prompt]
            prompt += 1
            praised = "keep the approach" in text
            assert not praised or said.word == "on track"
            assert said.word != "slow" or "Urgency: low" not in text
        if isinstance(event, ev.HealthChecked) and event.ended is not None:
            assert state.oversight.episode is None or state.oversight.episode.iteration == (
                event.iteration
            )


JUDGES = ("on track", "slow:", "healthy", "on course", "no open alarm", "near completion")
"""Phrases that only the verdict uses, and retired ones."""


def _all_places_say(said: Verdict, state: RunState, now: datetime) -> None:
    """Header at every width, one-line status, status as text, line and JSON, and the panes."""
    for width in (60, 140):
        *rows, last = [_text(row) for row in header_lines(state, now, width)]
        begins = f" {said.glyph} {said.word}"
        if said.word != "needs you":
            begins = f" {said.line}"[: 40 if width < 100 else 100]
        assert last.startswith(begins)
        assert not any(judge in row for judge in JUDGES for row in rows)
    head = OneLine()
    head.state, head.now = state, now
    reported = verdict(state, now, keys=None)
    assert f" {reported.text}" in _text(head.line(0, 300)), "its key is at the end"
    status: RunStatus = {**summarize(state, now), "alive": state.run.finished is None}
    assert (status["verdict"], status["verdict_word"]) == (reported.text, reported.word)
    first, *rows = status_text(status).splitlines()
    assert first == reported.line
    assert not any(judge in row for judge in JUDGES for row in rows)
    line = status_line(status)
    assert line.startswith(f"{reported.glyph} ")
    assert line.rstrip("…").endswith(reported.text[:15].rstrip("…")) or reported.text[:15] in line
    for pane in (ProgressPane(), EventLog()):
        pane.state = state
        around = _text([*pane.subtitle(80), *pane.headline(80)])
        assert not any(judge in around for judge in JUDGES)


def _text(line: Line) -> str:
    return "".join(text for text, _ in line)


def _offered(asked: object, word: str) -> bool:
    return word in [option.answer for option in getattr(asked, "options", [])]


def test_at_100_nothing_is_left_to_do() -> None:
    world = World([0, 5, 10]).run()
    state = RunState()
    for event in world.events:
        state.apply(event)
        if isinstance(event, ev.ReadingTaken) and event.completion == 100:
            assert verdict(state, event.at).text == "done: 100 % measured"
    assert "more iteration" not in verdict(state, world.events[-1].at).text


@each_row(("most", "expected"), [(30, 29), (10, 9)])
def test_what_is_left_counts_the_iteration_under_way(most: int, expected: int) -> None:
    world = World([0, 0, 0, 0], max_iterations=most).run()
    state, left = RunState(), []
    for event in world.events:
        state.apply(event)
        if isinstance(event, ev.IterationStarted) and event.iteration == 2:
            left.append(verdict(state, event.at).text)
        if isinstance(event, ev.HealthChecked) and event.iteration == 1:
            left.append(verdict(state, event.at).text)
    assert left == [f"no progress yet: {expected} iterations left"] * 2


def test_after_a_roll_back_every_word_speaks_of_the_files_that_are_there() -> None:
    world = World([0, 7, 6, 5, 8, 10], mode="attended")
    world.play(answer("roll_back"))
    fourth = next(e for e in world.all(ev.IterationStarted) if e.iteration == 4)
    before, after = world.events[: fourth.seq], world.events[fourth.seq :]
    state = RunState()
    for event in before:
        state.apply(event)
    said = verdict(state, fourth.at).text
    assert said == (
        "regressing: the files of iteration 1 restored, not measured since; 2 falls in a row cost "
        "20 points"
    )
    status: RunStatus = {**summarize(state), "alive": True}
    assert status_text(status).startswith(f"◆ {said}\n")
    now = "completion  50 % (from tests, 5/10, before the files were restored), best 70 % "
    assert f"{now}after iteration 1" in status_text(status)
    assert status_line(status).startswith("◆ 50 % ↶ 4/10 regressing: ")
    page = report(before, Circumstances(alive=True))
    assert "50 % (from tests, 5 of 10, before the files were restored)" in page
    for event in after:
        state.apply(event)
        if isinstance(event, ev.ReadingTaken):
            assert "restored" not in verdict(state, event.at).text
            assert "before the files" not in status_text({**summarize(state), "alive": True})


def test_a_run_that_was_resumed_after_an_abort_says_so() -> None:
    state = RunState().apply_all(DECISIONS["pause"]())
    asked = state.needs.question
    assert asked is not None
    said = []
    for event in (
        ev.QuestionAnswered(question_id=asked.question_id, answer="abort", by="you"),
        ev.AbortRequested(),
        ev.RunFinished(outcome="aborted", reason="by you", iterations=6, completion=30.0),
        ev.RunResumed(),
        ev.IterationStarted(iteration=7, max_iterations=10),
    ):
        state.apply(event.model_copy(update={"seq": state.seq + 1, "at": state.at}))
        said.append(verdict(state, state.at).text)
    assert said[-1].endswith("; resumed after the abort, not measured since")
    assert not any("resumed after" in one for one in said[:3])


def test_an_episode_of_the_circuit_breaker_says_whether_anything_happens_again() -> None:
    world = World([3, *[3] * 5, 4, 6, 10], mode="attended", max_iterations=20)
    work, none = world.workspace.changed, list[FileChange]()

    def act(session: FakeSession) -> None:
        world.workspace.changed = work if session.iteration > 4 else none
        session.finish()

    world.agent.acts.extend([act] * 12)
    world.play(answer("continue"))
    said = verdicts(world)
    reason = "stalled: 3 iterations in a row changed no files and brought no new best"
    assert f"{reason}; asking you" in said
    assert f"{reason}; continued by you after iteration 3" in said
    again = f"{reason}; continued by you after iteration 3; files change again, no gain yet"
    assert again in said
    assert said[-1].startswith("completed")
    assert not any("better since" in one for one in said)


def test_of_an_episode_in_which_is_asked_again_the_newest_answer_is_told() -> None:
    world = World([3, *[3] * 12], mode="attended", max_iterations=12)
    none = list[FileChange]()

    def act(session: FakeSession) -> None:
        world.workspace.changed = none
        session.finish()

    world.agent.acts.extend([act] * 12)
    world.play(answer("continue"))
    state, stale = RunState(), []
    for event in world.events:
        state.apply(event)
        made = state.oversight.interventions
        answers = [one.iteration for one in made if one.decision and one.about == "circuit"]
        said = verdict(state, event.at).text
        if "; continued by you after iteration" in said:
            stale.append(f"after iteration {answers[-1]}" not in said)
    assert len(set(answers)) > 1
    assert stale
    assert not any(stale)


def test_a_loop_that_is_watched_is_never_said_to_be_resumed() -> None:
    start = {"run_id": "r", "root": "/r", "objective": "x", "agent": "claude", "watched": True}
    started = ev.RunStarted.model_validate(start | {"max_iterations": 5, "session_timeout_s": 0})
    state = RunState().apply_all([started])
    lost = verdict(state, started.at, lost=True)
    assert (lost.word, "resume" in lost.text) == ("unknown", False)
    assert verdict(state, started.at).text == "watched: progress is not measured"
