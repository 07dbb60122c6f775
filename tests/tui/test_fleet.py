"""The fleet's screen: its rows at each size, its keys, and where they lead."""

from functools import partial
from operator import eq

from textual import events
from textual.widgets import TextArea

from ralph_tui.commands import Abort, Guide, Pause, Stop, Unpause
from ralph_tui.fleet import events as ev
from ralph_tui.fleet.ports import ALL, FLEET, TargetedCommand
from ralph_tui.fleet.state import FleetState
from ralph_tui.fleet.tui import bars
from ralph_tui.fleet.tui.keys import KEYS, STATES
from ralph_tui.fleet.tui.table import COLUMNS, LoopTable
from ralph_tui.fleet.tui.view import FleetView, LoopRow
from ralph_tui.text.keys import Keys
from ralph_tui.text.terms import LOOPS, OUTCOMES, PHASES
from ralph_tui.tui.cockpit.recorded import LoopScreen
from ralph_tui.tui.draw.spans import cells
from ralph_tui.tui.modals.guide import TextDraft
from ralph_tui.tui.modals.help import Help
from tests.fleet_events import a_loop, a_plan, stamped, started
from tests.rows import each_row
from tests.tui.fleets import (
    FAST,
    FIX,
    MOVE,
    FleetDriver,
    began,
    ended,
    finished,
    timed,
    under_way,
    with_fleet,
    works,
)

SIZES = [(200, 60), (140, 45), (100, 30), (80, 24), (60, 15), (20, 10), (8, 2)]


def _row(name: str, driver: FleetDriver) -> str:
    ids = [row.id for row in driver.screen.view.rows]
    row = driver.screen.view.rows[ids.index(name)]
    return "".join(text for text, _ in COLUMNS.line_of(row, driver.screen.view.now, 137))


# rows ---------------------------------------------------------------------------------------------


@each_row("width", range(4, 220, 7))
def test_a_row_is_as_wide_as_there_is_room_and_no_column_moves(width: int) -> None:
    view = FleetView(FleetDriver(under_way()).fleet.state)
    view.follow(view.state, view.state.at, live=True, lost="")
    for line in (*(COLUMNS.line_of(row, view.now, width) for row in view.rows),
                 COLUMNS.titles(width)):  # fmt: skip
        assert cells(line) <= width
    assert sum(room for _, room in COLUMNS.at(width)) <= width


@each_row("width", [60, 100, 137, 220])
def test_names_that_begin_alike_can_be_told_apart_in_every_row(width: int) -> None:
    names = ("auth-login", "auth-logout", "documents-a", "documents-b")
    loops = [a_loop(name, objective="Do it") for name in names]
    state = FleetState().replay(stamped([started(a_plan(*loops))]))
    drawn = {
        "".join(text for text, _ in COLUMNS.line_of(LoopRow(loop), state.at, width))
        for loop in state.loops.values()
    }
    assert len(drawn) == len(names), drawn


@each_row("width", [60, 80, 140])
def test_a_name_is_whole_where_there_is_room_for_it(width: int) -> None:
    names = ("notes", "notes2", "setup-fails")
    loops = [a_loop(name, objective="Do it") for name in names]
    state = FleetState().replay(stamped([started(a_plan(*loops))]))
    view = FleetView(state)
    view.follow(state, state.at, live=True, lost="")
    table = LoopTable(view)
    rows = ["".join(text for text, _ in table.entry(index, width)[0]) for index in range(3)]
    assert all(name in row for name, row in zip(names, rows, strict=True)), rows
    assert all(cells(table.entry(index, width)[0]) <= width for index in range(3))


def test_of_many_conflicts_and_unknown_ones_both_are_told() -> None:
    state = FleetState().replay(stamped([started(a_plan(a_loop("1")))]))
    loop = state.loops["1"]
    loop.conflicts, loop.conflicts_unknown = {"a": (), "b": ()}, "git is too old"
    view = FleetView(state)
    view.follow(state, state.at, live=True, lost="")
    rows = ["".join(text for text, _ in left) for left, _ in bars.detail(view, 100, 5)]
    assert "▲ conflicts with 2 branches: a, b; others are not known: git is too old" in rows


