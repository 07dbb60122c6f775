"""The form for a new run: typed into, tried, started, left."""

import shlex
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from textual import events
from textual.widget import Widget
from textual.widgets import Input, TextArea

from ralph_tui.ports.new_runs import AgentOffer, Draft, Finding
from ralph_tui.runtime.new_runs import FolderNewRuns
from ralph_tui.tui.home.form_line import NO_COMMAND, NO_OBJECTIVE
from tests.tui.new_runs import GOOD, FixedSurroundings, FormDriver, drive
from tests.waiting import until

Scenario = Callable[[FormDriver], Awaitable[None]]
LONG = "Fix the parser so that every test passes; " * 3


def answered(scenario: Scenario, here: FixedSurroundings | None = None) -> list[list[str] | None]:
    driver = FormDriver(here)
    drive(driver, scenario)
    return driver.answers


def test_what_is_typed_is_what_is_started() -> None:
    async def fill(driver: FormDriver) -> None:
        await driver.type("Fix it\nall")
        await driver.paste(" of it")
        await driver.to("command")
        await driver.paste("sh checks.sh")
        await driver.to("limits.max_iterations")
        await driver.press("backspace", "backspace", "3")
        await driver.to("permissions.mode")
        await driver.press("right", "right")
        await driver.sees("types: ralph-tui run 'Fix it⏎all of it' -c 'sh checks.sh'")
        await driver.press("ctrl+y")
        await driver.sees("copied")
        assert shlex.split(driver.app.clipboard)[2] == "Fix it\nall of it"
        await driver.press("ctrl+s")

    assert answered(fill) == [
        ["run", "Fix it\nall of it", "-c", "sh checks.sh", "--max-iterations", "3",
         "--permissions", "skip"]
    ]  # fmt: skip


def test_typing_goes_on_where_the_form_was_still_on_its_way() -> None:
    here = FixedSurroundings()

    async def fill(driver: FormDriver) -> None:
        assert driver.form.page.objective.has_focus
        await driver.press("q", "question_mark")
        assert driver.form.page.objective.text == "q?"
        assert driver.answers == []
        await driver.until(lambda: here.kept == Draft("q?"))
        await driver.sees("agent ● claude ○ command ○ the demo")
        row = driver.form.keys_row.line(1, 80)
        shown = "".join(text for text, _ in row)
        assert shown.split("  ")[-2:] == ["tab next", "ctrl+y copy"]

    answered(fill, here)


def test_every_agent_is_in_view_and_can_be_clicked() -> None:
    names = ("claude", "codex", "gemini", "opencode", "acp", "command")
    place = replace(GOOD, agents=tuple(AgentOffer(name, True, "1.0") for name in names))

    async def look(driver: FormDriver) -> None:
        for word in (*names, "the demo"):
            await driver.sees(f"○ {word}" if word != "claude" else "● claude")
        await driver.to("agent.name")
        row = next(y for y, text in enumerate(driver.text()) if "○ the demo" in text)
        await driver.pilot.click(offset=(driver.text()[row].index("the demo"), row))
        await driver.sees("● the demo")
        assert driver.form.page.agent.value == "demo"

    drive(FormDriver(FixedSurroundings(place)), look, (40, 24))


def test_keys_that_come_at_once_go_where_they_were_meant() -> None:
    async def fill(driver: FormDriver) -> None:
        for key in ("F", "tab", "tab", "down", "ctrl+s"):
            driver.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await driver.until(lambda: driver.answers)

    assert answered(fill) == [["run", "F", "-c", "pytest -q"]]


def test_what_is_typed_after_a_deletion_stays() -> None:
    async def retype(driver: FormDriver, field: str) -> None:
        await driver.to(field)
        await driver.paste("an older text")
        for key in ("ctrl+u", "a", "b", "left", "c", "end", "backspace", "d"):
            driver.app.post_message(events.Key(key, key if len(key) == 1 else None))
        control = driver.form.page.fields[field].control
        assert isinstance(control, TextArea | Input)
        await driver.until(lambda: driver.content(control) == "acd")

    async def fill(driver: FormDriver) -> None:
        await retype(driver, "objective")
        await retype(driver, "command")

    answered(fill)


def test_a_criterion_in_words_takes_the_place_of_the_command() -> None:
    async def fill(driver: FormDriver) -> None:
        await driver.paste("Write it")
        await driver.to("by")
        await driver.press("right", "right")
        await driver.press("ctrl+t")
        await driver.sees("no command to try")
        await driver.to("criterion")
        await driver.paste("reads well")
        await driver.press("ctrl+enter")

    assert answered(fill) == [["run", "Write it", "--criterion", "reads well"]]


