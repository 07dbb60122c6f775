"""Single panes: selecting, opening, following, reading."""

from collections import deque
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tui import events as ev
from ralph_tui.runtime.sources.live import Live
from ralph_tui.runtime.sources.replay import Replay
from ralph_tui.state import RunState
from ralph_tui.state.agent import KEPT_ROWS
from ralph_tui.state.fleet_work import FleetWork
from ralph_tui.text.claims import strip_claims
from ralph_tui.text.format import lines_not_shown
from ralph_tui.tui.modals.text_dialog import Detail
from ralph_tui.tui.panes.agent import AgentPane
from ralph_tui.tui.panes.iterations import IterationsPane
from ralph_tui.tui.panes.prompt import PromptPane
from ralph_tui.tui.panes.recorded_text import read_inside
from ralph_tui.tui.panes.verification import VerificationPane
from tests.rows import each_row
from tests.tui.driving import Driver, drive, live, replay, story
from tests.world import World
from tests.world.owner import answer
from tests.world.recorder import START
from tests.world.stories import flood, running, stuck


def agent(driver: Driver) -> AgentPane:
    pane = driver.cockpit.body.panes["agent"]
    assert isinstance(pane, AgentPane)
    return pane


def said(number: int, first: int = 1) -> list[ev.Event]:
    return [
        ev.AgentSpoke(
            seq=first + k, at=START + timedelta(seconds=k), iteration=1, text=f"word {first + k}"
        )
        for k in range(number)
    ]


def test_an_entry_of_the_log_opens_its_evidence() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("2", "home", "enter")
        assert isinstance(driver.app.screen, Detail)
        await driver.sees("STUCK")
        await driver.sees("recommended: try another approach")
        shown = "\n".join(driver.text())
        assert shown.count("Hardly any rise (1 point)") == 1
        await driver.press("escape")
        assert driver.cockpit.body.panes["log"].has_focus

    drive(live(story("stuck")[:-1]), look)


def test_the_agent_follows_until_somebody_scrolls_up() -> None:
    async def look(driver: Driver) -> None:
        pane = agent(driver)
        driver.inbox.extend(said(50))
        await driver.sees("word 50")
        await driver.sees("following")
        await driver.press("up", "pageup")
        assert not pane.following
        top = pane.top
        driver.inbox.extend(said(20, 51))
        await driver.sees("20 new · end: follow")
        assert pane.top == top
        await driver.press("end")
        await driver.sees("word 70")
        await driver.sees("following")

    drive(live(running()), look)


def test_what_is_read_stays_in_view_while_the_head_is_dropped() -> None:
    async def look(driver: Driver) -> None:
        pane = agent(driver)
        driver.inbox.extend(said(KEPT_ROWS))
        await driver.until(lambda: driver.cockpit.state.agent.first > 0)
        await driver.press("pageup", "pageup", "pageup")
        words = [row[:-1] for row in driver.text() if "word" in row]
        driver.inbox.extend(said(500, KEPT_ROWS + 1))
        await driver.sees("500 new")
        assert [row[:-1] for row in driver.text() if "word" in row] == words
        assert len(pane._ends) == KEPT_ROWS
        driver.inbox.extend(said(3 * KEPT_ROWS, KEPT_ROWS + 501))
        await driver.until(lambda: not driver.inbox)
        await driver.press("home", "end")
        await driver.sees(f"word {4 * KEPT_ROWS + 500}")

    drive(live(running()), look)


@each_row(
    ("left_out", "last"),
    [(4976, "… 4995 lines not shown; all are in the transcript"), (0, "… 19 more lines")],
)
def test_the_last_row_of_a_text_counts_the_lines_that_are_not_shown(
    left_out: int, last: str
) -> None:
    """5 of 24 lines are shown; of an older journal, the lines of its gap are unknown."""
    lines = [f"line {number} {'of many ' * 5}" for number in range(24)]
    if left_out:
        lines.insert(12, lines_not_shown(left_out))
    text = ev.AgentSpoke(seq=1, at=START, iteration=1, text="\n".join(lines), left_out=left_out)

    async def look(driver: Driver) -> None:
        driver.inbox.append(text)
        await driver.press("6", "z")
        await driver.sees(last)
        shown = [row for row in driver.text() if "of many" in row]
        assert len(shown) == 5
        assert shown[-1].count("line 4 ") == 1
        await driver.press("up", "down", "enter")
        await driver.sees("line 23 ")
        assert last not in "\n".join(driver.text())

    drive(live(running()), look, size=(80, 40))