@each_row(
    ("width", "facts"),
    [
        (80, "loop 1 · on local (desk) · began 00:02 · ports 20000-20009"),
        (60, "loop 1 · on local (desk) · began 00:02"),
        (40, "loop 1"),
    ],
)
def test_the_facts_of_a_loop_are_left_out_from_the_end_never_cut(width: int, facts: str) -> None:
    async def look(fleet: FleetDriver) -> None:
        await fleet.resize((width, 24))
        assert any(row.rstrip().endswith(f"  {facts}") for row in fleet.rows()), fleet.rows()

    with_fleet(look, FleetDriver(under_way()))


@each_row("journal", [under_way, finished])
def test_it_is_calm_at_every_size(journal: object) -> None:
    async def look(fleet: FleetDriver) -> None:
        for size in SIZES:
            await fleet.resize(size)
            for key in ("end", "l", "l"):
                assert all(cells([(row, "")]) <= size[0] for row in fleet.rows())
                await fleet.press(key)

    with_fleet(look, FleetDriver(under_way() if journal is under_way else finished()))


def test_head_and_sentence_say_what_the_owner_should_know_first() -> None:
    async def look(fleet: FleetDriver) -> None:
        first, second, third = fleet.rows()[:3]
        assert first.startswith(" fleet-001  night ")
        assert first.endswith("7 loops  5/6 slots, 2 waiting  $6.60 of $40.00  9m 5s")
        assert (
            second
            == " ! loop 2 is waiting for your answer; 3 loops running; 1 at a limit; 2 queued"
        )
        assert third == " hosts  ● local 3/4  ● beta 2/2"

    with_fleet(look, FleetDriver(under_way()))


def test_a_row_says_how_a_loop_stands_and_for_how_long() -> None:
    async def look(fleet: FleetDriver) -> None:
        assert "! needs you 3m" in _row("2", fleet) or "! needs you 4m" in _row("2", fleet)
        assert "waits 4" in _row("3b", fleet)
        assert "creating clone" in _row("3c", fleet)
        assert LOOPS["queued"].label in _row("4", fleet)
        one = _row("1", fleet)
        assert all(part in one for part in (FIX, "62 %", "3/10", "$1.80", "local", "▁"))
        places = [one.index(part) for part in ("● agent at work", FIX, "62 %", "$1.80")]
        assert places == sorted(places)

    with_fleet(look, FleetDriver(under_way()), size=(140, 45))


def test_tries_stand_together_and_the_chosen_one_is_marked() -> None:
    async def look(fleet: FleetDriver) -> None:
        first, second, third = (_row(name, fleet) for name in ("3a", "3b", "3c"))
        assert f"┌ ★ chosen  {FAST[:30]}" in first
        assert "├ not chosen  attempt 2 of 3: codex" in second
        assert "└ ▲ not chosen  attempt 3 of 3: gemini" in third, "its work could not be collected"

    with_fleet(look, FleetDriver(finished()), size=(140, 45))


@each_row("phase", PHASES)
def test_every_phase_of_a_loop_has_glyph_and_word(phase: str) -> None:
    async def look(fleet: FleetDriver) -> None:
        assert _row("1", fleet).startswith(PHASES[phase].glyph)

    with_fleet(look, FleetDriver(timed([*under_way(), *works("1", 0.9, phase=phase)])))


def test_a_short_word_does_not_call_an_agent_at_work_that_the_sign_says_is_waited_for() -> None:
    async def look(fleet: FleetDriver) -> None:
        assert PHASES["waiting"].short_label in _row("1", fleet)
        rows = dict(STATES[1])
        assert rows[PHASES["waiting"].glyph] == "starting, or no output yet"

    journal = timed([*under_way(), *works("1", 0.9, phase="waiting")])
    with_fleet(look, FleetDriver(journal), size=(120, 45))


@each_row("outcome", OUTCOMES)
def test_every_outcome_has_glyph_and_word(outcome: str) -> None:
    async def look(fleet: FleetDriver) -> None:
        assert _row("1", fleet).startswith(OUTCOMES[outcome].label)

    with_fleet(look, FleetDriver(timed([*under_way(), ended("1", outcome)])))