def test_all_that_is_wrong_stands_beside_its_field() -> None:
    async def fill(driver: FormDriver) -> None:
        await driver.to("limits.max_iterations")
        await driver.press("0")
        await driver.press("ctrl+u", "0", "ctrl+s")
        await driver.sees(NO_OBJECTIVE)
        await driver.sees(NO_COMMAND[:40])
        await driver.sees("must be at least 1, not '0'")
        await driver.sees("3 errors marked above")
        assert driver.form.page.objective.has_focus
        await driver.paste("x")
        assert NO_OBJECTIVE not in "\n".join(driver.text())
        assert NO_COMMAND[:40] in "\n".join(driver.text())

    assert answered(fill) == []


def test_commands_that_files_speak_for_are_an_arrow_away() -> None:
    async def fill(driver: FormDriver) -> None:
        await driver.sees("↓ inserts pytest -q (pyproject.toml names pytest)")
        assert driver.form.page.command.value == ""
        await driver.to("command")
        for taken in ("pytest -q", "make test", "pytest -q"):
            await driver.press("down")
            assert driver.form.page.command.value == taken
        await driver.press("up")
        assert driver.form.page.command.value == "make test"

    answered(fill)


def test_who_works_is_chosen_among_those_found_and_the_others_are_told_of() -> None:
    absent = replace(GOOD.agents[0], ready=False, says="not found; looked for claude on PATH")
    here = FixedSurroundings(replace(GOOD, agents=(absent, GOOD.agents[1]), chosen=""))

    async def fill(driver: FormDriver) -> None:
        await driver.sees("no agent found")
        await driver.paste("Fix it")
        await driver.to("command")
        await driver.paste("true")
        await driver.press("ctrl+s")
        await driver.sees("choose an agent")
        await driver.press("right")
        await driver.sees("looked for claude on PATH")
        await driver.sees("npm install -g @anthropic-ai/claude-code")
        await driver.press("ctrl+s")
        await driver.sees("not available here")
        await driver.press("right", "ctrl+s")
        await driver.sees("enter the program's command line")
        await driver.sees("any program that reads the prompt on stdin")
        await driver.paste("my-agent")
        await driver.sees("a shell command may do anything")
        await driver.press("ctrl+s")

    assert answered(fill, here) == [["run", "Fix it", "-c", "true", "--agent-command", "my-agent"]]


def test_the_demo_needs_nothing_else() -> None:
    async def fill(driver: FormDriver) -> None:
        await driver.to("agent.name")
        await driver.press("left")
        await driver.sees("types: ralph-tui demo")
        await driver.press("ctrl+s")

    assert answered(fill) == [["demo"]]


def test_where_no_run_can_begin_it_says_why_and_what_to_do() -> None:
    missing = Finding("git repository", "critical", "/x is not inside one", ("run git init",))
    here = FixedSurroundings(replace(GOOD, findings=(missing,)))

    async def fill(driver: FormDriver) -> None:
        await driver.sees("◆ git repository: /x is not inside one")
        await driver.sees("run git init")
        await driver.paste("Fix it")
        await driver.to("command")
        await driver.paste("true")
        await driver.press("ctrl+s")
        await driver.sees("cannot start here: /x is not inside one")

    assert answered(fill, here) == []


def test_what_cannot_be_looked_at_is_said() -> None:
    here = FixedSurroundings()
    here.broken = "the folder is gone: come back from another"

    async def fill(driver: FormDriver) -> None:
        await driver.sees("the folder is gone")
        await driver.press("ctrl+s")
        await driver.press("escape")

    assert answered(fill, here) == [None]


def test_esc_keeps_all_that_was_typed() -> None:
    here = FixedSurroundings()

    async def leave(driver: FormDriver) -> None:
        await driver.paste(LONG)
        await driver.to("by")
        await driver.press("right", "right")
        await driver.to("criterion")
        await driver.paste("done well")
        await driver.to("limits.session_timeout_s")
        await driver.press("ctrl+u", *"30m", "escape")

    assert answered(leave, here) == [None]
    assert here.kept == Draft(
        LONG, "criterion", "", "done well", {"limits.session_timeout_s": "30m"}
    )

    async def come_back(driver: FormDriver) -> None:
        await driver.sees("(your draft)")
        page = driver.form.page
        assert page.objective.text == LONG
        assert page.texts["criterion"].value == "done well"
        assert page.texts["limits.session_timeout_s"].value == "30m"
        await driver.press("ctrl+s")

    assert answered(come_back, here) == [
        ["run", LONG.strip(), "--criterion", "done well", "--timeout", "30m"]
    ]


def test_pasted_lines_stay_lines_and_control_sequences_go() -> None:
    async def paste(driver: FormDriver) -> None:
        page = driver.form.page
        driver.app.post_message(events.Paste("one\r\ntwo\x1b[31m red\x07"))
        await driver.until(lambda: page.objective.text == "one\ntwo red")
        driver.app.post_message(events.Paste("x" * 200_000))
        await driver.sees("characters not inserted")
        page.command.focus()
        driver.app.post_message(events.Paste("pytest \\\n  -q\x1b[0m"))
        await driver.until(lambda: page.command.value == "pytest    -q")
        driver.app.post_message(events.Paste("a\nb"))
        await driver.sees("one line fits here")

    answered(paste)