def test_a_tool_call_expands_and_grows_when_it_answers() -> None:
    async def look(driver: Driver) -> None:
        pane = agent(driver)
        driver.inbox.append(
            ev.ToolStarted(
                seq=1, at=START, iteration=7, tool_id="x", tool="Bash", summary="make all"
            )
        )
        await driver.sees("make all")
        await driver.press("up", "down", "enter")
        await driver.sees("▾ Bash")
        rows = pane.row_count(pane.inner_width, pane.inner_height)
        driver.inbox.append(
            ev.ToolFinished(
                seq=2, at=START, iteration=7, tool_id="x", ok=False, summary="exit 2", duration_s=9
            )
        )
        await driver.sees("✗ exit 2 · 9s")
        assert pane.row_count(pane.inner_width, pane.inner_height) == rows + 1
        await driver.press("enter")
        await driver.sees("▪ Bash")

    drive(live(running()), look)


def test_a_jump_in_time_follows_again() -> None:
    async def look(driver: Driver) -> None:
        pane = agent(driver)
        await driver.press("6", "pageup")
        assert not pane.following
        await driver.press("comma")
        await driver.until(lambda: pane.following)

    drive(replay(stuck()), look)


def test_the_timeline_tells_about_the_selected_point() -> None:
    async def look(driver: Driver) -> None:
        await driver.press("3")
        await driver.sees("iteration 7")
        await driver.press("shift+left")
        await driver.sees("+26 points  22 → 48 %")
        await driver.press("end")
        await driver.sees("snapshot 16 on request")
        await driver.sees("before the rewrite of groups")
        await driver.press("home")
        await driver.sees("before iteration 1")

    drive(live(running()), look)


def test_the_timeline_selection_survives_the_run_going_on() -> None:
    async def look(driver: Driver) -> None:
        pane = driver.cockpit.body.panes["iterations"]
        assert isinstance(pane, IterationsPane)
        await driver.press("3", "home")
        driver.inbox.extend(running()[-3:])
        await driver.until(lambda: not driver.inbox)
        assert pane.current == 0

    drive(live(running()), look)


def test_the_prompt_is_read_from_the_attempts_folder(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("# Objective\n[/foo] \x1b[31mdo it\n")
    events = [
        *running(),
        ev.PromptPrepared(seq=999, at=START, iteration=7, path="prompt.md", characters=7),
    ]

    async def look(driver: Driver) -> None:
        await driver.press("P")
        await driver.sees("[/foo] do it")
        await driver.press("escape")

    driver = live(events)
    source = driver.source
    assert isinstance(source, Live)
    source.folder = tmp_path
    drive(driver, look)


def test_the_prompt_of_the_latest_session_is_shown(tmp_path: Path) -> None:
    pane = PromptPane(Live(deque(), lambda _: None, tmp_path))
    for seq, (name, text) in enumerate([("prompt.md", "first"), ("prompt-2.md", "second")], 1000):
        folder = tmp_path / "results" / "iter-007"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        path = f"results/iter-007/{name}"
        pane.state = RunState()
        pane.state.apply(ev.PromptPrepared(seq=seq, at=START, iteration=7, path=path, characters=5))
        pane.changed()
        assert pane.build(40, 5) == [[(text, "text")]]
    assert pane.subtitle(60) == [("iteration 7, session 2 · 5 characters", "dim")]


@pytest.mark.parametrize("loop", [None, FleetWork("fleet-001/1", "1649807")])
def test_a_prompt_that_is_not_here_may_be_in_a_loops_clone(
    loop: FleetWork | None, tmp_path: Path
) -> None:
    source = Replay([prepared := ev.PromptPrepared(seq=1, at=START, iteration=1, path="gone.md")])
    source.folder, source.record = tmp_path, SimpleNamespace(fleet=loop)
    pane = PromptPane(source)
    pane.state = RunState().apply_all([prepared])
    pane.changed()
    (row,) = pane.build(100, 5)
    assert ("in its clone" in row[0][0]) == (loop is not None)


@each_row("name", ["../secret", "/etc/passwd", "link", "a\0b", "missing", "x" * 5000])
def test_a_prompt_outside_its_folder_is_not_opened(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "attempt"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    text, problem = read_inside(folder, name, "prompt")
    assert text == ""
    assert problem


def test_a_flood_of_rows_is_kept_up_with() -> None:
    async def look(driver: Driver) -> None:
        driver.inbox.extend(event for event in list(flood(3000))[40:])
        await driver.until(lambda: not driver.inbox)
        await driver.sees("following")
        assert len(driver.cockpit.state.agent.rows) <= KEPT_ROWS

    drive(live(running()), look, (140, 45))


def test_nothing_is_drawn_when_nothing_changed() -> None:
    async def look(driver: Driver) -> None:
        versions = {name: pane.version for name, pane in driver.cockpit.body.panes.items()}
        for _ in range(20):
            driver.cockpit.tick()
        assert {name: pane.version for name, pane in driver.cockpit.body.panes.items()} == versions

    drive(live(running()), look, (140, 45))


REPORT = '{"ralph": {"completion": 40, "summary": "a } b", "next": "c"}}'


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("plain words", "plain words"),
        (REPORT, ""),
        (f"done.\n{REPORT}", "done."),
        (f"done.\n\n{REPORT}\nmore", "done.\nmore"),
        (f"done.\n```json\n{REPORT}\n```\n", "done."),
        (f"{REPORT}\n{REPORT}", ""),
        ('{ "ralph" :\n {"completion": 4}\n}', ""),
        ('done.\n{"ralph": {"completion": 40, "summ…', "done."),
        ('done.\n{"ralph": garbled}', 'done.\n{"ralph": garbled}'),
        ('the "ralph" key', 'the "ralph" key'),
        ('{"ralph": 3}', '{"ralph": 3}'),
    ],
)
def test_the_report_line_is_shown_once(said: str, shown: str) -> None:
    assert strip_claims(said) == shown
    state = RunState()
    state.apply(ev.AgentSpoke(seq=1, iteration=1, text=said))
    assert [row.text for row in state.agent.rows] == ([shown] if shown else [])