def test_the_selected_loop_is_told_in_full() -> None:
    async def look(fleet: FleetDriver) -> None:
        await fleet.sees("▲ conflicts with ralph/fleet-001/3a: parser.py, lexer.py")
        await fleet.sees("branch ralph/fleet-001/1 at 1c0ffee12, 3 files, 120 lines changed")
        await fleet.press("end", "up", "up")
        await fleet.sees("its work could not be collected: the disk of beta is full")
        await fleet.sees("chosen: 3a, the first whose tests pass")
        await fleet.press("home", "down")
        await fleet.sees(f" {MOVE}")
        await fleet.sees("issue 42 · account work")

    with_fleet(look, FleetDriver(finished()), size=(140, 45))


def test_many_conflicts_leave_room_for_where_the_work_is() -> None:
    others = {f"ralph/fleet-001/{name}": ("parser.py",) for name in ("2", "3a", "3b", "4", "5")}
    more = ev.ConflictsFound(branch="ralph/fleet-001/1", others=others)

    async def look(fleet: FleetDriver) -> None:
        await fleet.sees("conflicts with 5 branches: ralph/fleet-001/2")
        await fleet.sees("and 1 more")
        await fleet.sees("branch ralph/fleet-001/1 at 1c0ffee12")

    with_fleet(look, FleetDriver(timed([*finished()[:-1], more])), size=(80, 24))


def test_a_lost_host_and_its_loops_are_counted_down() -> None:
    lost = [
        ev.HostLost(host="beta", reason="no answer"),
        ev.LoopLost(loop="3b", until=timed(under_way())[-1].at.replace(hour=2)),
    ]

    async def look(fleet: FleetDriver) -> None:
        await fleet.sees("◇ beta lost")
        assert "◇ lost 1h" in _row("3b", fleet)
        assert "no contact with beta: its loops may keep running for 1h" in fleet.page

    with_fleet(look, FleetDriver(timed([*under_way(), *lost])), size=(140, 45))


def test_where_there_is_one_machine_objectives_have_the_room_of_its_name() -> None:
    async def look(fleet: FleetDriver) -> None:
        titles = next(line for line in fleet.page.splitlines() if "objective" in line)
        assert "cost" in titles
        assert "host" not in titles

    alone = [one for one in under_way() if getattr(one, "host", "") != "beta"]
    with_fleet(look, FleetDriver(timed(alone)), size=(140, 45))


def test_a_host_that_was_stopped_has_left_and_is_no_warning() -> None:
    leaving = ev.HostLeaving(host="beta", reason="it was stopped by SIGINT")
    left = ev.HostLost(host="beta", reason="it was stopped by SIGINT", left=True)

    async def look(fleet: FleetDriver) -> None:
        await fleet.sees("– beta left")
        assert "▲" not in fleet.page
        await fleet.press("l")
        await fleet.sees("beta is stopping its loops and leaving: it was stopped by SIGINT")
        await fleet.sees("beta has left")

    settled = [one for one in under_way() if getattr(one, "host", "") != "beta"]
    joined = ev.HostJoined(host="beta", slots=2)
    with_fleet(look, FleetDriver(timed([*settled, joined, leaving, left])), size=(140, 45))


def test_a_fleet_whose_process_is_gone_says_so_and_takes_no_command() -> None:
    async def look(fleet: FleetDriver) -> None:
        assert (
            "◇ died: the fleet's process is gone; ralph-tui fleet resume continues it" in fleet.page
        )
        assert "◇ lost" in _row("1", fleet), "its host may live on"
        assert "! needs you" not in _row("2", fleet)
        for key in ("p", "g", "a", "A", "s", "d"):
            await fleet.press(key)
            assert "the fleet's process is gone" in fleet.answer
        await fleet.press("q")
        assert not fleet.app.is_running

    driver = with_fleet(look, FleetDriver(under_way(), lost="died"), size=(140, 45))
    assert driver.fleet.sent == []