def overlaps(one: Widget, other: Widget) -> bool:
    return one.region.overlaps(other.region)


@pytest.mark.parametrize("size", [(20, 8), (80, 24)])
def test_every_field_can_be_reached_and_seen(size: tuple[int, int]) -> None:
    async def walk(driver: FormDriver) -> None:
        page = driver.form.page
        seen = set()
        for _ in range(20):
            focused = driver.app.focused
            assert focused is not None
            seen.add(focused)
            await driver.until(partial(overlaps, page, focused))
            await driver.press("tab")
            if driver.app.focused is page.objective:
                break
        controls = {field.control for field in page.fields.values() if field.display}
        assert controls <= seen
        assert page.try_it in seen
        assert all(len(row) <= size[0] for row in driver.text())

    drive(FormDriver(), walk, size)


# -- the button that tries the command -------------------------------------------------------------


def trying(root: Path, command: str, scenario: Scenario) -> None:
    async def fill(driver: FormDriver) -> None:
        driver.form.page.command.value = command
        await driver.to("command")
        await driver.press("tab", "enter")
        await scenario(driver)

    drive(FormDriver(FolderNewRuns(root)), fill)


def gone(pids: Path) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids.read_text().split())


def test_a_command_that_is_tried_says_what_it_came_to(git_repo: Path) -> None:
    async def look(driver: FormDriver) -> None:
        await driver.sees("ready: tap: 1 of 2 pass, 1 fails, exit 1")
        await driver.sees("a run would start at 50 %")
        driver.form.page.command.value = "echo oops; no-such-runner"
        await driver.press("ctrl+t")
        await driver.sees("was not found (exit 127)")
        await driver.sees("│ oops")
        driver.form.page.command.value = "read line"  # it needs a terminal, and gets none
        await driver.press("ctrl+t")
        await driver.sees("exit 1 after")

    trying(git_repo, "echo 1..2; echo ok 1; echo not ok 2; exit 1", look)
    assert not (git_repo / ".aiwg").exists()


def test_esc_stops_the_command_that_is_tried_and_not_the_form(git_repo: Path) -> None:
    pids = git_repo / "pids"

    async def look(driver: FormDriver) -> None:
        await driver.sees("running for")
        await driver.sees("│ collected 7 tests")
        await driver.until(lambda: pids.exists() and pids.read_text().strip())
        await driver.press("ctrl+s")
        await driver.sees("cannot start yet")
        await driver.press("escape")
        await driver.sees("stopped after")
        assert gone(pids)
        assert driver.answers == []
        await driver.press("escape")

    printed = r"printf 'first\ncollected \033[2J7 tests\n'"
    trying(git_repo, f"{printed}; sleep 300 & echo $! $$ > {pids}; wait", look)


def test_leaving_in_any_way_leaves_no_process(git_repo: Path) -> None:
    pids = git_repo / "pids"

    async def look(driver: FormDriver) -> None:
        await driver.until(lambda: pids.exists() and pids.read_text().strip())
        driver.app.exit()

    trying(git_repo, f"sleep 300 & echo $! $$ > {pids}; wait", look)
    until(lambda: gone(pids))


def test_a_model_is_named_for_an_agent_that_takes_one() -> None:
    async def fill(driver: FormDriver) -> None:
        await driver.paste("Fix it")
        await driver.to("command")
        await driver.paste("make")
        await driver.to("agent.model")
        await driver.sees("model empty for the agent's default")
        await driver.paste("opus")
        await driver.sees("-c make --model opus")
        await driver.to("agent.name")
        await driver.press("right")
        assert not driver.form.page.fields["agent.model"].display
        await driver.until(lambda: "--model" not in driver.form.typed_line.command)
        await driver.press("left", "ctrl+s")

    assert answered(fill) == [["run", "Fix it", "-c", "make", "--model", "opus"]]


def test_the_last_start_is_proposed_and_is_no_draft() -> None:
    own = {"agent.name": "command", "agent.command": "./my-agent"}
    here = FixedSurroundings(replace(GOOD, last=Draft(command="sh checks.sh", settings=own)))

    async def start(driver: FormDriver) -> None:
        await driver.sees("types: ralph-tui run '' -c 'sh checks.sh' --agent-command")
        assert "your draft" not in "\n".join(driver.text())
        await driver.press("x", "ctrl+s")

    assert answered(start, here) == [
        ["run", "x", "-c", "sh checks.sh", "--agent-command", "./my-agent"]
    ]

    async def leave(driver: FormDriver) -> None:
        await driver.press("x", "backspace", "escape")

    here.kept = None
    assert answered(leave, here) == [None]
    assert here.kept in (None, Draft())