@given(
    st.lists(
        st.sampled_from(["words ", "\n", REPORT, '{"ralph": ', "```", "```json", "}", "…", "[/]"]),
        max_size=12,
    )
)
def test_words_without_their_report_are_never_more(pieces: list[str]) -> None:
    said = "".join(pieces)
    shown = strip_claims(said)
    assert shown.count('"ralph"') <= said.count('"ralph"')
    assert len(shown) <= len(said)
    assert REPORT not in shown
    assert strip_claims(shown) == shown or "…" in said


def test_a_subagents_words_stay_whole() -> None:
    state = RunState()
    state.apply(ev.AgentSpoke(seq=1, iteration=1, text=REPORT, parent="task"))
    assert [(row.text, row.nested) for row in state.agent.rows] == [(REPORT, True)]


def test_the_stream_tells_of_a_limit_and_of_its_end() -> None:
    async def look(driver: Driver) -> None:
        await driver.sees("waiting: usage limit 1h 24m")
        await driver.sees("▲ waiting: usage limit, retry at 10:59")
        last = driver.cockpit.state
        ended = ev.WaitEnded(iteration=3, waited_s=300, by="you", seq=last.seq + 1, at=last.at)
        driver.inbox.append(ended)
        await driver.sees("retried by you · 5m")
        assert "waiting: usage limit 1h" not in "\n".join(driver.text())

    drive(live(story("limited")), look, (140, 45))


def test_the_stream_tells_how_far_guidance_has_come() -> None:
    async def look(driver: Driver) -> None:
        await driver.sees("your guidance was delivered")
        last = driver.cockpit.state
        driver.inbox.append(ev.GuidanceAcknowledged(guidance_id="g1", seq=last.seq + 1, at=last.at))
        await driver.sees("your guidance was acknowledged")
        driver.inbox.append(
            ev.GuidanceQueued(guidance_id="g2", text="more", seq=last.seq + 2, at=last.at)
        )
        await driver.sees("your guidance: 1 queued")

    drive(live(story("running")), look)


def test_the_gate_says_when_its_result_is_of_files_that_are_not_there_any_more() -> None:
    world = World([0, 7, 6, 5, 8, 10], mode="attended").play(answer("roll_back"))
    pane, said = VerificationPane(), []
    for event in world.events:
        pane.state.apply(event)
        if isinstance(event, (ev.PromptPrepared, ev.ReadingTaken)):
            rows = ["".join(text for text, _ in row) for row in pane.build(60, 20)]
            stale = "↶ measured before the files were restored" in rows
            said.append((event.kind, event.iteration, stale))
    assert [(kind, k) for kind, k, stale in said if stale] == [("prompt_prepared", 4)]