def test_foreign_text_is_text() -> None:
    hostile = "[bold]x[/foo] \x1b[31mred\x07"
    hostile_events = [
        ev.FleetNoticed(text=hostile, level="warn"),
        *works("1", 0.9, verdict=hostile, question=hostile, question_id="x"),
        ev.CollectionFailed(loop="1", reason=hostile),
    ]

    async def look(fleet: FleetDriver) -> None:
        await fleet.sees("[bold]x[/foo]")
        assert "\x1b" not in fleet.page
        await fleet.press("a")
        await fleet.press("escape", "g")

    with_fleet(look, FleetDriver(timed([*under_way(), *hostile_events])), size=(140, 45))


# keys ---------------------------------------------------------------------------------------------


SENT: list[tuple[tuple[str, ...], list[TargetedCommand]]] = [
    (("p",), [TargetedCommand("1", Pause())]),
    (("P",), [TargetedCommand(ALL, Pause())]),
    (("a", "y"), [TargetedCommand("1", Abort())]),
    (("a", "escape"), []),
    (("end", "a", "y"), [TargetedCommand("5", Abort())]),
    (("A", "y"), [TargetedCommand(FLEET, Abort())]),
    (("s", "i"), [TargetedCommand(FLEET, Stop(mode="after_iteration"))]),
    (("s", "s"), [TargetedCommand(FLEET, Stop(mode="now"))]),
    (("s", "escape"), []),
    (("q", "i"), [TargetedCommand(FLEET, Stop(mode="after_iteration"))]),
    (("q", "escape"), []),
    (("g", "x", "enter"), [TargetedCommand("1", Guide(text="x"))]),
    (("G", "x", "enter"), [TargetedCommand(ALL, Guide(text="x"))]),
    (("g", "x", "escape", "g", "enter"), [TargetedCommand("1", Guide(text="x"))]),
]


def test_a_key_becomes_a_command() -> None:
    async def press(fleet: FleetDriver) -> None:
        for keys, sent in SENT:
            fleet.fleet.sent.clear()
            await fleet.press("home", *keys)
            await fleet.until(partial(eq, fleet.fleet.sent, sent))
            if sent:
                assert "sent" in fleet.answer

    with_fleet(press, FleetDriver(under_way()))


def test_a_paused_loop_goes_on_by_the_same_key() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.sees("p unpause")
        await fleet.press("p")
        assert fleet.fleet.sent == [TargetedCommand("1", Unpause())]

    with_fleet(press, FleetDriver(timed([*under_way(), *works("1", 0.9, phase="paused")])))


def test_the_key_withdraws_a_pause_that_is_still_pending() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press("p")
        await fleet.pilot.press("p")  # the second comes before the first has been recorded
        assert fleet.fleet.sent == [TargetedCommand("1", Pause()), TargetedCommand("1", Unpause())]
        assert "loop 1 continues" in fleet.answer
        fleet.fleet.coming.append(ev.CommandGiven(loop="1", name="pause", by="you"))
        await fleet.sees("▮ pausing")
        assert "pausing: this iteration ends first" in fleet.page
        await fleet.press("p")
        assert fleet.fleet.sent[2:] == [TargetedCommand("1", Unpause())]

    with_fleet(press, FleetDriver(under_way()))


@each_row(
    ("keys", "answer"),
    [
        (("end", "p"), "p pause: loop 5 is waiting for a slot"),
        (("end", "g"), "g guide: loop 5 is waiting for a slot"),
        (("up",), "nothing more in that direction"),
        (("x",), "x does nothing here; ? lists the keys"),
        (("escape",), "esc: nothing is open; q leaves"),
        (("t",), "theme: "),
    ],
)
def test_every_key_is_answered(keys: tuple[str, ...], answer: str) -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press(*keys)
        assert fleet.answer.startswith(answer)

    with_fleet(press, FleetDriver(under_way()))


