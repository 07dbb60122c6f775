"""A run of another tool on the screen: whose words and whose numbers these are is always said."""

import json
from pathlib import Path

import pytest

from ralph_tui.analysis.verdict import verdict
from ralph_tui.runtime.sources.find_run import read_run
from ralph_tui.runtime.sources.recorded import opened
from ralph_tui.state import RunState
from ralph_tui.state.oversight import NOBODY_ASKED
from ralph_tui.text.terms import NO_SNAPSHOTS, NOT_RECORDED
from tests.fixtures.journals.make import FOLDER
from tests.foreign import find_imported, sample_events, unpacked
from tests.tui.driving import Driver, drive, replay


def shown(name: str, folder: Path) -> Driver:
    """A driver of the sample, at its end, with its files beside it."""
    (run,) = find_imported(unpacked(name, folder))
    return Driver(opened(read_run(run)))


def test_whose_words_and_numbers_these_are_stands_beside_them(tmp_path: Path) -> None:
    async def scenario(driver: Driver) -> None:
        await driver.sees(" REPLAY aiwg ")
        await driver.sees("limit reached: all 8 iterations are used up")
        await driver.press("1")
        await driver.sees("─ recomputed ─")
        await driver.press("z")
        await driver.sees("aiwg recorded the measurements; the rest is recomputed")
        await driver.sees("aiwg:  signal .03 proportional .73")
        words = " ".join("\n".join(driver.text()).replace("│", " ").replace("┃", " ").split())
        assert "the rest is recomputed aiwg: signal" in words
        assert "velocity 0 kp .12 ki .01 kd .6 " in words
        await driver.press("z", "M", "2", "z")
        screen = "\n".join(driver.text())
        assert "recomputed: " in screen
        assert "aiwg: REDIRECT oscillating: Oscillation detected: 4 undo/redo" in screen
        assert "waiting for your answer" not in screen
        await driver.press("z", "9")
        await driver.sees("as recorded by aiwg")
        await driver.sees("control pause")

    drive(shown("wired-oscillating", tmp_path), scenario)


@pytest.mark.parametrize(
    ("name", "ended"), [("wired-oscillating", "limit reached"), ("ref-crash", "died:")]
)
def test_no_difference_is_offered_where_there_are_no_snapshots(
    name: str, ended: str, tmp_path: Path
) -> None:
    async def scenario(driver: Driver) -> None:
        await driver.sees(ended)
        assert "f diff" not in driver.text()[-1]
        await driver.press("f")
        await driver.sees("aiwg takes no snapshots")

    drive(shown(name, tmp_path), scenario)


def test_a_wide_screen_has_room_for_where_it_comes_from(tmp_path: Path) -> None:
    async def scenario(driver: Driver) -> None:
        await driver.sees(" REPLAY imported from aiwg ")

    drive(shown("internal-hook", tmp_path), scenario, (140, 45))


def test_one_without_an_end_has_died_at_the_end_of_its_record(tmp_path: Path) -> None:
    async def scenario(driver: Driver) -> None:
        await driver.sees("died: no end was recorded")
        await driver.press("left")
        await driver.until(lambda: "died:" not in "\n".join(driver.text()))
        await driver.press("end", "6")
        await driver.sees("Starting work (scripted session 3)")

    drive(shown("ref-crash", tmp_path), scenario)


def test_the_prompt_is_the_one_that_was_sent(tmp_path: Path) -> None:
    async def scenario(driver: Driver) -> None:
        sent = tmp_path / "wired-oscillating/.aiwg/ralph-external/prompts/008-prompt.md"
        sent.write_text("# What iteration 8 was told")
        await driver.press("8")
        await driver.sees("# What iteration 8 was told")

    drive(shown("wired-oscillating", tmp_path), scenario)


def test_what_was_not_recorded_is_said_calmly_and_nothing_can_be_done(tmp_path: Path) -> None:
    async def scenario(driver: Driver) -> None:
        await driver.press("escape")
        for key in ("7", "8", "0", "4"):
            await driver.press(key)
            await driver.sees(NOT_RECORDED)
        await driver.press("3", "r")
        await driver.sees("another tool recorded this run; it is read-only")
        text = "\n".join(driver.text())
        assert "resume" not in text

    drive(shown("internal-hook", tmp_path), scenario)