def test_what_is_over_takes_no_command_and_is_left_without_a_question() -> None:
    async def press(fleet: FleetDriver) -> None:
        for key in ("p", "P", "g", "G", "a", "A", "s", "d"):
            await fleet.press(key)
            assert fleet.answer.endswith("the fleet has ended")
        assert "p pause" not in fleet.page
        await fleet.press("q")
        assert not fleet.app.is_running

    with_fleet(press, FleetDriver(finished()))


def test_a_refusal_is_said() -> None:
    async def press(fleet: FleetDriver) -> None:
        fleet.fleet.refused.append((TargetedCommand("1", Pause()), "the run is already paused"))
        await fleet.sees("pause: loop 1: the run is already paused")
        fleet.fleet.refused.append((TargetedCommand(FLEET, Pause()), "the fleet is stopping"))
        await fleet.sees("pause: the fleet is stopping")

    with_fleet(press, FleetDriver(under_way()))


def test_refused_guidance_is_the_next_draft() -> None:
    async def press(fleet: FleetDriver) -> None:
        refused = TargetedCommand("1", Guide(text="mind the lexer"))
        fleet.fleet.refused.append((refused, "its host is lost"))
        await fleet.sees("its host is lost; press g to get back the text you wrote")
        await fleet.press("g")
        area = fleet.app.screen.query_one(TextArea)
        assert area.text == "mind the lexer"

    with_fleet(press, FleetDriver(under_way()))


def test_enter_opens_the_cockpit_of_the_loop_and_esc_leads_back() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press("down", "enter")
        await fleet.until(lambda: isinstance(fleet.app.screen, LoopScreen))
        await fleet.sees("esc returns to the fleet")
        await fleet.sees("iteration 7/12")
        await fleet.press("p")
        assert fleet.loop_sent == [Pause()]
        await fleet.press("q")
        await fleet.sees("loop 2 is waiting for your answer")
        assert fleet.opened_loops == ["2"]
        assert fleet.screen.view.selected == 1

    with_fleet(press, FleetDriver(under_way()))


def test_d_opens_the_loop_that_asks_and_its_question_opens_there() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.sees("d answer 2  enter open")
        await fleet.press("down")
        await fleet.sees("d answer  enter open")
        await fleet.press("up", "d")
        await fleet.until(lambda: fleet.opened_loops == ["2"])
        await fleet.sees("needs a decision")
        assert "your run needs you" not in fleet.page, "it is listed"

    with_fleet(press, FleetDriver(under_way(), loop="asked"))


def test_where_a_loop_has_ended_one_esc_leads_back() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press("enter")
        await fleet.until(lambda: isinstance(fleet.app.screen, LoopScreen))
        await fleet.sees("the end")
        await fleet.sees("esc returns to the fleet")
        await fleet.press("escape")
        await fleet.until(lambda: fleet.app.screen is fleet.screen)

    with_fleet(press, FleetDriver(under_way(), loop="steady"))


def test_a_loop_without_a_record_says_so() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press("end", "enter")
        assert fleet.answer == "loop 5 has no record"

    with_fleet(press, FleetDriver(finished()))


def test_a_loop_that_is_named_is_opened_at_once() -> None:
    async def look(fleet: FleetDriver) -> None:
        await fleet.until(lambda: isinstance(fleet.app.screen, LoopScreen))
        await fleet.press("escape")
        await fleet.sees("fleet-001  night")
        assert fleet.screen.view.rows[fleet.screen.view.selected].id == "3a"

    driver = FleetDriver(under_way(), at_once="3a")

    async def opened() -> None:
        await driver.until(lambda: driver.opened_loops)

    driver.opened = opened  # type: ignore[method-assign]
    with_fleet(look, driver)


@each_row("key", ["q", "s"])
def test_a_fleet_that_ends_meanwhile_is_not_said_to_be_alive(key: str) -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press(key)
        await fleet.sees("esc back")
        fleet.fleet.coming.append(ev.FleetFinished(outcome="completed"))
        await fleet.sees("the fleet has ended; q leaves this screen")
        await fleet.until(lambda: fleet.app.screen is fleet.screen)
        await fleet.press("q")
        assert not fleet.app.is_running

    driver = with_fleet(press, FleetDriver(under_way()))
    assert driver.fleet.sent == []