def test_the_end_tells_from_the_first_reading_on(tmp_path: Path) -> None:
    async def scenario(driver: Driver) -> None:
        await driver.press("end")
        await driver.sees("│ 0 % → 100 %   ")

    drive(shown("internal-hook", tmp_path), scenario)


def test_the_end_offers_what_a_foreign_run_has(tmp_path: Path) -> None:
    async def scenario(driver: Driver) -> None:
        await driver.sees("ralph-tui report aiwg/020b2b71")
        text = "\n".join(driver.text())
        assert "resume" not in text
        assert "asked" not in text

    drive(shown("wired-oscillating", tmp_path), scenario)


@pytest.mark.parametrize("sample", ["wired-oscillating", "ref-stuck"])
def test_nobody_was_asked_and_the_verdict_says_so(sample: str) -> None:
    state = RunState()
    seen, said = False, set[str]()
    for event in sample_events(sample):
        state.apply(event)
        if event.kind == "intervention_made" and state.oversight.undecided is not None:
            raise AssertionError("a recomputed intervention waits for no answer")
        seen = seen or event.kind == "intervention_made"
        said.add(verdict(state, state.at, recorded=True).text)
    asked = [one for one in state.oversight.interventions if one.level in ("REDIRECT", "PAUSE")]
    assert seen
    assert any(text.endswith(f"; {NOBODY_ASKED}") for text in said)
    assert not any("you are asked" in text for text in said)
    assert all(one.decision == NOBODY_ASKED for one in asked)


def test_a_sentence_of_its_layers_is_told_once() -> None:
    state = RunState().apply_all(sample_events("wired-oscillating"))
    rows = [row for row in state.log.rows if row.word == "aiwg:"]
    assert len([row for row in rows if "node_modules not found" in row.text]) == 1
    assert len([row for row in rows if row.text.startswith("REDIRECT oscillating")]) == 5
    assert any("was selected" in row.text for row in rows)
    assert state.foreign.control(8) is not None


def test_damaged_files_are_named_and_the_rest_is_shown(tmp_path: Path) -> None:
    folder = unpacked("wired-oscillating", tmp_path) / ".aiwg" / "ralph-external"
    (folder / "iterations/003/assessment.json").write_text("{")
    (folder / "outputs/004-stdout.log").write_bytes(b"\xff\x00" * 500)
    (folder / "outputs/005-stdout.log").unlink()
    (run,) = find_imported(tmp_path / "wired-oscillating")

    async def scenario(driver: Driver) -> None:
        await driver.sees("cannot be used: the log names")
        await driver.press("home", "right", "2", "z")
        await driver.sees("assessment.json cannot be used")

    drive(Driver(opened(read_run(run))), scenario)


def test_a_newer_version_says_so_above_its_replay(tmp_path: Path) -> None:
    first, *rest = (FOLDER / "v1-stuck.jsonl").read_text().splitlines(keepends=True)
    start = json.loads(first) | {"schema_version": 7, "program_version": "9.2"}
    ended = json.loads(rest[-1]) | {"kind": "slept", "dreams": 3}
    journal = tmp_path / "events.jsonl"
    journal.write_text("".join([json.dumps(start) + "\n", *rest[:-1], json.dumps(ended) + "\n"]))

    async def scenario(driver: Driver) -> None:
        await driver.sees("recorded by ralph-tui 9.2, which is newer; unknown parts")
        await driver.press("2", "z")
        await driver.sees("NEWER slept")

    drive(Driver(opened(journal)), scenario)


def test_no_key_that_restores_is_shown_for_a_run_that_is_only_read() -> None:
    async def look(driver: Driver) -> None:
        assert "restore" not in driver.text()[-1]

    drive(replay(sample_events("ref-stuck")), look)


def test_a_loop_of_hooks_shows_what_is_unknown_as_unknown() -> None:
    async def scenario(driver: Driver) -> None:
        assert "restore" not in driver.text()[-1]
        await driver.press("end", "escape")
        for key, words in (
            ("1", "never measured"),
            ("4", NO_SNAPSHOTS),
            ("7", "hooks run no tests"),
        ):
            await driver.press(key)
            await driver.sees(words)
        for wrong in ("nothing measured yet", "no files differ", "have not run yet"):
            assert wrong not in "\n".join(driver.text())

    drive(Driver(opened(FOLDER / "v1-step9-hooks.jsonl")), scenario)