def test_leaving_the_screen_stops_nothing() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press("q")
        await fleet.sees("How do you want to leave?")
        await fleet.press("enter")
        assert fleet.app.return_value == "screen"

    driver = with_fleet(press, FleetDriver(under_way()))
    assert driver.fleet.sent == []
    assert driver.fleet.stopped == 1


def test_ctrl_c_asks_and_twice_leaves() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press("ctrl+c")
        await fleet.sees("How do you want to leave?")
        await fleet.pilot.press("ctrl+c")
        assert fleet.app.return_value == "screen"

    assert with_fleet(press, FleetDriver(under_way())).fleet.sent == []


def test_the_user_is_alerted_to_a_new_question_once() -> None:
    async def look(fleet: FleetDriver) -> None:
        alerts: list[str] = []

        def alert(text: str, *, over: bool = False) -> None:
            alerts.append(text)

        fleet.app.alert_user = alert  # type: ignore[method-assign]
        fleet.fleet.coming.extend(works("1", 0.9, question="Continue?", question_id="q7"))
        await fleet.sees("loops 1, 2 are waiting for your answer")
        fleet.fleet.coming.extend(works("3a", 0.9))
        await fleet.until(lambda: fleet.screen.view.state.loops["3a"].iteration == 1)
        assert alerts == ["loop 1 asks: Continue?"]

    with_fleet(look, FleetDriver(under_way()))


def test_the_log_has_the_place_of_the_loops_and_gives_it_back() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press("l")
        await fleet.sees("loop 3b began")
        await fleet.sees("l loops")
        await fleet.press("l")
        await fleet.sees(FIX)
        await fleet.press("l", "escape")
        await fleet.sees(FIX)

    with_fleet(press, FleetDriver(under_way()))


def test_what_comes_is_seen_and_the_selection_stays_with_its_loop() -> None:
    async def look(fleet: FleetDriver) -> None:
        await fleet.press("down", "down")
        fleet.fleet.coming.extend([ended("1"), *began("4")])
        await fleet.until(lambda: "✓ completed" in fleet.page)
        row = fleet.screen.view.row
        assert isinstance(row, LoopRow)
        assert row.id == "3a"

    with_fleet(look, FleetDriver(under_way()))


def test_set_keys_are_named_and_act() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.sees("f5 pause")
        await fleet.press("p")
        assert fleet.answer.startswith("p does nothing here")
        await fleet.press("f5")
        assert fleet.fleet.sent == [TargetedCommand("1", Pause())]

    with_fleet(press, FleetDriver(under_way(), keys=Keys({"fleet_pause": "f5"})))


def test_a_second_click_opens() -> None:
    async def click(fleet: FleetDriver) -> None:
        await fleet.pilot.click(offset=(10, 5), times=2)
        await fleet.until(lambda: fleet.opened_loops == ["2"])

    with_fleet(click, FleetDriver(under_way()))


def test_help_and_palette_name_every_key() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press("question_mark")
        assert isinstance(fleet.app.screen, Help)
        for key in KEYS:
            assert len(key.help) <= 27
        await fleet.press("escape", "colon", *"abort all")
        await fleet.press("enter")
        await fleet.sees("Abort all loops of this fleet?")

    with_fleet(press, FleetDriver(under_way()), size=(140, 45))


def test_an_open_dialog_of_a_loop_that_ends_closes() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press("a")
        await fleet.sees("Abort loop 1")
        fleet.fleet.coming.append(ended("1"))
        await fleet.until(lambda: fleet.app.screen is fleet.screen)

    assert with_fleet(press, FleetDriver(under_way())).fleet.sent == []


def test_words_are_text_in_the_editor() -> None:
    async def press(fleet: FleetDriver) -> None:
        await fleet.press("g")
        assert isinstance(fleet.app.screen, TextDraft)
        fleet.app.screen.post_message(events.Paste("q\na"))
        await fleet.press("enter")
        await fleet.until(lambda: fleet.fleet.sent)
        assert fleet.fleet.sent == [TargetedCommand("1", Guide(text="q\na"))]

    with_fleet(press, FleetDriver(under_way()))
